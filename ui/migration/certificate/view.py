"""The certificate view: both versions run for a few steps, their losses side by side, and what that does not prove."""

from __future__ import annotations

import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.migration.certify.spec import CertifySpec
from backends.migration.certify.standing import STANDING_TEXTS
from studio import schema
from studio.texts import t
from ui.form.field_box import FieldBox
from ui.migration.certificate.certificate_rows import edit_row, loss_row, operator_row
from ui.migration.certificate.check_lines import CheckLines, standing_text, states_text
from ui.migration.certificate.start_choices import StartChoices
from ui.widgets.basic import (
    GAP,
    Card,
    Chip,
    Elided,
    Sentence,
    button,
    label,
    mono_font,
    primary_button,
    text_button,
)
from ui.widgets.cell_table import TableModel, table_view
from ui.widgets.localized import localize
from ui.widgets.page_scroll import PageScroll

if TYPE_CHECKING:
    from backends.migration.certify.certificate import Certificate
    from backends.migration.certify.standing import Standing, StandingCertificate
    from ui.services.consent import Consent
    from ui.widgets.basic import Tone

FIELDS = ("line", "migrated", "python", "steps", "seed")
LOSS_HEADERS = ("migration.proof.step", "migration.proof.original", "migration.proof.migrated", "migration.proof.same")
OPERATOR_HEADERS = ("migration.proof.operator", "migration.proof.on_npu", "migration.proof.calls")
EDIT_HEADERS = ("migration.proof.file", "migration.proof.what", "migration.proof.lines")
TABLE_HEIGHT = 260
SENTENCES: dict[Standing, str] = {
    "granted": "migration.proof.sentence_granted", "refused": "migration.proof.sentence_refused",
    "stale": "migration.proof.sentence_stale", "other": "migration.proof.sentence_other",
}  # fmt: skip
TONES: dict[Standing, Tone] = {"granted": "good", "refused": "bad", "stale": "warning", "other": "neutral"}


class CertificateView(QWidget):
    """`proof_requested`: a CertifySpec to run; `sides_requested`: one whose sides are to be captured and compared;
    `run_requested`: the name of a run to open."""

    proof_requested = Signal(object)
    sides_requested = Signal(object)
    run_requested = Signal(str)

    def __init__(self, consent: Consent) -> None:
        super().__init__()
        self.setObjectName("migration_proof")
        self.spec = CertifySpec()
        self.standing: StandingCertificate | None = None
        self.consent = consent
        self._original: Path | None = None
        self.losses = TableModel(LOSS_HEADERS, frozenset({0, 1, 2}))
        self.operators = TableModel(OPERATOR_HEADERS, frozenset({2}))
        self.edits = TableModel(EDIT_HEADERS, frozenset({2}))
        self._result = QWidget()
        column = QVBoxLayout(self._result)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GAP)
        for cards in (
            ((self._make_checks(), 1),),
            ((self._make_losses(), 1), (self._make_operators(), 1)),
            ((self._make_edits(), 1), (self._make_unproven(), 1)),
        ):
            row = QHBoxLayout()
            row.setSpacing(GAP)
            for card, stretch in cards:
                row.addWidget(card, stretch)
            column.addLayout(row)
        self._form = self._make_form()
        self.area = PageScroll(consent, self._result, self._form, self._make_expected())
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.area)
        self.show_certificate(None)

    def _make_form(self) -> Card:
        card = Card("migration.proof.form")
        self._about = Sentence("migration.proof.about")
        card.body.addWidget(self._about)
        self.boxes = {name: FieldBox(schema.field_of(CertifySpec, name), "migration") for name in FIELDS}
        for name, box in self.boxes.items():
            box.input.show_value(schema.value_of(self.spec, name))
            box.input.edited.connect(partial(self._edited, name))
        card.body.addWidget(self.boxes["line"])
        self.choices = StartChoices()
        self.choices.line_chosen.connect(partial(self._choose, "line"))
        self.choices.python_chosen.connect(partial(self._choose, "python"))
        self.choices.proposed.connect(self._propose_line)
        card.body.addWidget(self.choices)
        row = QHBoxLayout()
        row.setSpacing(16)
        for name, stretch in (("migrated", 3), ("python", 3), ("steps", 1), ("seed", 1)):
            row.addWidget(self.boxes[name], stretch)
        card.body.addLayout(row)
        self.prove = primary_button("migration.proof.prove", "migration.proof.prove")
        self.prove.clicked.connect(self._request_proof)
        last = QHBoxLayout()
        self._missing = Sentence("migration.proof.wants")
        last.addWidget(self._missing, 1)
        last.addStretch(1)
        last.addWidget(self.prove)
        card.body.addLayout(last)
        return card

    def _make_expected(self) -> Card:
        """Build the card that explains a certificate before there is one."""
        self._expected = Card("migration.proof.expected")
        self._expectations = CheckLines()
        self._expected.body.addWidget(self._expectations)
        self._expected.body.addWidget(Sentence("migration.proof.expected_not"))
        return self._expected

    def _make_checks(self) -> Card:
        card = Card("migration.proof.checks")
        self.chip = Chip()
        self.chip.setObjectName("migration_proof_state")
        card.header.insertWidget(1, self.chip)
        self._command_line = Elided(role="hint")
        self._command_line.setFont(mono_font(12))
        card.header.insertWidget(2, self._command_line, 100)
        self._sides_button = button("migration.proof.sides", "migration.proof.sides")
        localize(self._sides_button.setToolTip, "migration.proof.sides_hint")
        self._sides_button.clicked.connect(self._request_sides)
        card.header.addWidget(self._sides_button)
        again = button("migration.proof.again", "migration.proof.again")
        again.clicked.connect(self._request_proof)
        card.header.addWidget(again)
        self._repeat_button = again
        self._standing = Sentence()
        self._standing.setObjectName("migration_proof_standing")
        self._states = Sentence()
        self._checks = CheckLines()
        card.body.addWidget(self._standing)
        card.body.addWidget(self._states)
        card.body.addWidget(self._checks)
        self._run_button = text_button("migration.proof.look", "migration.proof.look")
        self._run_button.clicked.connect(self._request_run)
        card.body.addWidget(self._run_button, 0, Qt.AlignmentFlag.AlignLeft)
        return card

    def _make_losses(self) -> Card:
        return _table_card("migration.proof.losses", self.losses, "migration_losses", 1, 2)

    def _make_operators(self) -> Card:
        return _table_card("migration.proof.operators", self.operators, "migration_operators", 0)

    def _make_edits(self) -> Card:
        return _table_card("migration.proof.edits", self.edits, "migration_edits", 0)

    def _make_unproven(self) -> Card:
        card = Card("migration.proof.unproven_title")
        self.not_run, self.unproven = Sentence(), Sentence()
        self.not_run.setObjectName("migration_not_run")
        self.unproven.setObjectName("migration_unproven")
        card.body.addWidget(label("migration.proof.group_not_run", "hint"))
        card.body.addWidget(self.not_run)
        card.body.addWidget(label("migration.proof.group_no_card", "hint"))
        card.body.addWidget(self.unproven)
        card.body.addStretch(1)
        return card

    # Requests

    def show_pair(self, original: Path, migrated: Path | None, line: tuple[str, ...]) -> None:
        """Fill in the known folders and command; what the user entered stays."""
        is_other = original != self._original
        self._original = original
        self.spec = schema.with_value(self.spec, "original", original)
        self.spec = schema.with_value(self.spec, "workdir", original)
        if is_other or self.spec.pair.migrated == Path():
            self._set("migrated", migrated or Path())
        if line and (is_other or not self.spec.training.line):
            self._set("line", line)
        self.choices.show_project(original)
        self._judge()

    def _choose(self, name: str, value: object) -> None:
        self._set(name, value)
        self._judge()

    def _propose_line(self, line: tuple[str, ...]) -> None:
        """The project's own command stands in the form until there is another one."""
        if not self.spec.training.line:
            self._choose("line", line)

    def show_migrated(self, folder: Path) -> None:
        """Fill in the folder that a migration has just written."""
        self._set("migrated", folder)
        self._judge()

    def _set(self, name: str, value: object) -> None:
        self.spec = schema.with_value(self.spec, name, value)
        self.boxes[name].input.show_value(value)

    def _edited(self, name: str) -> None:
        try:
            self.spec = schema.with_value(self.spec, name, self.boxes[name].input.value())
        except schema.Unreadable as error:
            self.boxes[name].show_problem(error.problem)
            self.prove.setEnabled(False)
            return
        self._judge()

    def _judge(self) -> None:
        """Mark fields with problems, but not those still empty; nothing starts without them."""
        wrong = {problem.field: problem for problem in schema.problems(self.spec)}
        empty = {"line": not self.spec.training.line, "migrated": self.spec.pair.migrated == Path()}
        for name, box in self.boxes.items():
            box.show_problem(None if empty.get(name) else wrong.get(name))
        for start in (self.prove, self._repeat_button, self._sides_button):
            start.setDisabled(bool(wrong))
        self._missing.setVisible(any(empty.values()))

    def _request_proof(self) -> None:
        self.proof_requested.emit(self.spec)

    def _request_sides(self) -> None:
        self.sides_requested.emit(self.spec)

    def _request_run(self) -> None:
        if self.certificate is not None:
            self.run_requested.emit(self.certificate.precision)

    # Results

    def sentence(self) -> str:
        """Return what the certificate concludes, for the head of the page."""
        return t(SENTENCES[self.standing.standing] if self.standing else "migration.proof.sentence_none")

    @property
    def certificate(self) -> Certificate | None:
        return self.standing.certificate if self.standing else None

    def show_certificate(self, standing: StandingCertificate | None) -> None:
        """Show a certificate; the form comes first unless that is in force."""
        self.standing = standing
        self._result.setVisible(standing is not None)
        self._expected.setVisible(standing is None)
        is_in_force = standing is not None and standing.standing == "granted"
        parts = (self._result, self._form) if is_in_force else (self._form, self._result)
        self.area.arrange(self.consent, *parts)
        self.retranslate()

    def retranslate(self) -> None:
        self._expectations.show_expected()
        standing = self.standing
        if standing is None:
            return
        certificate = standing.certificate
        self.chip.show_state(t(STANDING_TEXTS[standing.standing]), TONES[standing.standing])
        self._standing.setText(standing_text(standing))
        self._standing.setVisible(bool(self._standing.text()))
        self._command_line.setText(shlex.join(certificate.line))
        self._states.setText(states_text(certificate))
        self._states.setVisible(bool(self._states.text()))
        self._checks.show_checks(certificate.checks)
        self._run_button.setVisible(bool(certificate.precision))
        self.losses.show_rows([loss_row(row) for row in (*certificate.losses, *certificate.gradients)])
        self.operators.show_rows([operator_row(operator) for operator in certificate.operators])
        self.edits.show_rows([edit_row(edit) for edit in certificate.edits])
        self.not_run.setText("\n".join(f"– {t(reason.key, **reason.args)}" for reason in certificate.not_run))
        self.unproven.setText("\n".join(f"– {t(reason.key, **reason.args)}" for reason in certificate.unproven))


def _table_card(key: str, model: TableModel, name: str, *stretched: int) -> Card:
    card = Card(key)
    card.body.setContentsMargins(1, 12, 1, 1)
    card.header.setContentsMargins(14, 0, 10, 0)
    card.body.setSpacing(6)
    view = table_view(model, name, key, *stretched)
    card.setMinimumHeight(TABLE_HEIGHT)
    card.body.addWidget(view, 1)
    return card
