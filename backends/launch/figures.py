"""What the last runs of a recipe measured, to set beside a choice: nothing here is an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.common.summary import summary_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.common.summary import Summary
    from studio.run import Run

READ_AT_MOST = 20
MODES = 3


def last_figures(newest_first: Iterable[Run], recipe: str) -> dict[str, tuple[Run, Summary]]:
    """By mode, of the newest run of a recipe that told its figures at its end. Reads at most 64 kB of each
    event file."""
    found: dict[str, tuple[Run, Summary]] = {}
    read = 0
    for run in newest_first:
        mode = _chosen(run, "how", "mode")
        if run.asked.command != "launch" or _chosen(run, "what", "recipe") != recipe or mode in found:
            continue
        read += 1
        summary = summary_of(run.folder)
        if summary and summary.step_seconds > 0:
            found[str(mode)] = run, summary
        if read == READ_AT_MOST or len(found) == MODES:
            break
    return found


def _chosen(run: Run, card: str, field: str) -> Any:
    values = run.asked.values.get(card)
    return values.get(field) if isinstance(values, dict) else None
