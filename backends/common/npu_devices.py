"""The NPUs of this host, by their device files: no tool is started, so nothing waits."""

from __future__ import annotations

import os
import re

_CARD = re.compile(r"v?davinci(\d+)")  # vdavinci100: a part of a card


def npu_names(folder: str = "/dev") -> tuple[str, ...]:
    """Names of the card devices, by number: 'davinci0', … (davinci_manager is not a card)."""
    try:
        matches = [match for name in os.listdir(folder) if (match := _CARD.fullmatch(name))]
    except OSError:
        return ()
    return tuple(match[0] for match in sorted(matches, key=lambda match: int(match[1])))
