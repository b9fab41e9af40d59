"""Interpreters: which there are, and what they say, also those that crash, hang or print anything."""

from __future__ import annotations

import os
import signal
import sys
import venv
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio import interpreters
from studio.interpreters import Answer, discover, embedded, probe

if TYPE_CHECKING:
    from pathlib import Path

LONG = 300.0
REAL = "@ascend-studio "


def fake(folder: Path, text: str) -> Path:
    path = folder / "bin" / "python"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n" + text)
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing of this host's own environments."""
    for name in ("CONDA_PREFIX", "CONDA_ROOT", "CONDA_EXE", "PYENV_ROOT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    return tmp_path / "home"


def test_that_environments_are_found_wherever_they_are(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = tmp_path / "project"
    venv.create(project / "of-mine", with_pip=False, symlinks=True)
    listed, active, version = (fake(tmp_path / name, "") for name in ("conda/envs/a", "conda", "pyenv/versions/3.9.1"))
    newer = fake(tmp_path / "pyenv/versions/3.13.0", "")
    (home / ".conda").mkdir(parents=True)
    (home / ".conda" / "environments.txt").write_text(f"{tmp_path}/conda/envs/a\n{tmp_path}/gone\n\0\n")
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "python3.9").symlink_to(version)  # the same one
    (tmp_path / "path" / "python3-config").symlink_to(version)
    assert discover(project) == (project / "of-mine" / "bin" / "python", active, listed, newer, version, embedded())
    assert discover(None)[0] == active
    assert embedded() in discover(tmp_path / "no such project")


def test_that_finding_runs_nothing_and_stands_any_folder(tmp_path: Path) -> None:
    project = tmp_path / "project"
    touched = tmp_path / "touched"
    fake(project / ".venv", f"touch {touched}")
    (project / ".venv" / "pyvenv.cfg").write_text("")
    loop = project / "venv"
    loop.symlink_to(loop)
    assert discover(project)[0] == project / ".venv" / "bin" / "python"
    assert not touched.exists()


def test_that_the_real_one_says_what_it_has() -> None:
    answer = probe(embedded(), LONG)
    assert (answer.problem, answer.detail, answer.reasons) == ("", "", {})
    assert answer.python == ".".join(map(str, sys.version_info[:3]))
    known = interpreters.packages(embedded())
    assert answer.versions.keys() == {name for name in ("torch", "mindspore") if name in known}
    assert all(answer.versions[name].startswith(known[name].partition("+")[0]) for name in answer.versions)
    assert (answer.devices is not None) == ("torch" in answer.versions)


def environment_with(folder: Path, **modules: str) -> Path:
    """A real virtual environment whose torch, torch_npu and mindspore are these sources."""
    venv.create(folder, with_pip=False, symlinks=True)
    packages = next((folder / "lib").glob("python3*/site-packages"))
    for name, text in modules.items():
        (packages / f"{name}.py").write_text(text)
    return folder / "bin" / "python"


def test_that_an_import_that_crashes_takes_no_other_answer_with_it(tmp_path: Path) -> None:
    python = environment_with(
        tmp_path / "env",
        torch="__version__ = '2.1.0'\nclass npu:\n    device_count = staticmethod(lambda: 8)\nprint('noise', end='')",
        torch_npu="import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)",
        mindspore="raise RuntimeError('libascendcl.so is not there')",
    )
    answer = probe(python, LONG)
    assert answer == Answer(
        path=python, python=answer.python, versions={"torch": "2.1.0"}, devices=8,
        reasons={"torch_npu": "SIGSEGV", "mindspore": "RuntimeError: libascendcl.so is not there"},
    )  # fmt: skip


def test_that_an_import_that_hangs_is_ended_with_all_it_started(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    python = environment_with(
        tmp_path / "env", torch=f"import os, time\nopen({str(mark)!r}, 'w').write(str(os.getpid()))\ntime.sleep(600)"
    )
    answer = probe(python, 5)
    assert (answer.problem, answer.number, answer.versions) == ("hung", 5, {})
    if mark.exists():  # a loaded host may not have come so far
        assert answer.python
        with pytest.raises(ProcessLookupError):
            _until_gone(int(mark.read_text()))


def _until_gone(pid: int) -> None:
    for _ in range(2000):
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:  # noqa: PTH123
            if file.read().rpartition(")")[2].split()[0] == "Z":
                raise ProcessLookupError
        os.sched_yield()


def test_that_whatever_a_file_is_gets_an_answer(tmp_path: Path) -> None:
    assert probe(tmp_path / "gone").problem == "refused"
    assert probe(tmp_path).problem == "refused"
    path = fake(tmp_path / "a", "head -c 5000 /dev/urandom; exit 0")
    assert probe(path, LONG).problem == "garbage"
    answer = probe(fake(tmp_path / "b", "echo broken >&2; kill -SEGV $$"), LONG)
    assert (answer.problem, answer.number, answer.detail) == ("crashed", signal.SIGSEGV, "broken")
    answer = probe(fake(tmp_path / "c", "echo 'unknown option -I'; exit 2"), LONG)
    assert (answer.problem, answer.number, answer.detail) == ("crashed", 2, "unknown option -I")
    path = tmp_path / "no_program"
    path.write_bytes(b"\x7fELF\0\0")
    path.chmod(0o755)
    assert probe(path).problem == "refused"


def test_that_one_that_prints_without_end_fills_no_disk(tmp_path: Path) -> None:
    answer = probe(fake(tmp_path, "exec yes"), LONG)
    assert answer.problem in ("garbage", "crashed")
    assert len(answer.detail) <= 2000


def test_that_nothing_of_the_place_or_the_environment_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = environment_with(tmp_path / "env", torch="__version__ = 'installed'")
    (tmp_path / "torch.py").write_text("__version__ = 'of the folder'")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("PYTHONSTARTUP", str(tmp_path / "torch.py"))
    assert probe(python, LONG).versions == {"torch": "installed"}


@settings(max_examples=200, deadline=None)
@given(
    lines=st.lists(
        st.text(max_size=30)
        | st.sampled_from(["1", "null", '{"name": 1}', '{"name": "torch", "version": {}}', '{"devices": 0}', "["])
        .map(lambda text: REAL + text)
    ),
    code=st.integers(-64, 255), hung=st.integers(-1, 3),
)  # fmt: skip
def test_that_no_answer_raises(lines: list[str], code: int, hung: int) -> None:
    answer = interpreters._answer(embedded(), "\n".join(lines), code, hung)
    assert answer.problem in ("hung", "crashed", "garbage")
