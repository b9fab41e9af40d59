"""Cards with lines to copy: how a debugger attaches, and the line that captures a script."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch import command_texts
from studio.sentences import sentence_of
from studio.texts import has, t
from ui.widgets.basic import Sentence
from ui.widgets.copy_card import CopyCard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.common.run_status import RunStatus
    from studio.events import Finding

PHASE = "attach"


class AttachCard(CopyCard):
    def __init__(self) -> None:
        super().__init__("curves.attach", ("curves.attach_json", "curves.attach_ssh"), "curves_attach")
        self.setObjectName("curves_attach")
        self.compiled = Sentence("launch.debugger_compiled")
        self.compiled.setProperty("role", "warning")
        self._ports = range(0)
        self.body.addWidget(Sentence("curves.attach_hint"))
        self.body.addWidget(self.compiled)
        self.hide()

    def show_status(self, story: RunStatus, *, is_running: bool) -> None:
        """There as long as the training waits."""
        waits = is_running and story.phase == PHASE and bool(story.debug_ports)
        self.setVisible(waits)
        if waits:
            self.compiled.setVisible(not story.breaks_in_step)
        if waits and story.debug_ports != self._ports:  # showing them again would end "Copied" too soon
            self._ports = story.debug_ports
            self.show_texts(
                (command_texts.vs_code_attach(story.debug_ports), command_texts.ssh_tunnel(story.debug_ports))
            )


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
        self._finding: Finding | None = None
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
        matching = [finding for finding in findings if finding.rule == RULE]
        self.setVisible(bool(matching) and not has_points)
        self._finding = matching[-1] if matching else None
        self._show_reason()

    def _show_reason(self) -> None:
        """The reason is the key of a sentence of its own."""
        if self._finding is not None:
            why = str(self._finding.args.get("why", ""))
            self.why.setText(t(why) if has(why) else sentence_of(self._finding))

    def retranslate(self) -> None:
        self._show_reason()
