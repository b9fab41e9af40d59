"""Which files a scan reads, whatever lies in a project's folder."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.migration.scan.project_files import SkippedFile, SourceFile, walk_project


def entries(folder: Path) -> list[str]:
    return [file.path for file in walk_project(folder) if isinstance(file, SourceFile)]


def notes(folder: Path) -> dict[str, str]:
    return {file.path: file.key for file in walk_project(folder) if isinstance(file, SkippedFile)}


def put(path: Path, text: str = "x = 1\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_that_sources_come_in_one_order_with_slashes(tmp_path: Path) -> None:
    for name in ("train.py", "a/b/c.py", "a/z.sh", "b.yaml", "Dockerfile", "notes.md", "weights.bin", "t.ipynb"):
        put(tmp_path / name)
    found = [(file.path, file.kind) for file in walk_project(tmp_path) if isinstance(file, SourceFile)]
    assert found == [
        ("Dockerfile", "dockerfile"), ("b.yaml", "config"), ("t.ipynb", "notebook"), ("train.py", "python"),
        ("a/z.sh", "shell"), ("a/b/c.py", "python"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "inside",
    [".git/hooks/x.py", "node_modules/a/x.py", "__pycache__/x.py", ".ascend-studio/x.py", "pkg.egg-info/x.py"],
)
def test_that_what_nobody_wrote_is_left_out(tmp_path: Path, inside: str) -> None:
    put(tmp_path / inside)
    put(tmp_path / "own.py")
    assert entries(tmp_path) == ["own.py"]


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history"])
def test_that_an_environment_is_left_out_whatever_it_is_called(tmp_path: Path, mark: str) -> None:
    put(tmp_path / "my tools" / mark)
    put(tmp_path / "my tools" / "lib" / "x.py")
    assert entries(tmp_path) == []


def test_that_a_build_is_left_out_but_a_folder_of_that_name_with_sources_is_read(tmp_path: Path) -> None:
    put(tmp_path / "build" / "lib.linux-x86_64-cpython-311" / "x.py")
    put(tmp_path / "tools" / "build" / "docker.py")
    assert entries(tmp_path) == ["tools/build/docker.py"]


def test_that_a_script_without_an_ending_is_known_by_its_first_line(tmp_path: Path) -> None:
    put(tmp_path / "launch", "#!/usr/bin/env bash\nnvidia-smi\n")
    put(tmp_path / "tool", "#!/usr/bin/python3\n")
    put(tmp_path / "LICENSE", "Copyright\n")
    assert [(file.path, file.kind) for file in walk_project(tmp_path) if isinstance(file, SourceFile)] == [
        ("launch", "shell"),
        ("tool", "python"),
    ]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("Dockerfile.ci.lts", "dockerfile"), ("docker-compose.yml", "config"), ("job.slurm", "shell"),
        (".env", "shell"), ("requirements/npu.txt", "requirements"), ("dev-requirements.txt", "requirements"), 
        ("RUN.SH", "shell"),
        ("GNUmakefile", "makefile"), ("kernel.cuh", "cpp"), ("setup.cfg", "config"), ("fast.pyx", "python"),
    ],
)  # fmt: skip
def test_that_a_file_is_known_by_its_name(tmp_path: Path, name: str, kind: str) -> None:
    put(tmp_path / name)
    assert [(file.path, file.kind) for file in walk_project(tmp_path) if isinstance(file, SourceFile)] == [(name, kind)]


@pytest.mark.parametrize("name", ["poetry.lock", "package-lock.json", "notes.txt", "readme.md", "a.jsonl", "x.csv"])
def test_that_what_is_no_source_is_not_read(tmp_path: Path, name: str) -> None:
    put(tmp_path / name)
    assert entries(tmp_path) == []


def test_that_links_in_a_circle_end(tmp_path: Path) -> None:
    put(tmp_path / "a" / "x.py")
    (tmp_path / "a" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "a" / "self").symlink_to("self")
    (tmp_path / "a" / "y.py").symlink_to("x.py")
    assert entries(tmp_path) == ["a/x.py"]
    assert notes(tmp_path) == {}


def test_that_a_link_out_of_the_project_is_told_and_not_followed(tmp_path: Path) -> None:
    put(tmp_path / "other" / "x.py")
    put(tmp_path / "project" / "own.py")
    (tmp_path / "project" / "shared").symlink_to(tmp_path / "other")
    (tmp_path / "project" / "z.py").symlink_to(tmp_path / "other" / "x.py")
    assert entries(tmp_path / "project") == ["own.py"]
    assert notes(tmp_path / "project") == {"shared": "migration.note.link", "z.py": "migration.note.link"}


def test_that_a_project_reached_through_a_link_is_read(tmp_path: Path) -> None:
    put(tmp_path / "real" / "x.py")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert entries(tmp_path / "link") == ["x.py"]


def test_that_pipes_and_sockets_are_told_and_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    monkeypatch.chdir(tmp_path)  # the path of a socket is short
    with socket.socket(socket.AF_UNIX) as file:
        file.bind("socket.sh")
    os.mkfifo(tmp_path / "pipe")
    assert notes(tmp_path) == {"pipe.py": "migration.note.no_file", "socket.sh": "migration.note.no_file"}


def test_that_a_file_of_100_mb_is_told_and_not_read(tmp_path: Path) -> None:
    with (tmp_path / "big.py").open("wb") as file:
        file.truncate(100_000_000)
    assert entries(tmp_path) == []
    assert notes(tmp_path) == {"big.py": "migration.note.too_large"}


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_that_an_unreadable_folder_is_told(tmp_path: Path) -> None:
    put(tmp_path / "closed" / "x.py")
    (tmp_path / "closed").chmod(0)
    assert notes(tmp_path) == {"closed/": "migration.note.unreadable"}
    (tmp_path / "closed").chmod(0o700)


def test_that_a_folder_that_is_gone_is_told(tmp_path: Path) -> None:
    assert notes(tmp_path / "gone") == {".": "migration.note.unreadable"}


def test_that_a_folder_that_vanishes_meanwhile_is_told(tmp_path: Path) -> None:
    put(tmp_path / "a.py")
    put(tmp_path / "b" / "x.py")
    found = walk_project(tmp_path)
    assert next(found).path == "a.py"
    (tmp_path / "b" / "x.py").unlink()
    (tmp_path / "b").rmdir()
    assert [file.key for file in found if isinstance(file, SkippedFile)] == ["migration.note.unreadable"]


def test_that_names_of_any_bytes_become_texts_that_json_can_hold(tmp_path: Path) -> None:
    for name in ("new\nline.py", "emoji-😀.py", 'quote".py', "中文.py"):
        put(tmp_path / name)
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.py"))).write_bytes(b"")
    found = [file for file in walk_project(tmp_path) if isinstance(file, SourceFile)]
    assert {file.path for file in found} == {"new\nline.py", "emoji-😀.py", 'quote".py', "中文.py", "caf\\xe9.py"}
    assert all(file.path.encode("utf-8") and Path(file.real).exists() for file in found)


NAMES = st.text(
    st.characters(blacklist_characters="/\0", blacklist_categories=("Cs",)), min_size=1, max_size=12
).filter(lambda name: name not in (".", ".."))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(NAMES, st.sampled_from([".py", ".sh", "", ".json", "/"])), max_size=8), st.booleans())
def test_that_any_tree_is_walked_twice_alike(
    tmp_path_factory: pytest.TempPathFactory, made: list[tuple[str, str]], linked: bool
) -> None:
    folder = tmp_path_factory.mktemp("tree")
    inner = folder
    for name, ending in made:
        try:
            if ending == "/":
                (inner / name).mkdir(exist_ok=True)
                inner = inner / name
            else:
                (inner / (name + ending)).write_bytes(name.encode())
        except OSError:  # the same name as a file, or too long
            continue
    if linked:
        (inner / "up").symlink_to(folder)
    found = list(walk_project(folder))
    assert found == list(walk_project(folder))
    assert len({file.path for file in found}) == len(found)
