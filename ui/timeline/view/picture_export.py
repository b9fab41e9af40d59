"""Export of the view as a picture: PNG as on screen, SVG with names as text."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QIODevice, QRect, QSize
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgGenerator

from studio.errors import from_os
from ui.widgets import theme

if TYPE_CHECKING:
    from pathlib import Path

    from ui.timeline.view.timeline_view import TimelineView


NO_XML = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]|\xef\xbf[\xbe\xbf]")
"""Letters of UTF-8 that no XML may hold, as names of a trace may."""


def save_picture(view: TimelineView, path: Path) -> None:
    """Save the view by the ending of the path: .svg, else PNG. Raises StudioError where it cannot be written; then an
    existing file is unchanged."""
    data = svg_of(view) if path.suffix.lower() == ".svg" else png_of(view)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        unfinished.write_bytes(data)
        unfinished.replace(path)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise from_os(error, path) from error


def image_of(view: TimelineView) -> QImage:
    """Return an image with as many pixels as on the screen."""
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
    """Return an SVG in which the lanes are pixels; everything around them, including names, is lines and text."""
    buffer = QBuffer()
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(QSize(view.width(), view.height()))
    generator.setViewBox(QRect(0, 0, view.width(), view.height()))
    painter = QPainter(generator)
    painter.fillRect(view.rect(), theme.color("surface"))
    view.paint(painter)
    painter.end()
    return NO_XML.sub(b"", bytes(buffer.data().data()))
