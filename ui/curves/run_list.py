"""The left drawer: the runs, which of them are drawn, and what can be done with one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QItemSelectionModel, Qt, QThreadPool, Signal
from PySide6.QtWidgets import QHBoxLayout, QListView, QMenu, QMessageBox, QWidget

from studio import run as runs
from studio.errors import StudioError
from studio.texts import t
from ui.curves.run_delegate import RunDelegate
from ui.curves.run_model import RunModel
from ui.services.run_titles import title_of, when
from ui.widgets.basic import (
    Card,
    Elided,
    Sentence,
    text_button,
)
from ui.widgets.icons import show_icon
from ui.widgets.localized import localize, set_unlocalized

if TYPE_CHECKING:
    from PySide6.QtCore import QModelIndex, QPoint

    from studio.run import Glance, Run
    from ui.services.session import Session

WIDTH = 272


class RunList(Card):
    """Choosing a run shows it; its tick, or Space, only draws its curves with those of the chosen one."""

    ticked = Signal()
    folder_requested = Signal(object)

    def __init__(self, session: Session) -> None:
        super().__init__("curves.runs")
        self.setObjectName("curves.runs")
        self.setFixedWidth(WIDTH)
        self._session = session
        self._trashed: Run | None = None
        self.body.setContentsMargins(1, 12, 1, 8)
        self.header.setContentsMargins(14, 0, 8, 0)
        self.model = RunModel()
        self.model.ticked.connect(self.ticked)
        self._make_view()
        hint = Sentence("curves.overlay_hint")
        hint.setProperty("role", "hint")
        hint.setContentsMargins(14, 0, 12, 0)
        self.body.insertWidget(1, hint)
        self.body.setSpacing(6)
        self.undo_line = self._make_undo()
        self.body.addWidget(self._make_trash())
        self._show_trash()

    def _make_view(self) -> None:
        self.view = QListView()
        self.view.setObjectName("curves_run_list")
        self.view.setFrameShape(QListView.Shape.NoFrame)
        self.view.setStyleSheet("QListView, QListView:focus { border: none; border-radius: 0; }")
        self.view.setModel(self.model)
        self.view.setItemDelegate(RunDelegate(self.view))
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(True)
        self.view.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.view.customContextMenuRequested.connect(self._show_menu)
        self.view.selectionModel().currentChanged.connect(self._choose)
        localize(self.view.setAccessibleName, "curves.runs")
        localize(self.view.setToolTip, "curves.runs_hint")
        self.body.addWidget(self.view, 1)

    def _make_undo(self) -> QWidget:
        """The page lays it out, as it is visible also while the list of runs is not."""
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        self._undo_text = Elided(role="dim")
        self._undo = text_button("curves.undo", "curves.undo")
        self._undo.clicked.connect(self.undo)
        self._empty_alone = text_button("curves.empty_trash", "curves_empty_trash_alone")
        self._empty_alone.clicked.connect(self._confirm_emptying)
        row.addWidget(self._undo_text)
        row.addWidget(self._undo)
        row.addStretch(1)
        row.addWidget(self._empty_alone)
        line.hide()
        return line

    def _make_trash(self) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(8, 0, 8, 0)
        self._delete = text_button("curves.delete", "curves.delete")
        show_icon(self._delete, "delete", "accent", 16)
        localize(self._delete.setToolTip, "curves.delete_hint")
        self._delete.clicked.connect(self._delete_chosen)
        self._empty = text_button("curves.empty_trash", "curves.empty_trash")
        self._empty.clicked.connect(self._confirm_emptying)
        row.addWidget(self._delete)
        row.addStretch(1)
        row.addWidget(self._empty)
        return line

    def show_runs(self, listed: list[tuple[Run, Glance]]) -> None:
        self.model.show_runs(listed)
        names = {run.name for run, _ in listed}
        for name in [name for name in self.model.colors if name not in names and name != self.model.chosen]:
            self.model.tick(name, on=False)
        self.show_chosen()
        self._show_trash()

    def show_chosen(self) -> None:
        """The model's chosen run is the current row of the view."""
        row = self.model.row_of(self.model.chosen)
        current = self.view.selectionModel()
        if row >= 0 and current.currentIndex().row() != row:
            with _Quiet(current):
                current.setCurrentIndex(self.model.index(row), QItemSelectionModel.SelectionFlag.ClearAndSelect)
            self.view.scrollTo(self.model.index(row))
        self._delete.setEnabled(row >= 0 and self.model.listed[row][1].state not in ("running", "unattended"))
        self.view.viewport().update()

    def drawn(self) -> list[tuple[Run, int]]:
        """The runs with a tick and the numbers of their colours, the chosen one first."""
        colors = self.model.colors
        drawn_runs = [(run, colors[run.name]) for run, _ in self.model.listed if run.name in colors]
        return sorted(drawn_runs, key=lambda pair: pair[0].name != self.model.chosen)

    def _choose(self, current: QModelIndex, _previous: QModelIndex) -> None:
        if current.isValid() and current.row() < len(self.model.listed):
            run = self.model.listed[current.row()][0]
            if run.name != self.model.chosen:
                self._session.choose_run(run)

    def _show_menu(self, position: QPoint) -> None:
        index = self.view.indexAt(position)
        if not index.isValid():
            return
        run, _ = self.model.listed[index.row()]
        menu = QMenu(self.view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(t("curves.open_folder"), lambda: self.folder_requested.emit(run))
        menu.addAction(t("curves.delete"), lambda: self.delete(run))
        menu.popup(self.view.viewport().mapToGlobal(position))

    def _delete_chosen(self) -> None:
        row = self.model.row_of(self.model.chosen)
        if row >= 0:
            self.delete(self.model.listed[row][0])

    def delete(self, run: Run) -> None:
        """Move the run to the trash; the line below the list restores it."""
        try:
            moved = runs.trash(run)
        except StudioError as error:
            self._session.trouble.emit(error)
            return
        self._trashed = runs.Run(folder=moved, request=run.request)
        if self._session.run and self._session.run.name == run.name:
            self._session.choose_run(None)
        self._session.refresh_runs()
        self._show_trash()

    def undo(self) -> None:
        trashed, self._trashed = self._trashed, None
        try:
            back = runs.restore(trashed, self._session.folder) if trashed else None
        except StudioError as error:
            self._session.trouble.emit(error)
            back = None
        self._session.refresh_runs()
        if back:
            self._session.choose_run(back)
        self._show_trash()

    def _show_trash(self) -> None:
        is_full = bool(runs.run_names(self._session.folder.parent / "trash"))
        is_alone = is_full and not self.model.listed
        self._empty.setVisible(is_full)
        self._empty_alone.setVisible(is_alone)
        self._undo.setVisible(self._trashed is not None)
        self.undo_line.setVisible(self._trashed is not None or is_alone)
        if self._trashed:
            name = f"{title_of(self._trashed)} {when(self._trashed)}"
            localize(self._undo_text.setText, "curves.trashed", run=name)
        else:
            set_unlocalized(self._undo_text.setText)

    def _confirm_emptying(self) -> None:
        """The one question in a box of its own: what goes then is gone."""
        n = len(runs.run_names(self._session.folder.parent / "trash"))
        box = QMessageBox(self.window())
        box.setObjectName("curves.empty_question")
        box.setWindowTitle(t("curves.empty_trash"))
        box.setIcon(QMessageBox.Icon.Warning)
        box.setText(t("curves.empty_question", n=n))
        go = box.addButton(t("curves.empty_yes"), QMessageBox.ButtonRole.DestructiveRole)
        keep = box.addButton(t("curves.empty_no"), QMessageBox.ButtonRole.RejectRole)
        box.setDefaultButton(keep)
        box.setEscapeButton(keep)
        box.buttonClicked.connect(lambda clicked: self._empty_it() if clicked is go else None)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    def _empty_it(self) -> None:
        """Large checkpoints take seconds to delete: not on the UI thread."""
        folder = self._session.folder
        self._trashed = None
        for widget in (self.undo_line, self._empty):
            widget.hide()
        QThreadPool.globalInstance().start(lambda: runs.empty_trash(folder))

    def open_project(self) -> None:
        """Another folder of runs, another trash."""
        self._trashed = None
        self.model.colors.clear()
        self.model.choose("")
        self._show_trash()


class _Quiet:
    """No signals of an object inside a `with`."""

    def __init__(self, target: QItemSelectionModel) -> None:
        self._target = target

    def __enter__(self) -> None:
        self._target.blockSignals(True)

    def __exit__(self, *_: object) -> None:
        self._target.blockSignals(False)
