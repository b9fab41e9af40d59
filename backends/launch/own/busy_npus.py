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


def refuse_busy(command: Command, journal: Journal, environ: Mapping[str, str] = os.environ) -> None:
    """Raises StudioError where a card that is asked for by its number is taken. Where none is, the program itself
    chooses among all of them, and is only told who holds some. Asks npu-smi, for seconds; without it nothing is known.
    """
    text = npu_smi.run_npu_smi()
    if text is None:
        return
    if not npu_smi.read(text).is_numeric:
        journal.write(Finding(rule="launch.own.cards_unknown", severity="warning"))
    devices = ascend_env.cards(command.env.get(VISIBLE, environ.get(VISIBLE, ""))) or ()
    holders = npu_smi.holders(text, devices)
    if holders and devices:
        raise StudioError("launch.own.card_taken", card=holders[0].device, holder=holder_text(holders[0]))
    if holders:
        held = "; ".join(f"{holder.device}: {holder_text(holder)}" for holder in holders)
        journal.write(Finding(rule="launch.own.cards_held", severity="warning", args={"held": held[:400]}))


def holder_text(holder: Holder) -> str:
    """User, pid and program, as far as they are known."""
    return " ".join(filter(None, (holder.user, f"pid {holder.pid}", _program(holder.command) or holder.name)))[:200]


def _program(command: str) -> str:
    """Without options and arguments, which may hold somebody's secrets."""
    words = [word for word in command.split() if not word.startswith("-")]
    script = next((index for index, word in enumerate(words) if word.endswith((".py", ".sh"))), 0)
    return " ".join(dict.fromkeys((*words[:1], *words[script : script + 1])))
