"""Whether somebody else works on the cards that a program is to use."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from backends.common import npu_smi
from backends.launch import ascend_env
from studio.errors import StudioError
from studio.events import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.common.npu_smi import Holder
    from studio.command import Command
    from studio.events import Journal

VISIBLE = ascend_env.NAMES["visible"]


def refuse_taken(command: Command, journal: Journal, environ: Mapping[str, str] = os.environ) -> None:
    """Raises StudioError where a card that is asked for by its number is taken. Where none is, the program itself
    chooses among all of them, and is only told who holds some. Asks npu-smi, for seconds; without it nothing is known.
    """
    text = npu_smi.run_npu_smi()
    if text is None:
        return
    if not npu_smi.read(text).is_known:
        journal.write(Finding(rule="launch.own.cards_unknown", severity="warning"))
    asked = ascend_env.cards(command.env.get(VISIBLE, environ.get(VISIBLE, ""))) or ()
    found = npu_smi.holders(text, asked)
    if found and asked:
        raise StudioError("launch.own.card_taken", card=found[0].device, holder=said(found[0]))
    if found:
        held = "; ".join(f"{one.device}: {said(one)}" for one in found)
        journal.write(Finding(rule="launch.own.cards_held", severity="warning", args={"held": held[:400]}))


def said(holder: Holder) -> str:
    """User, pid and program, as far as they are known."""
    return " ".join(filter(None, (holder.user, f"pid {holder.pid}", _program(holder.command) or holder.name)))[:200]


def _program(command: str) -> str:
    """Without options and arguments, which may hold somebody's secrets."""
    words = [word for word in command.split() if not word.startswith("-")]
    script = next((place for place, word in enumerate(words) if word.endswith((".py", ".sh"))), 0)
    return " ".join(dict.fromkeys((*words[:1], *words[script : script + 1])))
