"""msprobe's overflow check: the call whose inputs are finite and whose outputs are not."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.msprobe import process
from backends.precision.msprobe.installed import version_of
from backends.precision.msprobe.lines import overflow_line
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FILES = "anomaly_analyze_*.json"
OVERFLOW_JSONS = ("dump.json", "stack.json", "construct.json")
MAX_ANOMALY_BYTES = 256_000_000


class Anomaly(msgspec.Struct, frozen=True, kw_only=True):
    """`call`: as in dump.json; `stack`: innermost line first; `modules`: those it was called in, outermost first, as
    far as msprobe says."""

    rank: int
    call: str
    stack: tuple[str, ...] = ()
    modules: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class OverflowCheck:
    """`anomalies`: empty where it found none; `problem`: a key under `precision.msprobe` where it could not look."""

    anomalies: tuple[Anomaly, ...] = ()
    problem: str = ""
    args: dict[str, Any] = field(default_factory=dict)


def run_overflow_check(
    ranks: Sequence[tuple[int, Path]], scratch: Path, python: Path, seconds: float = process.PROCESS_SECONDS
) -> OverflowCheck:
    """`ranks`: of one step, each with the folder of its dump.json, of which only the small files are read. Raises
    Stopped."""
    installed = version_of(python)
    if not installed.family or installed.version.startswith("1."):
        return OverflowCheck(problem="precision.msprobe.missing", args={"python": str(python)})
    try:
        scratch.mkdir(parents=True, exist_ok=True)
        with process.workplace() as workplace:
            step, out = workplace / "step0", workplace / "out"
            for rank, folder in ranks:
                _copy(folder, step / f"rank{rank}")
            done = process.run(overflow_line(installed, step, out), workplace, scratch / "overflow.log", seconds)
            return _checked(out, done, scratch)
    except StudioError as error:
        return OverflowCheck(problem=error.key, args=error.values)
    except OSError as error:
        return OverflowCheck(problem="precision.msprobe.failed", args={"reason": str(error)})


def _copy(folder: Path, to: Path) -> None:
    to.mkdir(parents=True)
    for name in OVERFLOW_JSONS:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, to / name)


def _checked(out: Path, done: process.Done, scratch: Path) -> OverflowCheck:
    """It leaves no file where it found nothing, and exits with 0 all the same."""
    files = sorted(out.glob(FILES))
    if done.late or (done.code and not files):
        reason = done.reason or f"exit {done.code}"
        return OverflowCheck(problem="precision.msprobe.failed", args={"reason": reason})
    anomalies = [entry for path in files for entry in read_anomalies(path)]
    for path in files:
        shutil.move(path, scratch / path.name)
    return OverflowCheck(anomalies=tuple(anomalies))


def read_anomalies(path: Path) -> tuple[Anomaly, ...]:
    """Raises StudioError."""
    try:
        if path.stat().st_size > MAX_ANOMALY_BYTES:
            raise StudioError("precision.msprobe.table_too_large", place=str(path), limit=1)
        content = json.loads(path.read_bytes())  # with NaN, which msgspec refuses
    except OSError as error:
        raise from_os(error, path) from error
    except (ValueError, RecursionError) as error:
        raise StudioError("precision.msprobe.no_table", place=str(path), reason=str(error)[:200]) from error
    return tuple(_anomalies(content))


def _anomalies(content: Any) -> Iterator[Anomaly]:
    for rank, nodes in content.items() if isinstance(content, dict) else ():
        number = rank.rpartition("_")[2]
        for node in (entry for entry in nodes if isinstance(entry, dict)) if isinstance(nodes, list) else ():
            yield Anomaly(
                rank=int(number) if number.isascii() and number.isdigit() else 0, call=str(node.get("op_name", "")),
                stack=_texts(node.get("stack_info")), modules=_texts(node.get("construct_info"))[:-1],
            )  # fmt: skip


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(entry for entry in value if isinstance(entry, str)) if isinstance(value, list) else ()
