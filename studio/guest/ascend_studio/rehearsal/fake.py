"""A rehearsal of which nothing is computed: what it could not follow and what it assumed, for the report."""

from __future__ import annotations

import os

from ascend_studio import recording
from ascend_studio.rehearsal import record

if False:
    from typing import Any, Dict, List, Tuple

MAX_ROWS = 200
_assumed: Dict[Tuple[str, int], List[Any]] = {}
_refused: List[Dict[str, Any]] = []


def install(torch: Any) -> None:
    """Raises ValueError where the device is no virtual one."""
    from ascend_studio.virtual_npu.fake import assumed_values, sizes_only

    sizes_only.install(torch)
    assumed_values.readers.append(_assume)
    sizes_only.refused.append(_refuse)
    record.contents.append(_fill)
    record.note_once("rehearsal.fake")


def _assume(use: str) -> None:
    """Keep the gravest use of the numbers that a line reads."""
    from ascend_studio.virtual_npu.fake import assumed_values

    if recording.is_own_work():
        return
    location = record.user_location()
    entry = _assumed.get(location)
    if entry is None and len(_assumed) < MAX_ROWS:
        entry = _assumed[location] = [use, 0]
    if entry is not None:
        gravity = assumed_values.uses()
        entry[0] = max(entry[0], use, key=lambda name: gravity[name])
        entry[1] += 1


def _refuse(operator: str, reason: str) -> None:
    if len(_refused) < MAX_ROWS and not recording.is_own_work():
        path, line = record.user_location()
        _refused.append({"operator": operator, "reason": reason[:300], "path": path, "line": line})


def _fill(part: Dict[str, Any]) -> None:
    assumed = [
        {"path": path, "line": line, "use": use, "times": times} for (path, line), (use, times) in _assumed.items()
    ]
    part["fake"] = {"assumed": assumed, "refused": _refused, "world": int(os.environ.get("WORLD_SIZE") or 1)}
