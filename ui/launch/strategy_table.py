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
from ui.form.pairs_input import PairRow, PairsInput
from ui.widgets.basic import Sentence, label, retone, show_icon
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from backends.launch.operators import Operator
    from studio.schema import Field

HEADS = ("launch.strategy.operator", "launch.strategy.shapes", "launch.strategy.parts", "launch.strategy.check")
WIDTHS = (3, 4, 4, 6)
END = 40


class StrategyRow(PairRow):
    """One operator. `is_known`: the recipe has it, so its name stays and only its strategy can be emptied."""

    is_recipes = False

    def __init__(self, name: str, text: str) -> None:
        super().__init__(name, text)
        localize(self.key.setPlaceholderText, HEADS[0])
        localize(self.key.setAccessibleName, HEADS[0])
        localize(self.text.setPlaceholderText, "launch.strategy.example")
        localize(self.text.setAccessibleName, HEADS[2])

    def _lay_out_rows(self) -> None:
        self.shapes, self.sign, self.check = label(role="dim"), QLabel(), Sentence()
        self.sign.setFixedSize(16, 16)
        self.check.setProperty("role", "hint")
        verdict = QWidget()
        verdict_row = QHBoxLayout(verdict)
        verdict_row.setContentsMargins(0, 0, 0, 0)
        verdict_row.setSpacing(5)
        verdict_row.addWidget(self.sign)
        verdict_row.addWidget(self.check, 1)
        fill_row(self.row, (self.key, self.shapes, self.text, verdict))
        policy = self.remove.sizePolicy()
        policy.setRetainSizeWhenHidden(True)
        self.remove.setSizePolicy(policy)
        self.row.addWidget(self.remove)

    def is_empty(self) -> bool:
        return not self.text.text().strip() if self.is_recipes else super().is_empty()

    def is_stored(self) -> bool:
        """Also where the recipe at hand does not have the operator: what a person wrote, not what another recipe
        brought along."""
        return not self.is_recipes or not self.is_empty()

    def show_operator(self, operator: Operator | None) -> None:
        """None: an operator that the recipe does not have, or that only the user's own recipe knows."""
        self.is_recipes = operator is not None and operator.shapes is not None
        self.key.setReadOnly(self.is_recipes)
        self.key.setFocusPolicy(Qt.FocusPolicy.ClickFocus if self.is_recipes else Qt.FocusPolicy.StrongFocus)
        self.remove.setHidden(self.is_recipes)
        shapes = operator.shapes if operator and operator.shapes else ()
        self.shapes.setText(" · ".join(written(shape) for shape in shapes) or "–")

    def show_check(self, spec: LaunchSpec) -> None:
        """Show what is wrong, or that it fits; nothing for an operator that MindSpore decides about."""
        if self.is_empty():
            self._show_verdict("", t("launch.strategy.free") if self.is_recipes else "")
            return
        name, text = self.key.text().strip(), self.text.text()
        problems = check_strategy(schema.with_value(spec, "strategy", ((name, text),)), name, text)
        fits = "launch.strategy.fits" if self.is_recipes else "launch.strategy.suffices"
        sentence = t(problems[0].rule, **problems[0].args) if problems else t(fits)
        self._show_verdict("bad" if problems else "good", sentence)

    def _show_verdict(self, tone: str, text: str) -> None:
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
        fill_row(row, [label(key, "hint") for key in HEADS])
        row.addSpacing(END)
        self._column.insertWidget(0, self._head)
        self._none = label("launch.rule.no_operators", "hint")
        self._none.setWordWrap(True)
        self._column.addWidget(self._none)
        localize(self._add.setText, "launch.strategy.add")

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
        """Show the recipe's operators in its order, keeping the texts of the rows."""
        operators_by_name = {
            operator.name: operator for operator in operators(self._spec) if operator.shapes is not None
        }
        visible_rows = [(row.key.text(), row.text.text()) for row in self._rows]
        texts = dict(visible_rows)
        others = [
            pair
            for row, pair in zip(self._rows, visible_rows, strict=True)
            if pair[0] not in operators_by_name and row.is_stored()
        ]
        rows = [(name, texts.get(name, "")) for name in operators_by_name] + others
        if visible_rows != rows:
            super().show_value(rows)
        for row in self._rows:
            row.show_operator(operators_by_name.get(row.key.text()))
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


def fill_row(row: QHBoxLayout, widgets: Any) -> None:
    """Fill a row with columns of the same widths in every row, whatever they hold."""
    for widget, width in zip(widgets, WIDTHS, strict=True):
        widget.setMinimumWidth(1)
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, widget.sizePolicy().verticalPolicy())
        policy.setHeightForWidth(widget.hasHeightForWidth())
        widget.setSizePolicy(policy)
        row.addWidget(widget, width)
