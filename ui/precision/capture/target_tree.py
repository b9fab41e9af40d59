"""The modules and calls of a capture as a tree in which capture targets are ticked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from backends.precision.dump.names import name_of
from backends.precision.dump.read import read_dump
from studio.errors import StudioError
from studio.texts import t
from ui.widgets import theme

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.precision.dump.dump import Dump, DumpLocation

    Index = QModelIndex | QPersistentModelIndex

NAME = 0
MODULES = ("Module", "Cell")
CHECKED, UNCHECKED = Qt.CheckState.Checked, Qt.CheckState.Unchecked


@dataclass(kw_only=True)
class TargetNodes:
    """The tree as parallel lists; node 0 is the root, which is not shown.

    `targets` is what msprobe is told for a node that is ticked, '' where it cannot be."""

    names: list[str] = field(default_factory=lambda: [""])
    targets: list[str] = field(default_factory=lambda: [""])
    hints: list[str] = field(default_factory=lambda: [""])
    parents: list[int] = field(default_factory=lambda: [-1])
    children: list[list[int]] = field(default_factory=lambda: [[]])

    def add(self, parent: int, name: str, target: str, hint: str) -> int:
        number = len(self.names)
        self.names.append(name)
        self.targets.append(target)
        self.hints.append(hint)
        self.parents.append(parent)
        self.children.append([])
        self.children[parent].append(number)
        return number


def read_target_nodes(location: DumpLocation) -> TargetNodes | StudioError:
    try:
        return target_nodes(read_dump(location))
    except StudioError as error:
        return error


def target_nodes(dump: Dump) -> TargetNodes:
    """Build the tree: modules by the parts of their paths, and below each the APIs that were called in it, each
    once."""
    nodes = TargetNodes()
    modules: dict[str, int] = {"": 0}
    names = [name_of(call) for call in dump.calls]
    for name in names:
        if name.kind in MODULES and name.direction == "forward":
            at = _module(nodes, modules, name.kind, name.api)
            nodes.hints[at] = name.type or nodes.hints[at]
    added: set[tuple[int, str]] = set()
    for index, name in enumerate(names):
        if name.kind in MODULES or name.direction != "forward":
            continue
        parent = int(dump.parents[index])
        inside = modules.get(names[parent].api, 0) if parent >= 0 else 0
        target = f"{name.kind}.{name.api}"
        if (inside, target) not in added:
            added.add((inside, target))
            nodes.add(inside, target, target, "")
    return nodes


def _module(nodes: TargetNodes, modules: dict[str, int], kind: str, path: str) -> int:
    """Return the node of a module; add the missing modules above it."""
    if path not in modules:
        above, _, last = path.rpartition(".")
        modules[path] = nodes.add(_module(nodes, modules, kind, above), last, f"{kind}.{path}.", "")
    return modules[path]


class TargetTreeModel(QAbstractItemModel):
    """A tick of a module stands for everything in it, a tick of a call for all calls of that name."""

    ticked = Signal()

    def __init__(self, nodes: TargetNodes, chosen: Iterable[str]) -> None:
        super().__init__()
        self._nodes = nodes
        self.chosen = set(chosen)

    def targets(self) -> tuple[str, ...]:
        """Return the targets in the order of the tree, each once, without those inside a ticked module; targets that
        were typed and are not in the tree come last."""
        all_targets = self._nodes.targets
        ticked = [
            name for number, name in enumerate(all_targets) if name in self.chosen and not self._is_inside(number)
        ]
        return tuple(dict.fromkeys((*ticked, *sorted(self.chosen.difference(all_targets)))))

    def _is_inside(self, number: int) -> bool:
        at = self._nodes.parents[number]
        while at > 0:
            if self._nodes.targets[at] in self.chosen:
                return True
            at = self._nodes.parents[at]
        return False

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008 - Qt's
        inside = self._nodes.children[parent.internalId() if parent.isValid() else 0]
        return self.createIndex(row, column, inside[row]) if 0 <= row < len(inside) else QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008 - Qt's
        above = self._nodes.parents[index.internalId()] if index.isValid() else 0
        if above <= 0:
            return QModelIndex()
        row = self._nodes.children[self._nodes.parents[above]].index(above)
        return self.createIndex(row, 0, above)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        if parent.column() > 0:
            return 0
        return len(self._nodes.children[parent.internalId() if parent.isValid() else 0])

    def columnCount(self, _parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's
        return 2

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation == Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole:
            return t("precision.more.module" if section == NAME else "precision.more.class")
        return None

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        number = index.internalId()
        if role == Qt.ItemDataRole.DisplayRole:
            return self._nodes.names[number] if index.column() == NAME else self._nodes.hints[number]
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == NAME:
            return CHECKED if self._nodes.targets[number] in self.chosen or self._is_inside(number) else UNCHECKED
        if role == Qt.ItemDataRole.ForegroundRole and index.column() != NAME:
            return theme.color("dim")
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        usual = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        return usual | Qt.ItemFlag.ItemIsUserCheckable if index.column() == NAME else usual

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.CheckStateRole or not index.isValid():
            return False
        number = index.internalId()
        if self._is_inside(number):
            return False
        if Qt.CheckState(value) == CHECKED:
            self.chosen.add(self._nodes.targets[number])
        else:
            self.chosen.discard(self._nodes.targets[number])
        self.layoutChanged.emit()
        self.ticked.emit()
        return True
