"""What a preview of a parallel strategy found: the best splits as a table, and why the first one is first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.preview.answer import FILE, Answer, Message, name_of, seconds_text, sent_text, size_text
from studio import files
from studio.texts import t
from ui.widgets.answer_card import AnswerCard
from ui.widgets.basic import Sentence, label
from ui.widgets.facts_table import FactsTable

if TYPE_CHECKING:
    from backends.launch.preview.search import Estimate
    from studio.run import Run

HEADS = (
    "preview.head.split", "preview.head.sharded", "preview.head.time", "preview.head.memory",
    "preview.head.activations", "preview.head.sent", "preview.head.bubble",
)  # fmt: skip


class PreviewCard(AnswerCard):
    def __init__(self) -> None:
        super().__init__("preview.card")
        self.setObjectName("curves_preview")
        self.header.addWidget(label("preview.estimate", "hint"))
        self.before, self.after = Sentence(), Sentence()
        self.table = FactsTable()
        self.source = Sentence()
        self.source.setProperty("role", "hint")
        for widget in (self.before, self.table, self.after, self.source):
            self.body.addWidget(widget)

    def show_run(self, run: Run) -> None:
        """Reads the answer that the run left; hidden where there is none. Warnings are the page's to show."""
        answer = answer_in(run)
        self.setVisible(answer is not None)
        if answer is None:
            return
        self.verdict = t("preview.sentence" if answer.splits else "preview.sentence_no")
        self.before.setText("\n".join(map(sentence, answer.before)))
        self.table.setVisible(bool(answer.splits))
        self.table.show_rows(tuple(map(t, HEADS)), [cells(estimate) for estimate in answer.splits])
        self.after.setText("\n".join(sentence(note) for note in answer.after if not note.is_warning))
        self.source.setText(t("preview.source", source=answer.source))


def sentence(note: Message) -> str:
    return t(note.key, **note.args)


def answer_in(run: Run) -> Answer | None:
    """None where the file is missing, or of another studio."""
    return files.read_as(run.folder / FILE, Answer)


def cells(estimate: Estimate) -> tuple[str, ...]:
    return (
        name_of(estimate.split),
        t("preview.yes") if estimate.split.sharded else t("preview.no"),
        seconds_text(estimate.seconds),
        size_text(estimate.memory.total),
        size_text(estimate.memory.activations),
        sent_text(estimate.traffic.total),
        f"{100 * estimate.bubble:.1f} %",
    )
