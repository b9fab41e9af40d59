"""Launch: choose what to train and how, see what follows from it, start."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from backends.launch import lines
from backends.launch.plan import runs_code_of
from backends.launch.recipes import resolved
from backends.launch.spec import LaunchSpec, Learning, Precision
from studio import trust
from studio.errors import from_os
from studio.texts import t
from studio.units import number
from ui import actions
from ui.copy_card import CopyCard
from ui.form import Form
from ui.outlook import Outlook
from ui.page_scroll import PageScroll
from ui.say import say
from ui.widgets import GAP, MARGIN, Card, Sentence, Title, button, primary_button, retone, text_button

if TYPE_CHECKING:
    from studio.project import Project
    from ui.session import Session

SIDE = 400
SENTENCES = {
    "linear": "launch.about_linear",
    "digits": "launch.about_digits",
    "text": "launch.about_text",
}


def make_page(session: Session) -> LaunchPage:
    return LaunchPage(session)


def implied(spec: LaunchSpec) -> dict[str, str]:
    """What follows where a field is left empty."""
    from_recipe, chosen = resolved(_without_choices(spec)), resolved(spec)
    return {
        "batch": t("launch.implied", value=from_recipe.batch),
        "lr": t("launch.implied", value=f"{from_recipe.lr:g}"),
        "weight_decay": t("launch.implied_optimizer", value=f"{chosen.weight_decay:g}"),
        "loss_scale": t(f"launch.choice.loss_scale.{chosen.loss_scale}"),
        "clip": t("launch.implied_clip"),
        "jit_level": t("launch.implied_jit_level"),
        "optimizer": t("launch.implied", value=t(f"launch.choice.optimizer.{from_recipe.optimizer}")),
        "steps": _implied_steps(spec, chosen.steps),
        "epochs": "" if chosen.epochs is None else f"= {number(chosen.epochs, 3)}",
        "corpus": t("launch.implied_corpus"),
        "checkpoint_every": t("launch.implied_checkpoint"),
        "checkpoint_minutes": t("launch.implied_checkpoint"),
        "resume": t("launch.implied_resume"),
        "python": t("launch.implied_python"),
    }


def _implied_steps(spec: LaunchSpec, steps: int) -> str:
    return t("launch.implied", value=steps) if spec.learning.epochs is None else f"= {steps}"


def _without_choices(spec: LaunchSpec) -> LaunchSpec:
    """The same recipe and ways of running, with the recipe's own numbers."""
    return replace(spec, how=replace(spec.how, batch=None, accumulate=1), precision=Precision(), learning=Learning())


def _sentence(spec: LaunchSpec) -> str:
    chosen = resolved(spec)
    args = {
        "about": t(SENTENCES[spec.what.recipe]), "total": chosen.global_batch, "batch": chosen.batch,
        "accumulate": spec.how.accumulate, "steps": chosen.steps,
    }  # fmt: skip
    if chosen.epochs is None:
        return t("launch.sentence_open", **args)
    return t("launch.sentence", **args, epochs=number(chosen.epochs, 3))


class LaunchPage(QWidget):
    def __init__(self, session: Session) -> None:
        super().__init__()
        self.setObjectName("page")
        self._session = session
        self._specs: dict[str, Any] = {}
        self._project: Project | None = session.project
        self.form = Form(LaunchSpec, "launch", implied)
        self.copies = CopyCard(
            "launch.same", ("launch.tab_shell", "launch.tab_python", "launch.tab_json"), "launch.same"
        )
        self.outlook = Outlook()
        self._build()
        self.form.spec_changed.connect(lambda _spec: self._show())
        session.runs_changed.connect(lambda _listed: self._show_measured())
        session.project_changed.connect(self._change_project)
        actions.register(self, "launch.start", "launch.start", self.start, "Ctrl+Return", "play")
        actions.register(self, "launch.reset", "launch.reset", self.reset)
        self._show()

    def _build(self) -> None:
        column = QVBoxLayout(self)
        column.setContentsMargins(MARGIN, 18, 0, 0)
        column.setSpacing(8)
        column.addLayout(self._top())
        self.sentence = Sentence()
        self.sentence.setContentsMargins(0, 0, MARGIN, 6)
        column.addWidget(self.sentence)
        self._scroll = self._content()
        column.addWidget(self._scroll, 1)

    def _top(self) -> QHBoxLayout:
        self.start_button = primary_button("launch.start", "launch.start")
        self.start_button.setMinimumWidth(96)
        self.start_button.clicked.connect(self.start)
        self._to_wrong = button("launch.to_wrong", "launch.to_wrong")
        self._to_wrong.clicked.connect(self.start)
        reset = text_button("launch.reset", "launch.reset")
        reset.clicked.connect(self.reset)
        row = QHBoxLayout()
        row.setContentsMargins(0, 0, MARGIN, 0)
        row.setSpacing(8)
        row.addWidget(Title("launch.title"))
        row.addStretch(1)
        for widget in (reset, self._to_wrong, self.start_button):
            row.addWidget(widget)
        return row

    def _content(self) -> PageScroll:
        side = QVBoxLayout()
        side.setSpacing(GAP)
        side.addWidget(self.copies)
        side.addWidget(self.outlook)
        side.addStretch(1)
        right = QWidget()
        right.setMinimumWidth(SIDE)
        right.setMaximumWidth(SIDE + 120)
        right.setLayout(side)
        side.setContentsMargins(0, 0, 0, 0)
        row = QHBoxLayout()
        row.setSpacing(GAP)
        row.addWidget(self.form, 5)
        row.addWidget(right, 2)
        self.consent = self._consent_card()
        return PageScroll(self.consent, row)

    def _consent_card(self) -> Card:
        card = Card("launch.consent")
        self._consent_text = Sentence()
        self._agree, leave = button("launch.trust", "launch.trust"), text_button("launch.not_now", "launch.not_now")
        self._agree.clicked.connect(self._trust_and_start)
        leave.clicked.connect(card.hide)
        row = QHBoxLayout()
        row.addWidget(self._agree)
        row.addWidget(leave)
        row.addStretch(1)
        card.body.addWidget(self._consent_text)
        card.body.addLayout(row)
        card.hide()
        return card

    def start(self) -> None:
        """Starts what is chosen; asks first where that would run code of a project that is not trusted."""
        if wrong := self.form.problems():
            self._scroll.reveal(self.form.focus_field(wrong[0].field))
        elif self._must_ask():
            self._ask()
        elif self._session.start("launch", self.form.spec()):
            self._session.page_wanted.emit("curves")

    def _must_ask(self) -> bool:
        project = self._session.project
        asks = project is not None and runs_code_of(self.form.spec(), project.folder)
        return bool(asks and project and not trust.is_trusted(project.folder))

    def _ask(self) -> None:
        assert self._session.project is not None
        args = {"python": self.form.spec().advanced.python, "project": self._session.project.folder}
        say(self._consent_text, "setText", "launch.consent_text", **args)
        self.consent.show()
        self._scroll.reveal(self.consent)
        self._agree.setFocus()

    def _trust_and_start(self) -> None:
        assert self._session.project is not None
        folder = self._session.project.folder
        self.consent.hide()
        try:
            trust.set_trust(folder, True)
        except OSError as error:
            self._session.trouble.emit(from_os(error, folder))
            return
        self._session.project_changed.emit(self._session.project)
        self.start()

    def reset(self) -> None:
        """Back to what the recipe brings along; mode, device and what is under Advanced stay."""
        self.form.set_spec(_without_choices(self.form.spec()))

    def _change_project(self, project: Project | None) -> None:
        """Each project has its own choices, as long as the window is open."""
        self._specs[_key(self._project)] = self.form.spec()
        self._project = project
        self.consent.hide()
        self.form.set_spec(self._specs.get(_key(project), LaunchSpec()))

    def _show(self) -> None:
        spec, wrong = self.form.spec(), self.form.problems()
        self.consent.hide()
        self.start_button.setDisabled(bool(wrong))
        self._to_wrong.setVisible(bool(wrong))
        retone(self.sentence, "role", "bad" if wrong else "dim")
        self.sentence.setText(t("launch.wrong", count=len(wrong)) if wrong else _sentence(spec))
        self.start_button.setToolTip(self.sentence.text() if wrong else t("launch.start_hint"))
        self.copies.show_wrong(bool(wrong))
        if not wrong:
            folder = self._project.folder if self._project else None
            texts = (lines.shell(spec, folder), lines.script(spec, folder), lines.values(spec))
            self.copies.show_texts(texts)
        self.outlook.show_spec(spec)
        self._show_measured()

    def _show_measured(self) -> None:
        self.outlook.show_measured(self._session.listed, self.form.spec().what.recipe)

    def retranslate(self) -> None:
        self._show()


def _key(project: Project | None) -> str:
    return str(project.folder) if project else ""
