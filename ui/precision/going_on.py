"""What follows from a comparison: its report, the source, the text of an issue, a reproducer, a closer look."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends import features
from backends.precision.compare.remembered import mark_of, place_of, remember
from backends.precision.deeper.spec import DeeperSpec
from backends.precision.issue.text import issue_text
from backends.precision.reproduce.spec import ReproduceSpec
from studio import schema, texts
from studio.errors import StudioError, from_os
from studio.events import Artifact
from studio.run import last_events, outcome_of
from ui import editor
from ui.asking import ask
from ui.editor_sheet import EditorSheet
from ui.precision.issue_sheet import IssueSheet
from ui.precision.msprobe_menu import MsprobeMenu
from ui.precision.report_menu import ReportMenu

if TYPE_CHECKING:
    from studio.run import Glance, Run
    from ui.pages.precision import PrecisionPage
    from ui.precision.compared import Compared
    from ui.precision.comparison_view import Suspect
    from ui.precision.tree_view import Match


class GoingOn:
    def __init__(self, page: PrecisionPage) -> None:
        self._page, self._session = page, page.session
        self._making: set[str] = set()
        self.report = ReportMenu(page, page.session)
        page.add_action(self.report.button)
        self.msprobe = MsprobeMenu(page)
        page.add_action(self.msprobe.button)
        compare = page.compare
        compare.deeper_wanted.connect(self.go_deeper)
        compare.reproducer_wanted.connect(self.reproduce)
        compare.issue_wanted.connect(self.write_issue)
        compare.alone_wanted.connect(self.msprobe.check_alone)
        compare.source_wanted.connect(self.open_source)
        compare.match_corrected.connect(self.correct)

    def look(self, listed: list[tuple[Run, Glance]]) -> None:
        """A reproducer that was asked for here is there: says where. So do msprobe's checks."""
        self.msprobe.look(listed)
        for run, glance in listed:
            if run.name in self._making and outcome_of(glance) == "done":
                self._making.discard(run.name)
                made = [one.path for one in last_events(run.folder) if isinstance(one, Artifact)]
                if made:
                    self._page.compare.made.show_made(Path(made[-1]))

    def go_deeper(self, suspect: Suspect) -> None:
        """Runs both trainings again: asks first where the project's code is not trusted."""
        compare = self._page.compare
        if compare.consent.asks(lambda folder: (folder,), partial(self.go_deeper, suspect)):
            compare.consent.setFocus()
            return
        self._begin(DeeperSpec(), suspect)

    def reproduce(self, suspect: Suspect) -> None:
        run = self._begin(ReproduceSpec(), suspect)
        if run is not None:
            self._making.add(run.name)

    def _begin(self, spec: Any, suspect: Suspect) -> Run | None:
        if suspect.run is None:
            return None
        spec = schema.with_value(schema.with_value(spec, "comparison", suspect.run.folder), "call", suspect.call)
        if wrong := schema.problems(spec):
            self._session.trouble.emit(StudioError(wrong[0].rule, **wrong[0].args))
            return None
        return self._page.starts.begin(command_of(type(spec)), spec)

    def write_issue(self, suspect: Suspect) -> None:
        """Made off the UI thread: it looks at the dumps' versions and sources."""
        found = self._page.compare.compared
        if found is not None:
            sheet = IssueSheet(self._page)
            question = partial(issue_text, found.comparison, suspect.index, texts.language())
            ask(sheet, question, sheet.show_text)
            sheet.show_below(self._page.compare.other)

    def correct(self, match: Match) -> None:
        """Two calls are the same: remembered for this project, and compared anew with that."""
        found = self._page.compare.compared
        if found is not None:
            ask(self._page, partial(_remembered, found, match), partial(self._corrected, found.run))

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


def _remembered(found: Compared, match: Match) -> StudioError | None:
    place = place_of(found.run)
    try:
        remember(place, mark_of(found.comparison, match.number), {match.target: match.golden})
    except OSError as error:
        return from_os(error, place)
    return None


def command_of(spec: type[Any]) -> str:
    """The action that takes a spec."""
    return next(action.name for feature in features() for action in feature.actions if action.spec is spec)
