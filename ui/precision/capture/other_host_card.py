"""The same capture on the other host: the command to run there, and how to copy its result to this one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch import command_texts
from backends.launch.own import command_texts as own_lines
from backends.launch.own.spec import OwnSpec
from studio import schema
from studio.texts import t
from ui.widgets.basic import Sentence
from ui.widgets.copy_card import CopyCard

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec

TABS = ("precision.more.there", "precision.more.back")
PROGRAM = "ascend-studio"
BACK = """\
# {there}
ls -td ~/.local/state/ascend-studio/runs/*/ | head -1
# {here}
scp -r USER@HOST:RUN ./golden-run"""


class OtherHostCard(CopyCard):
    def __init__(self) -> None:
        self._spec: OwnSpec | LaunchSpec | None = None
        super().__init__("precision.more.other_side", TABS, "precision_other_side")
        self.body.insertWidget(1, Sentence("precision.more.other_side_text"))

    def show_spec(self, spec: OwnSpec | LaunchSpec | None) -> None:
        """Show the commands for `spec`; None means that nothing can be started yet."""
        self._spec = spec
        self.show_wrong(spec is None)
        if spec is not None:
            self.show_texts((command_on_other_host(spec), copy_back_commands()))

    def retranslate(self) -> None:
        if self._spec is not None:
            self.show_texts((command_on_other_host(self._spec), copy_back_commands()))


def command_on_other_host(spec: OwnSpec | LaunchSpec) -> str:
    """Return the command without what holds on this host only: its folders, its interpreter and the path of our
    program."""
    for name in ("workdir", "python"):
        if any(field.name == name for field in schema.fields(type(spec))):
            spec = schema.with_value(spec, name, Path())
    command = own_lines.shell_line(spec, None) if isinstance(spec, OwnSpec) else command_texts.shell_line(spec, None)
    first = command_texts.program()
    return PROGRAM + command[len(first) :] if command.startswith(first) else command


def copy_back_commands() -> str:
    return BACK.format(there=t("precision.more.back_there"), here=t("precision.more.back_here"))
