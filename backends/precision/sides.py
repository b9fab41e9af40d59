"""One call of a comparison in the dumps of both sides, as msprobe wrote it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backends.precision.compare import comparison_files
from backends.precision.compare.comparison import FOLDER
from backends.precision.dump.dump import DumpLocation
from backends.precision.dump.names import name_of
from backends.precision.dump.read import read_dump
from studio import files
from studio import run as runs
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison, Pass

SIDES = ("target", "golden")


@dataclass(frozen=True, kw_only=True)
class CallSide:
    """`entry`: the call's object in dump.json; `forward`: that of its forward, for a backward; both {} where there is
    none. `framework`: torch or mindspore."""

    name: str
    folder: Path
    call: str
    framework: str = ""
    entry: dict[str, Any] = field(default_factory=dict)
    forward: dict[str, Any] = field(default_factory=dict)

    def tensor(self, file: str) -> Path:
        return self.folder / "dump_tensor_data" / file


def open_comparison_run(comparison: Path) -> Comparison:
    """Return the comparison of a run of `compare`. Raises StudioError."""
    run = runs.open_run(comparison)
    if run.request.command != "compare":
        raise StudioError("precision.rule.no_comparison")
    return comparison_files.open_comparison(run.folder / FOLDER)


def call_of(comparison: Comparison, name: str) -> int:
    """The index of a call, of the first divergence where no name is given. Raises StudioError."""
    if name:
        position = next((index for index, each in enumerate(comparison.names) if each == name), -1)
        if position < 0:
            raise StudioError("precision.reproduce.no_call", call=name[:200])
        return position
    if comparison.first is None:
        raise StudioError("precision.reproduce.no_first")
    return comparison.first.call


def pass_of(comparison: Comparison, call: int) -> Pass:
    return [each for each in comparison.passes if each.first_call <= call][-1]


def sides_of(comparison: Comparison, call: int) -> tuple[CallSide, ...]:
    """Those that have the call. Raises StudioError where a dump is gone."""
    of = pass_of(comparison, call)
    indices = (int(comparison.target_call[call]), int(comparison.golden_call[call]))
    return tuple(
        _side(name, folder, index)
        for name, folder, index in zip(SIDES, (of.target, of.golden), indices, strict=True)
        if folder is not None and index >= 0
    )


def _side(name: str, folder: Path, index: int) -> CallSide:
    dump = read_dump(DumpLocation(folder=folder))
    call = dump.calls[index]
    data = _data(folder / "dump.json")
    forward = call.replace(".backward", ".forward") if name_of(call).direction == "backward" else ""
    return CallSide(
        name=name, folder=folder, call=call, framework=dump.framework, entry=_dict(data.get(call)),
        forward=_dict(data.get(forward)),
    )  # fmt: skip


def _data(path: Path) -> dict[str, Any]:
    """Python's own reader: msprobe writes NaN as it is."""
    try:
        return _dict(_dict(json.loads(files.read_bytes(path))).get("data"))
    except OSError as error:
        raise from_os(error, path) from error
    except (ValueError, RecursionError) as error:
        raise StudioError("precision.reproduce.damaged", path=str(path)) from error


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
