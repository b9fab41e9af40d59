"""Migrations from the command line, as a new user runs them: what is printed, how it ends, what a kill leaves."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from backends.migration.migrate.project_copy import unfinished_copy
from backends.migration.migrate.spec import Migrated, MigrateSpec, Result
from studio import run as runs
from studio import schema, worker
from studio.paths import MAIN, ROOT
from tests.command_line import last_json, studio
from tests.migration.plans import files_below, git, project
from tests.runs import ended, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

TRAIN = "import torch\nnet = torch.nn.Linear(4, 2).cuda()\nif x.device.type == 'cuda':\n    pass\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return project(tmp_path / "project", train__py=TRAIN, run__sh="python train.py --device cuda\n")


def migrate(where: Path, *words: str, language: str = "en") -> subprocess.CompletedProcess[str]:
    return studio("--no-project", "migrate", *words, cwd=where, language=language)


def test_that_a_copy_is_made_told_and_undone(tmp_path: Path, folder: Path) -> None:
    done = migrate(tmp_path, "project", "--style", "explicit", "--out", "migrated", "--json")
    answer = last_json(done)
    assert done.returncode == 0, done.stderr
    assert (answer["files"], answer["target"], answer["yours"]) == (2, str(tmp_path / "migrated"), 0)
    assert answer["after"]["edit"] == 0
    assert str(tmp_path / "migrated") in done.stderr
    text = (tmp_path / "migrated" / "train.py").read_text()
    ast.parse(text)
    assert ".to(DEVICE_TYPE)" in text
    assert (tmp_path / "migrated" / "run.sh").read_text() == "python train.py --device ${DEVICE_TYPE:-npu}\n"
    assert migrate(tmp_path, "--undo", answer["undo"]).returncode == 0
    assert files_below(tmp_path / "migrated") == files_below(folder)


def test_that_without_a_target_nothing_is_written_and_that_is_said(tmp_path: Path, folder: Path) -> None:
    before = files_below(folder)
    done = migrate(tmp_path, "project")
    assert done.returncode == 0
    assert "Nothing was written." in done.stderr
    assert files_below(folder) == before
    assert {path.name for path in tmp_path.iterdir()} <= {"project", "home"}


def test_that_a_branch_is_made_and_undone(tmp_path: Path, folder: Path) -> None:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    done = migrate(tmp_path, "project", "--branch", "npu", "--json")
    assert done.returncode == 0, done.stderr
    assert "transfer_to_npu" in git(folder, "show", "npu:train.py")
    assert migrate(tmp_path, "project", "--branch", "npu").returncode == 2
    assert migrate(tmp_path, "--undo", last_json(done)["undo"]).returncode == 0
    assert git(folder, "branch", "--list", "npu") == ""


WRONG = [
    (("project", "--out", "full"), "--out: {here}/full already exists. Choose a folder that does not."),
    (("project", "--out", "project/in"), "--out: {here}/project/in is inside the project. Choose a folder outside"),
    (("missing", "--out", "new"), "PATH: {here}/missing is not a folder."),
    (("project/train.py", "--out", "new"), "PATH: {here}/project/train.py is not a folder."),
    (("--out", "new"), "PATH: Which project? Name its folder."),
    (("project", "--style", "explicti"), "--style: 'explicti' is not one of: minimal, explicit."),
    (("project", "--branch", "npu"), "--branch: {here}/project is not in a git repository with a commit."),
    (("project", "--decisions", "missing"), "--decisions: {here}/missing is not a file."),
    (("--undo", "missing"), "There is no run missing in"),
]


@pytest.mark.parametrize(("words", "message"), WRONG)
def test_that_what_cannot_be_is_said_in_one_line_before_anything_runs(
    tmp_path: Path, folder: Path, words: tuple[str, ...], message: str
) -> None:
    project(tmp_path / "full", x="x")
    before = files_below(tmp_path)
    done = migrate(tmp_path, *words)
    assert done.returncode == 2
    assert [line.startswith(message.format(here=tmp_path)) for line in done.stderr.splitlines()] == [True], done.stderr
    assert files_below(tmp_path) == before


def test_that_a_target_that_cannot_be_written_ends_with_1_and_a_sentence(tmp_path: Path, folder: Path) -> None:
    done = migrate(tmp_path, "project", "--out", "/proc/migrated")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "Nothing was written." in done.stderr


# Root reads everything, unless it gives that up.
PLAIN = ("--inh-caps=-dac_override,-dac_read_search", "--bounding-set=-dac_override,-dac_read_search")
AS_ANYBODY = ("setpriv", *PLAIN) if os.geteuid() == 0 else ()


@pytest.mark.skipif(os.geteuid() == 0 and shutil.which("setpriv") is None, reason="root reads everything")
def test_that_a_file_that_cannot_be_read_is_named_and_no_copy_is_left(tmp_path: Path, folder: Path) -> None:
    (folder / "train.py").chmod(0)
    line = (*AS_ANYBODY, sys.executable, "-I", str(MAIN), "--no-project", "--language", "en")
    words = ("migrate", "project", "--out", "migrated")
    done = subprocess.run((*line, *words), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert f"{folder}/train.py: Permission denied." in done.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"project", "home"}


def begun(tmp_path: Path, spec: MigrateSpec) -> Run:
    (tmp_path / "runs").mkdir(exist_ok=True)
    return runs.create(tmp_path / "runs", "migrate", schema.to_json(spec), None)


# Stands in the worker's way at one call, once.
HALT = """
import json, os, sys, time
from pathlib import Path
{module} as module
original = module.{name}
calls = []
def halting(*args, **more):
    calls.append(1)
    if len(calls) == {after}:
        Path(sys.argv[1], "halted").touch()
        time.sleep(60)
    return original(*args, **more)
module.{name} = halting
from backends.migration import FEATURE
from studio.worker import work
work(Path(sys.argv[1]), (FEATURE,))
"""


def killed_in(run: Run, module: str, name: str, after: int = 1) -> None:
    """Run a real worker and kill it at the n-th call of a function."""
    code = HALT.format(module=module, name=name, after=after)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    child = subprocess.Popen([sys.executable, "-c", code, str(run.folder)], cwd=run.folder, env=environment)
    try:
        wait_for((run.folder / "halted").exists)
    finally:
        child.kill()
        child.wait()


def resume(run: Run) -> Any:
    assert runs.glance(run).state == "interrupted"
    worker.start(run)
    return ended(run)


COPY = "import backends.migration.migrate.project_copy"
WORK = "import backends.migration.migrate.work"


@pytest.mark.parametrize(
    ("module", "name", "after", "is_complete"),
    [(COPY, "_copy", 1, False), (COPY, "_write_into", 2, False), (WORK, "_with_states_after", 1, True)],
)
def test_that_a_migration_that_is_killed_is_whole_or_not_there_and_goes_on(
    tmp_path: Path, folder: Path, module: str, name: str, after: int, is_complete: bool
) -> None:
    before, target = files_below(folder), tmp_path / "copy"
    run = begun(tmp_path, MigrateSpec(migrated=Migrated(path=folder, style="explicit"), result=Result(into=target)))
    killed_in(run, module, name, after)
    assert target.exists() is is_complete
    assert resume(run).code == 0
    assert not unfinished_copy(target).exists()
    changes = json.loads((run.folder / "artifacts" / "changes.json").read_bytes())
    assert changes["target"] == str(target)
    assert len(changes["applied"]) == len(list(hunk for file in changes["files"] for hunk in file["hunks"]))
    assert files_below(folder) == before
    assert {path for path, data in files_below(target).items() if data != before[path]} == {"run.sh", "train.py"}


def test_that_a_migration_that_was_killed_half_way_can_be_undone_instead(tmp_path: Path, folder: Path) -> None:
    target = tmp_path / "copy"
    run = begun(tmp_path, MigrateSpec(migrated=Migrated(path=folder), result=Result(into=target)))
    killed_in(run, COPY, "_write_into")
    assert unfinished_copy(target).exists()
    undoing = begun(tmp_path, MigrateSpec(result=Result(undo=run.folder)))
    worker.start(undoing)
    assert ended(undoing).code == 0
    assert not unfinished_copy(target).exists()
    assert not target.exists()


def test_that_an_undo_that_is_killed_goes_on(tmp_path: Path, folder: Path) -> None:
    before, target = files_below(folder), tmp_path / "copy"
    (folder / "run.sh").chmod(0o755)
    run = begun(tmp_path, MigrateSpec(migrated=Migrated(path=folder), result=Result(into=target)))
    worker.start(run)
    assert ended(run).code == 0
    undoing = begun(tmp_path, MigrateSpec(result=Result(undo=run.folder)))
    killed_in(undoing, "import backends.migration.migrate.undo", "_restore", 2)
    assert files_below(target) != before
    assert resume(undoing).code == 0
    assert files_below(target) == before
    assert (target / "run.sh").stat().st_mode & 0o777 == 0o755


def test_that_a_branch_is_made_once_though_its_worker_is_killed(tmp_path: Path, folder: Path) -> None:
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "all")
    run = begun(tmp_path, MigrateSpec(migrated=Migrated(path=folder), result=Result(branch="npu")))
    killed_in(run, WORK, "_with_states_after")
    commit = git(folder, "rev-parse", "npu")
    assert resume(run).code == 0
    assert git(folder, "rev-parse", "npu") == commit
