"""What the last runs of a recipe measured, to set beside a choice: nothing here is an estimate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from backends.common.run_values import mode_of
from backends.common.summary import summary_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.common.summary import Summary
    from studio.run import Run

MAX_RUNS_READ = 20
MODES = 5


def last_figures(newest_first: Iterable[Run], recipe: str) -> dict[str, tuple[Run, Summary]]:
    """Return, by mode, the newest run of a recipe that reported its figures at its end. Reads at most 64 kB of each
    event file."""
    newest: dict[str, tuple[Run, Summary]] = {}
    read = 0
    for run in newest_first:
        mode = mode_of(run)
        if run.request.command != "launch" or _chosen(run, "what", "recipe") != recipe or mode in newest:
            continue
        read += 1
        summary = summary_of(run.folder)
        if summary and summary.step_seconds > 0:
            newest[mode] = run, summary
        if read == MAX_RUNS_READ or len(newest) == MODES:
            break
    return newest


def _chosen(run: Run, card: str, field: str) -> Any:
    values = run.request.values.get(card)
    return values.get(field) if isinstance(values, dict) else None
