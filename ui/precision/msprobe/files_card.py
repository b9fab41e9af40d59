"""The files of msprobe next to the dumps that are chosen: its graphs, its statistics over steps, its tables."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QVBoxLayout

from backends.precision.msprobe.companion_files import find_companion_files
from backends.precision.msprobe.compare import results_in
from backends.precision.msprobe.trend import read_trends
from backends.precision.msprobe.visdb import first_of_all, read_graphs
from studio.errors import StudioError
from studio.texts import t
from ui.precision.captures import format_numbers
from ui.services.background import run_in_background
from ui.widgets.basic import Card, Sentence
from ui.widgets.page_scroll import empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    Message = tuple[str, dict[str, Any]]

MAX_FILES = 3
CSV = ".csv"


class MsprobeFilesCard(Card):
    """Hidden where there are no such files."""

    def __init__(self) -> None:
        super().__init__("precision.more.beside")
        self.setObjectName("precision_beside")
        self._folders: tuple[Path, ...] = ()
        self._messages: tuple[Message, ...] = ()
        self._lines = QVBoxLayout()
        self._lines.setSpacing(6)
        self.body.addWidget(Sentence("precision.more.beside_text"))
        self.body.addLayout(self._lines)
        self.hide()

    def show_folders(self, folders: tuple[Path, ...]) -> None:
        if folders != self._folders:
            self._folders = folders
            run_in_background(self, partial(describe_files, folders), partial(self._read, folders))

    def _read(self, folders: tuple[Path, ...], messages: tuple[Message, ...]) -> None:
        if folders == self._folders:
            self._messages = messages
            self.retranslate()

    def retranslate(self) -> None:
        empty(self._lines)
        for key, args in self._messages:
            line = Sentence()
            line.setText(t(key, **args))
            self._lines.addWidget(line)
        self.setVisible(bool(self._messages))


def describe_files(folders: tuple[Path, ...]) -> tuple[Message, ...]:
    """Return a message for each file, the newest of each kind first; a file that cannot be read says why."""
    companions = [find_companion_files(folder) for folder in folders]
    graphs = _newest(path for companion in companions for path in companion.graphs)
    trends = _newest(path for companion in companions for path in companion.trends)
    tables = _newest(path for companion in companions for path in companion.tables)
    files = [(_describe_graph, path) for path in graphs] + [(_describe_trend, path) for path in trends]
    files += [(_describe_table, path) for path in tables if path.suffix == CSV]  # The worker reads the other tables.
    return tuple(message for read, path in files for message in _read_safely(read, path))


def _newest(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return the first few paths, each once; they come with the newest first."""
    return tuple(dict.fromkeys(paths))[:MAX_FILES]


def _read_safely(read: Callable[[Path], Message], path: Path) -> Iterator[Message]:
    try:
        yield read(path)
    except StudioError as error:
        yield error.key, error.values


def _describe_graph(path: Path) -> Message:
    graphs = read_graphs(path)
    first = first_of_all(path)
    args = {"file": path.name, "steps": format_numbers(graphs.steps), "ranks": format_numbers(graphs.ranks)}
    if first is None:
        return "precision.more.beside_graph", args
    return "precision.more.beside_graph_error", {**args, "call": first[2].name}


def _describe_trend(path: Path) -> Message:
    trends = read_trends(path)
    args = {
        "file": path.name,
        "count": len(trends.targets),
        "steps": format_numbers(tuple(dict.fromkeys(trends.steps))),
    }
    return "precision.more.beside_trend", args


def _describe_table(path: Path) -> Message:
    results = results_in(path)
    if results.first is None:
        return "precision.more.beside_table", {"file": path.name, "count": len(results.rows)}
    return "precision.more.beside_table_error", {"file": path.name, "row": results.first.target}
