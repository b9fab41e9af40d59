"""The operators of a rehearsal beside what torch_npu has: put together of all processes, and told in sentences."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from backends.common import aten_support
from backends.common.operator_inventory import Cast, Dtypes, Dynamic, Inventory, Kernel, OperatorRow, Wait
from studio.events import Finding, Note
from studio.units import size

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from backends.launch.rehearse.report import Part

MAX_SHAPES = 5  # examples of an operator
MAX_FINDINGS = 5  # of each kind; the file has all
KERNELS = get_args(Kernel)


def inventory_of(parts: Sequence[Part], rows: Iterable[tuple[Any, ...]]) -> Inventory:
    """`rows`: of the operators table, of all processes."""
    gathered = [part.inventory for part in parts if part.inventory is not None]
    return Inventory(
        operators=_operators(rows),
        waits=_waits(wait for each in gathered for wait in each.waits),
        dynamic=_dynamic(row for each in gathered for row in each.dynamic),
        casts=_casts(cast for each in gathered for cast in each.casts),
        left_out=sum(each.left_out for each in gathered),
        calls_together=sum(part.calls_together for part in parts),
    )


def _operators(rows: Iterable[tuple[Any, ...]]) -> tuple[OperatorRow, ...]:
    by_name: dict[str, list[tuple[Any, ...]]] = {}
    for row in rows:
        by_name.setdefault(row[0], []).append(row)
    operators = [_operator(name, of_name) for name, of_name in by_name.items()]
    return tuple(sorted(operators, key=lambda row: -row.calls))


def _operator(name: str, rows: Sequence[tuple[Any, ...]]) -> OperatorRow:
    dtypes = sorted({word.partition("*")[0] for row in rows for word in row[3].split()})
    shapes = list(dict.fromkeys(row[4] for row in rows if row[4]))
    documented = aten_support.documented_dtypes(name)
    kernel: Any = aten_support.kernel_of(name)
    return OperatorRow(
        operator=name, kernel=kernel if kernel in KERNELS else "unknown", support=_support(dtypes, documented),
        calls=sum(int(row[7]) for row in rows), phases=tuple(sorted({row[1] for row in rows})), dtypes=tuple(dtypes),
        documented=tuple(sorted(documented)), shapes=tuple(shapes[:MAX_SHAPES]), shape_count=len(shapes),
    )  # fmt: skip


def _support(dtypes: Sequence[str], documented: frozenset[str]) -> Dtypes:
    if not documented:
        return "unknown"
    return "documented" if documented.issuperset(dtypes) else "other"


def _waits(waits: Iterable[Wait]) -> tuple[Wait, ...]:
    calls: Counter[tuple[str, str, int]] = Counter()
    moved: Counter[tuple[str, str, int]] = Counter()
    for wait in waits:
        key = (wait.operator, wait.path, wait.line)
        calls[key] += wait.calls
        moved[key] += wait.bytes_read
    return tuple(
        Wait(operator=key[0], path=key[1], line=key[2], calls=times, bytes_read=moved[key])
        for key, times in calls.most_common()
    )


def _dynamic(rows: Iterable[Dynamic]) -> tuple[Dynamic, ...]:
    """Ranks that met the same at the same place count once; steps count from 1."""
    unique = {(row.operator, row.module, row.path, row.line): row for row in rows}
    return tuple(replace(row, step=row.step + 1) for row in sorted(unique.values(), key=lambda row: -row.count))


def _casts(casts: Iterable[Cast]) -> tuple[Cast, ...]:
    times: Counter[tuple[str, int]] = Counter()
    for cast in casts:
        times[cast.path, cast.line] += cast.times
    return tuple(Cast(path=path, line=line, times=count) for (path, line), count in times.most_common())


def inventory_events(inventory: Inventory, steps: int) -> Iterable[Note | Finding]:
    """Tell how many operators have a kernel, and where shapes change, the host waits, and float64 becomes float32."""
    counts = Counter(row.kernel for row in inventory.operators)
    yield Note(
        key="launch.rehearse.inventory",
        args={
            "operators": len(inventory.operators), "kernel": counts["kernel"], "composite": counts["composite"],
            "fallback": counts["fallback"], "maybe": counts["maybe"], "none": counts["none"] + counts["unknown"],
            "dtypes": len(inventory.unknown_dtypes), "waits": len(inventory.waits), "dynamic": len(inventory.dynamic),
        },
    )  # fmt: skip
    for wait in inventory.waits[:MAX_FINDINGS]:
        args: dict[str, Any] = {
            "operator": wait.operator, "calls": wait.calls, "read": size(wait.bytes_read), "steps": max(1, steps),
        }  # fmt: skip
        yield Finding(rule="launch.rehearse.waits", severity="info", path=wait.path, line=wait.line, args=args)
    for row in _of_lines(inventory.dynamic)[:MAX_FINDINGS]:
        args = {"operator": row.operator, "count": row.count, "shapes": "; ".join(row.shapes[:2]), "step": row.step}
        yield Finding(rule="launch.rehearse.dynamic", severity="info", path=row.path, line=row.line, args=args)
    for cast in inventory.casts[:MAX_FINDINGS]:
        args = {"times": cast.times}
        yield Finding(rule="launch.rehearse.double", severity="warning", path=cast.path, line=cast.line, args=args)
    for operator in inventory.unknown_dtypes[:MAX_FINDINGS]:
        args = {"operator": operator.operator, "dtypes": ", ".join(operator.dtypes)}
        yield Finding(rule="launch.rehearse.unknown_dtype", severity="info", args=args)


def _of_lines(rows: Iterable[Dynamic]) -> list[Dynamic]:
    """Return the first operator of each line: what changes there changes all that follows."""
    return list({(row.path, row.line): row for row in reversed(list(rows))}.values())[::-1]
