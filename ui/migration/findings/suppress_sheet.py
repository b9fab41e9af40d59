"""A sheet that asks why a finding is left as it is, and where to store the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit

from backends.migration.scan.suppressions import suppress_findings
from studio.errors import from_os
from studio.texts import t
from ui.migration.finding_texts import location_text, rule_text
from ui.widgets.basic import Sentence, label, primary_button
from ui.widgets.popover import Popover

if TYPE_CHECKING:
    from collections.abc import Callable

    from PySide6.QtWidgets import QWidget

    from backends.migration.finding import ScanFinding
    from ui.migration.run_results import Scan
    from ui.services.session import Session


class SuppressSheet(Popover):
    """Writes into the project only if the box is ticked."""

    def __init__(
        self, owner: QWidget, session: Session, scan: Scan, finding: ScanFinding, then: Callable[[], object]
    ) -> None:
        super().__init__(owner, "suppress_sheet", 400)
        self._session, self._scan, self._finding, self._then = session, scan, finding, then
        self.column.addWidget(label("migration.suppress_title", "title"))
        what = Sentence()
        what.setText(f"{rule_text(finding, 'title')}\n{location_text(finding)}")
        self.column.addWidget(what)
        self.reason = QLineEdit()
        self.reason.setObjectName("migration.suppress_reason")
        self.reason.setAccessibleName(t("migration.suppress_reason"))
        self.reason.setPlaceholderText(t("migration.suppress_reason"))
        self.reason.textChanged.connect(self._typed)
        self.reason.returnPressed.connect(self._keep)
        self.in_project = QCheckBox(t("migration.suppress_in_project"))
        self.in_project.setObjectName("migration.suppress_in_project")
        self.keep = primary_button("migration.suppress_keep", "migration.suppress_keep")
        self.keep.setEnabled(False)
        self.keep.clicked.connect(self._keep)
        self.column.addWidget(self.reason)
        self.column.addWidget(self.in_project)
        self.column.addWidget(Sentence("migration.suppress_where"))
        self.column.addWidget(self.keep, 0, Qt.AlignmentFlag.AlignRight)
        self.reason.setFocus()

    def _typed(self, text: str) -> None:
        self.keep.setEnabled(bool(text.strip()))

    def _keep(self) -> None:
        project, reason = self._session.project, self.reason.text().strip()
        if project is None or not reason:
            return
        self.close()
        try:
            mark = self._scan.fingerprint_of(self._finding)
            suppress_findings(project.folder, (mark,), reason, in_project=self.in_project.isChecked())
        except OSError as error:
            self._session.trouble.emit(from_os(error, error.filename or project.folder))
        self._then()
