"""Below the field 'Resume from a run': the runs that can be resumed, and which of their options are adopted."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QVBoxLayout, QWidget

from backends.launch import resume_options
from backends.launch.checkpoints import step_of
from studio.texts import t
from ui.services.run_titles import title_of, when
from ui.widgets.basic import Sentence, retone, text_button
from ui.widgets.labels import button_text

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec
    from ui.launch.page import LaunchPage
    from ui.services.session import Session

MAX_RUNS = 15


class ResumeChoice(QWidget):
    """A run that is chosen brings its options along, once; they can be given back, and changed."""

    def __init__(self, page: LaunchPage, session: Session) -> None:
        super().__init__()
        self.setObjectName("launch_going_on")
        self._form, self._session = page.form, session
        self._options: dict[tuple[str, Path], LaunchSpec | None] = {}
        self._own: LaunchSpec | None = None
        self._adopted: tuple[str, ...] = ()
        self.choose = text_button("launch.choose_run", "launch.choose_run")
        self._menu = QMenu(self.choose)
        self._menu.aboutToShow.connect(self._list)
        self.choose.setMenu(self._menu)
        self.keep_own = text_button("launch.keep_own", "launch.keep_own")
        self.keep_own.clicked.connect(self._restore_own)
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
            self._options = {chosen: then for chosen, then in self._options.items() if chosen[0] != project}
        if (project, folder) not in self._options:
            self._adopt_options(spec, folder)
            spec = self._form.spec()
        then = self._options[project, folder]
        self.sentence.setVisible(then is not None)
        self.keep_own.setVisible(then is not None and self._own is not None)
        if then is not None:
            self._show_sentence(spec, then)

    def _adopt_options(self, spec: LaunchSpec, folder: Path) -> None:
        """A run that was not chosen before, or was removed meanwhile: its options are adopted."""
        then = None if folder == Path() or step_of(folder) is None else resume_options.options_of(folder)
        self._options[self._project(), folder] = then
        self._own, self._adopted = None, ()
        if then is not None and (adopted := resume_options.differing(spec, then)):
            self._own, self._adopted = spec, adopted
            self._form.set_spec(resume_options.with_options_of(spec, then))

    def _show_sentence(self, spec: LaunchSpec, then: LaunchSpec) -> None:
        args = {"step": step_of(spec.keep.resume)}
        if differing := resume_options.differing(spec, then):
            text, role = t("launch.goes_on_other", **args, differing=_names(differing)), "warning"
        elif self._own is not None:
            text, role = t("launch.goes_on_taken", **args, taken=_names(self._adopted)), "dim"
        else:
            text, role = t("launch.goes_on_same", **args), "dim"
        self.sentence.setText(text)
        retone(self.sentence, "role", role)

    def _restore_own(self) -> None:
        """Restore the options from before the run was chosen; it is then not resumed exactly."""
        own, self._own = self._own, None
        if own is not None:
            self._form.set_spec(own)

    def _list(self) -> None:
        """Newest first."""
        self._menu.clear()
        runs = list(islice(resume_options.with_checkpoint(run for run, _ in self._session.listed), MAX_RUNS))
        for run, step in runs:
            title = button_text(self._menu, title_of(run))
            entry = self._menu.addAction(t("launch.run_at_step", run=f"{title} · {when(run)}", step=step))
            entry.setData(str(run.folder))
            entry.triggered.connect(self._chosen)
        if not runs:
            self._menu.addAction(t("launch.no_runs")).setEnabled(False)

    def _chosen(self) -> None:
        action = self.sender()
        if isinstance(action, QAction):
            self._options.pop((self._project(), Path(action.data())), None)
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
