"""Whether a window can open at all. Qt itself aborts the process where it cannot; a sentence is better."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

from studio.errors import StudioError

if TYPE_CHECKING:
    from pathlib import Path


def check(environ: dict[str, str] | None = None) -> None:
    """Raises StudioError where there is no screen, or the X server does not answer. Asks no Qt."""
    environ = dict(os.environ) if environ is None else environ
    platform = environ.get("QT_QPA_PLATFORM", "")
    if platform and not platform.startswith("xcb"):
        return
    display = environ.get("DISPLAY", "")
    if not display and not environ.get("WAYLAND_DISPLAY"):
        raise StudioError("app.no_display")
    if display and not _answers(display):
        raise StudioError("app.no_server", display=display)


def _answers(display: str) -> bool:
    """Whether an X server accepts our connection; True where that cannot be tested."""
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return True
    xcb.xcb_connect.restype = ctypes.c_void_p
    connection = ctypes.c_void_p(xcb.xcb_connect(display.encode(), None))
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    return not failed


def check_plugin(plugins: Path, platform: str) -> None:
    """Raises StudioError that names the system library which the xcb plugin lacks. Qt's libraries must be loaded."""
    if platform and not platform.startswith("xcb"):
        return
    try:
        ctypes.CDLL(str(plugins / "platforms" / "libqxcb.so"))
    except OSError as error:
        raise StudioError("app.no_library", reason=str(error)) from error
