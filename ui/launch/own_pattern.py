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
from ui.asking import ask
from ui.curves.facts_table import FactsTable
from ui.curves.metrics import title_of as metric_title
from ui.curves.names import script_name, title_of, when
from ui.say import say
from ui.widgets import Sentence, label, mono_font, retone, text_button

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.common.log_patterns import Row
    from backends.launch.own.spec import Recording
    from studio.run import Glance, Run

    Asked = tuple[str, str, str]
    Seen = tuple[str, tuple[tuple[int, Row], ...]] | StudioError

OFF, AUTO, OWN = "off", "auto", "own"
OCTETS = 1 << 18
SHOWN = 4
COLUMNS, COLUMN = 5, 180
PASTE_HEIGHT = 84
TRAININGS = ("script", "launch", "rehearse")


class PatternPreview(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("own_script_pattern")
        self._recording: Recording | None = None
        self._run: Run | None = None
        self._asked: Asked | None = None
        self._seen: Seen | None = None
        self.title, self.sentence, self.table = label("own_script.pattern", "strong"), Sentence(), FactsTable()
        self.paste = QPlainTextEdit()
        self.paste.setObjectName("own_script_pasted")
        self.paste.setFont(mono_font())
        self.paste.setFixedHeight(PASTE_HEIGHT)
        self.paste.setTabChangesFocus(True)
        say(self.paste, "setPlaceholderText", "own_script.paste_here")
        say(self.paste, "setAccessibleName", "own_script.paste_here")
        self.paste.textChanged.connect(self._look)
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
        """The log of the newest training is looked at, of the same script where it has run; or pasted lines."""
        self._recording = recording
        trainings = [run for run, _ in listed if run.asked.command in TRAININGS]
        same = next((run for run in trainings if script_name(run) == script), None)
        self._run = same or next(iter(trainings), None)
        self.setVisible(recording.log_pattern != OFF)
        self._look()

    def _open_paste(self) -> None:
        self.paste.show()
        self._open.hide()
        self.paste.setFocus()

    def _look(self) -> None:
        if self._recording is None or not self.isVisible():
            return
        pasted = self.paste.toPlainText()
        log = self._run.log if self._run else None
        asked = (self._recording.log_pattern, self._recording.pattern, pasted or str(log or ""))
        if asked != self._asked:
            self._asked = asked
            ask(self, partial(_see, asked, pasted), partial(self._show, asked))

    def _show(self, asked: Asked, seen: Seen) -> None:
        """An answer to what is not asked any more is nobody's."""
        if asked == self._asked:
            self._seen = seen
            self.retranslate()

    def retranslate(self) -> None:
        seen = self._seen
        rows = () if seen is None or isinstance(seen, StudioError) else seen[1]
        self.table.setVisible(bool(rows))
        retone(self.sentence, "role", "warning" if isinstance(seen, StudioError) else "dim")
        title = seen[0] if seen and not isinstance(seen, StudioError) else ""
        self.sentence.setText(str(seen) if isinstance(seen, StudioError) else self._words(title, rows))
        if rows:
            heads, cells = _table([row for _, row in rows[-SHOWN:]])
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
        self._look()


def _see(asked: Asked, pasted: str) -> Seen:
    """Reads the end of a log, and tries the pattern on its lines."""
    choice, own, source = asked
    if pasted:
        lines = pasted.splitlines()
    else:
        lines = list(map(log_patterns.plain, last_lines(Path(source), OCTETS))) if source else []
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
