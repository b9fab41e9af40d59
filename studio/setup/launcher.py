"""What ties .venv to the folder of this checkout: its path line and its launcher."""

import os
import shlex


def path_line(root: str) -> str:
    """Return the line of our .pth file: pure ASCII, since Python before 3.13 reads it in the locale's encoding.

    A training that is launched with this interpreter must not see our top-level names (ui, backends, studio):
    users have folders called so.
    """
    return f"import os, sys; 'ASCEND_STUDIO_RUN' in os.environ or sys.path.append(os.fsdecode({os.fsencode(root)!r}))\n"


def launcher(root: str) -> str:
    """Return a shell script, since a Python script's first line breaks with a long path or a space in it."""
    files = (os.path.join(root, ".venv", "bin", "python"), os.path.join(root, "studio", "__main__.py"))
    python, studio = map(shlex.quote, files)
    return f'#!/bin/sh\nunset ASCEND_STUDIO_RUN\nexec {python} -I {studio} "$@"\n'


def link(root: str, venv: str, site: str, old_root: "str | None") -> None:
    """Write the path line and the launcher; set the paths of other scripts right where the folder has moved."""
    write(os.path.join(site, "ascend_studio_root.pth"), os.fsencode(path_line(root)))
    write(os.path.join(venv, "bin", "ascend-studio"), os.fsencode(launcher(root)), executable=True)
    if old_root and old_root != root:
        for name in os.listdir(os.path.join(venv, "bin")):
            move_script(os.path.join(venv, "bin", name), os.fsencode(old_root), os.fsencode(root))


def move_script(file: str, old: bytes, new: bytes) -> None:
    """Replace the folder's path in a script that venv or pip wrote."""
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
