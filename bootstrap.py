#!/usr/bin/env python3
"""Sets Ascend Training Studio up in `.venv` and starts it; `python3 bootstrap.py --help` lists the verbs.

Standard library and Python 3.6 syntax only, here and in `studio/setup`: even an old Python must be able to say which
one is needed. A start that finds everything in place imports nothing of `studio/setup` but its messages.
"""

import ast
import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, ROOT)

from studio.setup import messages, pythons  # noqa: E402 - the folder of this file comes first
from studio.setup.messages import Refused, say, text  # noqa: E402

TYPE_CHECKING = False  # without importing typing, which is slow
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

FORMAT = 1
STAMP_KEYS = {"format", "root", "python", "groups", "packages", "system", "tools"}  # of .venv/bootstrap.json
GROUPS = ("base", "mindspore", "torch", "tools", "fast", "dev")  # the dependencies and extras of pyproject.toml
USER_GROUPS = ("base", "mindspore", "torch", "tools")
VERBS = {  # verb: the groups of packages that it needs, and what it starts
    "window": (USER_GROUPS, ["-m", "studio"]),
    "test": (GROUPS, ["-m", "pytest", "-n", "auto", "--dist", "worksteal"]),
    "bench": (GROUPS, ["-m", "tests.bench"]),
    "prove": (GROUPS, ["-m", "tests.prove"]),
    "shots": (GROUPS, ["-m", "tests.shots"]),
    "check": (GROUPS, []),
    "setup": (USER_GROUPS, []),
}
CHECKS = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
TEST_PROGRAMS = ("Xvfb", "xauth", "git")


# What there is, what is needed, and what is to be done


def dependencies(pyproject: str) -> "dict[str, list[str]]":
    """Return the requirements of each group, read from the text of pyproject.toml.

    It reads just what that file holds, arrays of strings that a Python list could be, since not every Python has
    tomllib; a test compares the two.
    """
    groups, section = {}, ""
    for header, name, array in re.findall(r"^\[(.+?)\]\s*$|^([\w-]+) *= *(\[.*?\])\s*$", pyproject, re.M | re.S):
        section = header or section
        if (section, name) == ("project", "dependencies"):
            groups["base"] = ast.literal_eval(array)
        elif section == "project.optional-dependencies" and name:
            groups[name] = ast.literal_eval(array)
    return groups


def fingerprint(requirements: "list[str]") -> str:
    return hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:16]


def inspect(venv: str) -> "dict[str, Any]":
    """Return the state of .venv, cheaply: one start of its Python without site, two small files and a folder list."""
    answer = pythons.probe(os.path.join(venv, "bin", "python")) if os.path.isdir(venv) else None
    version = answer["version"][:2] if answer else None
    return {
        "exists": os.path.lexists(venv),
        "begun": os.path.exists(os.path.join(venv, "bootstrap.begun")),
        "stamp": read_stamp(venv),
        "python": version,
        "packages": installed_packages(site_packages(venv, version)) if version else [],
    }


def site_packages(venv: str, version: "Sequence[int]") -> str:
    return os.path.join(venv, "lib", "python{}.{}".format(*version), "site-packages")


def installed_packages(site: str) -> "list[str]":
    try:
        return sorted(name[:-10] for name in os.listdir(site) if name.endswith(".dist-info"))
    except OSError:
        return []


def read_stamp(venv: str) -> "dict[str, Any]":
    """Return what the last set-up wrote; empty where there was none, or one of another format."""
    try:
        with open(os.path.join(venv, "bootstrap.json"), encoding="utf-8") as file:
            stamp = json.load(file)
    except (OSError, ValueError):
        return {}
    fits = isinstance(stamp, dict) and set(stamp) >= STAMP_KEYS and stamp["format"] == FORMAT
    return stamp if fits else {}


def write_stamp(venv: str, stamp: "dict[str, Any]") -> None:
    """Replace the stamp in one step, and before the mark goes: a kill in between leaves the one or the other."""
    file = os.path.join(venv, "bootstrap.json")
    with open(file + ".new", "w", encoding="utf-8") as handle:
        json.dump(stamp, handle, indent=1)
    os.replace(file + ".new", file)
    mark = os.path.join(venv, "bootstrap.begun")
    if os.path.exists(mark):
        os.unlink(mark)


def judge(state: "dict[str, Any]", groups: "dict[str, str]", root: str) -> "tuple[str, str]":
    """Return (what to do, why): "make", "rebuild", "add", "move" or "ready". `groups` maps groups to fingerprints."""
    stamp = state["stamp"]
    if not state["exists"]:
        return "make", ""
    if state["python"] is None:
        return "rebuild", "broken_python"
    if state["python"] not in pythons.SUPPORTED or (stamp and stamp["python"] != list(state["python"])):
        return "rebuild", "unfit_python"
    if not stamp:
        return ("rebuild", "half_made") if state["begun"] else ("add", "adopted")
    if set(stamp["packages"]) - set(state["packages"]):
        return "add", "packages_gone"
    if any(stamp["groups"].get(group) != mark for group, mark in groups.items()):
        return "add", ""
    return ("ready", "") if stamp["root"] == root else ("move", "moved")


def is_system_unsure(stamp: "dict[str, Any]", programs: "Sequence[str]") -> bool:
    """Whether something was missing when the system was last checked, or nobody has checked it yet."""
    return stamp["system"] != [] or bool(programs and stamp["tools"] != [])


# Setting up


def set_up(verb: str, free: "Callable[[str], Any]" = shutil.disk_usage) -> None:
    """Bring .venv to where `verb` can start; return quickly where it is there already."""
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        requirements = dependencies(file.read())
    needed = {group: fingerprint(requirements[group]) for group in VERBS[verb][0]}
    venv = os.path.join(ROOT, ".venv")
    programs = () if verb in ("window", "setup", "check") else TEST_PROGRAMS
    state = inspect(venv)
    if judge(state, needed, ROOT)[0] == "ready" and not is_system_unsure(state["stamp"], programs):
        return
    with folder_lock(ROOT):
        is_repaired = repair(venv, requirements, needed, free)
        complete_system(venv, programs)
    if is_repaired:
        say("ready")


def repair(
    venv: str, requirements: "dict[str, list[str]]", needed: "dict[str, str]", free: "Callable[[str], Any]"
) -> bool:
    """Return whether there was anything to do."""
    from studio.setup import launcher, packages

    state = inspect(venv)  # again: another process may have done it while this one waited for the lock
    action, why = judge(state, needed, ROOT)
    if action == "ready":
        return False
    stamp = state["stamp"] if action in ("add", "move") else {}
    missing = set(stamp.get("packages", ())) - set(state["packages"])
    if why:
        say(why, names=", ".join(sorted(missing)))
    groups = [group for group in GROUPS if group in needed or group in stamp.get("groups", {})]
    if action != "move":
        installed = () if missing else stamp.get("groups", {})
        python = {"version": state["python"], "path": ""} if action == "add" else pythons.find()
        if action == "rebuild":
            remove(venv)
        additions = [group for group in groups if group not in installed]
        packages.check_room(venv, packages.room(additions, python["version"][:2]), free)
        install(venv, requirements, groups, action, python, stamp, state["packages"])
    version = inspect(venv)["python"]
    site = site_packages(venv, version)
    launcher.link(ROOT, venv, site, stamp.get("root"))
    marks = {group: fingerprint(requirements[group]) for group in groups}
    written = {"format": FORMAT, "root": ROOT, "python": version, "groups": marks, "packages": installed_packages(site)}
    write_stamp(venv, dict(written, system=stamp.get("system"), tools=stamp.get("tools")))
    return True


def install(
    venv: str,
    requirements: "dict[str, list[str]]",
    groups: "list[str]",
    action: str,
    python: "dict[str, Any]",
    stamp: "dict[str, Any]",
    installed: "list[str]",
) -> None:
    """Install all groups. `.venv/bootstrap.begun` without a stamp tells a later start that this one was killed."""
    from studio.setup import packages

    try:
        if action == "add":
            begin(venv)
        else:
            make(venv, python)
        version = python["version"][:2]
        if version == pythons.WINDOW_ONLY:
            say("no_engine", version=messages.dotted(version))
        lock = os.path.join(ROOT, "requirements.lock")
        packages.install(venv, lock, requirements, groups, version, installed)
    except Refused:
        if stamp:  # pip undid what it began, so what worked before still works, also without a network
            write_stamp(venv, stamp)
        raise


def begin(venv: str) -> None:
    with open(os.path.join(venv, "bootstrap.begun"), "w"):
        pass
    if os.path.exists(os.path.join(venv, "bootstrap.json")):
        os.unlink(os.path.join(venv, "bootstrap.json"))


def make(venv: str, python: "dict[str, Any]") -> None:
    say("step", step=1, steps=3, what=text("making", version=messages.dotted(python["version"]), path=python["path"]))
    os.mkdir(venv)
    begin(venv)
    pythons.make_environment(python, venv)


def remove(venv: str) -> None:
    if os.path.islink(venv) or os.path.isfile(venv):
        os.unlink(venv)
    elif os.path.isdir(venv):
        shutil.rmtree(venv)


def complete_system(venv: str, programs: "Sequence[str]") -> None:
    """Check the system once, after installing. What could not be installed then is only named at later starts."""
    from studio.setup import system

    stamp = read_stamp(venv)
    if not is_system_unsure(stamp, programs):
        return
    is_first = stamp["system"] is None or bool(programs and stamp["tools"] is None)
    if is_first:
        say("step", step=3, steps=3, what=text("looking"))
    site = site_packages(venv, stamp["python"])
    missing = system.missing_parts(site, programs)
    if missing and is_first and os.geteuid() == 0 and system.manager():
        system.install_parts(missing, os.path.join(venv, "bootstrap.log"))
        missing = system.missing_parts(site, programs)
    elif missing:
        system.say_missing(missing)
    stamp["system"] = [part for part in missing if part not in TEST_PROGRAMS]
    stamp["tools"] = [part for part in missing if part in TEST_PROGRAMS] if programs else stamp["tools"]
    write_stamp(venv, stamp)


@contextlib.contextmanager
def folder_lock(root: str) -> "Iterator[None]":
    """Lock the folder itself, so that no lock file is left behind."""
    handle = os.open(root, os.O_RDONLY)
    os.set_inheritable(handle, True)  # of our children only pip gets it: see packages.run_installer()
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting")
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in (errno.EBADF, errno.ENOLCK, errno.ENOTSUP):  # some NFS has no locks
                raise
        yield
    finally:
        os.close(handle)


# Starting


def read_arguments(argv: "list[str]") -> "tuple[str, str, list[str]]":
    """Return (verb, the verb whose packages are needed, the arguments that are passed on)."""
    verb, rest = (argv[0], argv[1:]) if argv else ("window", [])
    if verb == "setup" and len(rest) == 2 and rest[0] == "--for":
        return verb, rest[1], []
    return verb, verb, rest[1:] if verb == "window" and rest[:1] == ["--"] else rest


def has_display(env: "Mapping[str, str]") -> bool:
    return any(env.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def start(verb: str, rest: "list[str]") -> int:
    """Become what the verb names; return only for verbs that start nothing or several things."""
    python = os.path.join(ROOT, ".venv", "bin", "python")
    env = dict(os.environ)
    if verb == "setup":
        return 0
    if verb == "window" and not has_display(env):
        say("no_display", launcher=shlex.quote(os.path.join(ROOT, ".venv", "bin", "ascend-studio")))
        return 2
    env.pop("ASCEND_STUDIO_RUN", None)
    if verb != "window":
        os.chdir(ROOT)
        if not has_display(env):
            env["QT_QPA_PLATFORM"] = "offscreen"
    if verb == "check":
        return max([subprocess.call([python, "-I", "-m", *check]) for check in CHECKS])
    return os.execve(python, [python, "-I", *VERBS[verb][1], *rest], env)


def main(argv: "list[str]") -> int:
    verb, for_verb, rest = read_arguments(argv)
    if verb in ("--help", "-h", "help"):
        print(text("help"))
        return 0
    for name in (verb, for_verb):
        if name not in VERBS:
            say("unknown_verb", verb=name)
            return 2
    if os.pathsep in ROOT:
        say("colon", root=ROOT)
        return 1
    try:
        set_up(for_verb)
        return start(verb, rest)
    except Refused as refused:
        say(refused.key, **refused.values)
    except KeyboardInterrupt:
        say("stopped")
        return 130
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            say("read_only", root=ROOT)
        elif error.errno == errno.ENOSPC:
            from studio.setup import packages

            needed = messages.size(sum(packages.ROOM.values()))
            say("disk_full", needed=needed, log=os.path.join(ROOT, ".venv", "bootstrap.log"))
        else:
            say("failed", reason=error)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
