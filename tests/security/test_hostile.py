"""A part of `prove trust`: commands that meet what somebody else made, and the counting itself."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from studio import files
from studio import run as runs
from studio.errors import StudioError
from studio.paths import ROOT
from tests.prove.support.hostile.cases import cases
from tests.prove.support.hostile.trial import COUNTS, Case, Place, Trap, run_case
from tests.runs import prepare

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = (
    "watch · run: dead worker",
    "watch · run: training is a living process",
    "watch · run: link at worker.log",
    "watch · run: own, run.json rewritten",
    "watch · run: own, writable by the group",
    "watch · run: own, in a restricted project",
    "watch · run: escapes",
    "watch --take-over · run: dead worker",
    "watch --take-over · run: training is marked, of another user",
    "watch --take-over · run: links to nothing yet",
    "stop · run: worker is a living process",
    "stop · run: deep request",
    "log · run: escapes",
    "log · run: pipes instead of files",
    "runs · run: run.json is a pipe",
    "runs · run: deep request",
    "capture · run: link at capture.json",
    "compare-weights · weights: object.npy",
    "timeline · profile: names",
    "config-check · pack: members out",
    "migrate --undo · record: target outside",
    "migrate --undo · record: path out",
    "scan · project: build files",
    "launch -- true · project: modules of our names",
    "launch -- true · project: environments",
    "launch -- true · project: our folder is a link",
    "launch -- true · project: .gitignore is a link",
)
EVERYTHING = """
import os, pickle, signal, subprocess, sys
print("\\x1b]0;title\\x07")
subprocess.run(sys.argv[1:3])
os.kill(int(sys.argv[3]), signal.SIGUSR1)
open(sys.argv[4], "a").write("more")
pickle.loads(open(sys.argv[5], "rb").read())
raise ValueError("broken")
"""


@pytest.fixture
def root() -> Iterator[Path]:
    """A folder that other users may enter."""
    with tempfile.TemporaryDirectory(prefix="hostile-", dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name) / "case"


@pytest.mark.parametrize("name", NAMES)
def test_that_what_somebody_else_made_is_data(root: Path, name: str) -> None:
    (case,) = (case for case in cases() if case.name == name)
    outcome = run_case(case, root, ROOT)
    assert {count: getattr(outcome, count) for count in COUNTS} == dict.fromkeys(COUNTS, ()), outcome.output
    assert outcome.is_armed is not False


def test_that_whatever_is_done_is_counted(root: Path) -> None:
    def build(place: Place) -> Trap:
        script = place.script(place.hostile / "script")
        pickled = place.hostile / "pickle"
        pickled.write_bytes(b"cposix\ngetpid\n(tR.")
        pid = place.bystander()
        words = ("-c", EVERYTHING, "/bin/sh", str(script), str(pid), str(place.outside / "profile"), str(pickled))
        return Trap(words=words, cwd=place.hostile)

    outcome = run_case(Case(command="", material="", build=build), root, ROOT)
    assert [count for count in COUNTS if not getattr(outcome, count)] == [], outcome.output
    assert outcome.executed[0] == "canary script"


def test_that_the_trash_is_not_a_link(tmp_path: Path) -> None:
    folder = tmp_path / "project" / "runs"
    run = prepare(folder)
    (tmp_path / "outside" / "file").mkdir(parents=True)
    (folder.parent / "trash").symlink_to(tmp_path / "outside")
    assert runs.empty_trash(folder) == 0
    with pytest.raises(StudioError, match="symbolic link"):
        runs.trash(run)
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["file"]


def test_that_a_cache_that_others_could_have_written_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "numba"
    assert files.make_own_folder(folder)
    assert folder.stat().st_mode & 0o777 == 0o700
    (tmp_path / "link").symlink_to(folder)
    assert not files.make_own_folder(tmp_path / "link")
    folder.parent.chmod(0o777)
    assert not files.make_own_folder(folder)
    folder.parent.chmod(0o1777)
    assert files.make_own_folder(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_that_a_cache_with_a_file_of_another_user_is_not_used(tmp_path: Path) -> None:
    (tmp_path / "numba").mkdir()
    (tmp_path / "numba" / "x.nbi").touch()
    os.chown(tmp_path / "numba" / "x.nbi", 65534, 65534)
    assert not files.make_own_folder(tmp_path / "numba")


def test_that_reading_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert files.read_json(tmp_path / "pipe") is None
    with pytest.raises(OSError, match="Invalid"):
        files.read_bytes(tmp_path / "pipe")
