"""The code of two runs is compared: commits, and source files by their digests."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.config.code import code_part, uncovered_code
from studio import interpreters
from studio import run as runs
from studio.code import digests
from studio.code.digests import digests_of
from studio.code.record import keep_code_state

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.run import Run


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Run]:
    """Return what makes a run of a project of the given files."""

    def make(name: str, sources: dict[str, str], script: Path | None = None) -> Run:
        project = tmp_path / name
        for path, text in sources.items():
            (project / path).parent.mkdir(parents=True, exist_ok=True)
            (project / path).write_text(text)
        run = runs.create(tmp_path / f"runs {name}", "script", {}, project)
        keep_code_state(run.folder, project, interpreters.embedded(), script)
        return run

    return make


def rows(a: Run, b: Run) -> dict[str, str]:
    part = code_part(a.folder, b.folder)
    assert part is not None
    return {row.cells[0]: row.level for row in part.rows}


def keys(a: Run, b: Run) -> list[str]:
    return [sentence.key.rpartition(".")[2] for sentence in uncovered_code(a.folder, b.folder)]


def test_that_source_files_of_projects_without_git_are_compared(made: Callable[..., Run]) -> None:
    a = made("a", {"train.py": "scale = 1.02\n", "nn/model.py": "x\n"})
    b = made("b", {"train.py": "scale = 1.01\n", "nn/model.py": "x\n"})
    assert rows(a, b) == {"train.py": "warning", "source files": "pass"}
    assert keys(a, b) == []


def test_that_equal_projects_are_equal_and_say_how_many_files_that_is_of(made: Callable[..., Run]) -> None:
    a, b = made("a", {"train.py": "x\n", "run.sh": "y\n"}), made("b", {"train.py": "x\n", "run.sh": "y\n"})
    part = code_part(a.folder, b.folder)
    assert part is not None
    assert [row.cells for row in part.rows] == [("source files", "2", "2")]
    assert part.verdict == "pass"


def test_that_code_of_one_side_alone_counts_and_settings_that_a_training_wrote_do_not(made: Callable[..., Run]) -> None:
    a = made("a", {"train.py": "x\n"})
    b = made("b", {"train.py": "x\n", "extra.py": "y\n", "out/config.yaml": "z\n", "metrics.json": "{}"})
    assert rows(a, b) == {"extra.py": "warning", "source files": "pass"}


def test_that_settings_that_both_sides_have_are_compared(made: Callable[..., Run]) -> None:
    a, b = made("a", {"ds_config.json": '{"lr": 1}'}), made("b", {"ds_config.json": '{"lr": 2}'})
    assert rows(a, b) == {"ds_config.json": "warning"}


def test_that_a_script_outside_of_the_folder_is_compared(made: Callable[..., Run], tmp_path: Path) -> None:
    scripts = []
    for text in ("x", "y"):
        (tmp_path / text).mkdir()
        scripts.append(tmp_path / text / "train.py")
        scripts[-1].write_text(text)
    a, b = made("a", {"run.sh": "z\n"}, scripts[0]), made("b", {"run.sh": "z\n"}, scripts[1])
    assert rows(a, b) == {"train.py": "warning", "source files": "pass"}


def test_that_a_project_too_large_for_digests_is_uncovered(
    made: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "MAX_FILES", 2)
    a = made("a", {f"{number}.py": "x" for number in range(3)})
    b = made("b", {"0.py": "x"})
    assert keys(a, b) == ["code_unknown"]
    assert uncovered_code(a.folder, b.folder)[0].args == {"side": "A"}


@pytest.mark.parametrize(
    ("kept", "expected"),
    [
        ({}, ["code_unknown"]),
        ({"commit": "a" * 40, "dirty": False}, []),
        ({"commit": "a" * 40, "dirty": True}, ["code_unknown"]),
        ({"commit": "a" * 40, "dirty": None}, ["code_unknown"]),
        ({"sources": []}, ["code_unknown"]),
        ({"sources": {}}, []),
        ([], ["code_unknown"]),
    ],
)
def test_that_what_a_run_did_not_keep_of_its_code_is_uncovered(
    made: Callable[..., Run], kept: Any, expected: list[str]
) -> None:
    a, b = made("a", {"train.py": "x\n"}), made("b", {"train.py": "x\n"})
    (b.folder / "code.json").write_text(json.dumps(kept))
    assert keys(a, b) == expected


def test_that_a_file_that_cannot_be_read_is_uncovered(
    made: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(digests, "MAX_FILE_BYTES", 3)
    a, b = made("a", {"train.py": "long\n", "b.py": "x"}), made("b", {"train.py": "long\n", "b.py": "x"})
    assert keys(a, b) == ["code_unread"]
    assert uncovered_code(a.folder, b.folder)[0].args == {"count": 1, "files": "train.py"}


def test_that_links_to_folders_pipes_secrets_environments_and_hidden_folders_are_left_out(tmp_path: Path) -> None:
    for name in ("a.py", ".git/b.py", "venv/pyvenv.cfg", "venv/c.py", "client_secret.yaml", "node_modules/d.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "link.py").symlink_to(tmp_path / "a.py")
    (tmp_path / "broken.py").symlink_to(tmp_path / "nowhere")
    (tmp_path / "loop").symlink_to(tmp_path)
    assert list(digests_of(tmp_path) or {}) == ["a.py", "link.py"]


def test_that_names_that_are_no_text_are_kept(tmp_path: Path) -> None:
    (tmp_path / "训练 🚀\n.py").write_text("x")
    (tmp_path / os.fsdecode(b"\xff.py")).write_text("y")
    assert set(digests_of(tmp_path) or {}) == {"训练 🚀\n.py", "\\udcff.py"}
    keep_code_state(tmp_path, tmp_path, interpreters.embedded())
    assert set(json.loads((tmp_path / "code.json").read_text())["sources"]) == {"训练 🚀\n.py", "\\udcff.py"}


def test_that_no_start_waits_for_a_slow_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.py").write_text("x")
    monkeypatch.setattr(digests, "MAX_SECONDS", -1.0)
    assert digests_of(tmp_path) is None
