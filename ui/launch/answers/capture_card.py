"""The result of a capture that was requested on the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.launch.capture import state
from backends.launch.capture.sentences import end_sentences
from backends.launch.capture.work import ANSWER
from studio import files
from studio.texts import t
from ui.widgets.answer_card import AnswerCard
from ui.widgets.basic import Sentence

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.capture.state import Rank
    from studio.run import Run


class CapturedCard(AnswerCard):
    def __init__(self) -> None:
        super().__init__("capture.result")
        self.setObjectName("curves_captured")
        self.text = Sentence()
        self.body.addWidget(self.text)

    def show_run(self, run: Run) -> None:
        ranks = captured_ranks(run.folder)
        self.setVisible(bool(ranks))
        self.text.setText("\n".join(end_sentences(ranks, len(ranks))))
        self.verdict = t("capture.verdict")


def captured_ranks(folder: Path) -> dict[int, Rank]:
    """Return the captures by rank; empty where the answer is missing or damaged."""
    rows = files.read_json(folder / ANSWER)
    try:
        return {row["rank"]: msgspec.convert(row, state.Rank) for row in rows or []}
    except (msgspec.ValidationError, TypeError, KeyError):
        return {}
