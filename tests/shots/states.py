"""Every page in every state: each state is a function that brings the window there."""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QApplication

from backends.launch.capture import state
from backends.launch.capture.spec import Capture
from backends.launch.capture.state import Rank
from backends.launch.own.spec import OwnSpec
from backends.launch.rehearse.spec import RehearseSpec
from backends.launch.spec import LaunchSpec
from backends.migration.official.opinion import Opinion, OpinionRow
from studio import files, schema
from studio.errors import StudioError
from tests.bench.stage import wait
from tests.command_line import studio
from tests.shots import precision_states, timeline_states, trust_states
from ui.form.field_box import FieldBox
from ui.launch.page import FOLDED, RECIPE
from ui.launch.user_script.side import FOLDED as OWN_FOLDED
from ui.migration.views import CERTIFICATE, CHANGES, FINDINGS, OVERVIEW

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.shots.stage import Stage
    from ui.shell.window import Shell


@dataclass(frozen=True, kw_only=True)
class State:
    """`needs_whole`: shows runs that only a whole stage has."""

    name: str
    show: Callable[[Shell, Stage], None]
    needs_whole: bool = False


def _project(shell: Shell, folder: Path | None) -> None:
    now = shell.session.project
    if (now.folder if now else None) != folder:
        shell.session.open_project(folder)
    while shell.strip.messages:
        shell.strip.close_message()


def _home(folder: str) -> Callable[[Shell, Stage], None]:
    def show(shell: Shell, stage: Stage) -> None:
        _project(shell, {"none": None, "new": stage.empty, "full": stage.project}[folder])
        shell.show_page("home")

    return show


def _launch(unfold: str = "", seek: str = "", resume: str = "", **values: object) -> Callable[[Shell, Stage], None]:
    """`unfold`: a field whose card is opened and scrolled to; `resume`: a run to go on from."""

    def show(shell: Shell, stage: Stage) -> None:
        _project(shell, stage.project)
        page = shell.page_widget("launch")
        page.tabs.setCurrentIndex(RECIPE)
        spec = LaunchSpec()
        for name, value in values.items():
            spec = schema.with_value(spec, name, value)
        page.seek_box.clear()
        for card in FOLDED:
            page.form.card(card).fold(True)
        page.form.set_spec(spec)
        if resume:
            page.form.set_value("resume", stage.run(resume).folder)
        page.seek_box.setText(seek)
        page._scroll.verticalScrollBar().setValue(0)
        if unfold:
            page._scroll.reveal(page.form.focus_field(unfold))

    return show


def _script(*line: str, unfold: str = "", **values: object) -> Callable[[Shell, Stage], None]:
    """A line of the user's own; `unfold` as above."""

    def show(shell: Shell, stage: Stage) -> None:
        _project(shell, stage.project)
        page = shell.page_widget("launch")
        page.show_own()
        own = page.own()
        spec = schema.with_value(OwnSpec(), "workdir", stage.project)
        for name, value in {"line": line, **values}.items():
            spec = schema.with_value(spec, name, value)
        for card in OWN_FOLDED:
            own.form.card(card).fold(True)
        own.form.set_spec(spec)
        wait(lambda: bool(own.interpreters.rows), 30)
        if line[1:2] in (("xor.py",), ("gpt.py",)):
            wait(lambda: bool(own.options.boxes), 30)
        own._scroll.verticalScrollBar().setValue(0)
        if unfold:
            own._scroll.reveal(own.form.focus_field(unfold))

    return show


def _needs_npu(shell: Shell, stage: Stage) -> None:
    """A script for an NPU, on a host without one."""
    (stage.project / "train_npu.py").write_text("import torch\nimport torch_npu\n", encoding="utf-8")
    _script("python", "train_npu.py")(shell, stage)
    wait(shell.page_widget("launch").own().npu_offer.isVisible, 30)


RESUMED = """import argparse, os, time, torch
parser = argparse.ArgumentParser()
parser.add_argument("--resume", metavar="PATH", help="checkpoint to go on from")
args = parser.parse_args()
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.1)
for step in range(1, 8):
    optimizer.zero_grad()
    net(torch.ones(2, 4)).square().mean().backward()
    optimizer.step()
    if step % 3 == 0:
        state = {"model": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
        torch.save(state, "resumed-%d.pt" % step)
os.truncate("resumed-6.pt", 1000)
raise RuntimeError("connection lost")
"""


def _ended_with_checkpoints(shell: Shell, stage: Stage) -> None:
    """A run of the user's own script that failed behind two checkpoints, of which the newer is cut."""
    _project(shell, stage.project)
    script = stage.project / "resumed.py"
    if not script.exists():
        script.write_text(RESUMED, encoding="utf-8")
        words = ("--project", str(stage.project), "launch", "--", sys.executable, script.name)
        studio(*words, cwd=stage.project)
        shell.session.refresh_runs()
    run = next(run for run, _ in shell.session.listed if script.name in str(run.request.values))
    shell.show_page("curves")
    shell.session.watch_run(run)
    wait(lambda: shell.page_widget("curves").resume.button.isVisible(), 60)


def _resumes_script(shell: Shell, stage: Stage) -> None:
    _ended_with_checkpoints(shell, stage)
    shell.page_widget("curves").resume.button.click()
    own = shell.page_widget("launch").own()
    wait(own.resume_card.isVisible, 60)


def _asks_for_trust(shell: Shell, stage: Stage) -> None:
    _script("python", "xor.py")(shell, stage)
    shell.page_widget("launch").own().start()


def _curves(name: str, *, log: bool = False) -> Callable[[Shell, Stage], None]:
    def show(shell: Shell, stage: Stage) -> None:
        _project(shell, stage.project)
        page = shell.page_widget("curves")
        shell.session.choose_run(stage.run(name))
        page.log.open(log)
        wait(lambda: page.watcher is not None and page.watcher.is_loaded, 60)

    return show


def _rehearsed_as_npu(view: str) -> Callable[[Shell, Stage], None]:
    """What a rehearsal on the virtual NPU shows, scrolled to one of its views."""

    def show(shell: Shell, stage: Stage) -> None:
        _curves("rehearsal-npu")(shell, stage)
        content = shell.page_widget("curves").content
        card = content.rehearsal
        wait(lambda: card.isVisible() and card.inventory is not None, 60)
        wait(lambda: content.verticalScrollBar().maximum() > 0, 60)
        target = getattr(card, view)
        content.verticalScrollBar().setValue(target.mapTo(content.widget(), QPoint(0, 0)).y() - 60)

    return show


def _rehearse(stance: str) -> Callable[[Shell, Stage], None]:
    """The sheet of the button."""

    def show(shell: Shell, stage: Stage) -> None:
        if (before := QApplication.activePopupWidget()) is not None:
            before.close()
        _script("python", "xor.py")(shell, stage)
        button = shell.page_widget("launch").own().rehearse
        button.spec = schema.with_value(RehearseSpec(), "stance", stance)
        button.open()

    return show


def _capture(*found: Rank, **values: object) -> Callable[[Shell, Stage], None]:
    """The form, with `values`; or how far the ranks are, the first time and now."""

    def show(shell: Shell, stage: Stage) -> None:
        run = stage.run("capturing")
        (run.folder / state.REQUEST_FILE).unlink(missing_ok=True)
        shutil.rmtree(run.folder / state.FOLDER, ignore_errors=True)
        _curves("capturing")(shell, stage)
        card = shell.page_widget("curves").capture
        card._close()
        wait(card.button.isVisible, 30)
        card.open()
        wait(lambda: bool(card.sentence.text()), 30)
        for name, value in values.items():
            box = card.findChild(FieldBox, f"capture.{name}.box")
            box.input.show_value(value)
            box.input.edited.emit()
        request = state.request_of(Capture(steps=3))
        for one in found:
            state.write_request(run.folder, request)
            told = run.folder / state.FOLDER / request.id / "rank0.json"
            told.parent.mkdir(parents=True, exist_ok=True)
            said = replace(one, pid=state.ready(run.folder)[0].pid)
            files.write_json(told, said)
            wait(lambda said=said: card._snapshot.ranks.get(0) == said, 30)

    return show


def _migration(folder: str, tab: int, style: str = "", *, proven: bool = False) -> Callable[[Shell, Stage], None]:
    """`folder`: none, new, scanned or full; `style`: a plan of this style; `proven`: waits for the certificate."""

    def show(shell: Shell, stage: Stage) -> None:
        folders = {"none": None, "new": stage.gpu_new, "scanned": stage.gpu_scanned, "full": stage.gpu}
        _project(shell, folders[folder])
        page = shell.page_widget("migration")
        shell.session.refresh_runs()
        if folder in ("none", "new"):
            return
        wait(lambda: page.scan is not None, 30)
        page.tabs.setCurrentIndex(tab)
        page.findings.clear()
        hardest = next(row for row, one in enumerate(page.findings.findings.rows) if one.state == "manual")
        page.findings.go_to(hardest)
        if style:
            page.changes.choose_style(style)
            page.changes.make_plan()
            wait(lambda: page.changes.plan is not None and page.changes.plan.style == style, 30)
        if proven:
            wait(lambda: page.proof.certificate is not None, 30)

    return show


def _second_opinion(shell: Shell, stage: Stage) -> None:
    """Of a tool that is not here."""
    _migration("scanned", OVERVIEW)(shell, stage)
    tips = "FP64 is slower than FP32"
    rows = (
        OpinionRow(table="unsupported_api", path="model/kernels.py", line=17, end=17, name="torch.nn.DataParallel",
            tips="", rules=("api.unsupported",)),
        OpinionRow(table="unknown_api", path="train.py", line=11, end=11, name="torch.manual_seed", tips=""),
        OpinionRow(table="api_performance_advice", path="train.py", line=20, end=20, name="torch.randn", tips=tips),
    )  # fmt: skip
    page = shell.page_widget("migration")
    page.overview.show_opinion(Opinion(version="2.8.0", rows=rows, matched=1, unmatched=2, unmentioned=19))


def _no_runs(shell: Shell, stage: Stage) -> None:
    _project(shell, stage.empty)
    shell.show_page("curves")


def _trouble(shell: Shell, stage: Stage) -> None:
    _home("full")(shell, stage)
    shell.session.trouble.emit(StudioError("error.disk_full", path=str(stage.project)))


def _palette(shell: Shell, stage: Stage) -> None:
    _home("full")(shell, stage)
    shell.open_palette()


def _help(shell: Shell, stage: Stage) -> None:
    _project(shell, stage.project)
    shell.page_widget("help").list.setCurrentRow(1)


def _help_at(card: str) -> Callable[[Shell, Stage], None]:
    def show(shell: Shell, stage: Stage) -> None:
        _project(shell, stage.project)
        shell.session.show_help(f"launch.section.{card}")

    return show


ARMED = Rank(state="armed", kind="profile", start=150, steps=3)
BEGUN = replace(ARMED, state="begun", done=1, seconds=0.31, usual=0.19, byte_count=1_400_000)
DONE = replace(BEGUN, state="done", done=3, byte_count=4_200_000)
FAILED = replace(ARMED, state="failed", rule="capture.disk_low", args={"free": "312 MB"})
SPLIT: dict[str, object] = {"recipe": "dense", "mode": "graph", "parallel": "semi_auto", "workers": 4}

STATES = (
    State(name="help-learning", show=_help_at("learning")),
    State(name="help-parallel", show=_help_at("parallel")),
    State(name="help", show=_help),
    State(name="home-empty", show=_home("none")),
    State(name="home-new-project", show=_home("new")),
    State(name="home-full", show=_home("full")),
    State(name="home-trouble", show=_trouble),
    State(name="home-palette", show=_palette),
    State(name="launch-empty", show=_launch()),
    State(name="launch-full", show=_launch(mode="jit", amp="O2", accumulate=4, batch=32, steps=600, lr=1e-3)),
    State(name="launch-text", show=_launch(recipe="text", env=(("GLOG_v", "2"), ("HCCL_BUFFSIZE", "200")))),
    State(name="launch-error", show=_launch(steps=10, epochs=2.0)),
    State(name="launch-folded-error", show=_launch(recipe="linear", best="accuracy", unfold="grace")),
    State(name="launch-folded-set", show=_launch(parallel="data", workers=4, checkpoint_every=100, unfold="grace")),
    State(name="launch-data", show=_launch(unfold="prefetch")),
    State(name="launch-parallel", show=_launch(parallel="data", nodes=2, master="10.0.0.1", unfold="nodes")),
    State(name="launch-strategy", show=_launch(**SPLIT, strategy=(("matmul1", "2x1,1x2"),), unfold="strategy")),
    State(name="launch-strategy-wrong", show=_launch(**SPLIT, strategy=(("matmul1", "3x1"),), unfold="strategy")),
    State(name="launch-parallel-refused", show=_launch(**{**SPLIT, "device": "cpu"}, unfold="parallel")),
    State(name="launch-ascend", show=_launch(visible="3,1", launch_blocking=True, unfold="log_level")),
    State(name="launch-debug", show=_launch(synchronous=True, debug_port=5678, unfold="debug_port")),
    State(name="launch-own", show=_launch(recipe="own")),
    State(name="launch-torch-lora", show=_launch(framework="torch", recipe="lora", device="virtual_npu")),
    State(name="launch-torch-fsdp", show=_launch(framework="torch", recipe="text", parallel="fsdp", unfold="launcher")),
    State(
        name="launch-torch-ascend",
        show=_launch(framework="torch", device="ascend", task_queue="2", cpu_affinity="3", unfold="cpu_affinity"),
    ),
    State(name="launch-script-empty", show=_script()),
    State(name="launch-script", show=_script("python", "xor.py", "--lr", "0.3", "--optimizer", "adam")),
    State(name="launch-script-npu", show=_needs_npu),
    State(name="launch-script-resume", show=_resumes_script),
    State(name="curves-own-resume", show=_ended_with_checkpoints),
    State(name="launch-script-globals", show=_script("python", "gpt.py", "config/small.py", "--batch_size=4")),
    State(name="launch-script-config", show=_script("python", "xor.py", "--config", "settings.yaml")),
    State(name="launch-script-launcher", show=_script("torchrun", "--nproc-per-node", "2", "xor.py")),
    State(name="launch-script-wrong", show=_script("python", "lost.py", cores=0)),
    State(name="launch-script-consent", show=_asks_for_trust),
    State(
        name="launch-script-pattern",
        show=_script("python", "xor.py", log_pattern="own", pattern="step {step} loss {loss}", unfold="pattern"),
    ),
    State(name="launch-rehearse", show=_rehearse("cuda")),
    State(name="launch-rehearse-npu", show=_rehearse("npu")),
    State(name="launch-script-captures", show=_script("python", "xor.py", capture="profile", unfold="capture_at")),
    State(name="help-own-scripts", show=_help_at("program")),
    State(name="launch-seek", show=_launch(seek="HCCL")),
    State(name="launch-resume", show=_launch(resume="marked", steps=400, unfold="resume"), needs_whole=True),
    State(name="migration-no-project", show=_migration("none", FINDINGS)),
    State(name="migration-new", show=_migration("new", FINDINGS)),
    State(name="migration-findings", show=_migration("full", FINDINGS)),
    State(name="migration-overview", show=_migration("full", OVERVIEW)),
    State(name="migration-minimal", show=_migration("full", CHANGES, "minimal")),
    State(name="migration-explicit", show=_migration("full", CHANGES, "explicit")),
    State(name="migration-opinion", show=_second_opinion),
    State(name="migration-to-prove", show=_migration("scanned", CERTIFICATE)),
    State(name="migration-proven", show=_migration("full", CERTIFICATE, proven=True), needs_whole=True),
    State(name="curves-empty", show=_no_runs),
    State(name="curves-loading", show=_curves("compiling")),
    State(name="curves-partial", show=_curves("partial")),
    State(name="curves-error", show=_curves("failed", log=True)),
    State(name="curves-linear", show=_curves("linear")),
    *(State(name=name, show=show) for name, show in precision_states.STATES),
    *(State(name=name, show=show) for name, show in timeline_states.STATES),
    *(State(name=name, show=show) for name, show in trust_states.STATES),
    State(name="curves-full", show=_curves("digits"), needs_whole=True),
    State(name="curves-log", show=_curves("digits", log=True), needs_whole=True),
    State(name="curves-amp", show=_curves("digits-O2"), needs_whole=True),
    State(name="curves-marks", show=_curves("marked"), needs_whole=True),
    State(name="curves-resumed", show=_curves("resumed"), needs_whole=True),
    State(name="curves-resumed-inexactly", show=_curves("resumed-inexactly"), needs_whole=True),
    State(name="curves-ranks", show=_curves("ranks"), needs_whole=True),
    State(name="curves-shapes", show=_curves("shapes"), needs_whole=True),
    State(name="curves-check", show=_curves("check-first"), needs_whole=True),
    State(name="curves-preview", show=_curves("preview"), needs_whole=True),
    State(name="curves-own-script", show=_curves("own-script"), needs_whole=True),
    State(name="curves-own-nothing", show=_curves("own-nothing"), needs_whole=True),
    State(name="curves-rehearsal", show=_curves("rehearsal"), needs_whole=True),
    State(name="curves-rehearsal-npu", show=_curves("rehearsal-npu"), needs_whole=True),
    State(name="curves-rehearsal-npu-live", show=_curves("rehearsal-npu-live"), needs_whole=True),
    State(name="curves-rehearsal-npu-memory", show=_rehearsed_as_npu("memory_view"), needs_whole=True),
    State(name="curves-rehearsal-npu-operators", show=_rehearsed_as_npu("operators_view"), needs_whole=True),
    State(name="curves-rehearsal-refused", show=_curves("rehearsal-refused"), needs_whole=True),
    State(name="curves-capture", show=_capture(kind="profile"), needs_whole=True),
    State(name="curves-capture-dump", show=_capture(kind="dump"), needs_whole=True),
    State(name="curves-capture-armed", show=_capture(ARMED), needs_whole=True),
    State(name="curves-capture-works", show=_capture(ARMED, BEGUN), needs_whole=True),
    State(name="curves-capture-done", show=_capture(ARMED, DONE), needs_whole=True),
    State(name="curves-capture-failed", show=_capture(ARMED, FAILED), needs_whole=True),
    State(name="curves-text", show=_curves("text"), needs_whole=True),
)
