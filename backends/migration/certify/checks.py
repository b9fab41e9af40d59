"""Pure functions from what two rehearsals left behind to the checks of a certificate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from backends.common.rehearsal import Blocked, Report, uses_device
from backends.migration.certify import metric_rows, operators
from backends.migration.certify.certificate import Check, Reason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.certify.certificate import CheckName, CheckState
    from backends.migration.certify.metric_rows import MetricRow
    from backends.migration.certify.operators import Operator


@dataclass(frozen=True, kw_only=True)
class RehearsalOutcome:
    """What one rehearsal left behind. `report`: None where it wrote none; `code`: None where it never ended;
    `last_line`: the last line of its log; `cuda_complaint`: the first line that complains about missing CUDA;
    `used_bfloat16`: whether bfloat16 stood in for float16."""

    run: str
    code: int | None
    report: Report | None
    last_line: str = ""
    cuda_complaint: str = ""
    used_bfloat16: bool = False

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        return self.report.blocked if self.report else ()

    def first_blocked(self, *kinds: str) -> Blocked | None:
        """Return the first blocked call of the first of these kinds that occurs."""
        return next((blocked for kind in kinds for blocked in self.blocked if blocked.kind == kind), None)


NO_NPU = Check(name="npu", state="unproven", reason=Reason(key="migration.certify.reason.no_npu"))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Everything the checks look at. `written_file`: a file of either project that changed during the rehearsals, ""
    where none did."""

    original: RehearsalOutcome
    migrated: RehearsalOutcome
    losses: tuple[MetricRow, ...] = ()
    gradients: tuple[MetricRow, ...] = ()
    operators: tuple[Operator, ...] = ()
    written_file: str = ""
    on_npu: Check = NO_NPU


def make_checks(evidence: Evidence) -> tuple[Check, ...]:
    """Return one check for each claim of the certificate, in the order they are shown."""
    return (
        _original(evidence.original),
        _migrated(evidence.migrated),
        _device(evidence.migrated),
        _cuda(evidence.migrated),
        _losses(evidence.losses),
        _gradients(evidence.gradients),
        _finite(evidence),
        _operators(evidence.operators),
        _untouched(evidence.written_file),
        evidence.on_npu,
    )


def _check(name: CheckName, state: CheckState, reason: Reason, cause: Blocked | None = None) -> Check:
    path, line = ("", 0) if cause is None else (cause.path, cause.line)
    return Check(name=name, state=state, reason=reason, path=path, line=line)


def _reason(key: str, /, **args: Any) -> Reason:
    return Reason(key=key, args=args)


def _steps(outcome: RehearsalOutcome) -> int:
    return outcome.report.steps if outcome.report else 0


def _original(outcome: RehearsalOutcome) -> Check:
    if outcome.code or outcome.code is None:
        return _check(
            "original", "fail", _reason("migration.certify.reason.original_failed", message=outcome.last_line)
        )
    if not _steps(outcome):
        return _check("original", "fail", _reason("migration.certify.reason.original_no_steps"))
    return _check("original", "pass", _reason("migration.certify.reason.original_ran", steps=_steps(outcome)))


def _migrated(outcome: RehearsalOutcome) -> Check:
    refusing = outcome.first_blocked("raised", "disabled") if outcome.code else outcome.first_blocked("disabled")
    answer = outcome.report is None or outcome.report.answer
    if not answer and refusing is not None:
        reason = _reason("migration.certify.reason.migrated_refused", message=refusing.message[:300])
        return _check("migrated", "fail", reason, refusing)
    if outcome.code is None or (outcome.code and answer):
        return _failed(outcome)
    if not _steps(outcome):
        return _check("migrated", "fail", _reason("migration.certify.reason.migrated_no_steps"))
    return _check("migrated", "pass", _reason("migration.certify.reason.migrated_ran", steps=_steps(outcome)))


def _failed(outcome: RehearsalOutcome) -> Check:
    """Explain a migrated project that failed for a reason other than missing CUDA, as far as the rehearsal can tell."""
    missing = outcome.first_blocked("unknown")
    if missing is not None:
        why = _reason("migration.certify.reason.no_stand_in", name=missing.name)
        return _check("migrated", "unproven", why, missing)
    return _check("migrated", "fail", _reason("migration.certify.reason.migrated_failed", message=outcome.last_line))


def is_trained(outcome: RehearsalOutcome) -> bool:
    """Tell whether a rehearsal ran to its end and used the NPU."""
    return _migrated(outcome).state == _device(outcome).state == "pass"


def _device(outcome: RehearsalOutcome) -> Check:
    redirected = outcome.report.redirected if outcome.report else {}
    if uses_device(redirected):
        why = _reason("migration.certify.reason.device_used", count=sum(redirected.values()))
        return _check("device", "pass", why)
    requested = outcome.first_blocked("asked")
    key = "migration.certify.reason.device_asked" if requested else "migration.certify.reason.device_unused"
    return _check("device", "fail", _reason(key), requested)


def _cuda(outcome: RehearsalOutcome) -> Check:
    blocked = outcome.first_blocked("raised", "disabled")
    message = blocked.message[:300] if blocked else outcome.cuda_complaint
    if message:
        return _check("cuda", "fail", _reason("migration.certify.reason.cuda_error", message=message), blocked)
    if outcome.report is None:
        return _check("cuda", "unproven", _reason("migration.certify.reason.no_report"))
    return _check("cuda", "pass", _reason("migration.certify.reason.no_cuda_error"))


def _losses(rows: tuple[MetricRow, ...]) -> Check:
    if not any(row.original is not None and row.migrated is not None for row in rows):
        return _check("losses", "fail", _reason("migration.certify.reason.no_losses"))
    if (row := metric_rows.first_difference(rows)) is not None:
        key = "migration.certify.reason.losses_differ"
        why = _reason(key, step=row.step, original=_number_text(row.original), migrated=_number_text(row.migrated))
        return _check("losses", "fail", why)
    return _check("losses", "pass", _reason("migration.certify.reason.losses_equal", count=len(rows)))


def _number_text(number: float | str | None) -> str:
    return "–" if number is None else str(number)


def _gradients(rows: tuple[MetricRow, ...]) -> Check:
    if not any(row.original is not None and row.migrated is not None for row in rows):
        return _check("gradients", "unproven", _reason("migration.certify.reason.no_gradients"))
    if (row := metric_rows.first_difference(rows)) is not None:
        return _check("gradients", "fail", _reason("migration.certify.reason.gradients_differ", step=row.step))
    return _check("gradients", "pass", _reason("migration.certify.reason.gradients_equal", count=len(rows)))


def _finite(evidence: Evidence) -> Check:
    if all(row.migrated is None for row in evidence.losses):
        return _check("finite", "unproven", _reason("migration.certify.reason.nothing_finite"))
    if (row := metric_rows.first_not_finite(evidence.losses)) is not None:
        key = "migration.certify.reason.not_finite"
        why = _reason(key, step=row.step, loss=str(row.migrated), run=evidence.migrated.run)
        return _check("finite", "fail", why)
    return _check("finite", "pass", _reason("migration.certify.reason.finite"))


def _operators(rows: tuple[Operator, ...]) -> Check:
    if not rows:
        return _check("operators", "unproven", _reason("migration.certify.reason.no_operators"))
    many = operators.count_kinds(rows)
    doubtful = {kind: many[kind] for kind in ("fallback", "maybe", "none", "unknown")}
    if any(doubtful.values()):
        return _check("operators", "unproven", _reason("migration.certify.reason.operators_doubtful", **doubtful))
    return _check("operators", "pass", _reason("migration.certify.reason.operators_known", count=len(rows)))


def _untouched(written: str) -> Check:
    if written:
        return _check("untouched", "fail", _reason("migration.certify.reason.written", path=written))
    return _check("untouched", "pass", _reason("migration.certify.reason.untouched"))


def unproven_reasons(evidence: Evidence) -> Iterator[Reason]:
    """Yield what no rehearsal on a CPU can show."""
    if evidence.on_npu.state != "pass":
        yield _reason("migration.certify.unproven.kernels")
    yield _reason("migration.certify.unproven.speed")
    yield _reason("migration.certify.unproven.steps", steps=_steps(evidence.migrated))
    yield _reason("migration.certify.unproven.devices")
    if evidence.original.used_bfloat16 or evidence.migrated.used_bfloat16:
        yield _reason("migration.certify.unproven.half")
    redirected = evidence.migrated.report.redirected if evidence.migrated.report else {}
    if "init_process_group" in redirected:
        yield _reason("migration.certify.unproven.collectives")
    quiet = sorted({blocked.name for blocked in evidence.migrated.blocked if blocked.kind in ("ignored", "asked")})
    if quiet:
        yield _reason("migration.certify.unproven.quiet", names=", ".join(quiet)[:300])
