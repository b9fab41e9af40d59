"""The module tree that `msprobe graph_visualize` wrote as .vis.db, one level at a time: its indexes make that cheap.

Schema: msprobe/visualization/db_utils.py of 26.2 (tb_nodes, tb_stack, tb_config); tables beside these are left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.msprobe.database import cell_text, has_tables, open_database
from studio.errors import StudioError

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

GRAPH_SUFFIX = ".vis.db"
TARGET, GOLDEN = "NPU", "Bench"
MAX_CHILDREN = 100_000
MAX_GRAPH_DEPTH = 1000
NODE_COLUMNS = "node_name, node_type, up_node, sub_nodes, precision_index, overflow_level, matched_node_link"


class Graphs(msgspec.Struct, frozen=True, kw_only=True):
    """What a file holds. `kind`: build, of one side, or compare; `task`: summary, all (tensors) or md5; `sides`:
    TARGET, and GOLDEN where it is a comparison; `colors`: of a precision index from and up to the two numbers."""

    kind: str
    task: str
    steps: tuple[int, ...]
    ranks: tuple[int, ...]
    sides: tuple[str, ...]
    colors: tuple[tuple[float, float, str], ...] = ()


class GraphNode(msgspec.Struct, frozen=True, kw_only=True):
    """A module or a call. `children`: how many it has; `precision`: msprobe's index of a comparison, from 0 (pass) to 1
    (error), None where it has none; `overflow`: its level, or empty; `matched`: the path to its like on the other side,
    from the root, empty without."""

    name: str
    is_module: bool
    parent: str
    children: int
    precision: float | None = None
    overflow: str = ""
    matched: tuple[str, ...] = ()


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a node's tensors, by their names: type, dtype, shape, Max … and of a comparison its figures, all
    as msprobe wrote them. `stack`: innermost line first."""

    inputs: dict[str, dict[str, Any]]
    outputs: dict[str, dict[str, Any]]
    stack: tuple[str, ...] = ()


def read_graphs(path: Path) -> Graphs:
    """Raises StudioError."""
    with open_database(path) as connection:
        _check(connection, path)
        row = connection.execute(
            "SELECT graph_type, task, step_list, rank_list, node_colors FROM tb_config LIMIT 1"
        ).fetchone()
        sides = [name for (name,) in connection.execute("SELECT DISTINCT data_source FROM tb_nodes LIMIT 10")]
    kind, task, steps, ranks, colors = row or ("", "", "[]", "[]", "{}")
    return Graphs(
        kind=cell_text(kind), task=cell_text(task), steps=_numbers(steps), ranks=_numbers(ranks),
        sides=tuple(name for name in (TARGET, GOLDEN) if name in sides), colors=_colors(colors),
    )  # fmt: skip


def children(path: Path, step: int, rank: int, side: str = TARGET, parent: str = "") -> tuple[GraphNode, ...]:
    """What is right below a node, the roots without one, in the order in which they ended. Raises StudioError."""
    with open_database(path) as connection:
        _check(connection, path)
        rows = connection.execute(
            f"SELECT {NODE_COLUMNS} FROM tb_nodes WHERE step = ? AND rank = ? AND data_source = ? AND up_node = ?"
            " ORDER BY node_order LIMIT ?",
            (step, rank, side, parent, MAX_CHILDREN),
        )
        return tuple(_node(row) for row in rows)


def first_of_all(path: Path) -> tuple[int, int, GraphNode] | None:
    """Step, rank and node of the first that msprobe does not let pass: a call, where a step and rank has such a one,
    else a module, as dumps of level L0 have only those. Raises StudioError."""
    with open_database(path) as connection:
        _check(connection, path)
        row = connection.execute(
            f"SELECT step, rank, {NODE_COLUMNS} FROM tb_nodes WHERE data_source = ? AND precision_index > 0"
            " ORDER BY step, rank, node_type DESC, node_order LIMIT 1",
            (TARGET,),
        ).fetchone()
    return None if row is None else (int(row[0]), int(row[1]), _node(row[2:]))


def ancestors(path: Path, step: int, rank: int, side: str, name: str) -> tuple[str, ...]:
    """The nodes that a node is in, outermost first. Raises StudioError."""
    names: list[str] = []
    with open_database(path) as connection:
        _check(connection, path)
        while len(names) < MAX_GRAPH_DEPTH:
            row = connection.execute(
                "SELECT up_node FROM tb_nodes WHERE step = ? AND rank = ? AND data_source = ? AND node_name = ?",
                (step, rank, side, names[-1] if names else name),
            ).fetchone()
            above = cell_text(row[0]) if row else ""
            if not above or above in names:
                break
            names.append(above)
    return tuple(reversed(names))


def details(path: Path, step: int, rank: int, side: str, name: str) -> Details:
    """Raises StudioError, also where there is no such node."""
    with open_database(path) as connection:
        _check(connection, path)
        row = connection.execute(
            "SELECT input_data, output_data, stack_id FROM tb_nodes"
            " WHERE step = ? AND rank = ? AND data_source = ? AND node_name = ?",
            (step, rank, side, name),
        ).fetchone()
        if row is None:
            raise StudioError("precision.msprobe.no_node", place=str(path), node=name[:200])
        stack = connection.execute("SELECT stack_info FROM tb_stack WHERE id = ?", (cell_text(row[2]),)).fetchone()
    lines = _decoded(stack[0] if stack else None, list[str], [])
    return Details(inputs=_tensors(row[0]), outputs=_tensors(row[1]), stack=tuple(lines))


def _check(connection: sqlite3.Connection, path: Path) -> None:
    if not has_tables(connection, "tb_nodes", "tb_stack", "tb_config"):
        raise StudioError("precision.msprobe.no_database", place=str(path), reason="tb_nodes, tb_stack, tb_config")


def _node(row: tuple[Any, ...]) -> GraphNode:
    name, kind, parent, below, precision, overflow, matched = row
    link = _decoded(matched, list[str], [])
    return GraphNode(
        name=cell_text(name), is_module=cell_text(kind) != "1", parent=cell_text(parent),
        children=len(_decoded(below, list[str], [])),
        precision=float(precision) if isinstance(precision, int | float) else None, overflow=cell_text(overflow),
        matched=tuple(link),
    )  # fmt: skip


def _tensors(value: Any) -> dict[str, dict[str, Any]]:
    return {name: entry for name, entry in _decoded(value, dict[str, Any], {}).items() if isinstance(entry, dict)}


def _numbers(value: Any) -> tuple[int, ...]:
    return tuple(_decoded(value, list[int], []))


def _colors(value: Any) -> tuple[tuple[float, float, str], ...]:
    colors = _decoded(value, dict[str, Any], {})
    ranges = [(name, entry.get("value")) for name, entry in colors.items() if isinstance(entry, dict)]
    return tuple(
        (float(span[0]), float(span[1]), name)
        for name, span in ranges
        if isinstance(span, list) and len(span) == 2 and all(isinstance(end, int | float) for end in span)
    )


def _decoded(value: Any, kind: Any, otherwise: Any) -> Any:
    """JSON in a cell; msprobe leaves some empty, or writes None."""
    try:
        return msgspec.json.decode(cell_text(value).encode("utf-8", "replace"), type=kind)
    except (msgspec.MsgspecError, RecursionError):
        return otherwise
