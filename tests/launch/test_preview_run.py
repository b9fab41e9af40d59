"""`ascend-studio preview`: a run like every other, its answer readable, as JSON and as an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio import run as runs
from tests.command_line import last_json, studio


def test_that_the_best_splits_are_told_and_kept(tmp_path: Path) -> None:
    done = studio("preview", "--cards", "8", "--recomputation", "full", "--json", cwd=tmp_path)
    assert done.returncode == 0
    assert "Estimate for 6,738,415,616 parameters" in done.stderr
    assert "1. data " in done.stderr
    assert "5. data " in done.stderr
    told = last_json(done)
    run = runs.open_run(Path(told["run"]))
    kept = json.loads((run.folder / "artifacts" / "preview.json").read_text())
    best = kept["splits"][0]
    assert kept["is_estimate"] is True
    assert told["metrics"]["seconds"] == best["seconds"]
    assert told["metrics"]["data"] == best["split"]["data"]
    assert len(run.log.read_text().splitlines()) == 1 + len(kept["splits"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [(("--cards", "1"), "Nothing fits: a device may hold 57.60 GiB"),
     (("--network", "digits", "--cards", "3"), "No split over 3 devices suits this network")],
)  # fmt: skip
def test_that_no_is_an_answer(tmp_path: Path, words: tuple[str, ...], sentence: str) -> None:
    done = studio("preview", *words, "--json", cwd=tmp_path)
    assert done.returncode == 3
    assert sentence in done.stderr
    assert last_json(done)["metrics"] == {}


def test_that_a_wrong_part_is_wrong_use(tmp_path: Path) -> None:
    done = studio("preview", "--part", "nobody's", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("--part: There is no hardware 'nobody's' in the table. It has: atlas-800t-a2,")
