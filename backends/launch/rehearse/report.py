"""What the processes of a rehearsal left, put together: artifacts/rehearsal.json and the operators as a table."""

from __future__ import annotations

import csv
import io
import shutil
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from studio import files
from studio.events import Metric
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from studio.run import Run

PARTS = "artifacts/rehearsal"  # of the guest, one file per process
FILE = "artifacts/rehearsal.json"
OPERATORS = "artifacts/operators.csv"
HEAD = (
    "operator", "phase", "module", "input_dtypes", "input_shapes", "output_dtypes", "output_shapes", "count",
)  # fmt: skip
_NO_PLACE = ("torch.npu.", "torch.cuda.", "torch.accelerator.")


@dataclass(frozen=True, kw_only=True)
class Blocked:
    """`kind`: raised; disabled, where torch warns and goes on without it; ignored; asked, and told that there is no
    CUDA; unknown, where the rehearsal itself has no stand-in. `path`, `line`: of the script's own code."""

    name: str
    message: str
    kind: Literal["raised", "disabled", "ignored", "asked", "unknown"]
    path: str
    line: int


@dataclass(frozen=True, kw_only=True)
class Part:
    """Of one process; `operators`: rows as in HEAD."""

    rank: int
    stance: str
    steps: int
    redirected: dict[str, int]
    blocked: tuple[Blocked, ...]
    operators: tuple[tuple[str, str, str, str, str, str, str, int], ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """`losses`: of the first rank that has any, non-finite ones as in the protocol; `operators`: how many different
    ones ran; `ended`: "steps", "time" or "memory" where a limit ended it, "script" where the script did."""

    stance: str
    device: str = "cpu"
    steps: int
    losses: tuple[float | str, ...]
    redirected: dict[str, int]
    blocked: tuple[Blocked, ...]
    operators: int
    processes: int
    ended: str
    answer: bool


def read_parts(folder: Path) -> list[Part]:
    """Those that can be read, by rank."""
    found = []
    for path in sorted((folder / PARTS).glob("part.*.json")):
        try:
            found.append(msgspec.convert(files.read_json(path), Part))
        except msgspec.ValidationError:
            continue
    return sorted(found, key=lambda part: part.rank)


def blocked_in(parts: Iterable[Part]) -> tuple[Blocked, ...]:
    """Ranks that met the same at the same place count once."""
    return tuple({(one.path, one.line, one.name, one.kind): one for part in parts for one in part.blocked}.values())


def redirected_in(parts: Iterable[Part]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.redirected)
    return dict(counts.most_common())


def uses_device(redirected: Iterable[str]) -> bool:
    """Whether anything was put on a device: to ask for its name or to pin memory is not that."""
    return any(
        name.startswith(("Tensor.", "Module.", "torch.")) and not name.startswith(_NO_PLACE) and "pin" not in name
        for name in redirected
    )


def losses_of(folder: Path) -> tuple[float | str, ...]:
    """Of the first rank that recorded any."""
    for _, _, events in RunTail(folder).read(1 << 26):
        losses = tuple(event.values["loss"] for event in events if isinstance(event, Metric) and "loss" in event.values)
        if losses:
            return losses
    return ()


def rows_of(parts: Iterable[Part]) -> list[tuple[Any, ...]]:
    """The same operator on the same tensors in the same module is one row for all processes."""
    counts: Counter[tuple[str, ...]] = Counter()
    for part in parts:
        for *key, count in part.operators:
            counts[tuple(map(str, key))] += count
    return [(*key, count) for key, count in counts.items()]


def table(rows: list[tuple[Any, ...]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8", "replace")


def keep(run: Run, report: Report, rows: list[tuple[Any, ...]]) -> None:
    """Writes both files; what the processes left is gone then. Raises OSError."""
    files.write_whole(run.folder / OPERATORS, table(rows))
    files.write_json(run.folder / FILE, report)
    shutil.rmtree(run.folder / PARTS, ignore_errors=True)


def read_report(folder: Path) -> Report | None:
    """None where the file is missing, damaged, or of another studio."""
    try:
        return msgspec.convert(files.read_json(folder / FILE), Report)
    except msgspec.ValidationError:
        return None


def answer(run: Run) -> dict[str, Any]:
    """What `--json` adds: the report."""
    found = read_report(run.folder)
    return {} if found is None else dict(msgspec.to_builtins(found))
