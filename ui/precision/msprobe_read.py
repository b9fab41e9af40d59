"""What msprobe itself left of a comparison's dumps, read for the window; called off the UI thread."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.precision.acc import result as acc
from backends.precision.compare.comparison import ERROR, NO_RESULT, PASS, WARNING
from backends.precision.msprobe import trend, visdb
from backends.precision.msprobe.beside import Beside, found_beside
from backends.precision.msprobe.compare import results_in
from backends.precision.overflow import result as overflow
from studio.errors import StudioError
from studio.run import outcome_of
from ui.precision.compared import sides_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.precision.msprobe.compare import Results
    from backends.precision.msprobe.table import Row
    from studio.run import Glance, Run
    from ui.precision.compared import Compared

    Listed = Sequence[tuple[Run, Glance]]

OWN = Path("artifacts") / "msprobe"
LARGEST = {".csv": 64_000_000, ".xlsx": 2_000_000}
"""Of a table, in octets: a larger one would hold the window up. A workbook takes a second per 50,000 rows."""
MOST = 3
"""Databases and tables that are shown: the newest."""


@dataclass(frozen=True, kw_only=True)
class Tables:
    """Of msprobe's comparison. `counts`: rows without a verdict, pass, warning, error; `first`: the first that did not
    pass; `name`: the file, of several the folder."""

    name: str
    counts: tuple[int, ...] = (0, 0, 0, 0)
    first: Row | None = None


@dataclass(frozen=True, kw_only=True)
class Graph:
    """`first`: what msprobe does not let pass in the earliest step and rank that has such a node."""

    path: Path
    held: visdb.Graphs
    first: visdb.Node | None = None
    step: int = 0
    rank: int = 0


@dataclass(frozen=True, kw_only=True)
class Trend:
    path: Path
    held: trend.Trends


@dataclass(frozen=True, kw_only=True)
class Read:
    """`problems`: of files that are there and cannot be read. `overflow`, `alone`: what the newest runs of
    overflow-check over the target and of acc-check over this comparison left."""

    tables: Tables | None = None
    graphs: tuple[Graph, ...] = ()
    trends: tuple[Trend, ...] = ()
    overflow: overflow.Result | None = None
    alone: acc.Result | None = None
    problems: tuple[StudioError, ...] = ()


def read_beside(compared: Compared, listed: Listed) -> Read:
    beside = _found(compared)
    problems: list[StudioError] = []
    graphs = _each(_graph, beside.graphs[:MOST], problems)
    trends = _each(_trend, beside.trends[:MOST], problems)
    tables = _each(_table, _tables(compared, beside), problems)
    target = sides_of(compared.run)[0]
    return Read(
        tables=_together(tables), graphs=graphs, trends=trends, problems=tuple(problems),
        overflow=_newest(listed, "overflow-check", "dump", target, overflow.read_result),
        alone=_newest(listed, "acc-check", "comparison", compared.run.folder, acc.read_result),
    )  # fmt: skip


def _found(compared: Compared) -> Beside:
    """Around either side, as it was asked for and as it was found, newest first; each file once."""
    passes = compared.comparison.passes
    folders = [path if path.is_dir() else path.parent for path in sides_of(compared.run) if path.parts]
    folders += [folder for one in passes[:1] for folder in (one.target, one.golden) if folder is not None]
    each = [found_beside(folder) for folder in dict.fromkeys(folders)]
    return Beside(
        graphs=_once(path for one in each for path in one.graphs),
        trends=_once(path for one in each for path in one.trends),
        tables=_once(path for one in each for path in one.tables),
    )


def _once(paths: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(dict.fromkeys(paths))


def _tables(compared: Compared, beside: Beside) -> tuple[Path, ...]:
    """Those of this comparison, in the order of its passes; else the newest that lies beside the dumps."""
    folder = compared.run.folder / OWN
    names = [f"step{one.step}.rank{one.rank}" for one in compared.comparison.passes]
    own = [path for name in names for path in found_beside(folder / name).tables if path.parent.name == name]
    return tuple(own) or beside.tables[:1]


def _each(read: Any, paths: Sequence[Path], problems: list[StudioError]) -> tuple[Any, ...]:
    found = []
    for path in paths:
        try:
            found.append(read(path))
        except StudioError as error:
            problems.append(error)
    return tuple(found)


def _graph(path: Path) -> Graph:
    graph = Graph(path=path, held=visdb.read_graphs(path))
    found = visdb.first_of_all(path) if len(graph.held.sides) > 1 else None
    if found is None:
        return graph
    step, rank, node = found
    return replace(graph, first=node, step=step, rank=rank)


def _trend(path: Path) -> Trend:
    return Trend(path=path, held=trend.read_trends(path))


def _table(path: Path) -> Tables:
    try:
        octets = path.stat().st_size
    except OSError:
        octets = 0
    if octets > LARGEST[path.suffix]:
        raise StudioError("precision.beside.too_large", file=str(path))
    return _counted(results_in(path), path)


def _counted(found: Results, path: Path) -> Tables:
    counts = [0, 0, 0, 0]
    for row in found.rows:
        counts[row.result] += 1
    return Tables(name=path.name, counts=tuple(counts), first=found.first)


def _together(tables: Sequence[Tables]) -> Tables | None:
    if not tables:
        return None
    counts = tuple(sum(one.counts[result] for one in tables) for result in (NO_RESULT, PASS, WARNING, ERROR))
    first = next((one.first for one in tables if one.first is not None), None)
    more = f" + {len(tables) - 1}" if len(tables) > 1 else ""
    return Tables(name=tables[0].name + more, counts=counts, first=first)


def _newest(listed: Listed, command: str, name: str, of: Path, read: Any) -> Any:
    for run, glance in listed:
        if run.asked.command == command and outcome_of(glance) in ("done", "no"):
            values = [card[name] for card in run.asked.values.values() if isinstance(card, dict) and name in card]
            if values and Path(str(values[0])) == of:
                return read(run)
    return None
