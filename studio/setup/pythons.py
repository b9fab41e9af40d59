"""Pythons: which there are, which one fits, and the environment that it makes."""

import json
import os
import shutil
import subprocess
import sys

from studio.setup.messages import Refused, dotted, say, text

TYPE_CHECKING = False  # without importing typing, which is slow
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

ENGINE = ((3, 12), (3, 11), (3, 10))  # MindSpore 2.10 and numpy<2 have wheels for these
WINDOW_ONLY = (3, 13)  # everything but the embedded engine
SUPPORTED = (*ENGINE, WINDOW_ONLY)  # best first
PROBE = (
    "import json, platform, struct, sys; b = getattr(sys, '_base_executable', None) or sys.executable; "
    "print(json.dumps([b, list(sys.version_info[:3]), struct.calcsize('P') * 8, "
    "platform.python_implementation() + getattr(sys, 'abiflags', '')]))"
)


def run(argv: "list[str]", timeout: "float | None" = None) -> "tuple[int, str, str]":
    """Return exit code and both outputs of a child; a child that cannot start has the code 127."""
    try:
        result = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=timeout,
            env=child_environment(os.environ),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    return result.returncode, result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")


def child_environment(env: "Mapping[str, str]") -> "dict[str, str]":
    """Return the environment without what would lead pip or venv out of .venv."""
    dropped = (
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONUSERBASE",
        "__PYVENV_LAUNCHER__",
        "PIP_TARGET",
        "PIP_PREFIX",
    )
    remaining = {key: value for key, value in env.items() if key not in dropped}
    remaining.update(PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore")
    return remaining


def candidates(path: str) -> "list[str]":
    """Return every file on PATH that may be a suitable Python; a pyenv shim looks like one and need not run."""
    names = ["python{}.{}".format(*version) for version in SUPPORTED]
    files = [os.path.join(folder, name) for name in [*names, "python3", "python"] for folder in path.split(os.pathsep)]
    return [file for file in files if os.path.isabs(file) and os.access(file, os.X_OK) and os.path.isfile(file)]


def probe(file: str) -> "dict[str, Any] | None":
    """Return what the interpreter tells about itself, or None where it does not run."""
    code, out, _ = run([file, "-I", "-S", "-c", PROBE], timeout=20)
    try:
        path, version, bits, build = json.loads(out)
    except ValueError:
        return None
    return {"path": path, "version": tuple(version), "bits": bits, "build": build} if code == 0 else None


def choose(answers: "list[dict[str, Any]]") -> "dict[str, Any] | None":
    """Return the best of several answers of probe(), or None. There are no wheels for 32 bit, PyPy or no GIL."""
    suitable = [python for python in answers if python["bits"] == 64 and python["build"] == "CPython"]
    for version in SUPPORTED:
        for python in suitable:
            if python["version"][:2] == version:
                return python
    return None


def find() -> "dict[str, Any]":
    """Return the best Python on PATH. Raises Refused with a line that installs one."""
    files = [*candidates(os.environ.get("PATH", "")), sys.executable]
    different = {}  # type: dict[str, str]  # in the order of PATH, each interpreter under its first name
    for file in filter(None, files):
        different.setdefault(os.path.realpath(file), file)
    answers = [answer for answer in map(probe, different.values()) if answer]
    chosen = choose(answers)
    if chosen:
        return chosen
    versions = sorted({answer["version"] for answer in answers})
    names = ", ".join("Python " + dotted(version) for version in versions) or text("nothing")
    raise Refused("no_python", found=names, line=python_line(shutil.which))


def python_line(which: "Callable[[str], str | None]") -> str:
    if which("uv"):
        return "uv python install 3.12"
    if which("pyenv"):
        return "pyenv install 3.12 && pyenv global 3.12"
    if which("apt-get"):
        return "sudo apt-get install -y python3.12 python3.12-venv    (or python3.11, python3.10)"
    return "sudo dnf install -y python3.11" if which("dnf") else "uv python install 3.12    (https://docs.astral.sh/uv)"


def has_venv_module(python: "dict[str, Any]") -> bool:
    return run([python["path"], "-I", "-c", "import venv, ensurepip"])[0] == 0


def need_venv_module(python: "dict[str, Any]") -> None:
    """Install the venv module, which Debian and Ubuntu leave out, where the user is root. Raises Refused."""
    if has_venv_module(python):
        return
    package = "python{}.{}-venv".format(*python["version"])
    if os.geteuid() == 0 and shutil.which("apt-get") and python["path"].startswith("/usr/bin/"):
        say("adding_venv", version=dotted(python["version"]), package=package)
        from studio.setup.system import install_packages

        if install_packages("apt-get", [package], os.devnull) and has_venv_module(python):
            return
    line = "sudo apt-get install -y " + package if shutil.which("apt-get") else python_line(shutil.which)
    raise Refused("no_venv", version=dotted(python["version"]), path=python["path"], line=line)


def make_environment(python: "dict[str, Any]", venv: str) -> None:
    """Make a virtual environment in a folder that exists. Raises Refused."""
    if shutil.which("uv") and not has_venv_module(python):
        code, _, error = run(["uv", "venv", "--quiet", "--allow-existing", "--python", python["path"], venv])
    else:
        need_venv_module(python)
        code, _, error = run([python["path"], "-I", "-m", "venv", venv])
    if code != 0:
        raise Refused("failed", reason=last_line(error))


def last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1].replace("ERROR: ", "") if lines else "?"
