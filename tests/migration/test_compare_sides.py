"""Both sides of a migration captured and compared by one command: real rehearsals, real dumps."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.common import rehearsal
from backends.launch.rehearse.spec import RehearseSpec
from backends.migration.certify.rehearsals import rehearsal_values
from backends.migration.certify.spec import CertifySpec
from backends.migration.compare_sides.spec import CompareSidesSpec, sides_of
from studio import run, schema
from studio.events import Note
from tests.command_line import last_json, studio
from tests.migration.certified_projects import MIGRATED, TRAIN, project

if TYPE_CHECKING:
    import subprocess

needs_msprobe = pytest.mark.skipif(importlib.util.find_spec("msprobe") is None, reason="no msprobe here")


def compare(original: Path, migrated: Path) -> subprocess.CompletedProcess[str]:
    line = ("--", sys.executable, "train.py")
    return studio("--no-project", "compare-migrated", str(original), str(migrated), "--json", *line, cwd=original)


def parts(answer: dict[str, Any]) -> dict[str, Path]:
    return {part: Path(answer[part]) for part in ("golden", "target", "comparison") if part in answer}


@needs_msprobe
def test_that_both_sides_are_captured_and_compared_and_no_copy_stays(tmp_path: Path) -> None:
    original = project(tmp_path, "original", TRAIN)
    migrated = project(tmp_path / "elsewhere", "migrated", MIGRATED)
    done = compare(original, migrated)
    answer = last_json(done)
    assert done.returncode == 0, (done.stderr, answer)
    runs = parts(answer)
    assert list(runs) == ["golden", "target", "comparison"]
    assert list(runs["comparison"].glob("artifacts/*"))
    reports = [rehearsal.read_report(runs[part]) for part in ("golden", "target")]
    assert [(report.stance, report.device) for report in reports if report] == [("cuda", "cpu"), ("npu", "cpu")]
    stacks = "".join(path.read_text("utf-8") for path in runs["target"].rglob("stack.json"))
    assert f"{migrated}/train.py" in stacks
    assert "/copies/" not in stacks
    assert not (Path(answer["run"]) / "copies").exists()
    for folder in (original, migrated):
        assert [path.name for path in folder.iterdir()] == ["train.py"]


@needs_msprobe
def test_that_a_mistake_is_found_by_its_operator(tmp_path: Path) -> None:
    original = project(tmp_path, "original", TRAIN)
    wrong = MIGRATED.replace("scale * net(", "(scale + 0.25) * net(")
    done = compare(original, project(tmp_path / "elsewhere", "migrated", wrong))
    assert done.returncode == 3, done.stderr
    notes = [event for event in run.last_events(parts(last_json(done))["comparison"]) if isinstance(event, Note)]
    (first,) = [note.args["name"] for note in notes if note.key == "precision.compare.found"]
    assert first == "Tensor.__rmul__.0.forward"


@needs_msprobe
def test_that_a_side_without_a_dump_is_a_failure_with_its_reason(tmp_path: Path) -> None:
    original = project(tmp_path, "original", TRAIN)
    done = compare(original, original)
    assert done.returncode == 1, done.stderr
    assert "left no dump, so nothing was compared" in done.stderr
    assert "Torch not compiled with CUDA enabled" in done.stderr


def test_that_a_rehearsal_reads_all_that_a_comparison_asks_of_it(tmp_path: Path) -> None:
    asked = schema.with_value(CompareSidesSpec(), "steps", 7)
    spec, wrong = schema.from_json(RehearseSpec, rehearsal_values(asked, "npu", ("python", "train.py"), tmp_path))
    assert not wrong
    assert (spec.rehearsal.steps, spec.rehearsal.stance) == (7, "npu")


def test_that_what_was_certified_is_compared(tmp_path: Path) -> None:
    certified = CertifySpec()
    for name, value in {"original": tmp_path, "line": ("python", "a.py"), "seed": 5, "steps": 1}.items():
        certified = schema.with_value(certified, name, value)
    compared = sides_of(certified)
    assert (compared.pair, compared.training) == (certified.pair, certified.training)
    assert (compared.proof.seed, compared.proof.steps) == (5, 1)
