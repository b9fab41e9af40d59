"""What is dragged onto the window is recognised by names alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ui.shell.dropped_path import recognise

if TYPE_CHECKING:
    from pathlib import Path


def made(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize("inside", ["", "run.json", "output.log", "artifacts/step-600/weights.ckpt"])
def test_that_a_run_is_recognised_by_itself_and_by_its_files(tmp_path: Path, inside: str) -> None:
    run = made(tmp_path / "r", "run.json", "output.log", "artifacts/step-600/weights.ckpt")
    found = recognise(run / inside)
    assert (found.kind, found.folder) == ("run", run)


@pytest.mark.parametrize("name", ["train.py", "src/train.py", "requirements.txt", "notes.ipynb", ".ascend-studio/x"])
def test_that_a_folder_with_code_is_a_project(tmp_path: Path, name: str) -> None:
    folder = made(tmp_path / "项目 p\n😀", name)
    found = recognise(folder)
    assert (found.kind, found.folder) == ("project", folder)


def test_that_our_own_folder_stands_for_its_project(tmp_path: Path) -> None:
    folder = made(tmp_path / "p", ".ascend-studio/runs/.gitignore")
    assert recognise(folder / ".ascend-studio" / "runs").folder == folder


def test_that_a_script_stands_for_the_project_around_it(tmp_path: Path) -> None:
    folder = made(tmp_path / "p", ".ascend-studio/x", "src/train.py")
    assert recognise(folder / "src" / "train.py").folder == folder


@pytest.mark.parametrize("dropped", ["", "step0", "step0/rank0", "step0/rank0/dump.json"])
def test_that_a_dump_is_recognised_by_any_of_its_folders(tmp_path: Path, dropped: str) -> None:
    folder = made(tmp_path / "brought 中文", "step0/rank0/dump.json", "step0/rank0/stack.json", "step1/rank/dump.json")
    found = recognise(folder / dropped)
    assert (found.kind, found.folder) == ("dump", folder / dropped)


def test_that_a_dump_among_the_files_of_a_run_is_that_run(tmp_path: Path) -> None:
    run = made(tmp_path / "r", "run.json", "artifacts/captures/1/step0/proc7/dump.json")
    assert recognise(run / "artifacts").kind == "run"


def test_that_a_project_with_a_dump_in_it_stays_a_project(tmp_path: Path) -> None:
    assert recognise(made(tmp_path / "p", "train.py", "dumps/step0/rank/dump.json")).kind == "project"


@pytest.mark.parametrize("name", ["a.zip", "empty"])
def test_that_other_things_are_unknown(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "a.zip").touch()
    assert recognise(tmp_path / name).kind == "unknown"


def test_that_a_path_of_another_host_is_missing(tmp_path: Path) -> None:
    assert recognise(tmp_path / "gone").kind == "missing"


@pytest.mark.parametrize("name", ["analysis.db", "cluster_analysis.db", "communication_analyzer.db"])
def test_that_an_analysis_of_a_profile_is_one(tmp_path: Path, name: str) -> None:
    folder = made(tmp_path / "cluster_analysis_output", name)
    assert recognise(folder).kind == recognise(folder / name).kind == "profile"
    assert recognise(made(tmp_path, "other.db") / "other.db").kind == "unknown"


@pytest.mark.parametrize("name", ["kernel_details.csv", "op_summary_20260101.csv", "communication.json"])
def test_that_a_table_of_a_profile_is_one_without_a_trace(tmp_path: Path, name: str) -> None:
    assert recognise(made(tmp_path, name) / name).kind == "profile"


@pytest.mark.parametrize("name", ["data.csv", "package.json"])
def test_that_other_tables_are_none(tmp_path: Path, name: str) -> None:
    assert recognise(made(tmp_path, name) / name).kind == "unknown"
