"""The Timeline page: a profile as lanes over time, with what opens, searches and exports it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QMenu, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from backends.timeline.tables.sheets import holds_tables_only
from backends.timeline.tables.summary_sentence import coverage_texts, texts
from studio.errors import from_os
from studio.texts import t
from ui.services import actions
from ui.services.background import run_in_background
from ui.services.file_dialogs import ask_file, ask_folder
from ui.timeline.opening import recent_profiles
from ui.timeline.opening.page_head import PageHead
from ui.timeline.opening.profile_opening import ProfileOpening
from ui.timeline.opening.reading_progress import Loading
from ui.timeline.opening.start_view import FailureView, OfferedProfiles, StartView
from ui.timeline.panes.panes import Panes
from ui.timeline.state.view_state import ViewState
from ui.timeline.tools.export_menu import ExportMenu
from ui.timeline.tools.toolbar import Toolbar
from ui.timeline.view.keys_sheet import KeysSheet
from ui.timeline.view.lane_menu import LaneMenus
from ui.timeline.view.slice_menu import SliceMenu
from ui.timeline.view.timeline_view import TimelineView
from ui.widgets.basic import MARGIN, Empty, Sentence
from ui.widgets.labels import button_text
from ui.widgets.localized import joined

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtGui import QKeyEvent, QShowEvent

    from backends.timeline.profile_reader import Opened
    from backends.timeline.trace import Trace
    from studio.errors import StudioError
    from studio.run import Run
    from ui.services.session import Session
    from ui.timeline.opening.profile_opening import ProfileSummary

PANE_PX, MIN_LANES_PX = 236, 160  # px
MAX_PANE_SHARE = 0.38  # of the room, unless it was made larger
BAR = 12
REMEMBER_MS = 800


def make_page(session: Session) -> TimelinePage:
    return TimelinePage(session)


def open_profile(page: TimelinePage, path: Path) -> None:
    """Opens a profile that was dropped on the window, or that another page asks for."""
    page.open(path)


class TimelinePage(QWidget):
    """`opened`: the profile that is shown; it holds the lease on its cache folder. `_before`: what was shown before the
    first lanes of another profile, which may never be read completely."""

    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self.session = session
        self.opened: Opened | None = None
        self.path: Path | None = None
        self._before: tuple[Path, Opened, tuple[str, ...]] | None = None
        self._summary: ProfileSummary | None = None
        self._reading_messages: tuple[str, ...] = ()
        self._is_shared = False
        self._unfolded = PANE_PX
        self.state = ViewState(self)
        self.opening = ProfileOpening(self)
        self._make()
        self._connect()
        self._register()
        self._show_start()

    # How it is built

    def _make(self) -> None:
        self.head, self.tools, self.loading = PageHead(), Toolbar(self.state), Loading()
        self.start, self.failed = StartView(), FailureView()
        self.waiting = Empty("clock", "timeline.page.waiting", "timeline.page.waiting_text")
        self.view, self.panes = TimelineView(self.state), Panes(self.session, self.state)
        self.lane_menus, self.slice_menu = LaneMenus(self.view), SliceMenu(self.view)
        self.export = ExportMenu(self, self.session, self.view, self.head.export)
        self.sentence, self.notes = Sentence(), Sentence()
        self.sentence.setObjectName("timeline_sentence")
        self.notes.setObjectName("timeline_notes")
        self.notes.setProperty("role", "warning")
        for widget in (self.sentence, self.notes, self.loading, self.tools):
            widget.setContentsMargins(0, 0, MARGIN, 0)
        self.panes.setContentsMargins(0, 0, 0, BAR)
        self.stack = QStackedWidget()
        for view in (self.start, self.failed, self.waiting, self._make_lanes()):
            self.stack.addWidget(view)
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 18, 0, 0)
        column.setSpacing(8)
        for part in (self.head, self.sentence, self.notes, self.loading, self.tools):
            column.addWidget(part)
        column.addWidget(self.stack, 1)

    def _make_lanes(self) -> QSplitter:
        self.splitter = QSplitter(Qt.Orientation.Vertical)
        self.splitter.setObjectName("timeline_splitter")
        self.splitter.setContentsMargins(0, 0, MARGIN, 0)
        self.splitter.setChildrenCollapsible(False)
        self.splitter.addWidget(self.view)
        self.splitter.addWidget(self.panes)
        self.splitter.setStretchFactor(0, 1)
        self._moved = QTimer(self, singleShot=True, interval=REMEMBER_MS)
        self._moved.timeout.connect(self._keep_share)
        self.splitter.splitterMoved.connect(lambda _position, _index: self._moved.start())
        return self.splitter

    def _connect(self) -> None:
        opening = self.opening
        opening.begun.connect(self._begun)
        opening.progressed.connect(self.loading.show_progress)
        opening.first_lanes.connect(self._show_first)
        opening.opened.connect(self._show_opened)
        opening.summarized.connect(self._show_summary)
        opening.failed.connect(self._show_failed)
        opening.cancelled.connect(self._show_before)
        self.loading.cancel.clicked.connect(opening.cancel)
        self.head.open_requested.connect(self.open_menu)
        self.head.export_requested.connect(self.export.open_menu)
        self.start.chosen.connect(self.open)
        self.start.file_requested.connect(self.choose_file)
        self.start.folder_requested.connect(self.choose_folder)
        self.start.curves_requested.connect(partial(self.session.page_requested.emit, "curves"))
        self.failed.again_requested.connect(self.open_again)
        self.failed.other_requested.connect(self._show_start)
        self.tools.keys_requested.connect(self.show_keys)
        self.view.keys_requested.connect(self.show_keys)
        self.view.pane_requested.connect(self.panes.toggle)
        self.view.note_requested.connect(self.panes.add_note)
        self.view.mark_chosen.connect(self.panes.choose_note)
        self.panes.folded.connect(self._give_room)
        self.panes.find_requested.connect(self.tools.search.find_name)
        self.view.lane_menu_requested.connect(self.lane_menus.of_lane)
        self.view.process_menu_requested.connect(self.lane_menus.of_process)
        self.view.slice_menu_requested.connect(self.slice_menu.open)
        self.slice_menu.find_requested.connect(self._find)
        self.slice_menu.note_requested.connect(self.panes.add_note)
        self.session.runs_changed.connect(lambda _listed: self._find_offers())
        self.session.project_changed.connect(lambda _project: self._find_offers())

    def _register(self) -> None:
        add = actions.register
        add(self, "timeline_do_open_file", "timeline.page.open_file", self.choose_file)
        add(self, "timeline_do_open_folder", "timeline.page.open_folder", self.choose_folder)
        add(self, "timeline_do_again", "timeline.page.again", self.open_again, "F5")
        add(self, "timeline_do_find", "timeline.page.find", self.tools.search.focus, "Ctrl+F", "search")
        add(self, "timeline_do_keys", "timeline.tools.keys", self.show_keys)

    # What is asked for

    def open(self, path: Path) -> None:
        """Open a file or a folder; errors are shown in the page."""
        self.opening.open(path)

    def open_again(self) -> None:
        if self.path is not None:
            self.open(self.path)

    def choose_file(self) -> None:
        ask_file(self, t("timeline.page.choose_file"), self._near(), self.open)

    def choose_folder(self) -> None:
        ask_folder(self, t("timeline.page.choose_folder"), self._near(), self.open)

    def _near(self) -> Path:
        if self.path is not None:
            return self.path.parent
        return self.session.project.folder if self.session.project else Path.home()

    def _find(self, name: str) -> None:
        self.panes.show_tab("search")
        self.tools.search.find_name(name)

    def open_menu(self) -> None:
        menu = QMenu(self)
        menu.setObjectName("timeline_open_menu")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(t("timeline.page.open_file"), self.choose_file)
        menu.addAction(t("timeline.page.open_folder"), self.choose_folder)
        offers = self.start.offers
        self._add_offers(
            menu, "timeline.page.recent", [(recent_profiles.short_path(path), path) for path in offers.recent]
        )
        self._add_offers(
            menu, "timeline.page.captured", [(profile.name, profile.path) for profile in offers.captured[:12]]
        )
        button = self.head.open
        menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def _add_offers(self, menu: QMenu, title: str, offers: list[tuple[str, Path]]) -> None:
        if offers:
            menu.addSeparator()
            menu.addAction(t(title)).setEnabled(False)
        for name, path in offers:
            menu.addAction(button_text(menu, name), partial(self.open, path))

    def show_keys(self) -> bool:
        """Show the sheet of keys. Returns False while there are no lanes."""
        if self.tools.isVisible():
            KeysSheet(self).show_below(self.tools.keys)
        return self.tools.isVisible()

    # What is shown

    def _begun(self, path: Path) -> None:
        self.loading.begin(path)
        self.loading.show()
        self.notes.hide()
        if self.opened is None:
            self.path = path
            self.head.show_profile(path, None)
            self._turn_to(self.waiting)
            self.tools.hide()
            self.sentence.hide()

    def _show_first(self, path: Path, trace: Trace) -> None:
        """Show the first lanes of a trace of which more is being read."""
        if self.opened is not None and self.path is not None:
            self._before = (self.path, self.opened, self._reading_messages)
        self._let_go()
        self.path = path
        self.head.show_profile(path, trace.meta)
        self.head.export.hide()
        self._show_lanes(trace)
        self.panes.hide()
        self._show_texts()

    def _let_go(self) -> None:
        self.opened, self._summary, self._reading_messages = None, None, ()
        self.panes.show_opened(None)

    def _show_opened(self, path: Path, opened: Opened, messages: tuple[str, ...]) -> None:
        self._let_go()
        self._before = None
        self.path, self.opened, self._reading_messages = path, opened, messages
        self.loading.hide()
        self.head.show_profile(path, opened.trace.meta)
        self._show_lanes(opened.trace)
        self.head.export.setVisible(not self.view.isHidden())
        self.panes.show_opened(opened)
        self._show_panes()
        self._show_texts()
        run_in_background(self, partial(_remembered, path, self._runs()), self._show_offers)

    def _show_lanes(self, trace: Trace) -> None:
        self._turn_to(self.splitter)
        has_lanes = not holds_tables_only(trace.meta)
        for part in (self.view, self.tools):
            part.setVisible(has_lanes)
        self.state.set_trace(trace)
        self.setFocus()

    def _turn_to(self, part: QWidget) -> None:
        """Show a part of the page; the keyboard focus goes to the lanes where they are shown."""
        self.stack.setCurrentWidget(part)
        self.setFocusProxy(self.view.canvas if part is self.splitter else None)  # type: ignore[arg-type]

    def _show_panes(self) -> None:
        """Show the panes; they take their share of the height once it is known."""
        self.panes.show()
        if not self._is_shared and not self.view.isHidden():
            self._is_shared = True
            run_in_background(self, recent_profiles.read_settings, lambda settings: self._share(settings.pane))

    def _share(self, pane: int) -> None:
        """Divide the height. `pane`: px, 0: the default share."""
        room = sum(self.splitter.sizes())
        if not self.panes.is_folded:
            lanes = max(MIN_LANES_PX, room - (pane or min(PANE_PX, round(room * MAX_PANE_SHARE))))
            self.splitter.setSizes([lanes, room - lanes])

    def _give_room(self, is_folded: bool) -> None:
        """Give the height of the pane to the lanes when it is folded, and back."""
        lanes, pane = self.splitter.sizes()
        if is_folded:
            self._unfolded = pane
        pane, room = self.panes.folded_height if is_folded else self._unfolded, lanes + pane
        self.splitter.setSizes([room - pane, pane])

    def _keep_share(self) -> None:
        if not self.panes.is_folded:
            height = self.panes.height()
            run_in_background(self, partial(_write, partial(recent_profiles.remember_pane, height)), self._show_error)

    def _show_error(self, error: StudioError | None) -> None:
        if error is not None:
            self.session.trouble.emit(error)

    def _show_summary(self, summary: ProfileSummary) -> None:
        self._summary = summary
        self._show_texts()

    def _show_failed(self, path: Path, error: StudioError) -> None:
        if self.opened is not None or self._before is not None:
            self.session.trouble.emit(error)
            self._show_before()
            return
        self._let_go()
        self.path = path
        self.loading.hide()
        self.tools.hide()
        self.head.show_profile(path, None)
        self.failed.show_error(path, error)
        self._turn_to(self.failed)
        self.setFocus()
        self._show_texts()

    def _show_before(self) -> None:
        """Show the previous profile again, if any, after reading was cancelled or failed."""
        self.loading.hide()
        if self._before is not None:
            self._show_opened(*self._before)
        if self.opened is None:
            self._show_start()
            return
        self._show_texts()
        if self._summary is None:
            self.opening.summarize(self.opened)

    def _show_start(self) -> None:
        self._let_go()
        self.path = None
        self.head.show_profile(None, None)
        self.loading.hide()
        self.tools.hide()
        self._turn_to(self.start)
        if self.isVisible():
            self.setFocus()
        self._show_texts()
        self._find_offers()

    def _show_texts(self) -> None:
        opened, summary = self.opened, self._summary
        sentences = [*texts(summary.summary), *coverage_texts(opened.coverage)] if summary and opened else []
        self.sentence.setText(joined(sentences))
        self.sentence.setVisible(bool(sentences))
        notes = [t(note.key, **note.args) for note in opened.notes] if opened else []
        self.notes.setText("\n".join([*notes, *self._reading_messages]))
        self.notes.setVisible(bool(notes or self._reading_messages))

    # Profiles at hand

    def _runs(self) -> list[Run]:
        return [run for run, _ in self.session.listed]

    def _show_offers(self, offers: OfferedProfiles | StudioError) -> None:
        if isinstance(offers, OfferedProfiles):
            self.start.show_offers(offers)
        else:
            self.session.trouble.emit(offers)

    def _find_offers(self) -> None:
        if self.isVisible():
            run_in_background(self, partial(_offers, self._runs()), self.start.show_offers)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Escape moves the focus from a field to the lanes; Backspace steps back in the view from anywhere."""
        if event.key() == Qt.Key.Key_Escape:
            self.setFocus()
        elif event.key() == Qt.Key.Key_Backspace and self.tools.isVisible():
            self.view.do("zoom_back")
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._find_offers()

    def retranslate(self) -> None:
        self._show_texts()


def _offers(runs: list[Run]) -> OfferedProfiles:
    return OfferedProfiles(recent=recent_profiles.recent(), captured=recent_profiles.captured_by(runs))


def _remembered(path: Path, runs: list[Run]) -> OfferedProfiles | StudioError:
    return _write(partial(recent_profiles.remember, path)) or _offers(runs)


def _write(write: Callable[[], None]) -> StudioError | None:
    try:
        write()
    except OSError as error:
        return from_os(error, error.filename or "timeline.json")
    return None
