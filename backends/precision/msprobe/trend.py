"""Statistics over steps that `msprobe data2db` wrote as .trend.db.

Schema: msprobe/core/compare/data2db.py and core/common/db_manager.py of 26.2. A metric is a phase: forward, backward,
recompute, parameters_grad; a target is a tensor of a module or a function, all its calls of a step together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from backends.precision.msprobe.database import cell_text, has_tables, open_database
from studio.errors import StudioError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from numpy.typing import NDArray

TREND_SUFFIX = ".trend.db"
TREND_STATISTICS = ("norm", "max", "min", "mean")
MAX_POINTS = 1_000_000


class Trends(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds. `targets` and `metrics`: names by their numbers; `statistics`: those of STATISTICS that it
    has; `steps`: the first and the last, as msprobe counts them (it counts on where a function is called in several
    modules of a step); `tags`: what targets are grouped by, each with the numbers of its targets."""

    targets: dict[int, str]
    metrics: dict[int, str]
    statistics: tuple[str, ...]
    ranks: tuple[int, ...]
    steps: tuple[int, int]
    tags: dict[str, tuple[int, ...]] = {}


def read_trends(path: Path) -> Trends:
    """Raises StudioError."""
    with open_database(path) as connection:
        statistics = _statistics(connection, path)
        targets = connection.execute(
            "SELECT target_id, target_name, micro_step FROM monitoring_targets LIMIT ?", (MAX_POINTS,)
        )
        named = {int(number): _target(name, micro) for number, name, micro in targets}
        metrics = dict(
            connection.execute("SELECT metric_id, metric_name FROM monitoring_metrics LIMIT ?", (MAX_POINTS,))
        )
        ranks = [
            int(rank) for (rank,) in connection.execute("SELECT DISTINCT rank FROM trend_data LIMIT ?", (MAX_POINTS,))
        ]
        low, high = connection.execute("SELECT MIN(step), MAX(step) FROM trend_data").fetchone()
        tags = _tags(connection)
    return Trends(
        targets=named, metrics={int(number): cell_text(name) for number, name in metrics.items()},
        statistics=statistics,
        ranks=tuple(sorted(ranks)), steps=(int(low or 0), int(high or 0)), tags=tags,
    )  # fmt: skip


def recorded(path: Path, rank: int) -> dict[int, tuple[int, ...]]:
    """Return, by metric, the targets that have values of a rank. Raises StudioError."""
    with open_database(path) as connection:
        _statistics(connection, path)
        rows = connection.execute(
            "SELECT DISTINCT metric_id, target_id FROM trend_data WHERE rank = ? ORDER BY 1, 2 LIMIT ?",
            (rank, MAX_POINTS),
        )
        steps_of_targets: dict[int, list[int]] = {}
        for metric, target in rows:
            steps_of_targets.setdefault(int(metric), []).append(int(target))
    return {metric: tuple(targets) for metric, targets in steps_of_targets.items()}


def series(
    path: Path, target: int, metric: int, rank: int, statistic: str = "norm"
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Steps, int64, and the values at them, float64, NaN where there is none. Raises StudioError."""
    if statistic not in TREND_STATISTICS:
        raise StudioError("precision.msprobe.no_statistic", statistic=statistic)
    with open_database(path) as connection:
        _statistics(connection, path)
        rows = connection.execute(
            f"SELECT step, {statistic} FROM trend_data WHERE rank = ? AND target_id = ? AND metric_id = ?"
            " ORDER BY step LIMIT ?",
            (rank, target, metric, MAX_POINTS),
        ).fetchall()
    values = [float(value) if isinstance(value, int | float) else np.nan for _, value in rows]
    return np.array([step for step, _ in rows], dtype=np.int64), np.array(values, dtype=np.float64)


def _statistics(connection: sqlite3.Connection, path: Path) -> tuple[str, ...]:
    if not has_tables(connection, "monitoring_targets", "monitoring_metrics", "trend_data"):
        reason = "monitoring_targets, monitoring_metrics, trend_data"
        raise StudioError("precision.msprobe.no_database", place=str(path), reason=reason)
    columns = {cell_text(row[1]) for row in connection.execute("PRAGMA table_info(trend_data)")}
    return tuple(name for name in TREND_STATISTICS if name in columns)


def _target(name: Any, micro: Any) -> str:
    return cell_text(name) if not micro else f"{cell_text(name)} #{micro}"


def _tags(connection: sqlite3.Connection) -> dict[str, tuple[int, ...]]:
    if not has_tables(connection, "monitoring_tags", "tag_target_mapping"):
        return {}
    rows = connection.execute(
        "SELECT tag_name, target_id FROM monitoring_tags JOIN tag_target_mapping USING (tag_id) LIMIT ?", (MAX_POINTS,)
    )
    steps_of_targets: dict[str, list[int]] = {}
    for name, target in rows:
        steps_of_targets.setdefault(cell_text(name), []).append(int(target))
    return {name: tuple(sorted(set(targets))) for name, targets in steps_of_targets.items()}
