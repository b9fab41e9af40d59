"""The plain folder that a dump is made in where msprobe refuses the run's own."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from studio.paths import GUEST
from tests.guest.capturing import ODD, TORCH, Training, small_disk
from tests.runs import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator

HOLDS = """
import sys, time
from ascend_studio import captures_folder
captures_folder.is_refused = lambda path: False
print(captures_folder.working(sys.argv[1], 0), flush=True)
time.sleep(600)
"""


@pytest.fixture
def folders(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The guest's module, as a training's process has it."""
    monkeypatch.syspath_prepend(str(GUEST))
    from ascend_studio import captures_folder

    monkeypatch.setattr(captures_folder, "_own", None)
    monkeypatch.setattr(captures_folder, "is_refused", lambda path: not re.match(r"^[a-zA-Z0-9_.:/-]+$", path))
    yield captures_folder
    captures_folder.leave()


@pytest.fixture
def cache(homes: Path) -> Path:
    return homes / "cache" / "ascend-studio" / "captures"


def dumped(folder: Path, step: int, rank: str, tensors: int = 2, byte_count: int = 1000) -> Path:
    made = folder / f"step{step}" / rank
    (made / "dump_tensor_data").mkdir(parents=True)
    for number in range(tensors):
        (made / "dump_tensor_data" / f"{number}.pt").write_bytes(os.urandom(byte_count))
    head = {"task": "tensor", "dump_data_dir": str(made / "dump_tensor_data"), "data": {"a" * 100_000: {}}}
    (made / "dump.json").write_text(json.dumps(head))
    return made


def test_that_the_dumps_of_two_ranks_meet_in_the_run_and_say_where_they_are(folders: Any, tmp_path: Path) -> None:
    run = tmp_path / ODD
    for rank in range(2):
        for step in (3, 4):
            dumped(tmp_path / str(rank), step, f"rank{rank}")
        folders.move_steps(str(tmp_path / str(rank)), str(run), 0)
    found = sorted(run.rglob("dump.json"))
    assert [str(path.parent.relative_to(run)) for path in found] == [
        "step3/rank0", "step3/rank1", "step4/rank0", "step4/rank1"
    ]  # fmt: skip
    for path in found:
        told = json.loads(path.read_text())
        assert told["dump_data_dir"] == str(path.parent / "dump_tensor_data")
        assert list(told["data"]) == ["a" * 100_000]
        assert sorted(one.name for one in path.parent.iterdir()) == ["dump.json", "dump_tensor_data"]
    assert not list((tmp_path / "0").iterdir())


def test_that_a_dump_goes_to_another_disk_whole_or_not_at_all(folders: Any, tmp_path: Path) -> None:
    from ascend_studio import captures

    with small_disk(tmp_path / "disk", 3_000_000) as disk:
        dumped(tmp_path / "one", 1, "proc7", byte_count=500_000)
        folders.move_steps(str(tmp_path / "one"), str(disk / ODD), 0)
        assert len(list(disk.rglob("*.pt"))) == 2
        assert not list((tmp_path / "one").rglob("*.pt"))

        kept = dumped(tmp_path / "two", 2, "proc7", byte_count=900_000)
        with pytest.raises(captures.Refused) as refused:
            folders.move_steps(str(tmp_path / "two"), str(disk / ODD), 1_000_000)
        assert (refused.value.rule, refused.value.args_of_rule["wanted"]) == ("capture.no_space", "2.9 MB")
        (kept / "dump.json").unlink()
        (kept / "dump.json").mkdir()  # which a copy cannot read
        with pytest.raises(OSError, match=r"dump\.json"):
            folders.move_steps(str(tmp_path / "two"), str(disk / ODD), 0)
        assert [path.parent.name for path in disk.rglob("proc7")] == ["step1"]
        assert len(list(kept.rglob("*.pt"))) == 2


def test_that_what_a_killed_process_left_is_cleared_and_what_another_works_in_is_not(
    folders: Any, tmp_path: Path, cache: Path
) -> None:
    env = {**os.environ, "PYTHONPATH": str(GUEST)}
    line = (sys.executable, "-c", HOLDS, str(tmp_path))
    children = [subprocess.Popen(line, env=env, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        held = [child.stdout.readline().strip() for child in children if child.stdout]
        assert len(set(held)) == 2
        children[0].send_signal(signal.SIGKILL)
        children[0].wait()
        foreign, unlocked, made = (cache / f"{folders.PREFIX}{one}" for one in ("foreign", "unlocked", "made"))
        for one in (foreign, unlocked, made):
            one.mkdir()
        (foreign / "lock").write_text("another boot")
        os.utime(unlocked, (1, 1))
        (cache / f"{folders.PREFIX}link").symlink_to(tmp_path)
        own = folders.working(str(tmp_path), 0)
        assert {path.name for path in cache.iterdir()} == {
            *(Path(one).name for one in (held[1], own)), foreign.name, made.name, f"{folders.PREFIX}link"
        }  # fmt: skip
        assert Path(own).stat().st_mode & 0o777 == 0o700
        os.utime(foreign, (time.time() - folders.OTHERS - 60,) * 2)
        folders._clear(str(cache))
        assert not foreign.exists()
        assert Path(own).is_dir(), "our own lock is held too"
        assert folders.working(str(tmp_path), 0) == own
    finally:
        for child in children:
            child.kill()
            child.communicate()


def test_that_a_folder_that_was_cleared_away_is_made_again(folders: Any, tmp_path: Path) -> None:
    own = folders.working(str(tmp_path), 0)
    folders.leave()
    assert folders.working(str(tmp_path), 0) == own
    assert [one.name for one in Path(own).iterdir()] == ["lock"]


def test_that_a_folder_of_everybodys_a_link_and_one_that_msprobe_refuses_are_not_written_to(
    folders: Any, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / ODD))
    assert not folders.working(str(tmp_path), 0).startswith(str(tmp_path / ODD))
    folders.leave()
    monkeypatch.setattr(folders, "_own", None)
    open_to_all, there, link = tmp_path / "all", tmp_path / "there", tmp_path / "link"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    there.mkdir()
    link.symlink_to(there)
    monkeypatch.setattr(folders, "_parents", lambda: [str(open_to_all), str(tmp_path / "gone")])
    from ascend_studio import captures

    with pytest.raises(captures.Refused) as refused:
        folders.working(str(tmp_path), 0)
    assert refused.value.rule == "capture.no_plain_folder"
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CACHE_HOME", str(link))
    assert folders._parents()[0] == str(there / "ascend-studio" / "captures")


def test_that_a_dump_that_is_killed_leaves_only_whole_steps_in_the_run(tmp_path: Path, cache: Path) -> None:
    training = Training(tmp_path / ODD, TORCH, "16")
    id = training.ask(kind="dump", steps=100_000, task="tensor", level="mix")
    wait_for(lambda: (found := training.rank(id)) and found.done > 2, id)
    training.child.kill()
    training.child.wait()
    dumps = sorted((tmp_path / ODD).rglob("dump.json"))
    assert len(dumps) >= 2
    for path in dumps:
        told = json.loads(path.read_text())
        names = {one["data_name"] for entry in told["data"].values() for one in entry.get("output", []) if one}
        assert names <= {one.name for one in (path.parent / "dump_tensor_data").iterdir()}
        assert told["dump_data_dir"] == str(path.parent / "dump_tensor_data")
    (left,) = cache.iterdir()
    again = Training(tmp_path / ODD, TORCH, "16", ASCEND_STUDIO_ATTEMPT="2")
    assert again.capture(id="next", kind="dump").state == "done"
    assert not left.exists(), "cleared by the next capture"
    assert again.finish() == 0
    assert not list(cache.iterdir())
