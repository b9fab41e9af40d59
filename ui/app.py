"""`ascend-studio`, `ascend-studio window`: from the words of the command line to the end of the window.

Imports no Qt by itself: where Qt cannot be loaded, that has to be a sentence.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from studio import texts
from studio.errors import StudioError
from studio.output.terminal import printable
from studio.project import project_around
from ui.shell import display

if TYPE_CHECKING:
    from collections.abc import Sequence

    from PySide6.QtWidgets import QApplication

    from ui.services.settings import Settings
    from ui.shell.window import Shell


def run_window(words: Sequence[str], language: str = "") -> int:
    """Opens the window and stays until it is closed. `words`: a project or a run to open, or nothing; `language`:
    asked for now, "" for the remembered one.

    1: it could not be opened, stderr says why.
    """
    try:
        app, shell = open_window(Path(words[0]) if words else _project_here(), language)
    except StudioError as error:
        print(printable(str(error)), file=sys.stderr)
        return 1
    # A signal may have closed it already; without a window nothing would end the loop.
    return app.exec() if shell.isVisible() else 0


def _project_here() -> Path | None:
    """Return the project around the current folder; None where there is none, and the one of last time is opened."""
    try:
        project = project_around(Path.cwd())
    except OSError:
        return None
    return project.folder if project is not None else None


def open_window(path: Path | None = None, language: str = "") -> tuple[QApplication, Shell]:
    """The application and its window, shown; pages come after the first paint. Raises StudioError."""
    app = _make_application()
    from ui.services import settings

    remembered = settings.load()
    remembered.language = language or remembered.language
    _use(app, remembered)
    from ui.services.session import Session
    from ui.shell.application_hooks import ClosingSignals, install_exception_hook
    from ui.shell.window import Shell

    session = Session(app)
    shell = Shell(session, remembered)
    install_exception_hook(session)
    ClosingSignals(app)
    shell.show_first(path)
    return app, shell


def _make_application() -> QApplication:
    display.check()
    try:
        from PySide6.QtCore import QLibraryInfo
        from PySide6.QtWidgets import QApplication

        from ui.shell.garbage import collect_between_events
    except ImportError as error:
        raise StudioError("app.no_library", reason=str(error)) from error
    plugins = Path(QLibraryInfo.path(QLibraryInfo.LibraryPath.PluginsPath))
    if os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        display.check_plugin(plugins, os.environ.get("QT_QPA_PLATFORM", ""))
    app = QApplication(["ascend-studio"])
    app.setApplicationName("ascend-studio")
    app.setDesktopFileName("ascend-studio")
    collect_between_events(app)
    return app


def _use(app: QApplication, remembered: Settings) -> None:
    """Language and theme: as remembered, else as the system has them."""
    from ui.shell import qt_texts
    from ui.widgets import theme

    language: texts.Language = "zh" if (remembered.language or texts.system_language()) == "zh" else "en"
    texts.use(language)
    qt_texts.use(language)
    theme.apply(app, theme.chosen_theme(remembered.theme))
