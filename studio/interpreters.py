"""Python interpreters and their packages, read from files alone or from a child with a time limit."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from studio import environment, files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PROBE_SECONDS = 60.0
PROBED_PACKAGES = ("torch", "torch_npu", "mindspore")
MAX_INTERPRETERS = 64
LONGEST_ANSWER = 1 << 20
LISTED_PACKAGES = ("mindspore", "torch", "torch_npu", "numpy", "mindstudio-probe", "msprof-analyze")


@dataclass(frozen=True, kw_only=True)
class Interpreter:
    """A Python of this host. `packages`: name to version, from the dist-info folders; empty where its site-packages
    were not found.
    """

    path: Path
    version: str
    packages: dict[str, str]


def embedded() -> Path:
    """Return the interpreter that runs the studio: it has the embedded engine."""
    return Path(sys.executable)


def read(path: Path) -> Interpreter:
    """Return what the files beside an interpreter tell about it. Never raises; what is missing is empty."""
    return Interpreter(path=path, version=_version(path), packages=packages(path))


def site_packages(path: Path) -> list[Path]:
    """Return the site-packages folder of a virtual environment, else of the installation that the real file
    belongs to."""
    folders = sorted((path.parent.parent / "lib").glob("python3*/*-packages"))
    if not folders:
        folders = sorted((Path(os.path.realpath(path)).parent.parent / "lib").glob("python3*/*-packages"))
    return folders


def _version(path: Path) -> str:
    try:
        lines = (path.parent.parent / "pyvenv.cfg").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    pairs = {key.strip(): value.strip() for key, _, value in (line.partition("=") for line in lines)}
    if version := pairs.get("version", pairs.get("version_info", "")):
        return version
    return next((folder.parent.name.removeprefix("python") for folder in site_packages(path)), "")


def packages(path: Path) -> dict[str, str]:
    versions: dict[str, str] = {}
    for folder in site_packages(path):
        for info in folder.glob("*.dist-info"):
            name, _, version = info.name.removesuffix(".dist-info").rpartition("-")
            versions[name.replace("_", "-").lower()] = version
    return dict(sorted(versions.items()))


# Which there are


def discover(project: Path | None) -> tuple[Path, ...]:
    """Return the interpreters of this host, the project's own first: virtual environments in it, conda's environments,
    pyenv's versions, those on PATH, and the studio's. It reads names and links only, runs nothing and never raises.
    """
    interpreters: dict[str, Path] = {}
    for path in (*of_project(project), *_of_conda(), *_of_pyenv(), *_on_path(), embedded()):
        with suppress(OSError, ValueError):
            if path.is_file() and os.access(path, os.X_OK):
                interpreters.setdefault(_identity(path), path)
    return tuple(interpreters.values())[:MAX_INTERPRETERS]


def _identity(path: Path) -> str:
    """Return what makes an environment the same one: its folder, since python and python3 in it are one; links on PATH
    lead to the real file.
    """
    if (path.parent.parent / "pyvenv.cfg").is_file():
        return str(path.parent.resolve())
    return os.path.realpath(path)


def of_project(project: Path | None) -> Iterator[Path]:
    """Yield the interpreters of the environments that lie in a project, those with the usual names first."""
    if project is None:
        return
    names = [".venv", "venv", "env", ".env", *sorted(_names(project))[:200]]
    for name in dict.fromkeys(names):
        if files.is_file(project / name / "pyvenv.cfg") or files.exists(project / name / "conda-meta"):
            yield project / name / "bin" / "python"


def _of_conda() -> Iterator[Path]:
    """Yield conda's active environment, those that conda has recorded, and those under its root."""
    roots = [os.environ.get(name, "") for name in ("CONDA_PREFIX", "CONDA_ROOT")]
    exe = os.environ.get("CONDA_EXE", "")
    roots += [str(Path(exe).parent.parent)] if exe else []
    roots += [str(Path.home() / name) for name in ("miniconda3", "anaconda3", "miniforge3")]
    with suppress(OSError):
        listed = (Path.home() / ".conda" / "environments.txt").read_text(encoding="utf-8", errors="replace")
        roots += [line.strip() for line in listed.splitlines()[:500]]
    for root in filter(None, roots):
        yield Path(root, "bin", "python")
        yield from (Path(root, "envs", name, "bin", "python") for name in sorted(_names(Path(root, "envs"))))


def _of_pyenv() -> Iterator[Path]:
    versions = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv", "versions")
    yield from (versions / name / "bin" / "python" for name in sorted(_names(versions), key=_by_number, reverse=True))


def _by_number(name: str) -> list[int]:
    """Return a key that sorts 3.13.0 after 3.9.18."""
    return [int(part) for part in re.findall(r"\d{1,9}", name)]


def _on_path() -> Iterator[Path]:
    """pyenv's shims are scripts that choose one of its versions: those are found above."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    for folder in filter(os.path.isabs, folders):
        if Path(folder).name != "shims":
            names = (name for name in _names(Path(folder)) if re.fullmatch(r"python(3(\.\d{1,2})?)?", name))
            yield from (Path(folder, name) for name in sorted(names, reverse=True))


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except (OSError, ValueError):
        return []


# What they say


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What an interpreter reported about itself. `versions`: of torch, torch_npu and mindspore, as far as they import;
    `reasons`: why the others do not; `devices`: NPUs or GPUs that torch sees, None where it was not queried.

    `problem`: "" where it answered; else refused (it cannot be started), crashed (ended by the signal `number`, or with
    the exit code `number`), hung (ended by us after `number` seconds), garbage (it printed something else).
    """

    path: Path
    python: str = ""
    versions: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    devices: int | None = None
    problem: str = ""
    number: int = 0
    detail: str = ""
    """The last lines that it printed where there is a problem."""


# Each import in a child of its own, so that one that crashes takes no other answer with it. Python 3.5 syntax.
_QUESTION = """
import json, os, platform, signal, sys
out = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)
def say(**what):
    out.write("\\n@ascend-studio " + json.dumps(what) + "\\n")
    out.flush()
say(python=platform.python_version())
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        try:
            module = __import__(name)
            say(name=name, version=str(getattr(module, "__version__", "?")))
            if name in ("torch", "torch_npu"):
                import torch
                kind = getattr(torch, "npu", None) or torch.cuda
                say(devices=int(kind.device_count()))
        except BaseException as error:
            missing = isinstance(error, ImportError) and getattr(error, "name", "") == name
            say(name=name, reason="" if missing else (type(error).__name__ + ": " + str(error))[:500])
        out.flush()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        say(name=name, signal=os.WTERMSIG(status))
say(end=True)
os._exit(0)
"""


def probe(path: Path, seconds: float = PROBE_SECONDS, is_cancelled: Callable[[], bool] = bool) -> Answer:
    """Run an interpreter to learn which frameworks it imports, for at most this long, and no longer than until
    `is_cancelled`. Never raises: whatever goes wrong is in the answer.

    It runs the interpreter and the start files of its site-packages. The caller must not pass one inside a project that
    is not trusted (`studio.security.trust`); `read` reads the files only.
    """
    try:
        with tempfile.TemporaryFile() as printed, tempfile.TemporaryDirectory() as folder:
            child = subprocess.Popen(
                [str(path), "-I", "-c", _QUESTION, *PROBED_PACKAGES], stdin=subprocess.DEVNULL,
                stdout=printed, stderr=printed, cwd=folder, env=_asking(), start_new_session=True,
            )  # fmt: skip
            hung = not _wait(child, seconds, printed.fileno(), is_cancelled)
            _end(child)
            printed.seek(0)
            text = printed.read(LONGEST_ANSWER).decode("utf-8", "replace")
    except (OSError, ValueError) as error:
        return Answer(path=path, problem="refused", detail=str(error)[:500])
    return _answer(path, text, child.returncode or 0, int(seconds) if hung else -1)


def _wait(child: subprocess.Popen[bytes], seconds: float, printed: int, is_cancelled: Callable[[], bool]) -> bool:
    """Return whether the child ended within the time; one that prints without end is ended before it fills the disk."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and not is_cancelled():
        with suppress(subprocess.TimeoutExpired):
            child.wait(min(0.2, seconds))
            return True
        if os.fstat(printed).st_size > LONGEST_ANSWER:
            return True
    return False


def _asking() -> dict[str, str]:
    env = environment.with_cann(environment.cleaned(os.environ))
    return env | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "PYTHONDONTWRITEBYTECODE": "1", "GLOG_v": "3"}


def _end(child: subprocess.Popen[bytes]) -> None:
    """Kill the child and what it started; a child that hangs in a driver is not waited for."""
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        child.wait(1)


def _answer(path: Path, text: str, code: int, hung: int) -> Answer:
    lines = text.splitlines()
    answers = list(_json_lines(lines))
    versions = {
        answer["name"]: str(answer["version"])[:80] for answer in answers if "name" in answer and "version" in answer
    }
    reasons = {one["name"]: _reason(one) for one in answers if "name" in one and "version" not in one}
    devices = [one["devices"] for one in answers if isinstance(one.get("devices"), int)]
    python = next((str(one["python"]) for one in answers if "python" in one), "")
    problem, number = _problem(code, hung, any("end" in one for one in answers))
    last = "\n".join(line for line in lines[-8:] if "@ascend-studio" not in line)[-2000:]
    return Answer(
        path=path, python=python[:40], versions=versions, devices=max(devices, default=None), problem=problem,
        reasons={name: reason for name, reason in reasons.items() if reason}, number=number,
        detail=last if problem else "",
    )  # fmt: skip


def _problem(code: int, hung: int, whole: bool) -> tuple[str, int]:
    if whole:
        return "", 0
    if hung >= 0:
        return "hung", hung
    return ("crashed", abs(code)) if code else ("garbage", 0)


def _json_lines(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        mark, _, rest = line.partition("@ascend-studio ")
        if not mark and rest:
            with suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
                value = msgspec.json.decode(rest)
                if isinstance(value, dict) and isinstance(value.get("name", ""), str):
                    yield value


def _reason(answer: dict[str, Any]) -> str:
    """Return why a module does not import: "" where it is not installed."""
    number = answer.get("signal")
    if isinstance(number, int):
        with suppress(ValueError):
            return signal.Signals(number).name
        return f"signal {number}"
    return str(answer.get("reason", ""))[:500]
