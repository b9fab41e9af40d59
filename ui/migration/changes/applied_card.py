"""A card about the migration that was applied last: where it is, what it changed, and how to undo it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout

from studio.texts import t
from ui.migration.finding_texts import counted_text
from ui.widgets.basic import (
    Card,
    Sentence,
    button,
    label,
    text_button,
)
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from ui.migration.run_results import AppliedMigration

MAX_NAMED_FILES = 3


def what_is_left(after: dict[str, int], *, has_trained: bool) -> str:
    """Return what a scan of the result says. That nothing is left to do takes a training on the virtual NPU."""
    total = sum(after.values())
    left = total - after.get("auto", 0)
    if has_trained:
        return t("migration.changes.trained_left", n=left, total=total) if left else t("migration.changes.trained")
    return t("migration.changes.read_left", n=left, total=total) if left else t("migration.changes.read")


class AppliedCard(Card):
    """Hidden until a migration was applied."""

    undo_requested = Signal(object)
    proof_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_applied")
        self.applied: AppliedMigration | None = None
        self.body.setContentsMargins(16, 10, 12, 10)
        self._title, self._text = label("migration.changes.applied", "strong"), Sentence()
        self._text.setObjectName("migration_applied_text")
        self.undo = button("migration.changes.undo", "migration.changes.undo")
        localize(self.undo.setToolTip, "migration.changes.undo_hint")
        self.undo.clicked.connect(self._undo)
        self._open = text_button("migration.changes.open", "migration.changes.open")
        self._open.clicked.connect(self._open_folder)
        self.prove = button("migration.changes.prove", "migration.changes.prove")
        self.prove.clicked.connect(self.proof_requested)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self._title)
        row.addWidget(self._text, 1)
        for widget in (self._open, self.undo, self.prove):
            row.addWidget(widget)
        self.body.addLayout(row)
        self.hide()

    def show_applied(self, applied: AppliedMigration | None) -> None:
        self.applied = applied
        self.setVisible(applied is not None)
        self.retranslate()

    def retranslate(self) -> None:
        if self.applied is None:
            return
        changes = self.applied.changes
        self._open.setVisible(bool(changes.target))
        self.prove.setVisible(bool(changes.target))
        after = changes.after
        hunks, files = len(changes.applied), len({hunk.path for hunk in changes.hunks() if hunk.id in changes.applied})
        key = "migration.changes.applied_branch" if changes.branch else "migration.changes.applied_copy"
        text = t(
            key,
            hunks=counted_text("migration.changes.one_hunk", "migration.changes.hunks", hunks),
            files=counted_text("migration.changes.one_file", "migration.changes.files", files),
            where=self.applied.destination,
        )
        text = t("migration.changes.space").join((text, what_is_left(after, has_trained=self.applied.has_trained)))
        if changes.changed:
            changed = t("migration.changes.changed", files=", ".join(changes.changed[:MAX_NAMED_FILES]))
            text = f"{text} {changed}"
        self._text.setText(text)

    def _undo(self) -> None:
        if self.applied is not None:
            self.undo_requested.emit(self.applied.run)

    def _open_folder(self) -> None:
        if self.applied is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(self.applied.changes.target))
