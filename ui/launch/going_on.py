"""Below the field 'Go on from a run': the runs that can be gone on from, and which of their options are taken over."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from backends.launch import going_on
from backends.launch.checkpoints import step_of
from studio.texts import t
from ui.curves.names import title_of, when
from ui.widgets import Sentence, retone, text_button

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec
    from ui.pages.launch import LaunchPage
    from ui.session import Session

MOST = 15


class GoingOn(QWidget):
    """A run that is chosen brings its options along, once; they can be given back, and changed."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        super().__init__()
        self.setObjectName("launch_going_on")
        self._form, self._session = page.form, session
        self._seen: dict[tuple[str, Path], LaunchSpec | None] = {}
        self._own: LaunchSpec | None = None
        self._taken: tuple[str, ...] = ()
        self.choose = text_button("launch.choose_run", "launch.choose_run")
        self._menu = QMenu(self.choose)
        self._menu.aboutToShow.connect(self._list)
        self.choose.setMenu(self._menu)
        self.keep_own = text_button("launch.keep_own", "launch.keep_own")
        self.keep_own.clicked.connect(self._give_back)
        self.sentence = Sentence()
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.choose)
        row.addWidget(self.keep_own)
        row.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addLayout(row)
        column.addWidget(self.sentence)
        page.form.box("resume").add_below(self)
        page.form.spec_changed.connect(self.show_spec)
        self.show_spec(page.form.spec())

    def show_spec(self, spec: LaunchSpec) -> None:
        project, folder = self._project(), spec.keep.resume
        if folder == Path():
            self._seen = {seen: then for seen, then in self._seen.items() if seen[0] != project}
        if (project, folder) not in self._seen:
            self._meet(spec, folder)
            spec = self._form.spec()
        then = self._seen[project, folder]
        self.sentence.setVisible(then is not None)
        self.keep_own.setVisible(then is not None and self._own is not None)
        if then is not None:
            self._say(spec, then)

    def _meet(self, spec: LaunchSpec, folder: Path) -> None:
        """A run that was not chosen before, or taken out meanwhile: its options are taken over."""
        then = None if folder == Path() or step_of(folder) is None else going_on.options_of(folder)
        self._seen[self._project(), folder] = then
        self._own, self._taken = None, ()
        if then is not None and (taken := going_on.differing(spec, then)):
            self._own, self._taken = spec, taken
            self._form.set_spec(going_on.taken_over(spec, then))

    def _say(self, spec: LaunchSpec, then: LaunchSpec) -> None:
        args = {"step": step_of(spec.keep.resume)}
        if differing := going_on.differing(spec, then):
            text, role = t("launch.goes_on_other", **args, differing=_names(differing)), "warning"
        elif self._own is not None:
            text, role = t("launch.goes_on_taken", **args, taken=_names(self._taken)), "dim"
        else:
            text, role = t("launch.goes_on_same", **args), "dim"
        self.sentence.setText(text)
        retone(self.sentence, "role", role)

    def _give_back(self) -> None:
        """The options as they were before the run was chosen, now to go on with them, not exactly."""
        own, self._own = self._own, None
        if own is not None:
            self._form.set_spec(own)

    def _list(self) -> None:
        """Newest first."""
        self._menu.clear()
        runs = list(islice(going_on.with_checkpoint(run for run, _ in self._session.listed), MOST))
        for run, step in runs:
            entry = self._menu.addAction(t("launch.run_at_step", run=f"{title_of(run)} · {when(run)}", step=step))
            entry.setData(str(run.folder))
            entry.triggered.connect(self._chosen)
        if not runs:
            self._menu.addAction(t("launch.no_runs")).setEnabled(False)

    def _chosen(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._seen.pop((self._project(), Path(action.data())), None)
            self._form.set_value("resume", Path(action.data()))
            self._form.box("resume").input.focus.setFocus(Qt.FocusReason.OtherFocusReason)

    def _project(self) -> str:
        """Each project has its own choices, and comes back with them."""
        project = self._session.project
        return str(project.folder) if project else ""

    def retranslate(self) -> None:
        self.show_spec(self._form.spec())


def _names(fields: tuple[str, ...]) -> str:
    return t("launch.listed").join(t(f"launch.field.{name}") for name in fields)
