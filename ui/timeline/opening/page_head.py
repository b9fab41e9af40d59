"""The head of the page: which profile is open, with how many ranks, devices and steps, and the buttons for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.texts import t
from ui.timeline.opening.recent_profiles import short_path
from ui.widgets.basic import (
    MARGIN,
    Chip,
    Elided,
    Title,
    button,
)

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.trace import Meta


class PageHead(QWidget):
    open_requested = Signal()
    export_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._path: Path | None = None
        self._meta: Meta | None = None
        self.chip, self.name = Chip(), Elided(Qt.TextElideMode.ElideMiddle, "dim")
        self.chip.setObjectName("timeline_chip")
        self.name.setObjectName("timeline_name")
        self.open = button("timeline.page.open", "timeline_open")
        self.export = button("timeline.page.export", "timeline_export")
        self.open.clicked.connect(self.open_requested)
        self.export.clicked.connect(self.export_requested)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, MARGIN, 0)
        row.setSpacing(10)
        row.addWidget(Title("timeline.page.title"))
        row.addWidget(self.chip)
        row.addWidget(self.name, 1)
        row.addWidget(self.export)
        row.addWidget(self.open)
        self.retranslate()

    def show_profile(self, path: Path | None, meta: Meta | None) -> None:
        """Show a profile. `meta`: None while nothing is known about it."""
        self._path, self._meta = path, meta
        self.retranslate()

    def retranslate(self) -> None:
        self.name.setText(short_path(self._path) if self._path else "")
        self.name.setToolTip(str(self._path) if self._path else "")
        facts = facts_of(self._meta) if self._meta else ""
        self.chip.show_state(facts)
        self.chip.setVisible(bool(facts))
        self.export.setVisible(self._meta is not None)


def facts_of(meta: Meta) -> str:
    """Return '2 ranks · 2 devices · 3 steps'; counts of zero are left out."""
    ranks = {process.rank for process in meta.processes if process.rank is not None}
    devices = {lane.process for lane in meta.lanes if lane.kind == "device"}
    steps = {step.number for step in meta.steps}
    counts = (
        ("timeline.page.ranks", "timeline.page.rank", len(ranks)),
        ("timeline.page.devices", "timeline.page.device", len(devices)),
        ("timeline.page.steps", "timeline.page.step", len(steps)),
    )
    texts = [t(singular if count == 1 else plural, count=count) for plural, singular, count in counts if count]
    if not texts and meta.lanes and {lane.kind for lane in meta.lanes} <= {"host", "api"}:
        return t("timeline.page.host_alone")
    return " · ".join(texts)
