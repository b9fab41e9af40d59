"""A script that nothing was captured from: why, and the line to add."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.sentences import sentence_of
from studio.texts import has, t
from ui.copy_card import CopyCard
from ui.widgets import Sentence

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.events import Finding

RULE = "hooks.nothing_seen"
LINE = "import ascend_studio; ascend_studio.metric(step, loss=float(loss))"
ELSEWHERE = """\
try:
    import ascend_studio
except ImportError:
    ascend_studio = None

# where a step is done:
if ascend_studio:
    ascend_studio.metric(step, loss=float(loss))"""


class AddLineCard(CopyCard):
    """Shown while the only thing that the hooks found is that there is nothing."""

    def __init__(self) -> None:
        self._found: Finding | None = None
        super().__init__(
            "curves.add_line.card", ("curves.add_line.tab_line", "curves.add_line.tab_elsewhere"), "curves_add_line"
        )
        self.setObjectName("curves_add_line")
        self.why = Sentence()
        self.body.insertWidget(1, self.why)
        self.body.insertWidget(2, Sentence("curves.add_line.hint"))
        self.show_texts((LINE, ELSEWHERE))
        self.hide()

    def show_findings(self, findings: Sequence[Finding], *, has_points: bool) -> None:
        found = [finding for finding in findings if finding.rule == RULE]
        self.setVisible(bool(found) and not has_points)
        self._found = found[-1] if found else None
        self._say_why()

    def _say_why(self) -> None:
        """The reason is the key of a sentence of its own."""
        if self._found is not None:
            why = str(self._found.args.get("why", ""))
            self.why.setText(t(why) if has(why) else sentence_of(self._found))

    def retranslate(self) -> None:
        self._say_why()
