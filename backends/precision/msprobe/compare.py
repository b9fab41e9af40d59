"""msprobe's own comparison of two dumps, beside ours: its verdicts per tensor, and which it calls the first."""

from __future__ import annotations

import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.compare.comparison import NO_RESULT, PASS
from backends.precision.dump.dump import ROLES
from backends.precision.msprobe import process
from backends.precision.msprobe.installed import version_of
from backends.precision.msprobe.lines import compare_input, compare_line
from backends.precision.msprobe.table import read_table
from studio import files
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from backends.precision.compare.spec import MsprobeChoices
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.msprobe.installed import Installed
    from backends.precision.msprobe.lines import MsprobeFramework
    from backends.precision.msprobe.process import Done
    from backends.precision.msprobe.table import MsprobeTable, TableRow

DUMP_JSONS = ("dump.json", "stack.json", "construct.json")
TENSOR_FOLDER = "dump_tensor_data"


@dataclass(frozen=True, kw_only=True)
class Results:
    """What msprobe says. `results`: its Result by its own name of a row, such as "Functional.linear.0.forward.input.0";
    `first`: the first row, in its order, that did not pass; `header`: of `Row.figures`; `table`: the file it wrote.
    `problem`: a key under `precision.msprobe` where there is nothing, its sentence takes `args`; whoever asked goes on
    without."""

    version: str = ""
    rows: tuple[TableRow, ...] = ()
    header: tuple[str, ...] = ()
    results: dict[str, int] = field(default_factory=dict)
    first: TableRow | None = None
    table: Path | None = None
    problem: str = ""
    args: dict[str, Any] = field(default_factory=dict)


def run_compare(
    target: Path, golden: Path, scratch: Path, python: Path, framework: MsprobeFramework = "torch",
    seconds: float = process.PROCESS_SECONDS,
) -> Results:  # fmt: skip
    """`target` and `golden`: folders with a dump.json; `scratch`: a folder for its table and its log, made where it is
    missing. Takes 4 s and 0.6 ms per call. Raises Stopped, and nothing else."""
    installed = version_of(python)
    if not installed.family:
        return Results(problem="precision.msprobe.missing", args={"python": str(python)})
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        with process.workplace() as workplace:
            table, done = _run(installed, framework, (target, golden), workplace, scratch / "msprobe.log", seconds)
            return _results(table, done, scratch, installed, seconds)
    except StudioError as error:
        return Results(version=installed.version, problem=error.key, args=error.values)
    except OSError as error:
        return Results(version=installed.version, problem="precision.msprobe.failed", args={"reason": str(error)})


def _run(
    installed: Installed, framework: MsprobeFramework, sides: Sequence[Path], workplace: Path, log: Path, seconds: float
) -> tuple[Path | None, Done]:
    if any((side / TENSOR_FOLDER).is_dir() for side in sides) and runs_code(installed):
        raise StudioError("precision.msprobe.unsafe", version=installed.version)
    target, golden = (
        _reachable(side, workplace / name) / DUMP_JSONS[0] for side, name in zip(sides, "tg", strict=True)
    )
    out = workplace / "out"
    out.mkdir()
    files.write_json(out / "compare.json", compare_input(target, golden))
    done = process.run(compare_line(installed, framework, target, golden, out), workplace, log, seconds)
    return newest(out), done


def runs_code(installed: Installed) -> bool:
    """Before 1.3.0 it asks torch for more than tensors: a dump that somebody sent could then run what it likes."""
    numbers = [int(part) for part in re.findall(r"\d{1,6}", installed.version)]
    return numbers[:2] < [1, 3]


def newest(folder: Path) -> Path | None:
    """The last of msprobe's tables in a folder."""
    tables = [path for path in folder.glob("*compare_result*") if path.suffix in (".csv", ".xlsx")]
    return max(tables, key=lambda path: (path.stat().st_mtime_ns, path.name), default=None)


def _reachable(folder: Path, copy: Path) -> Path:
    """msprobe refuses paths with anything but ASCII letters, digits and _ . : / -, and links: the small files are
    copied then, and tensors are not followed there."""
    folder = folder.absolute()
    if process.PLAIN.fullmatch(str(folder)) and folder.resolve() == folder:
        return folder
    if (folder / TENSOR_FOLDER).is_dir():
        raise StudioError("precision.msprobe.path", place=str(folder))
    copy.mkdir()
    for name in DUMP_JSONS:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, copy / name)
    return copy


def _results(table: Path | None, done: Done, scratch: Path, installed: Installed, seconds: float) -> Results:
    """Its exit code is 0 after most of its errors: what counts is whether the table is there."""
    if done.late:
        raise StudioError("precision.msprobe.late", minutes=round(seconds / 60, 1))
    if table is None:
        raise StudioError("precision.msprobe.failed", reason=done.reason or f"exit {done.code}")
    saved = scratch / table.name
    shutil.move(table, saved)
    return results_in(saved, installed.version)


def results_in(path: Path, version: str = "") -> Results:
    """Read a table that msprobe has written. Raises StudioError."""
    return of_table(read_table(path), path, version)


def of_table(table: MsprobeTable, path: Path | None = None, version: str = "") -> Results:
    worst: dict[str, int] = {}
    for row in table.rows:
        worst[row.target] = max(row.result, worst.get(row.target, NO_RESULT))
    first = next((row for row in table.rows if row.result > PASS), None)
    return Results(version=version, rows=table.rows, header=table.header, results=worst, first=first, table=path)


def result_column(
    choices: MsprobeChoices, joined: JoinedDumps, scratch: Path, notify: Callable[..., None]
) -> NDArray[np.uint8] | None:
    """Return msprobe's Result of each row of a comparison; None where it was not chosen or failed, of which `notify`
    takes the key and the arguments. Raises Stopped."""
    if not choices.msprobe:
        return None
    python = Path(sys.executable) if choices.msprobe_python == Path() else choices.msprobe_python
    folders = (joined.target.place.folder, joined.golden.place.folder)
    peer = run_compare(*folders, scratch, python, joined.target.framework or "torch")
    if peer.problem:
        notify(peer.problem, **peer.args)
        return None
    return np.array([peer.results.get(name, NO_RESULT) for name in _row_names(joined)], np.uint8)


def _row_names(joined: JoinedDumps) -> list[str]:
    """Return what msprobe calls each row: "Functional.linear.0.forward.input.0"."""
    rows = joined.rows
    calls = [joined.target.calls[i] if i >= 0 else "" for i in joined.calls.target.tolist()]
    words = {ROLES[0]: "input", ROLES[1]: "input", ROLES[2]: "output", ROLES[3]: "parameters", ROLES[4]: ""}
    return [
        ".".join(filter(None, (calls[call], words[ROLES[role]], rows.items[item])))
        for call, role, item in zip(rows.call.tolist(), rows.role.tolist(), rows.item.tolist(), strict=True)
    ]
