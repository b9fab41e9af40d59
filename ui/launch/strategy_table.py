"""Shard strategies as a table: operator, the shapes of its inputs, into how many parts they are cut, and whether that
fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLabel, QSizePolicy, QWidget

from backends.launch.operators import check_strategy, operators
from backends.launch.preview.shard import written
from backends.launch.spec import LaunchSpec
from studio import schema
from studio.texts import t
from ui.pairs_input import PairRow, PairsInput
from ui.say import say
from ui.widgets import label, retone, show_icon

if TYPE_CHECKING:
    from backends.launch.operators import Operator
    from studio.schema import Field

HEADS = ("launch.strategy.operator", "launch.strategy.shapes", "launch.strategy.parts", "launch.strategy.check")
WIDTHS = (3, 4, 4, 6)
END = 40


class StrategyRow(PairRow):
    """One operator. `is_known`: the recipe has it, so its name stays and only its strategy can be emptied."""

    is_known = False

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, text)
        say(self.key, "setPlaceholderText", HEADS[0])
        say(self.key, "setAccessibleName", HEADS[0])
        say(self.text, "setPlaceholderText", "launch.strategy.example")
        say(self.text, "setAccessibleName", HEADS[2])

    def _place(self) -> None:
        self.shapes, self.sign, self.check = label(role="dim"), QLabel(), label(role="hint")
        self.sign.setFixedSize(16, 16)
        self.check.setWordWrap(True)
        verdict = QWidget()
        beside = QHBoxLayout(verdict)
        beside.setContentsMargins(0, 0, 0, 0)
        beside.setSpacing(5)
        beside.addWidget(self.sign)
        beside.addWidget(self.check, 1)
        place(self.row, (self.key, self.shapes, self.text, verdict))
        policy = self.remove.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.remove.setSizePolicy(policy)
        self.row.addWidget(self.remove)

    def is_empty(self) -> bool:
        return not self.text.text().strip() if self.is_known else super().is_empty()

    def is_kept(self) -> bool:
        """Also where the recipe at hand does not have the operator: what a person wrote, not what another recipe
        brought along."""
        return not self.is_known or not self.is_empty()

    def show_operator(self, operator: Operator | None) -> None:
        """None: an operator that the recipe does not have, or that only the user's own recipe knows."""
        self.is_known = operator is not None and operator.shapes is not None
        self.key.setReadOnly(self.is_known)
        self.key.setFocusPolicy(Qt.FocusPolicy.ClickFocus if self.is_known else Qt.FocusPolicy.StrongFocus)
        self.remove.setHidden(self.is_known)
        shapes = operator.shapes if operator and operator.shapes else ()
        self.shapes.setText(" · ".join(written(shape) for shape in shapes) or "–")

    def show_check(self, spec: LaunchSpec) -> None:
        """Says what is wrong, or that it fits; nothing of an operator that MindSpore is to decide about."""
        if self.is_empty():
            self._say("", t("launch.strategy.free") if self.is_known else "")
            return
        name, text = self.key.text().strip(), self.text.text()
        problems = check_strategy(schema.with_value(spec, "strategy", ((name, text),)), name, text)
        fits = "launch.strategy.fits" if self.is_known else "launch.strategy.suffices"
        said = t(problems[0].rule, **problems[0].args) if problems else t(fits)
        self._say("bad" if problems else "good", said)

    def _say(self, tone: str, text: str) -> None:
        self.check.setText(text)
        retone(self.check, "role", "bad" if tone == "bad" else "hint")
        for line in (self.key, self.text):
            retone(line, "wrong", "true" if tone == "bad" else "false")
        self.sign.setVisible(bool(tone))
        if tone:
            show_icon(self.sign, "warning" if tone == "bad" else "check", tone, 14)


class StrategyTable(PairsInput):
    """A row for each operator of the recipe, and for each other one that was named. `show_spec` tells it the choices
    that its rows are checked with."""

    _rows: list[StrategyRow]  # type: ignore[assignment]

    def __init__(self, field: Field) -> None:
        self._spec = LaunchSpec()
        super().__init__(field)
        self._head = QWidget()
        row = QHBoxLayout(self._head)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        place(row, [label(key, "hint") for key in HEADS])
        row.addSpacing(END)
        self._column.insertWidget(0, self._head)
        self._none = label("launch.rule.no_operators", "hint")
        self._none.setWordWrap(True)
        self._column.addWidget(self._none)
        say(self._add, "setText", "launch.strategy.add")

    def make_row(self, key: str, text: str) -> StrategyRow:
        return StrategyRow(key, text)

    def show_value(self, value: Any) -> None:
        super().show_value(value)
        self._complete()

    def show_spec(self, spec: LaunchSpec) -> None:
        self._spec = spec
        self._complete()

    def show_wrong(self, wrong: bool) -> None:
        """Each row shows its own."""

    def _complete(self) -> None:
        """Rows as the recipe has them, in its order, their texts kept."""
        known = {one.name: one for one in operators(self._spec) if one.shapes is not None}
        shown = [(row.key.text(), row.text.text()) for row in self._rows]
        texts = dict(shown)
        others = [pair for row, pair in zip(self._rows, shown, strict=True) if pair[0] not in known and row.is_kept()]
        wanted = [(name, texts.get(name, "")) for name in known] + others
        if shown != wanted:
            super().show_value(wanted)
        for row in self._rows:
            row.show_operator(known.get(row.key.text()))
            row.show_check(self._spec)
        is_own = self._spec.what.recipe == "own"
        self._head.setVisible(bool(self._rows))
        self._add.setVisible(is_own)
        self._none.setVisible(not is_own and not self._rows)
        self.focus = self._rows[0].text if self._rows else self._add
        self._order_tabs()

    def _order_tabs(self) -> None:
        """From row to row, then the button below them."""
        before = self._add
        for row in self._rows:
            for widget in (row.key, row.text, row.remove):
                QWidget.setTabOrder(before, widget)
                before = widget  # type: ignore[assignment]

    def retranslate(self) -> None:
        self._complete()


def place(row: QHBoxLayout, widgets: Any) -> None:
    """In columns of the same widths in every row, whatever is in them."""
    for widget, width in zip(widgets, WIDTHS, strict=True):
        widget.setMinimumWidth(1)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, widget.sizePolicy().verticalPolicy())
        policy.setHeightForWidth(widget.hasHeightForWidth())
        widget.setSizePolicy(policy)
        row.addWidget(widget, width)
