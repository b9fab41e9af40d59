"""Two runs that began with other weights are never without a divergence, whichever step was captured."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.compare.comparison import FOLDER, First
from backends.precision.compare.comparison_files import open_comparison
from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from studio import run as runs
from studio import schema
from tests.precision.dump.recorded import copy_of

if TYPE_CHECKING:
    from pathlib import Path

STATISTICS = ("Max", "Min", "Mean", "Norm")


def captured(run: Path, step: int, factor: float) -> Path:
    """The recorded dump as a studio's capture of a step, its weights larger by a factor."""
    (run / "artifacts" / "captures" / "a" / f"step{step}").mkdir(parents=True)
    (run / "run.json").write_text("{}", encoding="utf-8")
    folder = copy_of("torch_statistics", run / "artifacts" / "captures" / "a" / f"step{step}" / "rank0")
    found = json.loads((folder / "dump.json").read_text(encoding="utf-8"))
    for entry in found["data"].values():
        for weights in (entry.get("input_args", [])[1:], list(entry.get("parameters", {}).values())):
            _scale(weights, factor)
    (folder / "dump.json").write_text(json.dumps(found), encoding="utf-8")
    return folder


def _scale(weights: list[Any], factor: float) -> None:
    for one in weights:
        if isinstance(one, dict) and one.get("dtype") == "torch.float32":
            one.update({name: one[name] * factor for name in STATISTICS if isinstance(one.get(name), float)})


def first_of(folder: Path, step: int, factor: float) -> First | None:
    sides = {"target": captured(folder / "t", step, factor), "golden": captured(folder / "g", step, 1.0)}
    spec = CompareSpec()
    for name, place in sides.items():
        spec = schema.with_value(spec, name, place)
    run = runs.create(folder / "runs", "compare", schema.to_json(spec))
    compare(spec, run)
    return open_comparison(run.folder / FOLDER).first


@pytest.mark.parametrize("step", [0, 1, 100])
def test_that_other_weights_are_named(tmp_path: Path, step: int) -> None:
    first = first_of(tmp_path, step, 1.3)
    assert first is not None
    assert first.reason == "parameter"


@pytest.mark.parametrize("mark", ["optimizer.json", "../../rank0.json"])
def test_that_weights_of_a_first_step_may_not_differ_in_a_capture_that_was_copied_alone(
    tmp_path: Path, mark: str
) -> None:
    """A bias of a later step may be anything, since nothing tells of the updates before it."""
    dumps = [captured(tmp_path / name, 1, 1.0) for name in ("target", "golden")]
    for dump in dumps:
        dump.parents[4].joinpath("run.json").unlink()
        (dump / mark).write_text("{}", encoding="utf-8")
    found = json.loads((dumps[0] / "dump.json").read_text(encoding="utf-8"))
    biases = [entry["input_args"][2] for entry in found["data"].values() if len(entry.get("input_args", [])) > 2]
    _scale(biases[:1], 1.001)
    (dumps[0] / "dump.json").write_text(json.dumps(found), encoding="utf-8")
    spec = schema.with_value(schema.with_value(CompareSpec(), "target", dumps[0]), "golden", dumps[1])
    run = runs.create(tmp_path / "runs", "compare", schema.to_json(spec))
    assert compare(spec, run).code == 3
    first = open_comparison(run.folder / FOLDER).first
    assert first is not None
    assert first.reason == "parameter"


def test_that_weights_of_a_first_step_may_not_differ_at_all(tmp_path: Path) -> None:
    assert first_of(tmp_path / "first", 1, 1.001) is not None


def test_that_weights_of_a_later_step_may_carry_the_noise_of_the_optimizer(tmp_path: Path) -> None:
    assert first_of(tmp_path, 100, 1 + 1e-6) is None
