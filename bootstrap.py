#!/usr/bin/env python3
"""Sets Ascend Training Studio up in `.venv` and starts it; `python3 bootstrap.py --help` lists the verbs.

Standard library and Python 3.6 syntax only: even an old Python must be able to say which one is needed.
What is decided is decided by functions that touch nothing (choose_python, judge, plan_install, system_line,
why_it_failed); what acts decides little.
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
import tempfile

TYPE_CHECKING = False  # without importing typing, which is slow
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any

ROOT = os.path.dirname(os.path.abspath(__file__))
FORMAT = 1
STAMP = {"format", "root", "python", "groups", "packages", "system", "tools"}  # keys of .venv/bootstrap.json
ENGINE_PYTHONS = ((3, 12), (3, 11), (3, 10))  # MindSpore 2.10 and numpy<2 have wheels for these
WINDOW_PYTHON = (3, 13)  # everything but the embedded engine
PYTHONS = (*ENGINE_PYTHONS, WINDOW_PYTHON)  # best first
OLD_PIP = (23, 2)  # older ones download whole wheels only to read what they need
CONSTRAINTS = 'numpy<2; python_version < "3.13"\npandas<3\n'
ROOM = {"base": 3700, "torch": 900, "fast": 250, "dev": 370}  # MB on disk, measured, rounded up
DOWNLOAD = {"base": 1200, "torch": 250, "fast": 80, "dev": 100}  # MB that lie in TMPDIR while pip works
ENGINE_ROOM, ENGINE_DOWNLOAD = 2650, 850  # of these MindSpore's, which Python 3.13 does without
GIGABYTE = 1 << 30
ALL = ("base", "torch", "fast", "dev")
VERBS = {
    "window": (("base",), ["-m", "studio"]),
    "test": (ALL, ["-m", "pytest"]),
    "bench": (ALL, ["-m", "tests.bench"]),
    "prove": (ALL, ["-m", "tests.prove"]),
    "shots": (ALL, ["-m", "tests.shots"]),
    "check": (ALL, []),
    "setup": (("base",), []),
}
CHECKS = (["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"])
TEST_TOOLS = {"Xvfb": "xvfb", "xauth": "xauth", "git": "git"}  # program: its package, in apt and dnf alike
FONT = {"apt-get": "fonts-wqy-microhei", "dnf": "wqy-microhei-fonts"}
FONT_FILE = re.compile("cjk|wqy|source.?han|droidsansfallback|uming|ukai|simsun|simhei|msyh|notosanssc", re.I)
LIBRARIES = {  # what Qt and MindSpore load, and its Debian package; dnf takes the library's name itself
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libOpenGL.so.0": "libopengl0",
    "libX11.so.6": "libx11-6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libgomp.so.1": "libgomp1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxcb.so.1": "libxcb1",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libwayland-client.so.0": "libwayland-client0",
    "libwayland-cursor.so.0": "libwayland-cursor0",
    "libwayland-egl.so.1": "libwayland-egl1",
}

TEXTS = {
    "help": (
        """python3 bootstrap.py [verb]   sets everything up in .venv (once), then:
  window [arguments]   open the window; this is what happens without a verb
  test [arguments]     run the tests; arguments go to pytest
  bench [name]         print every figure beside its peer or its limit
  prove [name]         run the long proofs and keep their figures
  shots OUT            draw every page in every state into the folder OUT
  check                ruff, ruff format and mypy
  setup [--for VERB]   only set up, for the window or for VERB""",
        """python3 bootstrap.py [动作]   把一切装进 .venv（只装一次），然后：
  window [参数]        打开窗口；不写动作就是它
  test [参数]          运行测试；参数交给 pytest
  bench [名称]         打印每项指标，旁边是对照或上限
  prove [名称]         运行耗时的验证并保存结果
  shots OUT            把每个页面的每种状态画进文件夹 OUT
  check                ruff、ruff format 和 mypy
  setup [--for 动作]   只安装，供窗口或该动作使用""",
    ),
    "unknown_verb": (
        "There is no verb '{verb}'; `python3 bootstrap.py --help` lists them.",
        "没有“{verb}”这个动作；运行 `python3 bootstrap.py --help` 查看可用的动作。",
    ),
    "step": ("[{step}/{steps}] {what}", "[{step}/{steps}] {what}"),
    "making": (
        "Making .venv with Python {version} ({path})",
        "用 Python {version}（{path}）建立 .venv",
    ),
    "installing": (
        "Installing {names}, and what they need, with {tool}: about {size} on disk",
        "用 {tool} 安装 {names} 及其依赖：约占磁盘 {size}",
    ),
    "looking": (
        "Looking for the system libraries that Qt needs and for a font with Chinese characters",
        "检查 Qt 需要的系统库和中文字体",
    ),
    "ready": ("Set up. It starts at once next time.", "安装完成。下次会直接启动。"),
    "waiting": (
        "Another bootstrap.py is setting up this folder; waiting until it has finished.",
        "另一个 bootstrap.py 正在安装此文件夹；等它完成后再继续。",
    ),
    "broken_python": (
        "The Python in .venv does not run any more, so .venv is made anew.",
        ".venv 里的 Python 已无法运行，因此重新建立 .venv。",
    ),
    "unfit_python": (
        ".venv was made with a Python that does not fit, so it is made anew.",
        ".venv 所用的 Python 版本不适用，因此重新建立。",
    ),
    "half_made": (
        "An earlier set-up was cut off half way, so .venv is made anew.",
        "上一次安装中途被打断，因此重新建立 .venv。",
    ),
    "adopted": (
        "There is a .venv that bootstrap.py did not make; it is kept, and what it lacks is added.",
        "已有一个不是由 bootstrap.py 建立的 .venv；保留它，只补上缺少的部分。",
    ),
    "packages_gone": (
        "Packages are missing from .venv ({names}), so they are installed again.",
        ".venv 里缺少软件包（{names}），因此重新安装。",
    ),
    "moved": (
        "The folder has moved, so the paths inside .venv are set right.",
        "文件夹换了位置，因此更正 .venv 里的路径。",
    ),
    "no_engine": (
        "Only Python {version} was found. The window works, but the embedded training engine does not: "
        "MindSpore 2.10 has no build for it. To have it, install Python 3.12, 3.11 or 3.10, delete .venv and "
        "start again.",
        "只找到 Python {version}。窗口可以使用，但没有内置训练引擎：MindSpore 2.10 不支持该版本。"
        "如需内置引擎，安装 Python 3.12、3.11 或 3.10，删除 .venv 后重新运行。",
    ),
    "no_python": (
        "Python 3.12, 3.11 or 3.10 is needed, and only {found} was found. Install one, for example with\n"
        "  {line}\nand start again.",
        "需要 Python 3.12、3.11 或 3.10，而只找到 {found}。先安装其中一个，例如\n  {line}\n然后重新运行。",
    ),
    "nothing": ("none that runs", "没有能运行的版本"),
    "no_venv": (
        "Python {version} ({path}) cannot make virtual environments, because its venv or ensurepip module is "
        "missing. Install it and start again:\n  {line}",
        "Python {version}（{path}）缺少 venv 或 ensurepip 模块，无法建立虚拟环境。安装后重新运行：\n  {line}",
    ),
    "adding_venv": (
        "Python {version} lacks its venv module; installing {package}",
        "Python {version} 缺少 venv 模块；正在安装 {package}",
    ),
    "colon": (
        "The path of this folder has a colon in it, which virtual environments do not allow. Move the folder "
        "and start again: {root}",
        "此文件夹的路径里有冒号，虚拟环境不允许这样。把文件夹移到别处再运行：{root}",
    ),
    "read_only": (
        "Nothing can be written to {root}. Copy the folder to where you may write, and start there.",
        "无法写入 {root}。把文件夹复制到可以写入的位置，再从那里运行。",
    ),
    "no_room": (
        "There is too little room for {where}: about {needed} is needed, {free} is free. Free some room, or "
        "for temporary files set TMPDIR to a folder with more, and start again.",
        "{where} 所在磁盘空间不足：约需 {needed}，剩余 {free}。请腾出空间；若是临时文件，"
        "也可以把 TMPDIR 设为空间更大的文件夹，然后重新运行。",
    ),
    "disk_full": (
        "The disk became full while installing. Free about {needed} and start again; the log is {log}.",
        "安装过程中磁盘已满。腾出约 {needed} 后重新运行；日志在 {log}。",
    ),
    "no_network": (
        "The package index {index} could not be reached. Check the network or the proxy and start again. "
        "Without a network: on another machine run `pip download` for the packages in pyproject.toml, copy "
        "the files here, and start with PIP_NO_INDEX=1 PIP_FIND_LINKS=<their folder>. The log is {log}.",
        "无法连接软件包索引 {index}。检查网络或代理后重新运行。没有网络时：在另一台机器上用 `pip download` "
        "下载 pyproject.toml 中的软件包，把文件复制过来，然后设置 PIP_NO_INDEX=1 "
        "PIP_FIND_LINKS=<文件所在文件夹> 再运行。日志在 {log}。",
    ),
    "no_match": (
        "The package index {index} has no fitting build for this machine: {reason} The log is {log}.",
        "软件包索引 {index} 没有适用于本机的版本：{reason} 日志在 {log}。",
    ),
    "pip_failed": (
        "Installing failed: {reason} The log is {log}.",
        "安装失败：{reason} 日志在 {log}。",
    ),
    "big_torch": (
        "No index offers the CPU build of torch for this Python, so torch comes with its GPU packages: "
        "{size} to download. To avoid that, stop now with Ctrl+C and start again with "
        "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu.",
        "没有索引为此 Python 提供 torch 的 CPU 版本，因此会连同 GPU 软件包一起安装：需下载 {size}。"
        "如不需要，现在按 Ctrl+C 停止，设置 PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu "
        "后重新运行。",
    ),
    "installing_system": (
        "Installing with {manager}: {names}",
        "用 {manager} 安装：{names}",
    ),
    "system_failed": (
        "That did not work (the log is {log}); going on without. Later, run\n  {line}",
        "安装没有成功（日志在 {log}）；先继续。之后可运行\n  {line}",
    ),
    "system_missing": (
        "Parts of the system are missing: {names}. Install them with\n  {line}",
        "系统缺少：{names}。用下面的命令安装\n  {line}",
    ),
    "system_unknown": (
        "Parts of the system are missing: {names}. Install them with the package manager of this system.",
        "系统缺少：{names}。请用本系统的软件包管理器安装。",
    ),
    "font": ("a font with Chinese characters", "中文字体"),
    "no_display": (
        "Everything is set up, but there is no display to open the window on. Train without a window:\n"
        "  {launcher} launch --recipe digits\nor come back with `ssh -X` or inside a VNC session.",
        "安装已完成，但没有可以打开窗口的显示器。可以不用窗口来训练：\n  {launcher} launch --recipe digits\n"
        "或者用 `ssh -X` 登录，或在 VNC 会话中运行。",
    ),
    "stopped": (
        "Stopped. The next start goes on from a sound state.",
        "已停止。下次运行会从完好的状态继续。",
    ),
    "failed": ("Setting up failed: {reason}", "安装失败：{reason}"),
}


class Refused(Exception):
    """Ends the set-up with one sentence: a key of TEXTS and its arguments."""

    def __init__(self, key: str, **args: object) -> None:
        super().__init__(key)
        self.key = key
        self.args_ = args  # type: dict[str, Any]


# What is said


def language(env: "Mapping[str, str]") -> int:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if env.get(name):
            return 1 if env[name].lower().startswith("zh") else 0
    return 0


def text(key: str, **args: object) -> str:
    return TEXTS[key][language(os.environ)].format(**args)


def say(key: str, **args: object) -> None:
    show(text(key, **args) + "\n")


def show(line: str) -> None:
    """On stderr, also what its encoding does not have."""
    encoding = sys.stderr.encoding or "ascii"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
    sys.stderr.flush()


def size(megabytes: int) -> str:
    return "{:.1f} GB".format(megabytes / 1024) if megabytes >= 1000 else "{} MB".format(megabytes)


# Pythons


PROBE = (
    "import json, platform, struct, sys; b = getattr(sys, '_base_executable', None) or sys.executable; "
    "print(json.dumps([b, list(sys.version_info[:3]), struct.calcsize('P') * 8, "
    "platform.python_implementation() + getattr(sys, 'abiflags', '')]))"
)


def run(argv: "list[str]", timeout: "float | None" = None) -> "tuple[int, str, str]":
    """Exit code and both outputs of a child; a child that cannot start has the code 127."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=timeout,
            env=child_environment(os.environ),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return 127, "", str(error)
    return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")


def child_environment(env: "Mapping[str, str]") -> "dict[str, str]":
    """Without what would lead pip or venv out of .venv."""
    dropped = (
        "PYTHONHOME",
        "PYTHONPATH",
        "PYTHONUSERBASE",
        "__PYVENV_LAUNCHER__",
        "PIP_TARGET",
        "PIP_PREFIX",
    )
    kept = {key: value for key, value in env.items() if key not in dropped}
    kept.update(PIP_USER="0", PIP_DISABLE_PIP_VERSION_CHECK="1", PIP_ROOT_USER_ACTION="ignore")
    return kept


def candidates(path: str) -> "list[str]":
    """Every file on PATH that may be a Python that fits; a pyenv shim looks like one and need not run."""
    names = ["python{}.{}".format(*version) for version in PYTHONS]
    files = [os.path.join(folder, name) for name in [*names, "python3", "python"] for folder in path.split(os.pathsep)]
    return [file for file in files if os.path.isabs(file) and os.access(file, os.X_OK) and os.path.isfile(file)]


def probe(file: str) -> "dict[str, Any] | None":
    """What the interpreter says of itself, or None where it does not run."""
    code, out, _ = run([file, "-I", "-S", "-c", PROBE], timeout=20)
    try:
        path, version, bits, build = json.loads(out)
    except ValueError:
        return None
    return {"path": path, "version": tuple(version), "bits": bits, "build": build} if code == 0 else None


def choose_python(found: "list[dict[str, Any]]") -> "dict[str, Any] | None":
    """The best of what probe() said, or None. There are no wheels for 32 bit, PyPy or no GIL."""
    fit = [one for one in found if one["bits"] == 64 and one["build"] == "CPython"]
    for version in PYTHONS:
        for one in fit:
            if one["version"][:2] == version:
                return one
    return None


def find_python() -> "dict[str, Any]":
    files = [*candidates(os.environ.get("PATH", "")), sys.executable]
    different = {}  # type: dict[str, str]  # in the order of PATH, each interpreter under its first name
    for file in filter(None, files):
        different.setdefault(os.path.realpath(file), file)
    found = [one for one in map(probe, different.values()) if one]
    chosen = choose_python(found)
    if chosen:
        return chosen
    versions = sorted({one["version"] for one in found})
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


def dotted(version: "Iterable[int]") -> str:
    return ".".join(str(part) for part in version)


# What is wanted, what is there, and what is to be done


def dependencies(pyproject: str) -> "dict[str, list[str]]":
    """Group -> requirements, out of the text of pyproject.toml.

    Reads just what that file holds, arrays of strings that a Python list could be, since not every Python has
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
    return hashlib.sha256("\n".join([*requirements, CONSTRAINTS]).encode()).hexdigest()[:16]


def look_at(venv: str) -> "dict[str, Any]":
    """What is at .venv, cheaply: one start of its Python without site, two small files and a folder list."""
    answer = probe(os.path.join(venv, "bin", "python")) if os.path.isdir(venv) else None
    version = answer["version"][:2] if answer else None
    return {
        "exists": os.path.lexists(venv),
        "begun": os.path.exists(os.path.join(venv, "bootstrap.begun")),
        "stamp": read_stamp(venv),
        "python": version,
        "packages": packages(site_packages(venv, version)) if version else [],
    }


def site_packages(venv: str, version: "Sequence[int]") -> str:
    return os.path.join(venv, "lib", "python{}.{}".format(*version), "site-packages")


def packages(site: str) -> "list[str]":
    try:
        return sorted(name[:-10] for name in os.listdir(site) if name.endswith(".dist-info"))
    except OSError:
        return []


def read_stamp(venv: str) -> "dict[str, Any]":
    """What the last set-up left; empty where there was none, or one of another format."""
    try:
        with open(os.path.join(venv, "bootstrap.json"), encoding="utf-8") as file:
            stamp = json.load(file)
    except (OSError, ValueError):
        return {}
    fits = isinstance(stamp, dict) and set(stamp) >= STAMP and stamp["format"] == FORMAT
    return stamp if fits else {}


def judge(seen: "dict[str, Any]", groups: "dict[str, str]", root: str) -> "tuple[str, str]":
    """(what to do, why): "make", "rebuild", "add", "move" or "ready". `groups` is group -> fingerprint."""
    stamp = seen["stamp"]
    if not seen["exists"]:
        return "make", ""
    if seen["python"] is None:
        return "rebuild", "broken_python"
    if seen["python"] not in PYTHONS or (stamp and stamp["python"] != list(seen["python"])):
        return "rebuild", "unfit_python"
    if not stamp:
        return ("rebuild", "half_made") if seen["begun"] else ("add", "adopted")
    if set(stamp["packages"]) - set(seen["packages"]):
        return "add", "packages_gone"
    if any(stamp["groups"].get(group) != mark for group, mark in groups.items()):
        return "add", ""
    return ("ready", "") if stamp["root"] == root else ("move", "moved")


def plan_install(
    lists: "dict[str, list[str]]", groups: "list[str]", version: "tuple[int, ...]", cpu_torch: bool
) -> "list[str]":
    """The requirements of one call of pip: all groups, so that they are resolved against each other."""
    wanted = [one for group in groups for one in lists[group] if applies(one, version)]
    return [one + "+cpu" if cpu_torch and one.startswith("torch==") else one for one in wanted]


def applies(requirement: str, version: "tuple[int, ...]") -> bool:
    """Whether its marker, if any, lets it in: the only markers used are python_version < and >=."""
    marker = re.search(r"python_version *(<|>=) *[\"'](\d+)\.(\d+)", requirement)
    if not marker:
        return True
    bound = tuple(int(part) for part in marker.groups()[1:])
    return version < bound if marker.group(1) == "<" else version >= bound


def room(groups: "list[str]", version: "tuple[int, ...]") -> "tuple[int, int]":
    """(MB that .venv takes, MB that lie in TMPDIR meanwhile)."""
    less = version == WINDOW_PYTHON and "base" in groups
    here, temporary = sum(ROOM[group] for group in groups), sum(DOWNLOAD[group] for group in groups)
    return (here - ENGINE_ROOM, temporary - ENGINE_DOWNLOAD) if less else (here, temporary)


def lack_of_room(
    needed: "tuple[int, int]", free_here: int, free_temporary: int, same_disk: bool
) -> "tuple[str, int, int] | None":
    """("here" or "temporary", MB needed, MB free) where there is too little, else None."""
    here, temporary = needed
    if same_disk:
        return None if free_here >= here + temporary else ("here", here + temporary, free_here)
    if free_here < here:
        return "here", here, free_here
    return None if free_temporary >= temporary else ("temporary", temporary, free_temporary)


# Making .venv


def set_up(verb: str, free: "Callable[[str], Any]" = shutil.disk_usage) -> None:
    """Brings .venv to where `verb` can start, and returns quickly where it is there already."""
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        lists = dependencies(file.read())
    wanted = {group: fingerprint(lists[group]) for group in VERBS[verb][0]}
    venv = os.path.join(ROOT, ".venv")
    tools = () if verb in ("window", "setup", "check") else tuple(TEST_TOOLS)
    seen = look_at(venv)
    if judge(seen, wanted, ROOT)[0] == "ready" and not system_unsure(seen["stamp"], tools):
        return
    with only_one(ROOT):
        repaired = repair(venv, lists, wanted, free)
        complete_system(venv, tools)
    if repaired:
        say("ready")


def repair(venv: str, lists: "dict[str, list[str]]", wanted: "dict[str, str]", free: "Callable[[str], Any]") -> bool:
    """Whether there was anything to do."""
    seen = look_at(venv)  # again: while this one waited, another one may have done it
    action, why = judge(seen, wanted, ROOT)
    if action == "ready":
        return False
    stamp = seen["stamp"] if action in ("add", "move") else {}
    gone = set(stamp.get("packages", ())) - set(seen["packages"])
    if why:
        say(why, names=", ".join(sorted(gone)))
    groups = [group for group in ALL if group in wanted or group in stamp.get("groups", {})]
    if action != "move":
        had = () if gone else stamp.get("groups", {})
        python = {"version": seen["python"], "path": ""} if action == "add" else find_python()
        if action == "rebuild":
            remove(venv)
        check_room(venv, room([group for group in groups if group not in had], python["version"][:2]), free)
        install(venv, lists, groups, action, python, stamp, seen["packages"])
    version = look_at(venv)["python"]
    site = site_packages(venv, version)
    link(venv, site, stamp.get("root"))
    marks = {group: fingerprint(lists[group]) for group in groups}
    made = {"format": FORMAT, "root": ROOT, "python": version, "groups": marks, "packages": packages(site)}
    write_stamp(venv, dict(made, system=stamp.get("system"), tools=stamp.get("tools")))
    return True


def install(
    venv: str,
    lists: "dict[str, list[str]]",
    groups: "list[str]",
    action: str,
    python: "dict[str, Any]",
    stamp: "dict[str, Any]",
    had: "list[str]",
) -> None:
    """`.venv/bootstrap.begun` without a stamp tells a later start that this one was killed half way."""
    try:
        if action == "add":
            begin(venv)
        else:
            make(venv, python)
        version = python["version"][:2]
        if version == WINDOW_PYTHON:
            say("no_engine", version=dotted(version))
        install_packages(venv, lists, groups, version, had)
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
    say("step", step=1, steps=3, what=text("making", version=dotted(python["version"]), path=python["path"]))
    os.mkdir(venv)
    begin(venv)
    if shutil.which("uv") and not has_venv_module(python):
        code, _, error = run(["uv", "venv", "--quiet", "--allow-existing", "--python", python["path"], venv])
    else:
        need_venv_module(python)
        code, _, error = run([python["path"], "-I", "-m", "venv", venv])
    if code != 0:
        raise Refused("failed", reason=last_line(error))


def remove(venv: str) -> None:
    if os.path.islink(venv) or os.path.isfile(venv):
        os.unlink(venv)
    elif os.path.isdir(venv):
        shutil.rmtree(venv)


def has_venv_module(python: "dict[str, Any]") -> bool:
    return run([python["path"], "-I", "-c", "import venv, ensurepip"])[0] == 0


def need_venv_module(python: "dict[str, Any]") -> None:
    """Debian and Ubuntu ship Python without it; root gets it installed, as the libraries are."""
    if has_venv_module(python):
        return
    package = "python{}.{}-venv".format(*python["version"])
    if os.geteuid() == 0 and shutil.which("apt-get") and python["path"].startswith("/usr/bin/"):
        say("adding_venv", version=dotted(python["version"]), package=package)
        if install_system("apt-get", [package], os.devnull) and has_venv_module(python):
            return
    line = "sudo apt-get install -y " + package if shutil.which("apt-get") else python_line(shutil.which)
    raise Refused("no_venv", version=dotted(python["version"]), path=python["path"], line=line)


def install_packages(
    venv: str, lists: "dict[str, list[str]]", groups: "list[str]", version: "tuple[int, ...]", had: "list[str]"
) -> None:
    python = os.path.join(venv, "bin", "python")
    tool = installer(python)
    cpu = "torch" in groups and not any(name.startswith("torch-") for name in had)
    requirements = plan_install(lists, groups, version, cpu and choose_torch(tool, lists["torch"]))
    names = ", ".join(dict.fromkeys(re.split(r"[^\w.-]", one)[0] for one in requirements))
    about = size(room(groups, version)[0])
    what = text("installing", names=names, size=about, tool="uv" if tool[0] == "uv" else "pip")
    say("step", step=2, steps=3, what=what)
    log, constraints = os.path.join(venv, "bootstrap.log"), os.path.join(venv, "bootstrap.constraints")
    write(constraints, CONSTRAINTS.encode())
    extra = [] if tool[0] == "uv" else ["--log", log]
    code, errors = follow([*tool, *extra, "-c", constraints, *requirements], log)
    if code != 0:
        free = shutil.disk_usage(venv).free
        raise why_it_failed(errors + unreached(log), free, log, index_url(python), about)


def installer(python: str) -> "list[str]":
    """uv where it is on PATH, unless pip was told of indexes or folders: uv reads none of pip's settings."""
    told = re.search(r"(index-url|find-links|no-index)='?[^']", run([python, "-I", "-m", "pip", "config", "list"])[1])
    if shutil.which("uv") and not told:
        return ["uv", "pip", "install", "--python", python]
    if run([python, "-I", "-m", "pip", "--version"])[0] != 0:
        run([python, "-I", "-m", "ensurepip", "--default-pip"])
    version = re.match(r"pip (\d+)\.(\d+)", run([python, "-I", "-m", "pip", "--version"])[1])
    if version and tuple(int(part) for part in version.groups()) < OLD_PIP:
        run([python, "-I", "-m", "pip", "install", "--quiet", "--upgrade", "pip"])  # the old one works as well
    return [python, "-I", "-m", "pip", "install"]


def choose_torch(tool: "list[str]", requirements: "list[str]") -> bool:
    """Whether an index has the CPU build; where none has, says how much the other one is."""
    torch = [one for one in requirements if one.startswith("torch==")]
    if run([*tool, "--dry-run", "--quiet", "--no-deps", torch[0] + "+cpu"])[0] == 0:
        return True
    if tool[0] == "uv":
        sizes, heavy = 0, "nvidia" in run([*tool, "--dry-run", *torch])[2]
    else:
        urls = download_urls(run([*tool, "--dry-run", "--quiet", "--ignore-installed", "--report", "-", *torch])[1])
        sizes, heavy = sum(bytes_at(url) for url in urls), any("nvidia" in url for url in urls)
    if heavy or sizes > GIGABYTE:
        say("big_torch", size=size(sizes >> 20) if sizes > GIGABYTE else "2-3 GB")
    return False


def download_urls(report: str) -> "list[str]":
    try:
        return [one["download_info"]["url"] for one in json.loads(report)["install"]]
    except (ValueError, KeyError):
        return []


def bytes_at(url: str) -> int:
    """Size of a wheel that is not downloaded yet; 0 where the server does not say."""
    import urllib.parse
    import urllib.request

    try:
        if url.startswith("file:"):
            return os.path.getsize(urllib.request.url2pathname(urllib.parse.urlparse(url).path))
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=5) as answer:
            return int(answer.headers.get("Content-Length") or 0)
    except (OSError, ValueError):
        return 0


def follow(argv: "list[str]", log: str) -> "tuple[int, str]":
    """Runs pip or uv: stdout stays the terminal's, with progress bars; stderr is shown, kept and logged.

    It inherits the lock of only_one(): when this process is killed, the next one waits until pip has ended.
    """
    lines, shown = [], True
    env = child_environment(os.environ)
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, close_fds=False)
    for raw in child.stderr or ():
        line = raw.decode("utf-8", "replace")
        # pip traces every line that its log has no room for, and names every package that a file: index lacks
        shown = shown and not line.startswith("--- Logging error")
        if shown and "is neither a file nor a directory" not in line:
            show(line)
        shown = shown or line.startswith("Arguments:")
        lines.append(line)
    with contextlib.suppress(OSError), open(log, "a", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(lines)
    return child.wait(), "".join(lines[-300:])


def unreached(log: str) -> str:
    """What pip tells of the network in its log only, when it was told not to try again."""
    try:
        with open(log, encoding="utf-8", errors="replace") as file:
            return "".join(line for line in file if "Could not fetch URL" in line)
    except OSError:
        return ""


NETWORK = re.compile(
    "Failed to establish a new connection|NewConnectionError|Temporary failure in name resolution|"
    "Connection refused|"
    "Name or service not known|Network is unreachable|timed out|Could not connect|ProxyError|SSLError|"
    "client error \\(Connect\\)|dns error|error sending request|ConnectionResetError|Connection broken"
)


def why_it_failed(errors: str, free: int, log: str, index: str, needed: str) -> Refused:
    reason = last_line("\n".join(re.findall(r"^(?:ERROR|error|  ×|  ╰─▶).*", errors, re.M)) or errors)
    if "No space left on device" in errors or "Errno 28" in errors or free < 64 << 20:
        return Refused("disk_full", needed=needed, log=log)
    if NETWORK.search(errors):
        return Refused("no_network", index=index, log=log)
    if "No matching distribution" in errors or "ResolutionImpossible" in errors or "No solution found" in errors:
        return Refused("no_match", index=index, reason=reason, log=log)
    return Refused("pip_failed", reason=reason, log=log)


def last_line(output: str) -> str:
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1].replace("ERROR: ", "") if lines else "?"


def index_url(python: str) -> str:
    """The index that pip asks first, without a password that may stand in it."""
    found = re.search(r"\.index-url='(.*)'", run([python, "-I", "-m", "pip", "config", "list"])[1])
    return re.sub(r"//[^/@]*@", "//", found.group(1) if found else "https://pypi.org/simple")


def check_room(venv: str, needed: "tuple[int, int]", free: "Callable[[str], Any]") -> None:
    temporary = tempfile.gettempdir()
    parent = venv if os.path.isdir(venv) else os.path.dirname(venv)
    same = os.stat(parent).st_dev == os.stat(temporary).st_dev
    lack = lack_of_room(needed, free(parent).free >> 20, free(temporary).free >> 20, same)
    if lack:
        where = parent if lack[0] == "here" else temporary
        raise Refused("no_room", where=where, needed=size(lack[1]), free=size(lack[2]))


@contextlib.contextmanager
def only_one(root: str) -> "Iterator[None]":
    """Locks the folder itself, so that no lock file is left behind."""
    handle = os.open(root, os.O_RDONLY)
    os.set_inheritable(handle, True)  # of our children only pip gets it: see follow()
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("waiting")
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in (errno.EBADF, errno.ENOLCK, errno.ENOTSUP):  # some NFS: go on without
                raise
        yield
    finally:
        os.close(handle)


def write_stamp(venv: str, stamp: "dict[str, Any]") -> None:
    """In one step, and before the mark goes: a kill in between leaves the one or the other."""
    file = os.path.join(venv, "bootstrap.json")
    with open(file + ".new", "w", encoding="utf-8") as handle:
        json.dump(stamp, handle, indent=1)
    os.replace(file + ".new", file)
    begun = os.path.join(venv, "bootstrap.begun")
    if os.path.exists(begun):
        os.unlink(begun)


# What ties .venv to this folder


def path_line(root: str) -> str:
    """The line of our .pth file: pure ASCII, since Python before 3.13 reads it in the locale's encoding.

    A training that is launched with this interpreter must not see our top-level names (ui, backends, studio):
    users have folders called so.
    """
    return "import os, sys; 'ASCEND_STUDIO_RUN' in os.environ or sys.path.append(os.fsdecode({!r}))\n".format(
        os.fsencode(root)
    )


def launcher(root: str) -> str:
    """A shell script, since a Python script's first line breaks with a long path or a space in it."""
    python = shlex.quote(os.path.join(root, ".venv", "bin", "python"))
    return '#!/bin/sh\nunset ASCEND_STUDIO_RUN\nexec {} -I -m studio "$@"\n'.format(python)


def link(venv: str, site: str, old_root: "str | None") -> None:
    write(os.path.join(site, "ascend_studio_root.pth"), os.fsencode(path_line(ROOT)))
    write(os.path.join(venv, "bin", "ascend-studio"), os.fsencode(launcher(ROOT)), executable=True)
    if old_root and old_root != ROOT:
        for name in os.listdir(os.path.join(venv, "bin")):
            move_script(os.path.join(venv, "bin", name), os.fsencode(old_root), os.fsencode(ROOT))


def move_script(file: str, old: bytes, new: bytes) -> None:
    """The scripts that venv and pip wrote carry the folder's path."""
    if os.path.islink(file) or not os.path.isfile(file) or os.path.getsize(file) > 1 << 16:
        return
    with open(file, "rb") as handle:
        content = handle.read()
    if old + b"/.venv" in content:
        write(file, content.replace(old + b"/.venv", new + b"/.venv"), executable=os.access(file, os.X_OK))


def write(file: str, content: bytes, executable: bool = False) -> None:
    with open(file, "wb") as handle:
        handle.write(content)
    os.chmod(file, 0o755 if executable else 0o644)


# What the system has to bring


def system_unsure(stamp: "dict[str, Any]", tools: "Sequence[str]") -> bool:
    """Whether something was missing at the last look, or nobody has looked yet."""
    return stamp["system"] != [] or bool(tools and stamp["tools"] != [])


def complete_system(venv: str, tools: "Sequence[str]") -> None:
    """Looks once, after installing. What could not be installed then is only named again at later starts."""
    stamp = read_stamp(venv)
    if not system_unsure(stamp, tools):
        return
    first = stamp["system"] is None or bool(tools and stamp["tools"] is None)
    if first:
        say("step", step=3, steps=3, what=text("looking"))
    missing = missing_parts(venv, stamp["python"], tools)
    if missing and first and os.geteuid() == 0 and manager():
        install_parts(missing, os.path.join(venv, "bootstrap.log"))
        missing = missing_parts(venv, stamp["python"], tools)
    elif missing:
        say_missing(missing)
    stamp["system"] = [part for part in missing if part not in TEST_TOOLS]
    stamp["tools"] = [part for part in missing if part in TEST_TOOLS] if tools else stamp["tools"]
    write_stamp(venv, stamp)


def missing_parts(venv: str, version: "Sequence[int]", tools: "Sequence[str]") -> "list[str]":
    """Names of libraries, "font", and names of programs."""
    missing = missing_libraries(site_packages(venv, version))
    return missing + ([] if has_chinese_font() else ["font"]) + [tool for tool in tools if not shutil.which(tool)]


def missing_libraries(site: str) -> "list[str]":
    """Those of LIBRARIES that Qt's widgets, its platform plugins and MindSpore do not find."""
    files = [os.path.join(site, "PySide6/Qt/lib/libQt6Widgets.so.6")]
    plugins = ["libqxcb.so", "libqoffscreen.so"] + (["libqwayland.so"] if os.environ.get("WAYLAND_DISPLAY") else [])
    files += [os.path.join(site, "PySide6/Qt/plugins/platforms", plugin) for plugin in plugins]
    engine = os.path.join(site, "mindspore")
    if os.path.isdir(engine):
        files += [os.path.join(engine, name) for name in os.listdir(engine) if name.startswith("_c_expression")]
    out = run(["ldd", *(file for file in files if os.path.exists(file))])[1]
    return sorted(set(re.findall(r"^\s*(\S+) => not found", out, re.M)) & set(LIBRARIES))


def has_chinese_font() -> bool:
    if shutil.which("fc-list"):
        return bool(run(["fc-list", ":lang=zh"])[1].strip())
    home = os.path.expanduser("~")
    folders = ["/usr/share/fonts", "/usr/local/share/fonts", home + "/.local/share/fonts", home + "/.fonts"]
    return any(FONT_FILE.search(name) for folder in folders for _, _, names in os.walk(folder) for name in names)


def manager() -> str:
    return next((name for name in ("apt-get", "dnf") if shutil.which(name)), "")


def system_packages(missing: "list[str]", which_manager: str) -> "list[str]":
    """What to ask the package manager for. dnf finds packages by the libraries in them."""
    names = set()
    for part in missing:
        if part == "font":
            names.add(FONT[which_manager])
        elif part in TEST_TOOLS:
            names.add({"Xvfb": "xorg-x11-server-Xvfb"}.get(part, part) if which_manager == "dnf" else TEST_TOOLS[part])
        else:
            names.add(part + "()(64bit)" if which_manager == "dnf" else LIBRARIES[part])
    return sorted(names)


def system_line(missing: "list[str]", which_manager: str) -> str:
    names = " ".join(shlex.quote(name) for name in system_packages(missing, which_manager))
    return "sudo {} install -y {}".format(which_manager, names)


def say_missing(missing: "list[str]") -> None:
    names = ", ".join(text("font") if part == "font" else part for part in missing)
    if manager():
        say("system_missing", names=names, line=system_line(missing, manager()))
    else:
        say("system_unknown", names=names)


def install_parts(missing: "list[str]", log: str) -> None:
    names = system_packages(missing, manager())
    say("installing_system", manager=manager(), names=" ".join(names))
    if not install_system(manager(), names, log):
        say("system_failed", log=log, line=system_line(missing, manager()))


def install_system(which_manager: str, names: "list[str]", log: str) -> bool:
    """Whether it worked. A bare machine has no package lists yet, so they are fetched first."""
    env = dict(child_environment(os.environ), DEBIAN_FRONTEND="noninteractive")
    install = [which_manager, "install", "-y", *names]
    if which_manager == "apt-get":
        install[1:1] = ["-o", "DPkg::Lock::Timeout=120", "--no-install-recommends"]
    with open(log, "ab") as file:
        for argv in ([["apt-get", "update"]] if which_manager == "apt-get" else []) + [install]:
            code = subprocess.call(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=env)
    return code == 0


# Starting


def read_arguments(argv: "list[str]") -> "tuple[str, str, list[str]]":
    """(verb, the verb whose packages are wanted, the arguments that are passed on)."""
    verb, rest = (argv[0], argv[1:]) if argv else ("window", [])
    if verb == "setup" and len(rest) == 2 and rest[0] == "--for":
        return verb, rest[1], []
    return verb, verb, rest[1:] if verb == "window" and rest[:1] == ["--"] else rest


def has_display(env: "Mapping[str, str]") -> bool:
    return any(env.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def start(verb: str, rest: "list[str]") -> int:
    """Becomes what the verb names; comes back only from those that start nothing or several things."""
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
        say(refused.key, **refused.args_)
    except KeyboardInterrupt:
        say("stopped")
        return 130
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            say("read_only", root=ROOT)
        elif error.errno == errno.ENOSPC:
            say("disk_full", needed=size(sum(ROOM.values())), log=os.path.join(ROOT, ".venv", "bootstrap.log"))
        else:
            say("failed", reason=error)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
