"""msprobe's own comparison of two dumps, beside ours: its verdicts per tensor, and which it calls the first."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backends.precision.compare.comparison import NO_RESULT, PASS
from backends.precision.msprobe import process
from backends.precision.msprobe.installed import version_of
from backends.precision.msprobe.lines import compare_input, compare_line
from backends.precision.msprobe.table import read_table
from studio import files
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from backends.precision.msprobe.installed import Installed
    from backends.precision.msprobe.lines import Framework
    from backends.precision.msprobe.process import Done
    from backends.precision.msprobe.table import Row, Table

JSON = ("dump.json", "stack.json", "construct.json")
DATA = "dump_tensor_data"


@dataclass(frozen=True, kw_only=True)
class Results:
    """What msprobe says. `results`: its Result by its own name of a row, such as "Functional.linear.0.forward.input.0";
    `first`: the first row, in its order, that did not pass; `header`: of `Row.figures`; `table`: the file it wrote.
    `problem`: a key under `precision.msprobe` where there is nothing, its sentence takes `args`; whoever asked goes on
    without."""

    version: str = ""
    rows: tuple[Row, ...] = ()
    header: tuple[str, ...] = ()
    results: dict[str, int] = field(default_factory=dict)
    first: Row | None = None
    table: Path | None = None
    problem: str = ""
    args: dict[str, Any] = field(default_factory=dict)


def results(
    target: Path, golden: Path, scratch: Path, python: Path, framework: Framework = "torch",
    seconds: float = process.SECONDS,
) -> Results:  # fmt: skip
    """`target` and `golden`: folders with a dump.json; `scratch`: a folder for its table and its log, made where it is
    missing. Takes 4 s and 0.6 ms per call. Raises process.Stopped, and nothing else."""
    installed = version_of(python)
    if not installed.family:
        return Results(problem="precision.msprobe.missing", args={"python": str(python)})
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        with process.workplace() as place:
            table, done = _run(installed, framework, (target, golden), place, scratch / "msprobe.log", seconds)
            return _results(table, done, scratch, installed, seconds)
    except StudioError as error:
        return Results(version=installed.version, problem=error.key, args=error.values)
    except OSError as error:
        return Results(version=installed.version, problem="precision.msprobe.failed", args={"reason": str(error)})


def _run(
    installed: Installed, framework: Framework, sides: Sequence[Path], place: Path, log: Path, seconds: float
) -> tuple[Path | None, Done]:
    if any((side / DATA).is_dir() for side in sides) and runs_code(installed):
        raise StudioError("precision.msprobe.unsafe", version=installed.version)
    target, golden = (_reachable(side, place / name) / JSON[0] for side, name in zip(sides, "tg", strict=True))
    out = place / "out"
    out.mkdir()
    files.write_json(out / "compare.json", compare_input(target, golden))
    done = process.run(compare_line(installed, framework, target, golden, out), place, log, seconds)
    return newest(out), done


def runs_code(installed: Installed) -> bool:
    """Before 1.3.0 it asks torch for more than tensors: a dump that somebody sent could then run what it likes."""
    numbers = [int(part) for part in re.findall(r"\d{1,6}", installed.version)]
    return numbers[:2] < [1, 3]


def newest(folder: Path) -> Path | None:
    """The last of msprobe's tables in a folder."""
    found = [path for path in folder.glob("*compare_result*") if path.suffix in (".csv", ".xlsx")]
    return max(found, key=lambda path: (path.stat().st_mtime_ns, path.name), default=None)


def _reachable(folder: Path, copy: Path) -> Path:
    """msprobe refuses paths with anything but ASCII letters, digits and _ . : / -, and links: the small files are
    copied then, and tensors are not followed there."""
    folder = folder.absolute()
    if process.PLAIN.fullmatch(str(folder)) and folder.resolve() == folder:
        return folder
    if (folder / DATA).is_dir():
        raise StudioError("precision.msprobe.path", place=str(folder))
    copy.mkdir()
    for name in JSON:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, copy / name)
    return copy


def _results(table: Path | None, done: Done, scratch: Path, installed: Installed, seconds: float) -> Results:
    """Its exit code is 0 after most of its errors: what counts is whether the table is there."""
    if done.late:
        raise StudioError("precision.msprobe.late", minutes=round(seconds / 60, 1))
    if table is None:
        raise StudioError("precision.msprobe.failed", reason=done.reason or f"exit {done.code}")
    kept = scratch / table.name
    shutil.move(table, kept)
    return results_in(kept, installed.version)


def results_in(path: Path, version: str = "") -> Results:
    """Of a table that is there. Raises StudioError."""
    return of_table(read_table(path), path, version)


def of_table(table: Table, path: Path | None = None, version: str = "") -> Results:
    worst: dict[str, int] = {}
    for row in table.rows:
        worst[row.target] = max(row.result, worst.get(row.target, NO_RESULT))
    first = next((row for row in table.rows if row.result > PASS), None)
    return Results(version=version, rows=table.rows, header=table.header, results=worst, first=first, table=path)
