"""A bare Debian 12, in a folder: from nothing to the window, and to green tests."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
CACHE = Path("/tmp/ascend-bare")
PLACE = "/root/ascend-training-studio"  # where the clone lies, as the machine sees it
CERTIFICATES = Path(os.environ.get("PIP_CERT", "/etc/ssl/certs/ca-certificates.crt"))
REGISTRIES = ("/opt/wheels", "/opt/pypi", "/opt/pypi-more")  # folders that pip may have been told of

# The first window of some size that has a name. Without a window manager, it is a child of the root.
OPEN_WINDOW = """
Xvfb :97 -screen 0 1280x800x24 >/dev/null 2>&1 &
while [ ! -e /tmp/.X11-unix/X97 ]; do sleep 0.05; done
export DISPLAY=:97 LANG=C.UTF-8 LANGUAGE=zh
begin=$(date +%s.%N)
python3 bootstrap.py >/tmp/window.log 2>&1 &
for i in $(seq 300); do
  if xwininfo -root -tree | grep -E '"[^"]+": .* [0-9]{3,4}x[0-9]{3,4}[+]'; then break; fi
  kill -0 $! 2>/dev/null || { tail -5 /tmp/window.log; exit 1; }
  sleep 0.1
done
echo "seconds $(date +%s.%N) $begin"
sleep 2
.venv/bin/python -I -c "
import sys
from PySide6.QtGui import QGuiApplication
application = QGuiApplication(sys.argv)
application.primaryScreen().grabWindow(0).save('/tmp/window.png')
"
"""


def bare_debian(tests: bool = True) -> dict[str, Any]:
    """Needs root, debootstrap and the network; takes about 5 minutes, and what the tests take.

    The picture of the window is left at /tmp/ascend-bare/window.png; it is to be looked at.
    """
    lacking = [name for name in ("debootstrap", "unshare") if not shutil.which(name)]
    if os.geteuid() or lacking:
        return {
            "name": "bare_debian",
            "passed": False,
            "reason": f"needs root and {lacking or 'nothing else'}",
        }
    machine = new_machine()
    copy_project(machine / PLACE[1:])
    install_python = "apt-get update && apt-get install -y --no-install-recommends python3"
    figures: dict[str, Any] = {"name": "bare_debian"}
    steps = {
        "python": (install_python, 0),  # without venv and without certificates: bootstrap has to see to it
        "set_up": ("python3 bootstrap.py setup", 0),
        "no_display": ("python3 bootstrap.py", 2),
        "second": ("python3 bootstrap.py setup", 0),
        "engine": ("cd / && /root/*/.venv/bin/python -I -c 'import mindspore'", 0),
        "set_up_tests": ("python3 bootstrap.py setup --for test", 0),
        "test": ("bash .ci/run" if tests else "true", 0),
        "tools_to_look": ("apt-get install -y --no-install-recommends x11-utils", 0),
        "window": (OPEN_WINDOW, 0),
    }
    passed = True
    for name, (command, expected) in steps.items():
        begin = time.perf_counter()
        done = inside(machine, command)
        figures[f"{name}_seconds"] = round(time.perf_counter() - begin, 1)
        if done.returncode != expected:
            passed = False
            figures[f"{name}_failed"] = (done.returncode, done.stdout[-1500:])
            if name in ("python", "set_up"):
                break
        if name == "test":
            figures["test_last_line"] = (done.stdout.strip().splitlines() or [""])[-1]
        if name == "window":
            figures.update(window_figures(done.stdout))
            passed = passed and bool(figures["window_title"])
    figures["megabytes"] = megabytes(machine)
    figures["environment_megabytes"] = megabytes(machine / PLACE[1:] / ".venv")
    if (machine / "tmp/window.png").exists():
        shutil.copy(machine / "tmp/window.png", CACHE / "window.png")
    shutil.rmtree(machine)
    return {"passed": passed, **figures}


def new_machine() -> Path:
    """A copy of a minimal Debian, which is made once."""
    base, machine = CACHE / "base", CACHE / "machine"
    if not (base / "made").exists():
        shutil.rmtree(base, ignore_errors=True)
        CACHE.mkdir(parents=True, exist_ok=True)
        subprocess.run(["debootstrap", "--variant=minbase", "bookworm", base], check=True, stdout=subprocess.DEVNULL)
        (base / "made").touch()
    shutil.rmtree(machine, ignore_errors=True)
    subprocess.run(["cp", "-a", base, machine], check=True)
    for folder in REGISTRIES:
        (machine / folder[1:]).mkdir(parents=True, exist_ok=True)
    for file in ("/etc/resolv.conf", "/etc/pip.conf", str(Path.home() / ".config/pip/pip.conf")):
        if Path(file).exists():
            target = machine / file[1:].replace(str(Path.home())[1:], "root")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, target)
    if CERTIFICATES.exists():
        shutil.copy(CERTIFICATES, machine / "root/certificates.crt")
    return machine


def copy_project(target: Path) -> None:
    """A clone where everything is committed, else the files that a clone would have."""
    if not git("status", "--porcelain") and git("rev-parse", "--verify", "--quiet", "HEAD"):
        subprocess.run(["git", "clone", "--quiet", ROOT, target], check=True)
        return
    for name in filter(None, git("ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def git(*words: str) -> str:
    return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False).stdout


def inside(machine: Path, command: str) -> subprocess.CompletedProcess[str]:
    """Runs a shell command in the machine, in mounts and processes of its own: nothing is left behind."""
    there = shlex.quote(str(machine))
    mounts = [f"mount -t proc proc {there}/proc", f"mount --rbind /dev {there}/dev"]
    mounts += [f"mount --bind {folder} {there}{folder}" for folder in REGISTRIES if Path(folder).exists()]
    environment = {name: value for name, value in os.environ.items() if name.startswith("PIP_")}
    if CERTIFICATES.exists():
        environment["PIP_CERT"] = "/root/certificates.crt"
    environment.update(HOME="/root", PATH="/usr/sbin:/usr/bin:/sbin:/bin", DEBIAN_FRONTEND="noninteractive")
    words = " ".join(shlex.quote(f"{name}={value}") for name, value in environment.items())
    script = f"cd {PLACE}\n{command}"
    enter = f"exec chroot {there} env -i {words} bash -c {shlex.quote(script)}"
    own = ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child"]
    return subprocess.run(
        [*own, "bash", "-c", " && ".join([*mounts, enter])],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
    )


def window_figures(output: str) -> dict[str, Any]:
    title = re.search(r'"([^"]+)": ', output)
    seconds = re.search(r"^seconds (\S+) (\S+)", output, re.MULTILINE)
    opened = round(float(seconds[1]) - float(seconds[2]), 2) if seconds else None
    return {"window_title": title[1] if title else "", "window_open_seconds": opened}


def megabytes(folder: Path) -> int:
    return int(subprocess.run(["du", "-smx", folder], capture_output=True, text=True, check=False).stdout.split()[0])


if __name__ == "__main__":
    print(json.dumps(bare_debian("--no-tests" not in sys.argv), indent=1))
