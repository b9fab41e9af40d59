"""The same capture on the other machine: the line to run there, and how what it leaves comes here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch import lines
from backends.launch.own import lines as own_lines
from backends.launch.own.spec import OwnSpec
from studio import schema
from studio.texts import t
from ui.copy_card import CopyCard
from ui.widgets import Sentence

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec

TABS = ("precision.more.there", "precision.more.back")
PROGRAM = "ascend-studio"
BACK = """\
# {there}
ls -td ~/.local/state/ascend-studio/runs/*/ | head -1
# {here}
scp -r USER@HOST:RUN ./golden-run"""


class OtherSideCard(CopyCard):
    def __init__(self) -> None:
        self._spec: OwnSpec | LaunchSpec | None = None
        super().__init__("precision.more.other_side", TABS, "precision_other_side")
        self.body.insertWidget(1, Sentence("precision.more.other_side_text"))

    def show_spec(self, spec: OwnSpec | LaunchSpec | None) -> None:
        """None where nothing can be started yet."""
        self._spec = spec
        self.show_wrong(spec is None)
        if spec is not None:
            self.show_texts((line_there(spec), back()))

    def retranslate(self) -> None:
        if self._spec is not None:
            self.show_texts((line_there(self._spec), back()))


def line_there(spec: OwnSpec | LaunchSpec) -> str:
    """Without what is true of this host only: its folders and interpreters, and where its program lies."""
    for name in ("workdir", "python"):
        if any(field.name == name for field in schema.fields(type(spec))):
            spec = schema.with_value(spec, name, Path())
    said = own_lines.shell(spec, None) if isinstance(spec, OwnSpec) else lines.shell(spec, None)
    first = lines.program()
    return PROGRAM + said[len(first) :] if said.startswith(first) else said


def back() -> str:
    return BACK.format(there=t("precision.more.back_there"), here=t("precision.more.back_here"))
