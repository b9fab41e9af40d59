"""What msprobe left beside the dumps that are picked: its graphs, its statistics over steps, its tables. Read off the
UI thread."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QVBoxLayout

from backends.precision.msprobe.beside import found_beside
from backends.precision.msprobe.compare import results_in
from backends.precision.msprobe.trend import read_trends
from backends.precision.msprobe.visdb import first_of_all, read_graphs
from studio.errors import StudioError
from studio.texts import t
from ui.asking import ask
from ui.page_scroll import empty
from ui.precision.captures import span
from ui.widgets import Card, Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Said = tuple[str, dict[str, Any]]

MOST = 3
CSV = ".csv"


class BesideCard(Card):
    """Hidden where there is nothing."""

    def __init__(self) -> None:
        super().__init__("precision.more.beside")
        self.setObjectName("precision_beside")
        self._folders: tuple[Path, ...] = ()
        self._found: tuple[Said, ...] = ()
        self._lines = QVBoxLayout()
        self._lines.setSpacing(6)
        self.body.addWidget(Sentence("precision.more.beside_text"))
        self.body.addLayout(self._lines)
        self.hide()

    def show_folders(self, folders: tuple[Path, ...]) -> None:
        if folders != self._folders:
            self._folders = folders
            ask(self, partial(read_beside, folders), partial(self._read, folders))

    def _read(self, folders: tuple[Path, ...], found: tuple[Said, ...]) -> None:
        if folders == self._folders:
            self._found = found
            self.retranslate()

    def retranslate(self) -> None:
        empty(self._lines)
        for key, args in self._found:
            line = Sentence()
            line.setText(t(key, **args))
            self._lines.addWidget(line)
        self.setVisible(bool(self._found))


def read_beside(folders: tuple[Path, ...]) -> tuple[Said, ...]:
    """A sentence for each file, the newest of a kind first; one that cannot be read says why."""
    found = [found_beside(folder) for folder in folders]
    graphs, trends, tables = (
        tuple(dict.fromkeys(path for one in found for path in getattr(one, kind)))[:MOST]
        for kind in ("graphs", "trends", "tables")
    )
    files = [(_graph, path) for path in graphs] + [(_trend, path) for path in trends]
    files += [(_table, path) for path in tables if path.suffix == CSV]  # the others are for the worker
    return tuple(said for read, path in files for said in _safely(read, path))


def _safely(read: Callable[[Path], Said], path: Path) -> Iterator[Said]:
    try:
        yield read(path)
    except StudioError as error:
        yield error.key, error.values


def _graph(path: Path) -> Said:
    graphs = read_graphs(path)
    first = first_of_all(path)
    args = {"file": path.name, "steps": span(graphs.steps), "ranks": span(graphs.ranks)}
    if first is None:
        return "precision.more.beside_graph", args
    return "precision.more.beside_graph_error", {**args, "call": first[2].name}


def _trend(path: Path) -> Said:
    trends = read_trends(path)
    args = {"file": path.name, "count": len(trends.targets), "steps": span(tuple(dict.fromkeys(trends.steps)))}
    return "precision.more.beside_trend", args


def _table(path: Path) -> Said:
    found = results_in(path)
    if found.first is None:
        return "precision.more.beside_table", {"file": path.name, "count": len(found.rows)}
    return "precision.more.beside_table_error", {"file": path.name, "row": found.first.target}
