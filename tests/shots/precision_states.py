"""The precision page in pictures: a project whose training was captured on two sides, once with a cast in one block."""

from __future__ import annotations

import json
import math
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtWidgets import QApplication

from backends.launch.own.spec import OwnSpec
from backends.precision.compare.comparison import EQUAL, EXPLAINED, FOLLOWS, MISSING, Coverage, First
from backends.precision.compare.spec import CompareSpec
from backends.precision.config.spec import ConfigCheckSpec
from backends.precision.losses.spec import LossesSpec
from backends.precision.weights.spec import WeightsSpec
from studio import run as runs
from studio import schema, worker
from studio.paths import ROOT
from studio.project import Project, make_runs_folder
from tests.bench.stage import wait
from tests.precision.block import BLOCK
from tests.runs import ended
from tests.ui.precision.comparisons import make_comparison, make_large_comparison
from ui.precision.views import CAPTURE, COMPARE, ENVIRONMENT, LOSSES_WEIGHTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run
    from tests.shots.stage import Stage
    from ui.precision.comparison.loaded_comparison import LoadedComparison
    from ui.precision.page import PrecisionPage
    from ui.shell.window import Shell

RECORDED = ROOT / "tests" / "recorded" / "precision" / "dumps" / "torch_statistics"
SIDES = ("golden", "target")
AS_ON_THE_PAGE = {"capture_level": "mix", "capture_casts": True, "capture_task": "tensor"}
LINES = {"golden": ("python", "train.py"), "target": ("python", "train.py", "--cast", "1")}


def build(project: Path, whole: bool) -> None:
    """Train and capture both sides where `whole`, else use recorded dumps; everything that compares them really
    runs."""
    project.mkdir()
    (project / "train.py").write_text(BLOCK, encoding="utf-8")
    sides = {side: _train(project, side, whole) for side in SIDES}
    if not whole:
        _bend(sides["target"])
    for side in SIDES:
        _weights(project / f"{side}.safetensors", 0.0 if side == "golden" else 0.01)
    target, golden = sides["target"].folder, sides["golden"].folder
    _run(project, "compare", CompareSpec(), target=target, golden=golden)
    weights = {f"{side}_weights": project / f"{side}.safetensors" for side in SIDES}
    _run(project, "compare-weights", WeightsSpec(), **weights)
    if whole:
        _run(project, "compare-losses", LossesSpec(), target_run=target, golden_run=golden)
        _run(project, "config-check", ConfigCheckSpec(), side_a=golden, side_b=target)


def _train(project: Path, side: str, whole: bool) -> Run:
    line = LINES[side] if whole else ("python", "-c", "pass")
    values: dict[str, Any] = {"line": line, "workdir": project, "python": Path(sys.executable)}
    if whole:
        values |= {"capture": "dump", "capture_steps": 2, "config_pack": True, **AS_ON_THE_PAGE}
    run = _run(project, "script", OwnSpec(), **values)
    if not whole:
        shutil.copytree(RECORDED, run.folder / "artifacts" / "captures" / "101112-dump-ab12")
    return run


def _run(project: Path, command: str, spec: Any, **values: Any) -> Run:
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    run = runs.create(make_runs_folder(Project(folder=project)), command, schema.to_json(spec), project)
    worker.start(run)
    ended(run, seconds=600)
    return run


def _bend(run: Run) -> None:
    """Scale the output of one call by 1.5."""
    (path,) = run.folder.rglob("dump.json")
    dump = json.loads(path.read_text())
    name = next(call for call in dump["data"] if call.startswith("Functional.linear") and call.endswith("forward"))
    for entry in dump["data"][name]["output"]:
        entry |= {figure: entry[figure] * 1.5 for figure in ("Max", "Min", "Mean", "Norm")}
    path.write_text(json.dumps(dump))


def _weights(path: Path, change: float) -> None:
    """Write a small safetensors file."""
    random = np.random.default_rng(0)
    arrays = {f"blocks.{number}.up.weight": random.standard_normal((32, 16)).astype("<f4") for number in range(3)}
    arrays["blocks.1.up.weight"][3, 5] += change
    head, body = {}, b""
    for name, array in arrays.items():
        offsets = [len(body), len(body) + array.nbytes]
        head[name] = {"dtype": "F32", "shape": list(array.shape), "data_offsets": offsets}
        body += array.tobytes()
    text = json.dumps(head).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + body)


# The states


def _page(shell: Shell, project: Path | None, tab: int) -> PrecisionPage:
    now = shell.session.project
    if (now.folder if now else None) != project:
        shell.session.open_project(project)
    while shell.strip.messages:
        shell.strip.close_message()
    page: PrecisionPage = shell.page_widget("precision")  # type: ignore[assignment]
    page.elsewhere.hide()
    page.tabs.setCurrentIndex(tab)
    return page


def empty(shell: Shell, stage: Stage) -> None:
    _page(shell, stage.empty, COMPARE).compare.show_sides()


def _read(page: PrecisionPage) -> None:
    page.session.refresh_runs()
    wait(lambda: len(page.views._captures) == len(SIDES) and page.compare.loaded is not None, 30)


def picking(shell: Shell, stage: Stage) -> None:
    page = _page(shell, stage.precision, COMPARE)
    _read(page)
    page.compare.show_sides()
    page.compare.sides.show_pair(*page.views._captures)


def compared(shell: Shell, stage: Stage) -> None:
    page = _page(shell, stage.precision, COMPARE)
    _read(page)
    page.run_results.open_comparison(page.run_results.comparisons[0])
    page.compare.show_result()
    wait(lambda: _is_of_dumps(page.compare.loaded), 20)
    page.compare.result_view.go_to_first()


def _is_of_dumps(loaded: LoadedComparison | None) -> bool:
    return loaded is not None and any(dump_pass.target is not None for dump_pass in loaded.comparison.passes)


def tensors(shell: Shell, stage: Stage) -> None:
    """Show the pictures of the first call that follows, or what replaces them."""
    compared(shell, stage)
    view = _page(shell, stage.precision, COMPARE).compare.result_view
    comparison = view.comparison
    assert comparison is not None
    after = max(0, comparison.first.call if comparison.first else 0)
    name = next(call for call in comparison.names[after:] if call.startswith("Functional.linear"))
    view.selection.select(comparison.names.index(name))
    wait(lambda: view.operator.pictures.pictures() is not None or view.operator.pictures.deeper.isVisible(), 20)
    bar = view.operator.area.verticalScrollBar()
    bar.setValue(bar.maximum())


def _put_together(comparison: Comparison) -> Callable[[Shell, Stage], None]:
    """Show a synthetic comparison of what is rare or too much to capture."""

    def show(shell: Shell, stage: Stage) -> None:
        page = _page(shell, stage.precision, COMPARE)
        _read(page)
        assert page.compare.loaded is not None
        page.compare.show_loaded(replace(page.compare.loaded, comparison=comparison))

    return show


def _clean(shell: Shell, stage: Stage) -> None:
    """A comparison in which every call differs by rounding."""
    verdicts = [EXPLAINED] * 240
    errors = 10 ** np.random.default_rng(2).normal(-6.5, 0.3, len(verdicts))
    _put_together(make_comparison(verdicts, errors=errors.tolist()))(shell, stage)


def _incomplete(shell: Shell, stage: Stage) -> None:
    """A comparison without a divergence that lacks the last step and a rank."""
    comparison = replace(
        make_comparison([EQUAL] * 180 + [EXPLAINED] * 60, errors=[0.0] * 180 + [3e-7] * 60),
        coverage=Coverage(
            calls=240, all_calls=248, values=700, all_values=731, by_element=700, steps=(0, 1), all_steps=(0, 1, 2),
            ranks=(0,), all_ranks=(0, 1),
        ),
        notes=(
            {"key": "precision.compare.cut_dump", "args": {"place": "/data/runs/gpt/step1/rank0"}},
            {"key": "precision.compare.both_nan", "args": {"count": 1, "name": "Torch.log.0", "step": 1, "rank": 0}},
        ),
    )  # fmt: skip
    _put_together(comparison)(shell, stage)


def elsewhere(shell: Shell, stage: Stage) -> None:
    """The form of a comparison, and the line on another one that has ended."""
    picking(shell, stage)
    page = _page(shell, stage.precision, COMPARE)
    page._mention(page.run_results.comparisons[0])


def _of_ranks(shell: Shell, stage: Stage) -> None:
    """A comparison of three steps of a long model with long names, in which a call is missing."""
    names = [
        f"Module.model.language_model.layers.{n % 30}.self_attention.core.FlashAttention.forward.{n}"
        for n in range(600)
    ]
    names[400] += " 🎉"
    verdicts = [EQUAL] * 400 + [MISSING] + [FOLLOWS] * 199
    first = First(
        name=names[400], direction="forward", place="missing", index=0, step=2, rank=0, reason="missing", call=400,
        before=400, source="/root/gpt/a very long folder/model.py:88",
    )  # fmt: skip
    errors = [0.0] * 400 + [math.nan] + [1e-3] * 199
    backward = [n % 200 > 90 for n in range(600)]
    _put_together(
        make_comparison(verdicts, errors=errors, names=names, first=first, passes=(0, 200, 400), backward=backward)
    )(shell, stage)


def modules(shell: Shell, stage: Stage) -> None:
    compared(shell, stage)
    page = _page(shell, stage.precision, COMPARE)
    page.compare.result_view.tabs.setCurrentIndex(1)


def capture(shell: Shell, stage: Stage) -> None:
    page = _page(shell, stage.precision, CAPTURE)
    _read(page)
    page.views.capture.tabs.setCurrentIndex(0)
    page.views.capture.area.verticalScrollBar().setValue(0)


def captured(shell: Shell, stage: Stage) -> None:
    capture(shell, stage)
    page = _page(shell, stage.precision, CAPTURE)
    page.views.capture.tabs.setCurrentIndex(1)
    page.views.capture.area.reveal(page.views.capture.captures_card)


def targets(shell: Shell, stage: Stage) -> None:
    if (before := QApplication.activePopupWidget()) is not None:
        before.close()
    capture(shell, stage)
    page = _page(shell, stage.precision, CAPTURE)
    page.views.capture.area.reveal(page.views.capture.tick_targets)
    page.views.capture._choose_targets()


def _at(tab: int, name: str, down: int) -> Callable[[Shell, Stage], None]:
    """Scroll a view down by some pixels."""

    def show(shell: Shell, stage: Stage) -> None:
        page = _page(shell, stage.precision, tab)
        _read(page)
        getattr(page.views, name).area.verticalScrollBar().setValue(down)

    return show


STATES: tuple[tuple[str, Callable[[Shell, Stage], None]], ...] = (
    ("precision-empty", empty),
    ("precision-picking", picking),
    ("precision-compared", compared),
    ("precision-tensors", tensors),
    ("precision-clean", _clean),
    ("precision-incomplete", _incomplete),
    ("precision-elsewhere", elsewhere),
    ("precision-missing", _of_ranks),
    ("precision-many", _put_together(make_large_comparison(100_000, 2))),
    ("precision-modules", modules),
    ("precision-capture", capture),
    ("precision-captured", captured),
    ("precision-targets", targets),
    ("precision-environment", _at(ENVIRONMENT, "environment", 0)),
    ("precision-determinism", _at(ENVIRONMENT, "environment", 5000)),
    ("precision-losses", _at(LOSSES_WEIGHTS, "losses_weights", 0)),
    ("precision-weights", _at(LOSSES_WEIGHTS, "losses_weights", 5000)),
)
