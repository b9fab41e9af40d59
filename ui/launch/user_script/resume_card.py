"""What a resume comes to, while the line is still the one that it filled in: the checkpoint, and what is not brought
back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.own.resume.sentences import offer_sentences
from ui.widgets.basic import Card, Sentence, retone

if TYPE_CHECKING:
    from backends.launch.own.resume.offer import Offer
    from backends.launch.own.spec import OwnSpec


class ResumeCard(Card):
    """Hidden without an offer, and once another program is in the line."""

    def __init__(self) -> None:
        super().__init__("launch.resume.title")
        self.setObjectName("own_script_resume")
        self._offer: Offer | None = None
        self.sentence = Sentence()
        self.sentence.setObjectName("own_script_resume.text")
        self.body.addWidget(self.sentence)
        self.hide()

    def show_offer(self, offer: Offer | None) -> None:
        self._offer = offer
        self.retranslate()

    def show_spec(self, spec: OwnSpec) -> None:
        """Forget the offer where the line was changed."""
        if self._offer is not None and spec.program.line != self._offer.spec.program.line:
            self.show_offer(None)

    def retranslate(self) -> None:
        self.setVisible(self._offer is not None)
        if self._offer is not None:
            self.sentence.setText("\n\n".join(offer_sentences(self._offer)))
            retone(self.sentence, "role", "" if self._offer.is_complete else "warning")
