"""How to attach a debugger to a training that waits for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch import attach
from ui.copy_card import CopyCard
from ui.widgets import Sentence

if TYPE_CHECKING:
    from backends.curves.story import Story

PHASE = "attach"


class AttachCard(CopyCard):
    def __init__(self) -> None:
        super().__init__("curves.attach", ("curves.attach_json", "curves.attach_ssh"), "curves_attach")
        self.setObjectName("curves_attach")
        self.compiled = Sentence("launch.debugger_compiled")
        self.compiled.setProperty("role", "warning")
        self._shown = range(0)
        self.body.addWidget(Sentence("curves.attach_hint"))
        self.body.addWidget(self.compiled)
        self.hide()

    def show_story(self, story: Story, *, is_running: bool) -> None:
        """There as long as the training waits."""
        waits = is_running and story.phase == PHASE and bool(story.debug_ports)
        self.setVisible(waits)
        if waits:
            self.compiled.setVisible(not story.breaks_in_step)
        if waits and story.debug_ports != self._shown:  # showing them again would end "Copied" too soon
            self._shown = story.debug_ports
            self.show_texts((attach.vs_code(story.debug_ports), attach.ssh(story.debug_ports)))
