"""msprobe's own comparison of the same two dumps, as a column."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import NO_RESULT
from backends.precision.dump.dump import ROLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.scene import Scene
    from backends.precision.compare.spec import Beside


def of_msprobe(asked: Beside, found: Scene, scratch: Path, note: Callable[..., None]) -> Array | None:
    """Its Result of each row, uint8; None where it was not asked for or failed, of which `note` takes the key and the
    arguments. Raises Stopped."""
    if not asked.msprobe:
        return None
    from backends.precision.msprobe.compare import results

    python = Path(sys.executable) if asked.msprobe_python == Path() else asked.msprobe_python
    folders = (found.target.place.folder, found.golden.place.folder)
    told = results(*folders, scratch, python, found.target.framework or "torch")
    if told.problem:
        note(told.problem, **told.args)
        return None
    return np.array([told.results.get(name, NO_RESULT) for name in _names(found)], np.uint8)


def _names(found: Scene) -> list[str]:
    """What msprobe calls the rows: "Functional.linear.0.forward.input.0"."""
    rows = found.rows
    calls = [found.target.calls[i] if i >= 0 else "" for i in found.calls.target.tolist()]
    words = {ROLES[0]: "input", ROLES[1]: "input", ROLES[2]: "output", ROLES[3]: "parameters", ROLES[4]: ""}
    return [
        ".".join(filter(None, (calls[call], words[ROLES[role]], rows.items[item])))
        for call, role, item in zip(rows.call.tolist(), rows.role.tolist(), rows.item.tolist(), strict=True)
    ]
