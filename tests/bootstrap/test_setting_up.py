"""bootstrap.py as a child, in folders of its own, with a pip that only says that it was called."""

from __future__ import annotations

import fcntl
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bootstrap
from studio.paths import ROOT
from studio.setup import launcher, pythons, system
from studio.setup.messages import Refused
from tests.runs import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

HOSTILE = "a 'b' \"c\" $d 中文\n[e]"
BASE_PYTHON = getattr(sys, "_base_executable", sys.executable)
STUB = "import sys\nprint('studio', sys.argv[1:])\n"
PYPROJECT = '[project]\ndependencies = ["thing>=1"]\n\n[project.optional-dependencies]\n'
PYPROJECT += 'mindspore = ["thing"]\ntools = ["thing"]\n'
PYPROJECT += 'torch = ["torch==2.13.0"]\nfast = ["thing"]\ndev = ["thing"]\n'


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return project(tmp_path / "studio folder")


def project(folder: Path) -> Path:
    (folder / "studio").mkdir(parents=True)
    shutil.copy(ROOT / "bootstrap.py", folder)
    for part in ("studio/setup", "assets/setup"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "pyproject.toml").write_text(PYPROJECT)
    (folder / "studio/__init__.py").touch()
    (folder / "studio/__main__.py").write_text(STUB)
    return folder


def bootstrap_in(root: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", root / "bootstrap.py", *words],
        cwd=root,
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8", "HOME": str(root), **env},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def set_up(root: Path, stamp: Mapping[str, object] | None = None) -> Path:
    """A finished environment, as bootstrap.py would have left it, but without pip and without packages."""
    venv = root / ".venv"
    subprocess.run([BASE_PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    site = Path(bootstrap.site_packages(str(venv), sys.version_info[:2]))
    (site / "ascend_studio_root.pth").write_text(launcher.path_line(str(root)), encoding="ascii")
    (venv / "bin/ascend-studio").write_text(launcher.launcher(str(root)), encoding="utf-8")
    (venv / "bin/ascend-studio").chmod(0o755)
    groups = {group: bootstrap.fingerprint(["thing"]) for group in ("mindspore", "tools")}
    groups |= {"base": bootstrap.fingerprint(["thing>=1"]), "torch": bootstrap.fingerprint(["torch==2.13.0"])}
    made = {"format": 1, "root": str(root), "python": sys.version_info[:2], "groups": groups, "packages": []}
    bootstrap.write_stamp(str(venv), {**made, "system": [], "tools": [], **(stamp or {})})
    return venv


@pytest.fixture
def make_pythons(tmp_path: Path) -> Callable[..., str]:
    """Makes a folder with shell scripts called python3.12 and so on; the value is a PATH."""
    folder = tmp_path / "pythons"
    folder.mkdir()

    def make(**answers: str) -> str:
        for version, script in answers.items():
            path = folder / version.replace("_", ".")
            path.write_text("#!/bin/sh\n" + script)
            path.chmod(0o755)
        return str(folder)

    return make


def answer(path: str, *version: int) -> str:
    return f"echo {shlex.quote(json.dumps([path, version, 64, 'CPython']))}\n"


def test_that_a_pyenv_shim_that_does_not_run_is_not_chosen(
    make_pythons: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    shim = "echo 'pyenv: python3.12: command not found' >&2\nexit 127\n"
    monkeypatch.setenv("PATH", make_pythons(python3_12=shim, python3_10=answer("/real/3.10", 3, 10, 4)))
    monkeypatch.setattr(sys, "executable", "")
    assert pythons.find()["path"] == "/real/3.10"


def test_that_a_name_is_not_believed(make_pythons: Callable[..., str], monkeypatch: pytest.MonkeyPatch) -> None:
    scripts = {"python3_12": answer("/a", 3, 9, 1), "python3": answer("/b", 3, 11, 2)}
    monkeypatch.setenv("PATH", make_pythons(**scripts))
    monkeypatch.setattr(sys, "executable", "")
    assert pythons.find()["path"] == "/b"


def test_that_only_a_newer_python_is_refused_in_a_sentence(
    make_pythons: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", make_pythons(python3=answer("/a", 3, 14, 0)))
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(Refused) as refused:
        pythons.find()
    assert refused.value.key == "no_python"
    assert "3.14.0" in refused.value.values["found"]


def test_that_the_second_start_starts_the_studio_and_no_pip(root: Path) -> None:
    set_up(root)  # has no pip: a call would fail
    done = bootstrap_in(root, "window", "--", "a b", QT_QPA_PLATFORM="offscreen")
    assert (done.returncode, done.stdout, done.stderr) == (0, "studio ['a b']\n", "")


def test_that_without_a_display_the_command_line_is_named(root: Path) -> None:
    set_up(root)
    done = bootstrap_in(root)
    assert done.returncode == 2
    assert "ascend-studio' launch --recipe digits" in done.stderr
    assert "ssh -X" in done.stderr


def test_that_a_hostile_path_works_for_the_import_path_and_the_launcher(tmp_path: Path) -> None:
    root = project(tmp_path / HOSTILE)
    venv = set_up(root)
    for env in ({}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}):
        done = subprocess.run([venv / "bin/ascend-studio", "x y"], env=env, capture_output=True, text=True, check=False)
        assert (done.stdout, done.stderr) == ("studio ['x y']\n", "")


def test_that_a_training_does_not_see_our_packages(root: Path) -> None:
    venv = set_up(root)
    ask = [
        str(venv / "bin/python"),
        "-I",
        "-c",
        "import importlib.util as u; print(u.find_spec('studio') is None)",
    ]
    answers = [subprocess.check_output(ask, env=env, text=True) for env in ({}, {"ASCEND_STUDIO_RUN": "/run"})]
    assert answers == ["False\n", "True\n"]


def test_that_a_moved_folder_is_set_right(root: Path) -> None:
    venv = set_up(root)
    (venv / "bin/tool").write_text(f"#!{venv}/bin/python\n")
    moved = root.rename(root.parent / HOSTILE)
    done = bootstrap_in(moved, QT_QPA_PLATFORM="offscreen")
    assert done.stdout == "studio []\n"
    assert "has moved" in done.stderr
    assert (moved / ".venv/bin/tool").read_text() == f"#!{moved}/.venv/bin/python\n"
    assert bootstrap_in(moved, "setup").stderr == ""


NO_NETWORK = {
    "PIP_INDEX_URL": "http://a:secret@127.0.0.1:1/simple",
    "PIP_RETRIES": "0",
    "PIP_CONFIG_FILE": os.devnull,
}
UV_WITHOUT_NETWORK = """
if [ $1 = pip ]; then
  echo "error: Request failed" >&2
  echo "  Caused by: client error (Connect)" >&2
  exit 2
fi
"""


def test_that_a_broken_environment_is_made_anew_and_no_network_is_a_sentence(root: Path) -> None:
    venv = set_up(root)
    (venv / "old").touch()
    (venv / "bin/python").unlink()
    done = bootstrap_in(root, "setup", **NO_NETWORK)
    assert "no longer runs" in done.stderr
    assert not (venv / "old").exists()
    assert not (venv / "bootstrap.json").exists()
    assert done.returncode == 1
    assert "http://127.0.0.1:1/simple could not be reached" in done.stderr
    assert str(venv / "bootstrap.log") in done.stderr
    assert "Traceback" not in done.stderr


def test_that_a_set_up_that_was_killed_half_way_is_begun_anew(root: Path, make_pythons: Callable[..., str]) -> None:
    venv = set_up(root)
    (venv / "bootstrap.json").rename(venv / "bootstrap.begun")
    (venv / "old").touch()
    done = bootstrap_in(root, "setup", PATH=make_pythons(uv=UV_WITHOUT_NETWORK) + ":/usr/bin:/bin")
    assert "was interrupted" in done.stderr
    assert not (venv / "old").exists()
    assert "could not be reached" in done.stderr


def test_that_what_worked_before_still_works_when_more_cannot_be_installed(
    root: Path, make_pythons: Callable[..., str]
) -> None:
    set_up(root, {"groups": {"base": "older"}})
    done = bootstrap_in(root, "setup", PATH=make_pythons(uv=UV_WITHOUT_NETWORK) + ":/usr/bin:/bin")
    assert done.returncode == 1
    assert "could not be reached" in done.stderr
    stamp = json.loads((root / ".venv/bootstrap.json").read_text())
    assert stamp["groups"] == {"base": "older"}
    assert not (root / ".venv/bootstrap.begun").exists()


def test_that_two_at_once_wait_for_each_other(root: Path) -> None:
    set_up(root, {"root": "/elsewhere"})
    folder = os.open(root, os.O_RDONLY)
    fcntl.flock(folder, fcntl.LOCK_EX)
    env = {"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    other = subprocess.Popen([sys.executable, root / "bootstrap.py", "setup"], stderr=subprocess.PIPE, env=env)
    assert other.stderr
    assert b"waiting" in other.stderr.readline()
    time.sleep(0.1)
    assert other.poll() is None
    os.close(folder)
    assert b"has moved" in other.stderr.read()
    assert other.wait() == 0


def test_that_a_pip_whose_bootstrap_was_killed_is_waited_for(root: Path, make_pythons: Callable[..., str]) -> None:
    set_up(root, {"groups": {}})
    slow = '[ "$3" = --python ] && case "$*" in *dry-run*) exit 1;; esac && touch begun && sleep 1 && touch ended\n'
    env = {"PATH": make_pythons(uv=slow) + ":/usr/bin:/bin", "LANG": "C.UTF-8"}
    first = subprocess.Popen([sys.executable, root / "bootstrap.py", "setup"], cwd=root, env=env)
    wait_for(lambda: (root / "begun").exists() or first.poll() is not None, "pip begins")
    assert (root / "begun").exists()
    first.kill()
    first.wait()
    done = bootstrap_in(root, "setup", PATH=env["PATH"])
    assert "waiting" in done.stderr
    assert "was interrupted" in done.stderr
    assert (root / "ended").exists()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Outside pytest's own folder, which only its owner may enter."""
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_that_a_folder_that_cannot_be_written_to_is_named(open_folder: Path) -> None:
    root = project(open_folder / "studio")
    root.chmod(0o555)
    become = "import os, sys; os.getuid() or os.setuid(65534); os.execv(sys.executable, sys.argv[1:])"
    base = shutil.which("python3", path="/usr/bin:/bin") or BASE_PYTHON  # root's own Python may be closed to others
    done = subprocess.run(
        [base, "-I", "-c", become, base, "-I", root / "bootstrap.py", "setup"],
        env={"PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
    )
    root.chmod(0o755)
    assert done.returncode == 1
    assert f"Nothing can be written to {root}" in done.stderr
    assert "Traceback" not in done.stderr


def test_that_a_disk_without_room_is_refused_before_anything_is_made(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bootstrap, "ROOT", str(root))
    usage = shutil.disk_usage(root)._replace(free=100 << 20)
    with pytest.raises(Refused) as refused:
        bootstrap.set_up("window", free=lambda _: usage)
    assert refused.value.key == "no_room"
    assert refused.value.values["free"] == "100 MB"
    assert refused.value.values["needed"].endswith(" GB")
    assert not (root / ".venv").exists()


def test_that_a_colon_in_the_path_is_refused(tmp_path: Path) -> None:
    done = bootstrap_in(project(tmp_path / "a:b"), "setup")
    assert done.returncode == 1
    assert "colon" in done.stderr


def test_that_an_unknown_verb_is_a_sentence_in_the_users_language(root: Path) -> None:
    done = bootstrap_in(root, "paint", LANG="zh_CN.UTF-8", PYTHONIOENCODING="utf-8")
    assert done.returncode == 2
    assert "没有“paint”这个动作" in done.stderr


def test_that_a_missing_library_is_seen_and_its_package_known(
    tmp_path: Path, make_pythons: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ["libxcb-cursor.so.0 => not found", "libascendcl.so => not found", "libc.so.6 => /lib/x"]
    said = "".join(f"printf '\\t{line}\\n'\n" for line in lines)
    monkeypatch.setenv("PATH", make_pythons(ldd=said))
    missing = system.missing_libraries(str(tmp_path))
    assert missing == ["libxcb-cursor.so.0"]
    assert system.system_packages(missing, "apt-get") == ["libxcb-cursor0"]
