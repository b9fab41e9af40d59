"""What the processes of a rehearsal left, put together: see backends/common/rehearsal.py."""

from __future__ import annotations

import csv
import io
import shutil
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from backends.common import card_memory, operator_inventory
from backends.common.rehearsal import FILE, HEAD, OPERATORS, Blocked, Fallback, Step, read_report
from backends.launch.rehearse.parts import PartFake, PartInventory, PartMemory  # noqa: TC001 - msgspec reads it
from studio import files
from studio.events import Metric
from studio.output.spreadsheet import safe_row
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from backends.common.card_memory import MemoryReport
    from backends.common.operator_inventory import Inventory
    from backends.common.rehearsal import Report
    from studio.run import Run

PARTS = "artifacts/rehearsal"  # of the guest, one file per process


@dataclass(frozen=True, kw_only=True)
class Part:
    """What one process left. `operators`: rows as in HEAD, none where nothing stood in for a device; `trace`:
    empty where no seed was asked for; `device`, `device_operators`: as in Report."""

    rank: int
    stance: str
    steps: int
    redirected: dict[str, int]
    blocked: tuple[Blocked, ...]
    operators: tuple[tuple[str, str, str, str, str, str, str, int], ...] = ()
    trace: tuple[Step, ...] = ()
    device: str = "cpu"
    device_operators: int = 0
    fallbacks: tuple[tuple[str, Literal["fallback", "maybe"], str, int, int, int], ...] = ()
    memory: tuple[PartMemory, ...] = ()
    fake: PartFake | None = None
    inventory: PartInventory | None = None
    calls_together: int = 0


def read_parts(folder: Path) -> list[Part]:
    """Those that can be read, by rank."""
    parts = []
    for path in sorted((folder / PARTS).glob("part.*.json")):
        try:
            parts.append(msgspec.convert(files.read_json(path), Part))
        except msgspec.ValidationError:
            continue
    return sorted(parts, key=lambda part: part.rank)


def blocked_in(parts: Iterable[Part]) -> tuple[Blocked, ...]:
    """Ranks that met the same at the same place count once."""
    return tuple(
        {(call.path, call.line, call.name, call.kind): call for part in parts for call in part.blocked}.values()
    )


def redirected_in(parts: Iterable[Part]) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.redirected)
    return dict(counts.most_common())


def fallbacks_in(parts: Iterable[Part]) -> tuple[Fallback, ...]:
    """Return the fallbacks of all processes, those that moved most first."""
    totals: dict[tuple[str, Literal["fallback", "maybe"], str, int], tuple[int, int]] = {}
    for part in parts:
        for operator, kind, path, line, calls, moved in part.fallbacks:
            key = (operator, kind, path, line)
            before = totals.get(key, (0, 0))
            totals[key] = (before[0] + calls, before[1] + moved)
    fallbacks = (
        Fallback(operator=operator, kind=kind, path=path, line=line, calls=calls, bytes_moved=moved)
        for (operator, kind, path, line), (calls, moved) in totals.items()
    )
    return tuple(sorted(fallbacks, key=lambda fallback: -fallback.bytes_moved))


def losses_of(folder: Path) -> tuple[float | str, ...]:
    """Return the losses of the first rank that recorded any."""
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


def csv_table(rows: list[tuple[Any, ...]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEAD)
    writer.writerows(map(safe_row, rows))
    return text.getvalue().encode("utf-8", "replace")


def write_report(
    run: Run, report: Report, rows: list[tuple[Any, ...]], memory: MemoryReport | None = None,
    inventory: Inventory | None = None,
) -> None:  # fmt: skip
    """Writes all files; what the processes left is gone then. Raises OSError."""
    files.write_whole(run.folder / OPERATORS, csv_table(rows))
    files.write_json(run.folder / FILE, report)
    if memory is not None:
        files.write_json(run.folder / card_memory.FILE, memory)
    if inventory is not None:
        files.write_json(run.folder / operator_inventory.FILE, inventory)
    shutil.rmtree(run.folder / PARTS, ignore_errors=True)


def rehearsal_answer(run: Run) -> dict[str, Any]:
    """What `--json` adds: the report, and of a virtual NPU its memory and the inventory of its operators."""
    rehearsal = read_report(run.folder)
    answer = {} if rehearsal is None else dict(msgspec.to_builtins(rehearsal))
    memory = card_memory.read_memory(run.folder)
    if memory is not None:
        answer["memory"] = {**msgspec.to_builtins(memory), "fit": _fit_of(memory), "is_whole": memory.is_whole}
    inventory = operator_inventory.read_inventory(run.folder)
    if inventory is not None:
        answer["inventory"] = msgspec.to_builtins(inventory)
    return answer


def _fit_of(memory: MemoryReport) -> str | None:
    """Return whether it fits; None where no step was seen and nothing was beyond a card."""
    return memory.fit if memory.steps or memory.fit == "beyond" else None
