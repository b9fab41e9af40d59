"""The layout of the synthetic profiles is that of the real ones: files, columns, keys and tables."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.timeline.profile_data import PROFILES, SETS, synthetic_root

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif("real" not in SETS, reason="no shared data")
# What MindStudio Insight left in one of the databases.
INSIGHT_TABLES = {"OVERLAP_ANALYSIS", "status_info", "connectionCats", "sqlite_sequence"}
INSIGHT_COLUMNS = {"depth", "waitNs"}


def files(root: Path, *endings: str) -> dict[str, Path]:
    found = [path for ending in endings for path in root.rglob(f"*{ending}")]
    return {path.relative_to(root).as_posix(): path for path in found}


def keys(node: Any, depth: int = 6) -> set[tuple[str, ...]]:
    """The paths of keys in JSON; names of operators, steps, links and ranks stand for any name."""
    if not isinstance(node, dict) or not depth:
        return {()}
    return {(_kind(key), *rest) for key, child in node.items() for rest in keys(child, depth - 1)}


def _kind(key: str) -> str:
    return "*" if "@" in key or key.startswith("step") or not key[:1].isalpha() else key


def keys_of_events(path: Path) -> set[tuple[str, str]]:
    """Phase and key of everything that the events of a trace say, and phase and category."""
    content = json.loads(path.read_text("utf-8"))
    events = content["traceEvents"] if isinstance(content, dict) else content
    categories = {(event["ph"], f"category {event['cat']}") for event in events if event.get("cat")}
    return categories | {(event["ph"], key) for event in events for key in event}


def tables(path: Path) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as base:
        for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            columns = base.execute(f'PRAGMA table_info("{name}")').fetchall()
            yield name, tuple((str(row[1]), str(row[2])) for row in columns if row[1] not in INSIGHT_COLUMNS)


def test_that_there_are_the_same_files() -> None:
    endings = (".json", ".csv", ".txt", ".db")
    assert files(synthetic_root(), *endings).keys() == files(PROFILES, *endings).keys()


def test_that_tables_have_the_same_columns() -> None:
    real = files(PROFILES, ".csv", "memory_record_0.txt")
    for name, path in files(synthetic_root(), ".csv", "memory_record_0.txt").items():
        heads = [file.read_text("utf-8").splitlines()[0] for file in (path, real[name])]
        assert heads[0] == heads[1], name


def test_that_json_files_have_the_same_keys() -> None:
    real = files(PROFILES, ".json")
    for name, path in files(synthetic_root(), ".json").items():
        if not name.endswith(("trace_view.json", "trace.json")):
            both = [keys(json.loads(file.read_text("utf-8"))) for file in (path, real[name])]
            assert both[0] <= both[1], name


def test_that_events_have_the_same_keys() -> None:
    real = files(PROFILES, "trace_view.json", "trace.json")
    for name, path in files(synthetic_root(), "trace_view.json", "trace.json").items():
        assert keys_of_events(path) <= keys_of_events(real[name]), name


def test_that_databases_have_the_same_tables() -> None:
    real = files(PROFILES, ".db")
    for name, path in files(synthetic_root(), ".db").items():
        expected = {table: columns for table, columns in tables(real[name]) if table not in INSIGHT_TABLES}
        assert dict(tables(path)) == expected, name
