"""What an export or a template wrote, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.events import Note
from studio.run import last_events
from studio.sentences import sentence_of
from studio.texts import t
from ui.widgets.answer_card import AnswerCard
from ui.widgets.basic import Sentence

if TYPE_CHECKING:
    from studio.run import Run

KEYS = ("launch.exported", "launch.template_written", "launch.script_written")


class WrittenCard(AnswerCard):
    def __init__(self) -> None:
        super().__init__("launch.written_card")
        self.setObjectName("curves_written")
        self.text = Sentence()
        self.body.addWidget(self.text)
        self.hide()

    def show_run(self, run: Run) -> None:
        notes = [event for event in last_events(run.folder) if isinstance(event, Note) and event.key in KEYS]
        self.setVisible(bool(notes))
        self.text.setText(sentence_of(notes[-1]) if notes else "")
        self.verdict = t("launch.written_verdict")
