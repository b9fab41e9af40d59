"""What a log pattern finds, while it is being chosen or written: in the log of an earlier run, or in pasted lines."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QVBoxLayout, QWidget

from backends.common import log_patterns
from studio.errors import StudioError
from studio.tail import last_lines
from studio.texts import t
from studio.units import number
from ui.services.background import run_in_background
from ui.services.run_titles import script_name, title_of, when
from ui.widgets.basic import (
    Sentence,
    label,
    mono_font,
    retone,
    text_button,
)
from ui.widgets.facts_table import FactsTable
from ui.widgets.localized import localize
from ui.widgets.metric_format import title_of as metric_title

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.common.log_patterns import Row
    from backends.launch.own.spec import Recording
    from studio.run import Glance, Run

    Question = tuple[str, str, str]
    Answer = tuple[str, tuple[tuple[int, Row], ...]] | StudioError

OFF, AUTO, OWN = "off", "auto", "own"
END_BYTES = 1 << 18
MAX_ROWS = 4
COLUMNS, COLUMN = 5, 180
PASTE_HEIGHT = 84
TRAININGS = ("script", "launch", "rehearse")


class PatternPreview(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("own_script_pattern")
        self._recording: Recording | None = None
        self._run: Run | None = None
        self._question: Question | None = None
        self._answer: Answer | None = None
        self.title, self.sentence, self.table = label("own_script.pattern", "strong"), Sentence(), FactsTable()
        self.paste = QPlainTextEdit()
        self.paste.setObjectName("own_script_pasted")
        self.paste.setFont(mono_font())
        self.paste.setFixedHeight(PASTE_HEIGHT)
        self.paste.setTabChangesFocus(True)
        localize(self.paste.setPlaceholderText, "own_script.paste_here")
        localize(self.paste.setAccessibleName, "own_script.paste_here")
        self.paste.textChanged.connect(self._try_pattern)
        self.paste.hide()
        self._open = text_button("own_script.paste", "own_script.paste")
        self._open.clicked.connect(self._open_paste)
        head = QHBoxLayout()
        head.addWidget(self.title)
        head.addStretch(1)
        head.addWidget(self._open)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addLayout(head)
        for widget in (self.paste, self.sentence, self.table):
            column.addWidget(widget)

    def show_choice(self, recording: Recording, listed: Sequence[tuple[Run, Glance]], script: str) -> None:
        """Try the pattern on the log of the newest training, of the same script if it has run, or on pasted lines."""
        self._recording = recording
        trainings = [run for run, _ in listed if run.request.command in TRAININGS]
        same = next((run for run in trainings if script_name(run) == script), None)
        self._run = same or next(iter(trainings), None)
        self.setVisible(recording.log_pattern != OFF)
        self._try_pattern()

    def _open_paste(self) -> None:
        self.paste.show()
        self._open.hide()
        self.paste.setFocus()

    def _try_pattern(self) -> None:
        if self._recording is None or not self.isVisible():
            return
        pasted = self.paste.toPlainText()
        log = self._run.log if self._run else None
        question = (self._recording.log_pattern, self._recording.pattern, pasted or str(log or ""))
        if question != self._question:
            self._question = question
            run_in_background(self, partial(_matches, question, pasted), partial(self._show, question))

    def _show(self, question: Question, answer: Answer) -> None:
        """An answer to an outdated question is dropped."""
        if question == self._question:
            self._answer = answer
            self.retranslate()

    def retranslate(self) -> None:
        answer = self._answer
        rows = () if answer is None or isinstance(answer, StudioError) else answer[1]
        self.table.setVisible(bool(rows))
        retone(self.sentence, "role", "warning" if isinstance(answer, StudioError) else "dim")
        title = answer[0] if answer and not isinstance(answer, StudioError) else ""
        self.sentence.setText(str(answer) if isinstance(answer, StudioError) else self._words(title, rows))
        if rows:
            heads, cells = _table([row for _, row in rows[-MAX_ROWS:]])
            self.table.setMaximumWidth(COLUMN * len(heads))
            self.table.show_rows(heads, cells)

    def _words(self, title: str, rows: tuple[tuple[int, Row], ...]) -> str:
        if self.paste.toPlainText():
            source = t("own_script.pasted_lines")
        elif self._run is not None:
            source = f"{title_of(self._run)} · {when(self._run)}"
        else:
            return t("own_script.no_log")
        if not rows:
            return t("own_script.pattern_finds_nothing", source=source)
        return t("own_script.pattern_finds", source=source, count=len(rows), title=title or t("own_script.own_pattern"))

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._try_pattern()


def _matches(question: Question, pasted: str) -> Answer:
    """Reads the end of a log, and tries the pattern on its lines."""
    choice, own, source = question
    if pasted:
        lines = pasted.splitlines()
    else:
        lines = list(map(log_patterns.plain, last_lines(Path(source), END_BYTES))) if source else []
    try:
        pattern = log_patterns.own(own) if choice == OWN else log_patterns.by_id(choice)
    except StudioError as error:
        return error
    pattern = log_patterns.best(lines) if choice == AUTO else pattern
    return ("", ()) if pattern is None else (pattern.title, log_patterns.preview(pattern, lines))


def _table(rows: list[Row]) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """A column for each name, the places first."""
    places = list(dict.fromkeys(name for row in rows for name in row.places))
    values = list(dict.fromkeys(name for row in rows for name in row.values))
    names = (*places, *values)[:COLUMNS]
    heads = tuple(metric_title(name) for name in names)
    cells = [
        tuple(
            str(row.places[name]) if name in row.places else number(row.values[name]) if name in row.values else "–"
            for name in names
        )
        for row in rows
    ]
    return heads, cells
