"""The window: rail, top bar, message strip and pages. Made and painted before any page is."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QSize, QTimer
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from backends import features
from studio import run as runs
from studio import texts
from studio.errors import StudioError, from_os
from studio.feature import load
from studio.texts import t
from ui.services import actions, settings
from ui.services.background import run_in_background
from ui.services.dropping import Dropping
from ui.services.file_dialogs import ask_folder
from ui.services.trainings_at_work import TrainingsAtWork, show_training
from ui.shell import pages, qt_texts
from ui.shell.dropped_path import MISSING, PROJECT, RUN, UNKNOWN, Dropped, recognise
from ui.shell.main_menu import main_menu, project_menu, shortcuts_list
from ui.shell.message_strip import Strip
from ui.shell.rail import Rail
from ui.shell.sharing import SharingQuestion
from ui.shell.top_bar import TopBar
from ui.shell.trust_sheet import trust_sheet
from ui.widgets import theme
from ui.widgets.icons import icon
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from PySide6.QtGui import QAction, QCloseEvent, QPaintEvent, QResizeEvent

    from studio.project import Project
    from ui.services.session import Session
    from ui.services.settings import Settings
    from ui.shell.command_palette import CommandPalette

FOLDS_UNDER = 1100
SMALLEST = QSize(720, 480)


class Shell(QWidget):
    """Shows the state of the session and remembers what the user chose. Pages are made when first visited."""

    def __init__(self, session: Session, remembered: Settings | None = None) -> None:
        super().__init__()
        self.setObjectName("shell")
        self.session = session
        self.settings = remembered or settings.load()
        self._pages: dict[str, QWidget] = {}
        self._first: Path | None = None
        self._painted = True
        self.page_ids = pages.page_ids()
        self.rail = Rail(self.page_ids)
        self.top_bar = TopBar()
        self.strip = Strip()
        self.sharing = SharingQuestion(session)
        self.stack = QStackedWidget()
        self.stack.setObjectName("pages")
        self._lay_out()
        self._register()
        self.palette_frame: CommandPalette | None = None
        self._dropping = Dropping(self, self.open_path)
        self._saving = QTimer(self, singleShot=True, interval=400)
        self._saving.timeout.connect(self.save_settings)
        self._connect()
        self.setWindowIcon(icon("mark", "accent", 64))
        self.setMinimumSize(SMALLEST)
        self.resize(self._fitting_size())
        self._name_window(session.project)
        # Nothing has the focus, and its ring, before a key or a click gives it.
        self.setFocus()

    def _lay_out(self) -> None:
        right = QVBoxLayout()
        right.setSpacing(0)
        right.addWidget(self.top_bar)
        right.addWidget(self.strip)
        right.addWidget(self.sharing)
        right.addWidget(self.stack, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addLayout(right, 1)

    def _connect(self) -> None:
        session, rail, bar = self.session, self.rail, self.top_bar
        self.trainings = TrainingsAtWork(session)
        self.trainings.changed.connect(lambda at_work: bar.show_trainings(len(at_work)))
        bar.trainings_requested.connect(self._show_training)
        session.trouble.connect(self.strip.show_error)
        session.page_requested.connect(self.show_page)
        session.path_requested.connect(self.open_as)
        session.project_changed.connect(self._show_project)
        rail.page_chosen.connect(self.show_page)
        rail.language_switched.connect(self.switch_language)
        rail.theme_switched.connect(self.switch_theme)
        bar.palette_requested.connect(self.open_palette)
        bar.project_menu_requested.connect(self.open_project_menu)
        bar.trust_requested.connect(self.explain_trust)
        bar.menu_requested.connect(self.open_menu)

    def _register(self) -> None:
        add = actions.register
        add(self, "project.open", "action.open_project", self.choose_folder, "Ctrl+O", "folder-open")
        self._close_project = add(self, "project.close", "action.close_project", lambda: self.open_project(None))
        self._trust = add(self, "project.trust", "action.trust", self.explain_trust, icon="shield")
        for number, page in enumerate(self.page_ids, 1):
            shortcut = f"Ctrl+{number}" if number < 10 else ""
            show = partial(self.show_page, page)
            add(self, f"tab.{page}", f"feature.{page}", show, shortcut, self.rail.icon_of(page))
        add(self, "window.palette", "action.palette", self.open_palette, "Ctrl+K", "search")
        add(self, "window.fold", "action.fold_rail", self.fold_rail, "Ctrl+B")
        add(self, "window.language", "action.language", self.switch_language, "Ctrl+Shift+L", "language")
        add(self, "window.theme", "action.theme", self.switch_theme, "Ctrl+Shift+D", "moon")
        add(self, "window.shortcuts", "action.shortcuts", self.show_shortcuts, "F1", "keyboard")
        add(self, "window.quit", "action.quit", self.close, "Ctrl+Q", "quit")
        self._follow_project(self.session.project)

    def show_first(self, path: Path | None = None) -> None:
        """Shows the window, then, once it is painted, the first page; `path` was named on the command line."""
        self._first = path
        self._painted = False
        self.showMaximized() if self.settings.maximized else self.show()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._painted:
            self._painted = True
            QTimer.singleShot(0, self._begin)

    def _begin(self) -> None:
        """The project of last time, unless another was named, and Home. Both may lie on a disk that answers slowly."""
        last = Path(self.settings.project) if self.settings.project else None
        run_in_background(self, partial(_recognise_first, self._first, last), self._begin_with)

    def _begin_with(self, first: Dropped | None) -> None:
        if first is not None:
            self._open_recognised(first.folder if self._first is None else self._first, first)
        self.session.begin()
        self.trainings.begin()
        if not self.page:
            self.show_page(next(iter(self.page_ids), ""))

    def _show_training(self) -> None:
        if self.trainings.runs:
            show_training(self.session, self.trainings.runs[0])

    # Pages

    @property
    def page(self) -> str:
        """The id of the page that is shown, '' before the first."""
        return next((id for id, page in self._pages.items() if page is self.stack.currentWidget()), "")

    def show_page(self, id: str) -> None:
        """Makes the page at its first visit. An id that has no page is passed over."""
        if id not in self.page_ids:
            return
        if id not in self._pages:
            self._pages[id] = pages.make_page(id, self.session)
            self.stack.addWidget(self._pages[id])
        self.stack.setCurrentWidget(self._pages[id])
        # Else the focus of a page that goes falls on some button of the page that comes, ring and all.
        self._pages[id].setFocus()
        self.rail.show_page(id)

    def page_widget(self, id: str) -> QWidget:
        """The page itself, made if need be."""
        self.show_page(id)
        return self._pages[id]

    def trigger(self, action: QAction) -> None:
        """Does an action from the palette; one of a page that is not shown is done there."""
        owner = action.parent()
        for id, page in self._pages.items():
            if isinstance(owner, QWidget) and (page is owner or page.isAncestorOf(owner)):
                self.show_page(id)
        action.trigger()

    # Projects and runs

    def choose_folder(self) -> None:
        start = self.session.project.folder.parent if self.session.project else Path.home()
        ask_folder(self, t("shell.choose_folder"), start, self.open_project)

    def open_project(self, folder: Path | None) -> None:
        """Make a folder the project; one that no longer exists is reported and dropped from the recent ones."""
        if folder is not None and not folder.is_dir():
            self.settings.recent = [other for other in self.settings.recent if other != str(folder)]
            self.session.trouble.emit(StudioError("shell.gone", path=str(folder)))
            return
        self.session.open_project(folder.absolute() if folder else None)

    def open_path(self, path: Path) -> None:
        """Opens what was dropped where it belongs; it is looked at in another thread."""
        run_in_background(self, partial(recognise, path), partial(self._open_recognised, path))

    def _open_recognised(self, path: Path, dropped: Dropped) -> None:
        if dropped.kind == RUN:
            self._open_run(dropped.folder)
        elif dropped.kind == PROJECT:
            self.open_project(dropped.folder)
        elif dropped.kind == MISSING:
            self.session.trouble.emit(StudioError("drop.missing", name=str(path)))
        elif dropped.kind == UNKNOWN:
            self.session.trouble.emit(StudioError("drop.unknown", name=path.name or str(path)))
        else:
            self.open_as(dropped.kind, dropped.folder)

    def open_as(self, kind: str, path: Path) -> None:
        """Open a path of a known kind on the page of the feature that opens this kind."""
        for feature in features():
            for opener in feature.opens:
                if opener.kind == kind:
                    load(opener.open)(self.page_widget(feature.id), path)

    def _open_run(self, folder: Path) -> None:
        try:
            run = runs.open_run(folder)
        except StudioError as error:
            self.session.trouble.emit(error)
            return
        self.session.watch_run(run)

    def explain_trust(self) -> None:
        if project := self.session.project:
            ask_again = partial(self.sharing.show_project, project)
            trust_sheet(self, self.session, project, ask_again).show_below(self.top_bar.trust_button)

    def _show_project(self, project: Project | None) -> None:
        self.top_bar.show_project(project)
        self.sharing.show_project(project)
        self._follow_project(project)
        self._name_window(project)
        self.settings.remember_project(str(project.folder) if project else "")
        self._saving.start()

    def _follow_project(self, project: Project | None) -> None:
        self._close_project.setEnabled(project is not None)
        self._trust.setEnabled(project is not None)

    def _name_window(self, project: Project | None) -> None:
        self.setWindowTitle(t("shell.title", project=project.name) if project else t("app.name"))

    # Menus

    def open_palette(self) -> None:
        """Made at its first use, as it has no part in the first paint."""
        if self.palette_frame is None:
            from ui.shell.command_palette import CommandPalette
            from ui.shell.palette_entries import entries

            self.palette_frame = CommandPalette(self, lambda: entries(self))
        self.palette_frame.open()

    def open_menu(self) -> None:
        button = self.top_bar.menu_button
        menu = main_menu(self)
        menu.popup(button.mapToGlobal(QPoint(button.width() - menu.sizeHint().width(), button.height() + 4)))

    def open_project_menu(self) -> None:
        button = self.top_bar.project_button
        menu = project_menu(self, self.settings.recent, lambda folder: self.open_project(Path(folder)))
        menu.popup(button.mapToGlobal(QPoint(0, button.height() + 4)))

    def show_shortcuts(self) -> None:
        """Those of the page that is shown, where it has keys of its own, else those of the window."""
        show_keys = getattr(self.stack.currentWidget(), "show_keys", None)
        if show_keys is None or not show_keys():
            shortcuts_list(self).show_below(self.top_bar.menu_button)

    # Language, theme, size

    def switch_language(self) -> None:
        self.use_language("en" if texts.language() == "zh" else "zh")

    def use_language(self, language: texts.Language) -> None:
        self.settings.language = language
        qt_texts.use(language)
        change_language(language)
        self._saving.start()

    def switch_theme(self) -> None:
        self.use_theme("light" if theme.is_dark() else "dark")

    def use_theme(self, name: theme.Name) -> None:
        self.settings.theme = name
        theme.apply(theme.application(), name)
        self._saving.start()

    def fold_rail(self) -> None:
        self.settings.rail_folded = not self.rail.is_folded
        self.rail.fold(self.settings.rail_folded)
        self._saving.start()

    def retranslate(self) -> None:
        self._name_window(self.session.project)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rail.fold(self.settings.rail_folded or event.size().width() < FOLDS_UNDER)
        if self.palette_frame:
            self.palette_frame.move_into_window()

    def _fitting_size(self) -> QSize:
        """The remembered size, no larger than the screen."""
        room = self.screen().availableSize() if self.screen() else SMALLEST
        remembered = QSize(self.settings.width, self.settings.height)
        return remembered.boundedTo(room).expandedTo(SMALLEST)

    def save_settings(self) -> None:
        """Report what cannot be stored; the window works without it."""
        self._saving.stop()
        try:
            settings.save(self.settings)
        except OSError as error:
            self.session.trouble.emit(from_os(error, error.filename or "settings.json"))

    def closeEvent(self, event: QCloseEvent) -> None:
        self.settings.maximized = self.isMaximized()
        if not self.isMaximized():
            self.settings.width, self.settings.height = self.width(), self.height()
        self.save_settings()
        super().closeEvent(event)


def _recognise_first(named: Path | None, last: Path | None) -> Dropped | None:
    """Return what the window begins with. What the command line names is meant: any folder that is not a run is a
    project, even an empty one."""
    if named is None:
        return Dropped(kind=PROJECT, folder=last) if last is not None and last.is_dir() else None
    dropped = recognise(named)
    return Dropped(kind=PROJECT, folder=named) if dropped.kind == UNKNOWN and named.is_dir() else dropped
