"""The packages of .venv: which, how much room they take, and their installation by pip or uv."""

import contextlib
import json
import os
import re
import shutil
import subprocess
import tempfile

from studio.setup.messages import Refused, say, show, size, text
from studio.setup.pythons import WINDOW_ONLY, child_environment, last_line, run

TYPE_CHECKING = False  # without importing typing, which is slow
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

OLD_PIP = (23, 2)  # older ones download whole wheels only to read what they need
# MB on disk and MB that lie in TMPDIR while pip works: measured on x86_64, rounded up.
ROOM = {"base": 450, "mindspore": 2900, "torch": 900, "tools": 350, "fast": 250, "dev": 370}
DOWNLOAD = {"base": 150, "mindspore": 950, "torch": 250, "tools": 100, "fast": 80, "dev": 100}
GIGABYTE = 1 << 30
NETWORK = re.compile(
    "Failed to establish a new connection|NewConnectionError|Temporary failure in name resolution|"
    "Connection refused|"
    "Name or service not known|Network is unreachable|timed out|Could not connect|ProxyError|SSLError|"
    "client error \\(Connect\\)|dns error|error sending request|ConnectionResetError|Connection broken"
)


def plan(
    requirements: "dict[str, list[str]]", groups: "list[str]", version: "tuple[int, ...]", cpu_torch: bool
) -> "list[str]":
    """Return the requirements of one call of pip: all groups, so that they are resolved against each other."""
    chosen = [requirement for group in groups for requirement in requirements[group] if applies(requirement, version)]
    unique = list(dict.fromkeys(chosen))
    return [name + "+cpu" if cpu_torch and name.startswith("torch==") else name for name in unique]


def applies(requirement: str, version: "tuple[int, ...]") -> bool:
    """Return whether its marker, if any, lets it in: the only markers used are python_version < and >=."""
    marker = re.search(r"python_version *(<|>=) *[\"'](\d+)\.(\d+)", requirement)
    if not marker:
        return True
    bound = tuple(int(part) for part in marker.groups()[1:])
    return version < bound if marker.group(1) == "<" else version >= bound


def room(groups: "list[str]", version: "tuple[int, ...]") -> "tuple[int, int]":
    """Return (MB that .venv takes, MB that lie in TMPDIR meanwhile)."""
    counted = [group for group in groups if group != "mindspore" or version != WINDOW_ONLY]
    return sum(ROOM[group] for group in counted), sum(DOWNLOAD[group] for group in counted)


def lack_of_room(
    needed: "tuple[int, int]", free_here: int, free_temporary: int, same_disk: bool
) -> "tuple[str, int, int] | None":
    """Return ("here" or "temporary", MB needed, MB free) where there is too little, else None."""
    here, temporary = needed
    if same_disk:
        return None if free_here >= here + temporary else ("here", here + temporary, free_here)
    if free_here < here:
        return "here", here, free_here
    return None if free_temporary >= temporary else ("temporary", temporary, free_temporary)


def install(
    venv: str,
    lock: str,
    requirements: "dict[str, list[str]]",
    groups: "list[str]",
    version: "tuple[int, ...]",
    installed: "list[str]",
) -> None:
    """Install the groups with the versions of the lock file; a pin that the index no longer has gives way to its range.

    Raises Refused.
    """
    python = os.path.join(venv, "bin", "python")
    tool = installer(python)
    is_torch_new = "torch" in groups and not any(name.startswith("torch-") for name in installed)
    chosen = plan(requirements, groups, version, is_torch_new and choose_torch(tool, requirements["torch"]))
    names = ", ".join(dict.fromkeys(re.split(r"[^\w.-]", requirement)[0] for requirement in chosen))
    needed = size(room(groups, version)[0])
    what = text("installing", names=names, size=needed, tool="uv" if tool[0] == "uv" else "pip")
    say("step", step=2, steps=3, what=what)
    log, constraints = os.path.join(venv, "bootstrap.log"), os.path.join(venv, "bootstrap.constraints")
    extra = [] if tool[0] == "uv" else ["--log", log]
    pins = read_pins(lock)
    while True:
        with open(constraints, "w", encoding="utf-8") as file:
            file.writelines(pin + "\n" for pin in pins)
        code, errors = run_installer([*tool, *extra, "-c", constraints, *chosen], log)
        if code == 0:
            return
        failure = why_it_failed(errors + unreached(log), shutil.disk_usage(venv).free, log, index_url(python), needed)
        if failure.key != "no_match" or not pins:
            raise failure
        blamed = blamed_pins(errors, pins)
        if blamed:
            say("pins_gone", names=", ".join(blamed))
        else:
            say("pins_unusable", reason=failure.values["reason"])
        pins = [pin for pin in pins if blamed and pin not in blamed]


def read_pins(lock: str) -> "list[str]":
    """Return the lines of a lock file that pin a version; none where there is no lock file."""
    try:
        with open(lock, encoding="utf-8") as file:
            return [line.strip() for line in file if "==" in line and not line.startswith("#")]
    except OSError:
        return []


def blamed_pins(errors: str, pins: "list[str]") -> "list[str]":
    """Return the pins whose packages pip or uv names in its errors with a version."""
    names = {name.lower().replace("_", "-") for name in re.findall(r"([A-Za-z0-9][\w.-]*?)==[\w.!+-]+", errors)}
    return [pin for pin in pins if pin.split("==")[0].lower().replace("_", "-") in names]


def installer(python: str) -> "list[str]":
    """Return the installer: uv where it is on PATH, unless pip has indexes or folders of its own, which uv ignores."""
    settings = re.search(
        r"(index-url|find-links|no-index)='?[^']", run([python, "-I", "-m", "pip", "config", "list"])[1]
    )
    if shutil.which("uv") and not settings:
        return ["uv", "pip", "install", "--python", python]
    if run([python, "-I", "-m", "pip", "--version"])[0] != 0:
        run([python, "-I", "-m", "ensurepip", "--default-pip"])
    version = re.match(r"pip (\d+)\.(\d+)", run([python, "-I", "-m", "pip", "--version"])[1])
    if version and tuple(int(part) for part in version.groups()) < OLD_PIP:
        run([python, "-I", "-m", "pip", "install", "--quiet", "--upgrade", "pip"])  # the old one works as well
    return [python, "-I", "-m", "pip", "install"]


def choose_torch(tool: "list[str]", requirements: "list[str]") -> bool:
    """Return whether an index has the CPU build; where none has, say how large the other one is."""
    torch = [name for name in requirements if name.startswith("torch==")]
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
        return [package["download_info"]["url"] for package in json.loads(report)["install"]]
    except (ValueError, KeyError):
        return []


def bytes_at(url: str) -> int:
    """Return the size of a wheel that is not downloaded yet; 0 where the server does not tell it."""
    import urllib.parse
    import urllib.request

    try:
        if url.startswith("file:"):
            return os.path.getsize(urllib.request.url2pathname(urllib.parse.urlparse(url).path))
        with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=5) as answer:
            return int(answer.headers.get("Content-Length") or 0)
    except (OSError, ValueError):
        return 0


def run_installer(argv: "list[str]", log: str) -> "tuple[int, str]":
    """Run pip or uv: stdout stays the terminal's, with progress bars; stderr is shown, kept and logged.

    It inherits folder_lock() of bootstrap.py: when this process is killed, the next one waits until pip has ended.
    """
    lines, is_visible = [], True
    env = child_environment(os.environ)
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=env, close_fds=False)
    for raw in child.stderr or ():
        line = raw.decode("utf-8", "replace")
        # pip traces every line that its log has no room for, and names every package that a file: index lacks
        is_visible = is_visible and not line.startswith("--- Logging error")
        if is_visible and "is neither a file nor a directory" not in line:
            show(line)
        is_visible = is_visible or line.startswith("Arguments:")
        lines.append(line)
    with contextlib.suppress(OSError), open(log, "a", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(lines)
    return child.wait(), "".join(lines[-300:])


def unreached(log: str) -> str:
    """Return what pip writes about the network into its log only, when it may not try again."""
    try:
        with open(log, encoding="utf-8", errors="replace") as file:
            return "".join(line for line in file if "Could not fetch URL" in line)
    except OSError:
        return ""


def why_it_failed(errors: str, free: int, log: str, index: str, needed: str) -> Refused:
    reason = last_line("\n".join(re.findall(r"^(?:ERROR|error|  ×|  ╰─▶).*", errors, re.M)) or errors)
    if "No space left on device" in errors or "Errno 28" in errors or free < 64 << 20:
        return Refused("disk_full", needed=needed, log=log)
    if NETWORK.search(errors):
        return Refused("no_network", index=index, log=log)
    if "No matching distribution" in errors or "ResolutionImpossible" in errors or "No solution found" in errors:
        return Refused("no_match", index=index, reason=reason, log=log)
    return Refused("pip_failed", reason=reason, log=log)


def index_url(python: str) -> str:
    """Return the index that pip asks first, without a password that may stand in it."""
    setting = re.search(r"\.index-url='(.*)'", run([python, "-I", "-m", "pip", "config", "list"])[1])
    return re.sub(r"//[^/@]*@", "//", setting.group(1) if setting else "https://pypi.org/simple")


def check_room(venv: str, needed: "tuple[int, int]", free: "Callable[[str], Any]") -> None:
    temporary = tempfile.gettempdir()
    parent = venv if os.path.isdir(venv) else os.path.dirname(venv)
    same = os.stat(parent).st_dev == os.stat(temporary).st_dev
    lack = lack_of_room(needed, free(parent).free >> 20, free(temporary).free >> 20, same)
    if lack:
        where = parent if lack[0] == "here" else temporary
        raise Refused("no_room", where=where, needed=size(lack[1]), free=size(lack[2]))
