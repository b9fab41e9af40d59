"""Copies to rehearse in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from backends.migration.certify import copies as copying
from backends.migration.certify import tree
from backends.migration.certify.copies import Copy, line_for_npu, line_in, relative_place
from backends.migration.certify.edits import edits
from studio.errors import StudioError


def made(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def copy_of(folder: Path, into: Path, line: tuple[str, ...] = (), linked: str = "") -> Copy:
    one, _ = copying.copies(folder, folder, into, linked)
    one.make(line)
    return one


def test_that_everything_is_copied_but_what_no_training_reads(tmp_path: Path) -> None:
    files = {"train.py": "a", "src/net.py": "b", ".git/config": "c", "src/__pycache__/net.pyc": "d", ".env": "e"}
    source = made(tmp_path / "project", files)
    (source / "empty").mkdir()
    os.mkfifo(source / "pipe")
    one = copy_of(source, tmp_path / "copies")
    found = sorted(path.relative_to(one.top).as_posix() for path in one.top.rglob("*"))
    assert found == [".env", "empty", "src", "src/net.py", "train.py"]
    (one.top / "train.py").write_text("written")
    assert (source / "train.py").read_text() == "a"


def test_that_links_lead_into_the_copy_or_to_where_they_led(tmp_path: Path) -> None:
    source = made(tmp_path / "project", {"train.py": "a", "deep/file": "b"})
    outside = made(tmp_path / "outside", {"data": "c"})
    (source / "deep" / "back").symlink_to("../train.py")
    (source / "whole").symlink_to(source / "train.py")
    (source / "out").symlink_to(outside)
    (source / "loop").symlink_to(".")
    (source / "broken").symlink_to("nothing")
    one = copy_of(source, tmp_path / "copies")
    assert (one.top / "deep" / "back").resolve() == (one.top / "train.py").resolve()
    assert (one.top / "whole").resolve() == (one.top / "train.py").resolve()
    assert (one.top / "out" / "data").read_text() == "c"
    assert (one.top / "loop").resolve() == one.top.resolve()
    assert (one.top / "broken").is_symlink()


def test_that_large_data_and_environments_are_linked_and_large_checkpoints_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tree, "LARGE", 4)
    files = {"big.tar": "12345", "big.pt": "12345", "small.tar": "1", "venv/pyvenv.cfg": "", "data/x": "1"}
    one = copy_of(made(tmp_path / "project", files), tmp_path / "copies", linked="data, missing")
    links = sorted(path.name for path in one.top.iterdir() if path.is_symlink())
    assert links == ["big.tar", "data", "venv"]


def test_that_what_the_code_or_the_line_names_beside_the_project_is_there(tmp_path: Path) -> None:
    source = made(tmp_path / "all" / "mnist", {"main.py": "MNIST('../data'); os.path.join('..', 'shared')"})
    made(tmp_path / "all", {"data/x": "1", "shared/x": "2", "weights.pt": "3", "private/x": "4"})
    one = copy_of(source, tmp_path / "copies", ("python", "main.py", "--load", "../weights.pt"))
    beside = sorted(path.name for path in one.top.parent.iterdir())
    assert beside == ["data", "mnist", "shared", "weights.pt"]
    assert (one.top / ".." / "data" / "x").read_text() == "1"


def test_that_a_migrated_project_finds_the_data_that_lies_beside_the_original(tmp_path: Path) -> None:
    original = made(tmp_path / "all" / "mnist", {"main.py": "'../data'"})
    made(tmp_path / "all", {"data/x": "1"})
    migrated = made(tmp_path / "out" / "mnist-npu", {"main.py": "'../data'"})
    _, one = copying.copies(original, migrated, tmp_path / "copies", "")
    one.make(())
    assert (one.top / ".." / "data" / "x").read_text() == "1"
    assert one.top.name == "mnist"


def test_that_a_project_in_the_other_is_left_out_of_its_copy(tmp_path: Path) -> None:
    original = made(tmp_path / "project", {"a.py": "", "npu/a.py": ""})
    one, other = copying.copies(original, original / "npu", tmp_path / "copies", "")
    one.make(())
    other.make(())
    assert [path.name for path in one.top.iterdir()] == ["a.py"]
    assert [path.name for path in other.top.iterdir()] == ["a.py"]


def test_that_a_disk_without_room_is_said_before_anything_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=copying.ROOM))
    with pytest.raises(StudioError) as error:
        copy_of(made(tmp_path / "project", {"a": "1"}), tmp_path / "copies")
    assert error.value.key == "migration.certify.no_room"
    assert not (tmp_path / "copies").exists()


def test_that_a_write_into_a_folder_is_seen(tmp_path: Path) -> None:
    source = made(tmp_path / "project", {"a": "1", "deep/b": "2"})
    before = tree.stamps(source)
    assert tree.stamps(source) == before
    (source / "deep" / "b").write_text("22")
    assert tree.stamps(source) != before


def test_that_the_line_starts_at_the_same_place_in_both() -> None:
    original, migrated = Path("/p/all"), Path("/p/all/out")
    assert relative_place(Path("/p/all/mnist"), original, migrated) == Path("mnist")
    assert relative_place(Path("/p/all/out/mnist"), original, migrated) == Path("mnist")
    assert relative_place(Path("/elsewhere"), original, migrated) == Path()
    assert relative_place(Path(), original, migrated) == Path()


def test_that_whole_paths_of_a_line_lead_into_the_copy() -> None:
    copy = Copy(source=Path("/p/a"), top=Path("/c/a"), other=Path("/p/a-npu"), linked=frozenset())
    line = ("python", "/p/a/train.py", "--out=/p/a-npu/out", "/p/a", "/p/ab", "x")
    tops = (Path("/p/a"), Path("/p/a-npu"))
    assert line_in(line, copy, tops) == ("python", "/c/a/train.py", "--out=/c/a/out", "/c/a", "/p/ab", "x")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("A=1 python cuda.py --cuda data/cuda cuda-x", "A=1 python cuda.py --cuda data/cuda cuda-x"),
        ("--device cuda:1 --device=cuda", "--device npu:1 --device=npu"),
        ("run.backend=nccl cpu:gloo,cuda:nccl", "run.backend=hccl cpu:gloo,npu:hccl"),
    ],
)
def test_that_a_line_for_an_npu_names_it_where_an_option_takes_a_device(words: str, expected: str) -> None:
    assert line_for_npu(tuple(words.split())) == tuple(expected.split())


NAMES = some.sampled_from(["a", "b.py", "c.txt", "d"])
PATHS = some.lists(NAMES, min_size=1, max_size=3).map("/".join)


@settings(deadline=None)
@given(files=some.dictionaries(PATHS, some.text(max_size=5), max_size=6))
def test_that_a_copy_has_no_edits_and_every_change_is_one(
    files: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("trees")
    source = folder / "project"
    source.mkdir()
    for name, text in files.items():
        path = source / name
        if path.is_dir() or any(one.is_file() for one in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
    one = copy_of(source, folder / "copies")
    assert edits(source, one.top) == ()
    (one.top / "new").write_text("x")
    changed = [path for path in sorted(one.top.rglob("*")) if path.is_file() and path.name != "new"][:1]
    for path in changed:
        path.write_text(path.read_text("utf-8") + "one\nmore\n", "utf-8")
    found = {edit.path: edit.how for edit in edits(source, one.top)}
    expected = {path.relative_to(one.top).as_posix(): "changed" for path in changed}
    assert found == expected | {"new": "added"}
