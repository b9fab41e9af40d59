"""What a certificate checks, a line for each: sign and word, what it is, and why it came out so."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from backends.migration.certify.certificate import TITLES
from studio.texts import t
from ui.widgets import Sentence, retone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.certify.certificate import Certificate, Check

SIGNS = {
    "pass": ("✓", "good", "migration.proof.pass"), "fail": ("✕", "bad", "migration.proof.fail"),
    "unproven": ("?", "dim", "migration.proof.unproven"),
}  # fmt: skip
SIGN, WORD, TITLE = 14, 78, 290
TOP = Qt.AlignmentFlag.AlignTop


class CheckLines(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(6)

    def show_checks(self, checks: Sequence[Check]) -> None:
        self._clear()
        for check in checks:
            sign, token, key = SIGNS[check.state]
            place = f" ({check.path}:{check.line})" if check.path else ""
            why = t(check.reason.key, **check.reason.args) + place
            self._lines.addWidget(_line(sign, token, t(key), t(TITLES[check.name]), why))

    def show_expected(self) -> None:
        """What would be checked, before anything was."""
        self._clear()
        both = QWidget()
        grid = QGridLayout(both)
        grid.setContentsMargins(0, 0, 0, 0)
        half = (len(TITLES) + 1) // 2
        for place, title in enumerate(TITLES.values()):
            grid.addWidget(_line("○", "dim", "", t(title), ""), place % half, place // half)
        self._lines.addWidget(both)

    def _clear(self) -> None:
        while item := self._lines.takeAt(0):
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()


def _line(sign: str, token: str, word: str, title: str, why: str) -> QWidget:
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    mark, said, what = QLabel(sign), QLabel(word), QLabel(title)
    mark.setFixedWidth(SIGN)
    mark.setAlignment(TOP | Qt.AlignmentFlag.AlignHCenter)
    for label in (mark, said):
        retone(label, "role", token)
    row.addWidget(mark, 0, TOP)
    if not word:
        row.addWidget(what, 1, TOP)
        return line
    said.setFixedWidth(WORD)
    what.setFixedWidth(TITLE)
    what.setWordWrap(True)
    reason = Sentence()
    reason.setAlignment(TOP)
    reason.setText(why)
    row.addWidget(said, 0, TOP)
    row.addWidget(what, 0, TOP)
    row.addSpacing(6)
    row.addWidget(reason, 1)
    return line


def states_text(found: Certificate) -> str:
    """Places by state before and after, where both were scanned; with what line the result was run, where it is not
    the original's."""
    other = "" if found.migrated_line == found.line else t("migration.proof.line", line=shlex.join(found.migrated_line))
    if not found.before or not found.after:
        return other
    before, after = found.before, found.after
    said = t(
        "migration.proof.states", before=sum(before.values()) - before.get("auto", 0), total=sum(before.values()),
        after=sum(after.values()) - after.get("auto", 0), left=sum(after.values()),
    )  # fmt: skip
    return f"{said}\n{other}" if other else said
