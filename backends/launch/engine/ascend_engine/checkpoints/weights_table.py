"""Which names of a network start from a file: the table that a run keeps, whatever the framework is."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import ascend_studio

from ascend_engine.checkpoints import checkpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

TABLE = Path("artifacts", "weights.json")
FORMAT = 1
NAMED = 3  # parameters in a sentence
MATCHED, MISSING, LEFT_OVER, OTHER_SHAPE = "matched", "missing", "left_over", "other_shape"


@dataclass(frozen=True)
class Row:
    """One name. `here`: its shape in the network, `there`: in the file; None where it is not in it."""

    name: str
    status: str
    here: tuple[int, ...] | None
    there: tuple[int, ...] | None


def file_of(source: Path) -> Path:
    """The file itself; of a folder the weights of a checkpoint, of a run its last one's."""
    if not source.is_dir():
        return source
    checkpoints = source / "artifacts" / "checkpoints"
    folder = checkpoints / checkpoint.target(checkpoints / "last") if checkpoints.is_dir() else source
    return folder / checkpoint.WEIGHTS


def compare(shapes: Mapping[str, tuple[int, ...]], arrays: Mapping[str, np.ndarray]) -> list[Row]:
    """Every name of the network, in its order, then what is left over of the file."""
    rows = [_row(name, shape, arrays) for name, shape in shapes.items()]
    left = [Row(name, LEFT_OVER, None, array.shape) for name, array in arrays.items() if name not in shapes]
    return rows + left


def _row(name: str, shape: tuple[int, ...], arrays: Mapping[str, np.ndarray]) -> Row:
    if name not in arrays:
        return Row(name, MISSING, shape, None)
    file_shape = arrays[name].shape
    return Row(name, MATCHED if file_shape == shape else OTHER_SHAPE, shape, file_shape)


def write_table(path: Path, rows: list[Row]) -> None:
    TABLE.parent.mkdir(exist_ok=True)
    table = {"format": FORMAT, "file": str(path), "rows": [asdict(row) for row in rows]}
    TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False), "utf-8")
    ascend_studio.artifact("weights", TABLE.absolute())


def report_table(path: Path, rows: list[Row]) -> None:
    counts = {status: sum(row.status == status for row in rows) for status in (MATCHED, LEFT_OVER)}
    initial = [row.name for row in rows if row.status in (MISSING, OTHER_SHAPE)]
    print(f"starts from {path}: {counts[MATCHED]} of {counts[MATCHED] + len(initial)} parameters")
    if not initial:
        ascend_studio.note("launch.weights", file=path.name, **counts)
        return
    more = {"initial": len(initial), "names": ", ".join(initial[:NAMED]) + (" …" if len(initial) > NAMED else "")}
    ascend_studio.finding("launch.weights_partly", "warning", file=path.name, **counts, **more)
    print("at their initial value: " + ", ".join(initial))
