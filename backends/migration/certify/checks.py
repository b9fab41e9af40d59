"""From what two rehearsals left to what is proven by it: pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.common.rehearsal import Blocked, Report, uses_device
from backends.migration.certify import inventory, numbers
from backends.migration.certify.certificate import Check, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.certify.certificate import Name, State
    from backends.migration.certify.inventory import Operator
    from backends.migration.certify.numbers import Row


@dataclass(frozen=True, kw_only=True)
class Left:
    """Of one rehearsal. `report`: None where it left none. `code`: None where it never ended. `said`: the last line
    of its log; `complaint`: the first that speaks of a CUDA that is not there. `halved`: whether bfloat16 stood for
    float16."""

    run: str
    code: int | None
    report: Report | None
    said: str = ""
    complaint: str = ""
    halved: bool = False

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        return self.report.blocked if self.report else ()

    def first(self, *kinds: str) -> Blocked | None:
        return next((one for kind in kinds for one in self.blocked if one.kind == kind), None)


NO_NPU = Check(name="npu", state="unproven", reason=Reason(key="migration.certify.reason.no_npu"))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """`written`: a file of either folder that is not as it was, "" where all are."""

    original: Left
    migrated: Left
    losses: tuple[Row, ...] = ()
    gradients: tuple[Row, ...] = ()
    operators: tuple[Operator, ...] = ()
    written: str = ""
    on_npu: Check = NO_NPU


def checks(found: Evidence) -> tuple[Check, ...]:
    return (
        _original(found.original), _migrated(found.migrated), _device(found.migrated), _cuda(found.migrated),
        _losses(found.losses), _gradients(found.gradients), _finite(found), _operators(found.operators),
        _untouched(found.written), found.on_npu,
    )  # fmt: skip


def _check(name: Name, state: State, reason: Reason, at: Blocked | None = None) -> Check:
    path, line = ("", 0) if at is None else (at.path, at.line)
    return Check(name=name, state=state, reason=reason, path=path, line=line)


def _why(key: str, /, **args: Any) -> Reason:
    return Reason(key=key, args=args)


def _steps(left: Left) -> int:
    return left.report.steps if left.report else 0


def _original(left: Left) -> Check:
    if left.code or left.code is None:
        return _check("original", "fail", _why("migration.certify.reason.original_failed", message=left.said))
    if not _steps(left):
        return _check("original", "fail", _why("migration.certify.reason.original_no_steps"))
    return _check("original", "pass", _why("migration.certify.reason.original_ran", steps=_steps(left)))


def _migrated(left: Left) -> Check:
    refusing = left.first("raised", "disabled") if left.code else left.first("disabled")
    answer = left.report is None or left.report.answer
    if not answer and refusing is not None:
        why = _why("migration.certify.reason.migrated_refused", message=refusing.message[:300])
        return _check("migrated", "fail", why, refusing)
    if left.code is None or (left.code and answer):
        return _failed(left)
    if not _steps(left):
        return _check("migrated", "fail", _why("migration.certify.reason.migrated_no_steps"))
    return _check("migrated", "pass", _why("migration.certify.reason.migrated_ran", steps=_steps(left)))


def _failed(left: Left) -> Check:
    """Not for want of CUDA, as far as the rehearsal knows."""
    missing = left.first("unknown")
    if missing is not None:
        why = _why("migration.certify.reason.no_stand_in", name=missing.name)
        return _check("migrated", "unproven", why, missing)
    return _check("migrated", "fail", _why("migration.certify.reason.migrated_failed", message=left.said))


def is_trained(left: Left) -> bool:
    """Whether it came to its end, on the NPU."""
    return _migrated(left).state == _device(left).state == "pass"


def _device(left: Left) -> Check:
    redirected = left.report.redirected if left.report else {}
    if uses_device(redirected):
        why = _why("migration.certify.reason.device_used", count=sum(redirected.values()))
        return _check("device", "pass", why)
    asked = left.first("asked")
    key = "migration.certify.reason.device_asked" if asked else "migration.certify.reason.device_unused"
    return _check("device", "fail", _why(key), asked)


def _cuda(left: Left) -> Check:
    blocked = left.first("raised", "disabled")
    message = blocked.message[:300] if blocked else left.complaint
    if message:
        return _check("cuda", "fail", _why("migration.certify.reason.cuda_error", message=message), blocked)
    if left.report is None:
        return _check("cuda", "unproven", _why("migration.certify.reason.no_report"))
    return _check("cuda", "pass", _why("migration.certify.reason.no_cuda_error"))


def _losses(rows: tuple[Row, ...]) -> Check:
    if not any(row.original is not None and row.migrated is not None for row in rows):
        return _check("losses", "fail", _why("migration.certify.reason.no_losses"))
    if (row := numbers.first_difference(rows)) is not None:
        key = "migration.certify.reason.losses_differ"
        why = _why(key, step=row.step, original=_told(row.original), migrated=_told(row.migrated))
        return _check("losses", "fail", why)
    return _check("losses", "pass", _why("migration.certify.reason.losses_equal", count=len(rows)))


def _told(number: float | str | None) -> str:
    return "–" if number is None else str(number)


def _gradients(rows: tuple[Row, ...]) -> Check:
    if not any(row.original is not None and row.migrated is not None for row in rows):
        return _check("gradients", "unproven", _why("migration.certify.reason.no_gradients"))
    if (row := numbers.first_difference(rows)) is not None:
        return _check("gradients", "fail", _why("migration.certify.reason.gradients_differ", step=row.step))
    return _check("gradients", "pass", _why("migration.certify.reason.gradients_equal", count=len(rows)))


def _finite(found: Evidence) -> Check:
    if all(row.migrated is None for row in found.losses):
        return _check("finite", "unproven", _why("migration.certify.reason.nothing_finite"))
    if (row := numbers.first_not_finite(found.losses)) is not None:
        key = "migration.certify.reason.not_finite"
        why = _why(key, step=row.step, loss=str(row.migrated), run=found.migrated.run)
        return _check("finite", "fail", why)
    return _check("finite", "pass", _why("migration.certify.reason.finite"))


def _operators(rows: tuple[Operator, ...]) -> Check:
    if not rows:
        return _check("operators", "unproven", _why("migration.certify.reason.no_operators"))
    many = inventory.counts(rows)
    doubtful = {kind: many[kind] for kind in ("fallback", "maybe", "none", "unknown")}
    if any(doubtful.values()):
        return _check("operators", "unproven", _why("migration.certify.reason.operators_doubtful", **doubtful))
    return _check("operators", "pass", _why("migration.certify.reason.operators_known", count=len(rows)))


def _untouched(written: str) -> Check:
    if written:
        return _check("untouched", "fail", _why("migration.certify.reason.written", path=written))
    return _check("untouched", "pass", _why("migration.certify.reason.untouched"))


def unproven(found: Evidence) -> Iterator[Reason]:
    """What no rehearsal on a CPU can show."""
    if found.on_npu.state != "pass":
        yield _why("migration.certify.unproven.kernels")
    yield _why("migration.certify.unproven.speed")
    yield _why("migration.certify.unproven.steps", steps=_steps(found.migrated))
    yield _why("migration.certify.unproven.devices")
    if found.original.halved or found.migrated.halved:
        yield _why("migration.certify.unproven.half")
    redirected = found.migrated.report.redirected if found.migrated.report else {}
    if "init_process_group" in redirected:
        yield _why("migration.certify.unproven.collectives")
    quiet = sorted({one.name for one in found.migrated.blocked if one.kind in ("ignored", "asked")})
    if quiet:
        yield _why("migration.certify.unproven.quiet", names=", ".join(quiet)[:300])
