"""One line for each check of a certificate: a sign and its meaning, the title, and the reason."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from backends.migration.certify.certificate import CHECK_TITLES
from backends.migration.certify.check_groups import GROUP_TEXTS, grouped_checks
from studio.texts import t
from ui.widgets.basic import Sentence, retone

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.certify.certificate import Certificate, Check, CheckState
    from backends.migration.certify.standing import StandingCertificate

CHECK_SIGNS: dict[CheckState, tuple[str, str, str]] = {
    "pass": ("✓", "good", "migration.proof.pass"), "fail": ("✕", "bad", "migration.proof.fail"),
    "not_run": ("○", "dim", "migration.proof.not_run"), "no_card": ("?", "dim", "migration.proof.no_card"),
}  # fmt: skip
COLUMNS = 3
SIGN, WORD, TITLE = 14, 78, 290
TOP = Qt.AlignmentFlag.AlignTop


class CheckLines(QWidget):
    """A column of check lines."""

    def __init__(self) -> None:
        super().__init__()
        self._lines = QVBoxLayout(self)
        self._lines.setContentsMargins(0, 0, 0, 0)
        self._lines.setSpacing(6)

    def show_checks(self, checks: Sequence[Check]) -> None:
        """Show the results of these checks, by state: what only a card can show never stands among the proven."""
        self._clear()
        for state, listed in grouped_checks(checks):
            heading = QLabel(t(GROUP_TEXTS[state]))
            heading.setProperty("role", "title")
            self._lines.addWidget(heading)
            sign, token, key = CHECK_SIGNS[state]
            for check in listed:
                position = f" ({check.path}:{check.line})" if check.path else ""
                why = t(check.reason.key, **check.reason.args) + position
                self._lines.addWidget(_check_line(sign, token, t(key), t(CHECK_TITLES[check.name]), why))

    def show_expected(self) -> None:
        """Show the titles of all checks before there is a certificate."""
        self._clear()
        columns = QWidget()
        grid = QGridLayout(columns)
        grid.setContentsMargins(0, 0, 0, 0)
        rows = -(-len(CHECK_TITLES) // COLUMNS)
        for number, title in enumerate(CHECK_TITLES.values()):
            grid.addWidget(_check_line("○", "dim", "", t(title), ""), number % rows, number // rows)
        self._lines.addWidget(columns)

    def _clear(self) -> None:
        while item := self._lines.takeAt(0):
            if widget := item.widget():
                widget.hide()
                widget.deleteLater()


def _check_line(sign: str, token: str, word: str, title: str, why: str) -> QWidget:
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(6)
    mark, state, about = QLabel(sign), QLabel(word), QLabel(title)
    mark.setFixedWidth(SIGN)
    mark.setAlignment(TOP | Qt.AlignmentFlag.AlignHCenter)
    for label in (mark, state):
        retone(label, "role", token)
    row.addWidget(mark, 0, TOP)
    if not word:
        row.addWidget(about, 1, TOP)
        return line
    state.setFixedWidth(WORD)
    about.setFixedWidth(TITLE)
    about.setWordWrap(True)
    reason = Sentence()
    reason.setAlignment(TOP)
    reason.setText(why)
    row.addWidget(state, 0, TOP)
    row.addWidget(about, 0, TOP)
    row.addSpacing(6)
    row.addWidget(reason, 1)
    return line


def states_text(certificate: Certificate) -> str:
    """Say how many findings were open before and after, where both projects were scanned, and which command ran the
    result, where it differs from the original's."""
    other = (
        ""
        if certificate.migrated_line == certificate.line
        else t("migration.proof.line", line=shlex.join(certificate.migrated_line))
    )
    if not certificate.before or not certificate.after:
        return other
    before, after = certificate.before, certificate.after
    counts = t(
        "migration.proof.states",
        before=sum(before.values()) - before.get("auto", 0),
        total=sum(before.values()),
        after=sum(after.values()) - after.get("auto", 0),
        left=sum(after.values()),
    )
    return f"{counts}\n{other}" if other else counts


def standing_text(standing: StandingCertificate) -> str:
    """Say why a certificate that was made is not in force, or which folder it is not about; "" where it is."""
    if standing.target:
        return t("migration.proof.other_folder", folder=standing.certificate.migrated, target=standing.target)
    return t("migration.proof.stale_file", path=standing.stale) if standing.stale else ""
