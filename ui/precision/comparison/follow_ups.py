"""What the user can start from a comparison: its report, the source, an issue's text, a reproducer, a closer look."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit

from backends import features
from backends.precision.compare.alignment.manual_matches import mark_of, path_of, store_matches
from backends.precision.deeper.spec import DeeperSpec
from backends.precision.issue.markdown import issue_text
from backends.precision.reproduce.spec import ReproduceSpec
from studio import schema, texts
from studio.errors import StudioError, from_os
from studio.events import Artifact
from studio.run import last_events, outcome_of
from ui.precision.comparison.report_menu import ReportMenu
from ui.precision.copy_button import CopyButton
from ui.precision.msprobe.menu import MsprobeMenu
from ui.services import editor
from ui.services.background import run_in_background
from ui.services.editor_sheet import EditorSheet
from ui.widgets.basic import Sentence, label, mono_font
from ui.widgets.localized import localize
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from studio.run import Glance, Run
    from ui.precision.comparison.loaded_comparison import LoadedComparison
    from ui.precision.comparison.result_view import Suspect
    from ui.precision.page import PrecisionPage
    from ui.precision.tables.tree_view import CallMatch

WIDTH, HEIGHT = 620, 380


class FollowUps:
    """Connects the requests of the Compare view with runs, sheets and the editor."""

    def __init__(self, page: PrecisionPage) -> None:
        self._page, self._session = page, page.session
        self._requested: set[str] = set()
        self.report = ReportMenu(page, page.session)
        page.add_action(self.report.button)
        self.msprobe = MsprobeMenu(page)
        page.add_action(self.msprobe.button)
        compare = page.compare
        compare.deeper_requested.connect(self.go_deeper)
        compare.reproducer_requested.connect(self.reproduce)
        compare.issue_requested.connect(self.show_issue)
        compare.acc_check_requested.connect(self.msprobe.check_operator)
        compare.source_requested.connect(self.open_source)
        compare.match_corrected.connect(self.correct_match)

    def report_reproducers(self, listed: list[tuple[Run, Glance]]) -> None:
        """Show where a reproducer that was started here was written, and what msprobe's checks found."""
        self.msprobe.report_ended_checks(listed)
        for run, glance in listed:
            if run.name in self._requested and outcome_of(glance) == "done":
                self._requested.discard(run.name)
                written = [event.path for event in last_events(run.folder) if isinstance(event, Artifact)]
                if written:
                    self._page.compare.reproducer_notice.show_file("precision.page.reproducer", Path(written[-1]))

    def go_deeper(self, suspect: Suspect) -> None:
        """Run both trainings again with a finer capture; ask first where the project's code is not trusted."""
        compare = self._page.compare
        if compare.consent.asks(lambda folder: (folder,), partial(self.go_deeper, suspect)):
            compare.consent.setFocus()
            return
        self._begin(DeeperSpec(), suspect)

    def reproduce(self, suspect: Suspect) -> None:
        run = self._begin(ReproduceSpec(), suspect)
        if run is not None:
            self._requested.add(run.name)

    def _begin(self, spec: Any, suspect: Suspect) -> Run | None:
        if suspect.run is None:
            return None
        spec = schema.with_value(schema.with_value(spec, "comparison", suspect.run.folder), "call", suspect.call)
        if wrong := schema.problems(spec):
            self._session.trouble.emit(StudioError(wrong[0].rule, **wrong[0].args))
            return None
        return self._page.run_starter.start(_command_of(type(spec)), spec)

    def show_issue(self, suspect: Suspect) -> None:
        """Show the text of an issue. It is made off the UI thread, since it reads the versions and sources of the
        dumps."""
        loaded = self._page.compare.loaded
        if loaded is not None:
            sheet = IssueSheet(self._page)
            question = partial(issue_text, loaded.comparison, suspect.index, texts.language())
            run_in_background(sheet, question, sheet.show_text)
            sheet.show_below(self._page.compare.other)

    def correct_match(self, match: CallMatch) -> None:
        """Remember for this project that two calls are the same, and compare again with that."""
        loaded = self._page.compare.loaded
        if loaded is not None:
            run_in_background(self._page, partial(_remember_match, loaded, match), partial(self._corrected, loaded.run))

    def _corrected(self, run: Run, error: StudioError | None) -> None:
        if error is not None:
            self._session.trouble.emit(error)
        else:
            self._page.compare_again(run)

    def open_source(self, path: str, line: int) -> None:
        words = editor.chosen()
        if not words:
            again = partial(self.open_source, path, line)
            EditorSheet(self._page, self._session, lambda _words: again()).show_below(self._page.compare.other)
            return
        project = self._session.project
        try:
            editor.open_at(words, (project.folder if project else Path()) / path, line)
        except StudioError as error:
            self._session.trouble.emit(error)


class IssueSheet(Popover):
    """The text of an issue, to copy."""

    def __init__(self, owner: QWidget) -> None:
        super().__init__(owner, "precision_issue", WIDTH)
        self.view = QPlainTextEdit()
        self.view.setObjectName("precision_issue_text")
        self.view.setReadOnly(True)
        self.view.setFont(mono_font())
        self.view.setFixedHeight(HEIGHT)
        localize(self.view.setAccessibleName, "precision.page.issue")
        self.copy = CopyButton("precision_copy_issue")
        head = QHBoxLayout()
        head.addWidget(label("precision.page.issue", "title"))
        head.addStretch(1)
        head.addWidget(self.copy)
        self.column.addLayout(head)
        self.column.addWidget(Sentence("precision.page.issue_text"))
        self.column.addWidget(self.view)

    def show_text(self, text: str) -> None:
        self.view.setPlainText(text)
        self.copy.show_text(text)
        self.copy.setFocus()


def _remember_match(loaded: LoadedComparison, match: CallMatch) -> StudioError | None:
    path = path_of(loaded.run)
    try:
        store_matches(path, mark_of(loaded.comparison, match.number), {match.target: match.golden})
    except OSError as error:
        return from_os(error, path)
    return None


def _command_of(spec: type[Any]) -> str:
    """Return the command of the action that takes a spec."""
    return next(action.name for feature in features() for action in feature.actions if action.spec is spec)
