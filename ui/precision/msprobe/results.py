"""msprobe's own results of the dumps of a comparison, read off the UI thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.precision.acc import result as acc
from backends.precision.compare.comparison import ERROR, NO_RESULT, PASS, WARNING
from backends.precision.msprobe import trend, visdb
from backends.precision.msprobe.companion_files import CompanionFiles, find_companion_files
from backends.precision.msprobe.compare import results_in
from backends.precision.overflow import result as overflow
from studio.errors import StudioError
from studio.run import ANSWERED, outcome_of
from ui.precision.comparison.loaded_comparison import requested_sides

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.precision.msprobe.compare import Results
    from backends.precision.msprobe.table import TableRow
    from studio.run import Glance, Run
    from ui.precision.comparison.loaded_comparison import LoadedComparison

    Listed = Sequence[tuple[Run, Glance]]

OWN = Path("artifacts") / "msprobe"
MAX_BYTES = {".csv": 64_000_000, ".xlsx": 2_000_000}
"""Larger tables would block the window: a workbook takes a second per 50,000 rows."""
MAX_FILES = 3
"""How many databases of a kind are shown, the newest."""


@dataclass(frozen=True, kw_only=True)
class TableSummary:
    """The tables of msprobe's comparison.

    `counts` are the rows without a verdict, passed, warned and failed; `first` is the first that did not pass; `name`
    is the file's, and how many others there are."""

    name: str
    counts: tuple[int, ...] = (0, 0, 0, 0)
    first: TableRow | None = None


@dataclass(frozen=True, kw_only=True)
class GraphFile:
    """A graph database. `first` is the first node that does not pass, in the earliest step and rank that has one."""

    path: Path
    contents: visdb.Graphs
    first: visdb.GraphNode | None = None
    step: int = 0
    rank: int = 0


@dataclass(frozen=True, kw_only=True)
class TrendFile:
    path: Path
    contents: trend.Trends


@dataclass(frozen=True, kw_only=True)
class MsprobeResults:
    """`problems` are those of files that cannot be read.

    `overflow` and `acc_check` are what the newest overflow-check of the target and the newest acc-check of this
    comparison left."""

    tables: TableSummary | None = None
    graphs: tuple[GraphFile, ...] = ()
    trends: tuple[TrendFile, ...] = ()
    overflow: overflow.OverflowResult | None = None
    acc_check: acc.AccResult | None = None
    problems: tuple[StudioError, ...] = ()


def read_msprobe_results(loaded: LoadedComparison, listed: Listed) -> MsprobeResults:
    companions = _companion_files(loaded)
    problems: list[StudioError] = []
    graphs = _read_each(_read_graph, companions.graphs[:MAX_FILES], problems)
    trends = _read_each(_read_trend, companions.trends[:MAX_FILES], problems)
    tables = _read_each(_read_table, _table_files(loaded, companions), problems)
    target = requested_sides(loaded.run)[0]
    return MsprobeResults(
        tables=_sum_tables(tables),
        graphs=graphs,
        trends=trends,
        problems=tuple(problems),
        overflow=_newest_result(listed, "overflow-check", "dump", target, overflow.read_overflow),
        acc_check=_newest_result(listed, "acc-check", "comparison", loaded.run.folder, acc.read_acc_result),
    )


def _companion_files(loaded: LoadedComparison) -> CompanionFiles:
    """Return msprobe's files around either side, as it was requested and as it was resolved, newest first, each
    once."""
    passes = loaded.comparison.passes
    folders = [path if path.is_dir() else path.parent for path in requested_sides(loaded.run) if path.parts]
    folders += [
        folder for dump_pass in passes[:1] for folder in (dump_pass.target, dump_pass.golden) if folder is not None
    ]
    each = [find_companion_files(folder) for folder in dict.fromkeys(folders)]
    return CompanionFiles(
        graphs=_distinct(path for files in each for path in files.graphs),
        trends=_distinct(path for files in each for path in files.trends),
        tables=_distinct(path for files in each for path in files.tables),
    )


def _distinct(paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(paths))


def _table_files(loaded: LoadedComparison, companions: CompanionFiles) -> tuple[Path, ...]:
    """Return the tables of this comparison in the order of its passes, else the newest next to the dumps."""
    folder = loaded.run.folder / OWN
    names = [f"step{dump_pass.step}.rank{dump_pass.rank}" for dump_pass in loaded.comparison.passes]
    own = [path for name in names for path in find_companion_files(folder / name).tables if path.parent.name == name]
    return tuple(own) or companions.tables[:1]


def _read_each(read: Any, paths: Sequence[Path], problems: list[StudioError]) -> tuple[Any, ...]:
    contents = []
    for path in paths:
        try:
            contents.append(read(path))
        except StudioError as error:
            problems.append(error)
    return tuple(contents)


def _read_graph(path: Path) -> GraphFile:
    graph = GraphFile(path=path, contents=visdb.read_graphs(path))
    first_error = visdb.first_of_all(path) if len(graph.contents.sides) > 1 else None
    if first_error is None:
        return graph
    step, rank, node = first_error
    return replace(graph, first=node, step=step, rank=rank)


def _read_trend(path: Path) -> TrendFile:
    return TrendFile(path=path, contents=trend.read_trends(path))


def _read_table(path: Path) -> TableSummary:
    try:
        size = path.stat().st_size
    except OSError:
        size = 0
    if size > MAX_BYTES[path.suffix]:
        raise StudioError("precision.beside.too_large", file=str(path))
    return _summarize(results_in(path), path)


def _summarize(results: Results, path: Path) -> TableSummary:
    counts = [0, 0, 0, 0]
    for row in results.rows:
        counts[row.result] += 1
    return TableSummary(name=path.name, counts=tuple(counts), first=results.first)


def _sum_tables(tables: Sequence[TableSummary]) -> TableSummary | None:
    if not tables:
        return None
    counts = tuple(sum(summary.counts[result] for summary in tables) for result in (NO_RESULT, PASS, WARNING, ERROR))
    first = next((summary.first for summary in tables if summary.first is not None), None)
    more = f" + {len(tables) - 1}" if len(tables) > 1 else ""
    return TableSummary(name=tables[0].name + more, counts=counts, first=first)


def _newest_result(listed: Listed, command: str, name: str, of: Path, read: Any) -> Any:
    for run, glance in listed:
        if run.request.command == command and outcome_of(glance) in ANSWERED:
            values = [
                section[name]
                for section in run.request.values.values()
                if isinstance(section, dict) and name in section
            ]
            if values and Path(str(values[0])) == of:
                return read(run)
    return None
