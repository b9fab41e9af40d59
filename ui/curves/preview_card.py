"""What a preview of a parallel strategy found: the best splits as a table, and why the first one is first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.preview.answer import FILE, Answer, Said, name_of, seconds, sent, size
from studio import files
from studio.texts import t
from ui.curves.answers import AnswerCard
from ui.curves.facts_table import FactsTable
from ui.widgets import Sentence, label

if TYPE_CHECKING:
    from backends.launch.preview.search import Estimate
    from studio.run import Run

COMMAND = "preview"
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
        self.source = label(role="hint")
        for widget in (self.before, self.table, self.after, self.source):
            self.body.addWidget(widget)
        self.source.setWordWrap(True)

    def show_run(self, run: Run) -> None:
        """Reads the answer that the run left; hidden where there is none. Warnings are the page's to show."""
        found = answer_in(run)
        self.setVisible(found is not None)
        if found is None:
            return
        self.verdict = t("preview.sentence" if found.splits else "preview.sentence_no")
        self.before.setText("\n".join(map(sentence, found.before)))
        self.table.setVisible(bool(found.splits))
        self.table.show_rows(tuple(map(t, HEADS)), [cells(one) for one in found.splits])
        self.after.setText("\n".join(sentence(said) for said in found.after if not said.is_warning))
        self.source.setText(t("preview.source", source=found.source))


def sentence(said: Said) -> str:
    return t(said.key, **said.args)


def answer_in(run: Run) -> Answer | None:
    """None where the file is missing, or of another studio."""
    return files.read_as(run.folder / FILE, Answer)


def cells(one: Estimate) -> tuple[str, ...]:
    return (
        name_of(one.split), t("preview.yes") if one.split.sharded else t("preview.no"), seconds(one.seconds),
        size(one.octets), size(one.memory.activations), sent(one.traffic.total), f"{100 * one.bubble:.1f} %",
    )  # fmt: skip
