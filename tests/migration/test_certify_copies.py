"""Copies of projects to rehearse in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from backends.migration.certify import copies as copying
from backends.migration.certify import project_files
from backends.migration.certify.copies import ProjectCopy, line_at, line_for_npu, relative_workdir
from backends.migration.certify.file_edits import compare_files
from studio.errors import StudioError


def make_project(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def copy_of(folder: Path, into: Path, line: tuple[str, ...] = (), linked: str = "") -> ProjectCopy:
    project_copy, _ = copying.make_copies(folder, folder, into, linked)
    project_copy.make(line)
    return project_copy


def test_that_everything_is_copied_but_what_no_training_reads(tmp_path: Path) -> None:
    files = {"train.py": "a", "src/net.py": "b", ".git/config": "c", "src/__pycache__/net.pyc": "d", ".env": "e"}
    source = make_project(tmp_path / "project", files)
    (source / "empty").mkdir()
    os.mkfifo(source / "pipe")
    project_copy = copy_of(source, tmp_path / "copies")
    copied = sorted(path.relative_to(project_copy.top).as_posix() for path in project_copy.top.rglob("*"))
    assert copied == [".env", "empty", "src", "src/net.py", "train.py"]
    (project_copy.top / "train.py").write_text("written")
    assert (source / "train.py").read_text() == "a"


def test_that_links_lead_into_the_copy_or_to_where_they_led(tmp_path: Path) -> None:
    source = make_project(tmp_path / "project", {"train.py": "a", "deep/file": "b"})
    outside = make_project(tmp_path / "outside", {"data": "c"})
    (source / "deep" / "back").symlink_to("../train.py")
    (source / "whole").symlink_to(source / "train.py")
    (source / "out").symlink_to(outside)
    (source / "loop").symlink_to(".")
    (source / "broken").symlink_to("nothing")
    project_copy = copy_of(source, tmp_path / "copies")
    assert (project_copy.top / "deep" / "back").resolve() == (project_copy.top / "train.py").resolve()
    assert (project_copy.top / "whole").resolve() == (project_copy.top / "train.py").resolve()
    assert (project_copy.top / "out" / "data").read_text() == "c"
    assert (project_copy.top / "loop").resolve() == project_copy.top.resolve()
    assert (project_copy.top / "broken").is_symlink()


def test_that_large_data_and_environments_are_linked_and_large_checkpoints_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_files, "MIN_LINKED_BYTES", 4)
    files = {"big.tar": "12345", "big.pt": "12345", "small.tar": "1", "venv/pyvenv.cfg": "", "data/x": "1"}
    project_copy = copy_of(make_project(tmp_path / "project", files), tmp_path / "copies", linked="data, missing")
    links = sorted(path.name for path in project_copy.top.iterdir() if path.is_symlink())
    assert links == ["big.tar", "data", "venv"]


def test_that_what_the_code_or_the_line_names_beside_the_project_is_there(tmp_path: Path) -> None:
    source = make_project(tmp_path / "all" / "mnist", {"main.py": "MNIST('../data'); os.path.join('..', 'shared')"})
    make_project(tmp_path / "all", {"data/x": "1", "shared/x": "2", "weights.pt": "3", "private/x": "4"})
    project_copy = copy_of(source, tmp_path / "copies", ("python", "main.py", "--load", "../weights.pt"))
    neighbours = sorted(path.name for path in project_copy.top.parent.iterdir())
    assert neighbours == ["data", "mnist", "shared", "weights.pt"]
    assert (project_copy.top / ".." / "data" / "x").read_text() == "1"


def test_that_a_migrated_project_finds_the_data_that_lies_beside_the_original(tmp_path: Path) -> None:
    original = make_project(tmp_path / "all" / "mnist", {"main.py": "'../data'"})
    make_project(tmp_path / "all", {"data/x": "1"})
    migrated = make_project(tmp_path / "out" / "mnist-npu", {"main.py": "'../data'"})
    _, migrated_copy = copying.make_copies(original, migrated, tmp_path / "copies", "")
    migrated_copy.make(())
    assert (migrated_copy.top / ".." / "data" / "x").read_text() == "1"
    assert migrated_copy.top.name == "mnist"


def test_that_a_project_in_the_other_is_left_out_of_its_copy(tmp_path: Path) -> None:
    original = make_project(tmp_path / "project", {"a.py": "", "npu/a.py": ""})
    original_copy, migrated_copy = copying.make_copies(original, original / "npu", tmp_path / "copies", "")
    original_copy.make(())
    migrated_copy.make(())
    assert [path.name for path in original_copy.top.iterdir()] == ["a.py"]
    assert [path.name for path in migrated_copy.top.iterdir()] == ["a.py"]


def test_that_a_disk_without_room_is_said_before_anything_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=copying.RESERVED_BYTES))
    with pytest.raises(StudioError) as error:
        copy_of(make_project(tmp_path / "project", {"a": "1"}), tmp_path / "copies")
    assert error.value.key == "migration.certify.no_room"
    assert not (tmp_path / "copies").exists()


def test_that_a_write_into_a_folder_is_seen(tmp_path: Path) -> None:
    source = make_project(tmp_path / "project", {"a": "1", "deep/b": "2"})
    before = project_files.file_stamps(source)
    assert project_files.file_stamps(source) == before
    (source / "deep" / "b").write_text("22")
    assert project_files.file_stamps(source) != before


def test_that_the_line_starts_at_the_same_place_in_both() -> None:
    original, migrated = Path("/p/all"), Path("/p/all/out")
    assert relative_workdir(Path("/p/all/mnist"), original, migrated) == Path("mnist")
    assert relative_workdir(Path("/p/all/out/mnist"), original, migrated) == Path("mnist")
    assert relative_workdir(Path("/elsewhere"), original, migrated) == Path()
    assert relative_workdir(Path(), original, migrated) == Path()


def test_that_whole_paths_of_a_line_lead_into_the_copy() -> None:
    copy = ProjectCopy(source=Path("/p/a"), top=Path("/c/a"), other=Path("/p/a-npu"), linked=frozenset())
    line = ("python", "/p/a/train.py", "--out=/p/a-npu/out", "/p/a", "/p/ab", "x")
    tops = (Path("/p/a"), Path("/p/a-npu"))
    assert line_at(line, copy.top, tops) == ("python", "/c/a/train.py", "--out=/c/a/out", "/c/a", "/p/ab", "x")


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
        if path.is_dir() or any(parent.is_file() for parent in path.parents):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="")
    one = copy_of(source, folder / "copies")
    assert compare_files(source, one.top) == ()
    (one.top / "new").write_text("x")
    changed = [path for path in sorted(one.top.rglob("*")) if path.is_file() and path.name != "new"][:1]
    for path in changed:
        path.write_text(path.read_text("utf-8") + "one\nmore\n", "utf-8")
    edits = {edit.path: edit.how for edit in compare_files(source, one.top)}
    expected = {path.relative_to(one.top).as_posix(): "changed" for path in changed}
    assert edits == expected | {"new": "added"}
