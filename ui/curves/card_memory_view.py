"""The memory of a rehearsal's virtual cards: whether the training fits, and what the bytes at the peak belong to."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from studio.texts import t
from studio.units import binary_size
from ui.widgets.basic import Sentence, label, retone
from ui.widgets.facts_table import FactsTable

if TYPE_CHECKING:
    from backends.common.card_memory import CardMemory, MemoryReport

MAX_ROWS = 8
FITS = {"fits": "curves.card_memory.fits", "close": "curves.card_memory.close", "beyond": "curves.card_memory.beyond"}
TONES = {"fits": "dim", "close": "warning", "beyond": "bad"}
KINDS = {
    "parameters": "curves.card_memory.parameters", "buffers": "curves.card_memory.buffers",
    "gradients": "curves.card_memory.gradients", "optimizer": "curves.card_memory.optimizer",
    "activations": "curves.card_memory.activations", "temporary": "curves.card_memory.temporary",
    "other": "curves.card_memory.other",
}  # fmt: skip


class CardMemoryView(QWidget):
    """The fullest card alone: its sentence names the others' number."""

    def __init__(self) -> None:
        super().__init__()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        column.addWidget(label("curves.card_memory.title", "strong"))
        self.fit, self.doubts = Sentence(), Sentence()
        self.kinds, self.modules = FactsTable(), FactsTable()
        retone(self.doubts, "role", "warning")
        for widget in (self.fit, self.doubts):
            column.addWidget(widget)
        row = QHBoxLayout()
        row.setSpacing(40)
        for table in (self.kinds, self.modules):
            row.addWidget(table, 1, Qt.AlignmentFlag.AlignTop)
        column.addLayout(row)
        self.limits: QLabel = label("curves.card_memory.limits", "hint")
        self.limits.setWordWrap(True)
        column.addWidget(self.limits)
        self.hide()

    def show_memory(self, report: MemoryReport | None) -> None:
        self.setVisible(report is not None and bool(report.cards))
        if report is None or not report.cards:
            return
        card = report.cards[0]
        is_shown = report.steps > 0 or card.fit == "beyond"
        retone(self.fit, "role", TONES[card.fit] if is_shown else "warning")
        self.fit.setText(fit_text(report, card) if is_shown else t("curves.card_memory.no_step"))
        self.doubts.setText(doubts_text(report))
        self.doubts.setVisible(is_shown and report.is_fake and not report.is_whole)
        self.kinds.show_rows((t("curves.card_memory.at_peak"), t("curves.card_memory.memory")), kind_rows(card))
        self.modules.show_rows((t("curves.card_memory.module"), t("curves.card_memory.memory")), module_rows(card))


def fit_text(report: MemoryReport, card: CardMemory) -> str:
    """Whether it fits and by how much; where it does not, at which line the card would be full."""
    text = t(
        FITS[card.fit], total=binary_size(card.total), reserved=binary_size(card.reserved),
        left=binary_size(card.total - card.reserved), missing=binary_size(card.missing),
        error=round(100 * report.error), rank=card.rank, world=report.world,
    )  # fmt: skip
    if card.refusal is None:
        return text
    place = f"{PurePath(card.refusal.path).name}:{card.refusal.line}"
    return text + "\n" + t("curves.card_memory.full_at", place=place, step=card.refusal.step + 1)


def doubts_text(report: MemoryReport) -> str:
    """What was assumed and decided something, at its lines; or that no step was seen."""
    places = [
        *(f"{PurePath(row.path).name}:{row.line}" for row in report.assumed if row.use != "read"),
        *(f"{PurePath(gap.path).name}:{gap.line}" for gap in report.unfollowed),
    ]
    if not places:
        return t("curves.card_memory.no_step")
    more = " …" if len(places) > MAX_ROWS else ""
    return t("curves.card_memory.assumed", places=", ".join(places[:MAX_ROWS]) + more)


def kind_rows(card: CardMemory) -> list[tuple[str, str]]:
    rows = sorted(card.kinds.items(), key=lambda row: -row[1])
    named = [(t(KINDS[kind]), binary_size(size)) for kind, size in rows if kind in KINDS]
    return [
        *named,
        (t("curves.card_memory.peak"), binary_size(card.peak)),
        (t("curves.card_memory.reserved"), binary_size(card.reserved)),
    ]


def module_rows(card: CardMemory) -> list[tuple[str, str]]:
    rows = [(row.module, sum(row.kinds.values())) for row in card.modules if row.module]
    return [(module, binary_size(size)) for module, size in rows[:MAX_ROWS]]
