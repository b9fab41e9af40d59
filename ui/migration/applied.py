"""The last migration of a project that was applied: where it is, what it brought, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout

from backends.migration.migrate.changes import Changes
from backends.migration.migrate.spec import MigrateSpec
from studio import schema
from studio.texts import t
from ui.migration.names import counted
from ui.say import say
from ui.widgets import Card, Sentence, button, label, text_button

if TYPE_CHECKING:
    from studio.run import Run

CHANGES = "artifacts/changes.json"
MOST_NAMED = 3


@dataclass(frozen=True, kw_only=True)
class Applied:
    run: Path
    changes: Changes

    @property
    def where(self) -> str:
        return self.changes.target or self.changes.branch


def spec_of(run: Run) -> MigrateSpec:
    return schema.from_json(MigrateSpec, run.asked.values)[0]


def read_applied(runs: list[Run]) -> Applied | None:
    """Of migrations that ended well, newest first, the newest that wrote something and was not taken back."""
    undone = {spec_of(run).result.undo for run in runs}
    for run in runs:
        if run.folder in undone or spec_of(run).result.undo != Path():
            continue
        try:
            found = msgspec.json.decode((run.folder / CHANGES).read_bytes(), type=Changes)
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if found.target or found.branch:
            return Applied(run=run.folder, changes=found)
    return None


class AppliedCard(Card):
    """Hidden until something was applied."""

    undo_wanted = Signal(object)
    proof_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("migration_applied")
        self.applied: Applied | None = None
        self.body.setContentsMargins(16, 10, 12, 10)
        self._title, self._text = label("migration.changes.applied", "strong"), Sentence()
        self._text.setObjectName("migration_applied_text")
        self.undo = button("migration.changes.undo", "migration.changes.undo")
        say(self.undo, "setToolTip", "migration.changes.undo_hint")
        self.undo.clicked.connect(self._undo)
        self._open = text_button("migration.changes.open", "migration.changes.open")
        self._open.clicked.connect(self._open_folder)
        self.prove = button("migration.changes.prove", "migration.changes.prove")
        self.prove.clicked.connect(self.proof_wanted)
        row = QHBoxLayout()
        row.setSpacing(10)
        row.addWidget(self._title)
        row.addWidget(self._text, 1)
        for widget in (self._open, self.undo, self.prove):
            row.addWidget(widget)
        self.body.addLayout(row)
        self.hide()

    def show_applied(self, applied: Applied | None) -> None:
        self.applied = applied
        self.setVisible(applied is not None)
        self.retranslate()

    def retranslate(self) -> None:
        if self.applied is None:
            return
        made = self.applied.changes
        self._open.setVisible(bool(made.target))
        self.prove.setVisible(bool(made.target))
        after = made.after
        hunks, files = len(made.applied), len({hunk.path for hunk in made.hunks() if hunk.id in made.applied})
        key = "migration.changes.applied_branch" if made.branch else "migration.changes.applied_copy"
        said = t(
            key, hunks=counted("migration.changes.one_hunk", "migration.changes.hunks", hunks),
            files=counted("migration.changes.one_file", "migration.changes.files", files), where=self.applied.where,
            auto=after.get("auto", 0), total=sum(after.values()),
        )  # fmt: skip
        if made.changed:
            changed = t("migration.changes.changed", files=", ".join(made.changed[:MOST_NAMED]))
            said = f"{said} {changed}"
        self._text.setText(said)

    def _undo(self) -> None:
        if self.applied is not None:
            self.undo_wanted.emit(self.applied.run)

    def _open_folder(self) -> None:
        if self.applied is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(self.applied.changes.target))
