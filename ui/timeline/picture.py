"""The view as a picture in a file: PNG as it is seen, SVG with names as text."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QIODevice, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from studio.errors import from_os
from ui import theme

if TYPE_CHECKING:
    from pathlib import Path

    from ui.timeline.canvas import TimelineView


NO_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
"""Letters of UTF-8 that no XML may hold, as names of a trace may."""


def save_picture(view: TimelineView, path: Path) -> None:
    """By the ending of the path: .svg, else PNG. Raises StudioError where it cannot be written; then what was there
    before is still there."""
    data = svg_of(view) if path.suffix.lower() == ".svg" else png_of(view)
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise from_os(error, path) from error


def image_of(view: TimelineView) -> QImage:
    """With as many pixels as it has on the screen."""
    ratio = view.devicePixelRatioF()
    image = QImage((view.size() * ratio).expandedTo(view.size()), QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)
    image.fill(theme.color("surface"))
    painter = QPainter(image)
    view.paint(painter)
    painter.end()
    return image


def png_of(view: TimelineView) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image_of(view).save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def svg_of(view: TimelineView) -> bytes:
    """The lanes are pixels in it; what is around them, their names included, is lines and text."""
    buffer = QBuffer()
    made = QSvgGenerator()
    made.setOutputDevice(buffer)
    made.setSize(QSize(view.width(), view.height()))
    made.setViewBox(QRect(0, 0, view.width(), view.height()))
    painter = QPainter(made)
    painter.fillRect(view.rect(), theme.color("surface"))
    view.paint(painter)
    painter.end()
    return NO_XML.sub(b"", bytes(buffer.data().data()))
