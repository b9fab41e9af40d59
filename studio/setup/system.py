"""What the system has to bring: libraries of Qt and MindSpore, a Chinese font, programs of the tests."""

import os
import re
import shlex
import shutil
import subprocess

from studio.setup.messages import say, text
from studio.setup.pythons import child_environment, run

TYPE_CHECKING = False  # without importing typing, which is slow
if TYPE_CHECKING:
    from collections.abc import Sequence

PROGRAMS = {"Xvfb": "xvfb", "xauth": "xauth", "git": "git"}  # program: its package, in apt and dnf alike
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


def missing_parts(site: str, programs: "Sequence[str]") -> "list[str]":
    """Return names of libraries, "font", and names of programs that are missing. `site` is a site-packages folder."""
    font = [] if has_chinese_font() else ["font"]
    return missing_libraries(site) + font + [name for name in programs if not shutil.which(name)]


def missing_libraries(site: str) -> "list[str]":
    """Return those of LIBRARIES that Qt's widgets, its platform plugins and MindSpore do not find."""
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
    """Return what to ask the package manager for. dnf finds packages by the libraries in them."""
    names = set()
    for part in missing:
        if part == "font":
            names.add(FONT[which_manager])
        elif part in PROGRAMS:
            names.add({"Xvfb": "xorg-x11-server-Xvfb"}.get(part, part) if which_manager == "dnf" else PROGRAMS[part])
        else:
            names.add(part + "()(64bit)" if which_manager == "dnf" else LIBRARIES[part])
    return sorted(names)


def system_line(missing: "list[str]", which_manager: str) -> str:
    names = " ".join(shlex.quote(name) for name in system_packages(missing, which_manager))
    return f"sudo {which_manager} install -y {names}"


def say_missing(missing: "list[str]") -> None:
    names = ", ".join(text("font") if part == "font" else part for part in missing)
    if manager():
        say("system_missing", names=names, line=system_line(missing, manager()))
    else:
        say("system_unknown", names=names)


def install_parts(missing: "list[str]", log: str) -> None:
    names = system_packages(missing, manager())
    say("installing_system", manager=manager(), names=" ".join(names))
    if not install_packages(manager(), names, log):
        say("system_failed", log=log, line=system_line(missing, manager()))


def install_packages(which_manager: str, names: "list[str]", log: str) -> bool:
    """Return whether it worked. A bare machine has no package lists yet, so they are fetched first."""
    env = dict(child_environment(os.environ), DEBIAN_FRONTEND="noninteractive")
    install = [which_manager, "install", "-y", *names]
    if which_manager == "apt-get":
        install[1:1] = ["-o", "DPkg::Lock::Timeout=120", "--no-install-recommends"]
    with open(log, "ab") as file:
        for argv in ([["apt-get", "update"]] if which_manager == "apt-get" else []) + [install]:
            code = subprocess.call(argv, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT, env=env)
    return code == 0
