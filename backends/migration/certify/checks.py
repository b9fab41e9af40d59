"""Pure functions from what two rehearsals left behind to the checks of a certificate."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from backends.common.rehearsal import Blocked, Report, uses_device
from backends.migration.certify import metric_rows, operators
from backends.migration.certify.certificate import Check, Reason
from backends.migration.certify.contracts.record import has_half
from backends.migration.certify.rehearsals import is_cuda_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.certify.certificate import CheckName, CheckState
    from backends.migration.certify.contracts.record import Contract
    from backends.migration.certify.leftovers import Leftover
    from backends.migration.certify.metric_rows import MetricRow
    from backends.migration.certify.operators import Operator

FLOAT_ALLOWANCE, HALF_ALLOWANCE = 0.001, 0.05
"""Relative differences of losses up to which the virtual NPU and the CPU are taken for the same training: it computes
by other operators, and with float16 where the CPU takes bfloat16."""
MAX_FILES = 20


@dataclass(frozen=True, kw_only=True)
class RehearsalOutcome:
    """What one rehearsal left behind. `report`: None where it wrote none; `code`: None where it never ended;
    `last_line`: the last line of its log; `cuda_complaint`: the first line that complains about missing CUDA; `limit`:
    what the virtual NPU itself could not do; `used_bfloat16`: whether bfloat16 stood in for float16; `contracts`: what
    its processes asked for."""

    run: str
    code: int | None
    report: Report | None
    last_line: str = ""
    cuda_complaint: str = ""
    limit: str = ""
    used_bfloat16: bool = False
    contracts: tuple[Contract, ...] = ()

    @property
    def is_virtual(self) -> bool:
        return self.report is not None and self.report.is_virtual

    @property
    def blocked(self) -> tuple[Blocked, ...]:
        return self.report.blocked if self.report else ()

    def first_blocked(self, *kinds: str) -> Blocked | None:
        """Return the first blocked call of the first of these kinds that occurs."""
        return next((blocked for kind in kinds for blocked in self.blocked if blocked.kind == kind), None)


NO_NPU = Check(name="npu", state="no_card", reason=Reason(key="migration.certify.reason.no_npu"))


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Everything the checks look at. `migrated`: the rehearsal as npu, on the virtual NPU where PyTorch can; `numbers`:
    the one whose numbers are compared with the original's to the bit, which may be the same; `virtual_losses`: losses
    of the two where they are not; `hosts`: checks of the other hosts that the result promises to run on;
    `written_file`: a file of either project that changed during the rehearsals, "" where none did."""

    original: RehearsalOutcome
    migrated: RehearsalOutcome
    numbers: RehearsalOutcome | None = None
    virtual_losses: tuple[MetricRow, ...] = ()
    contracts: tuple[Check, ...] = ()
    leftovers: tuple[Leftover, ...] = ()
    unrun_edits: dict[str, list[int]] = field(default_factory=dict)
    hosts: tuple[Check, ...] = ()
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
        _virtual(evidence),
        _finite(evidence),
        *evidence.contracts,
        _branches(evidence.leftovers),
        *evidence.hosts,
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
    answer = outcome.report is None or outcome.report.answer is not False
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
        return _check("migrated", "not_run", why, missing)
    return _check("migrated", "fail", _reason("migration.certify.reason.migrated_failed", message=outcome.last_line))


def is_trained(outcome: RehearsalOutcome) -> bool:
    """Tell whether a rehearsal ran to its end and used the NPU."""
    return _migrated(outcome).state == _device(outcome).state == "pass"


def _device(outcome: RehearsalOutcome) -> Check:
    redirected = outcome.report.redirected if outcome.report else {}
    if outcome.report is not None and outcome.report.device_operators:
        count = outcome.report.device_operators
        return _check("device", "pass", _reason("migration.certify.reason.device_virtual", count=count))
    if not outcome.is_virtual and uses_device(redirected):
        why = _reason("migration.certify.reason.device_used", count=sum(redirected.values()))
        return _check("device", "pass", why)
    requested = outcome.first_blocked("asked")
    key = "migration.certify.reason.device_asked" if requested else "migration.certify.reason.device_unused"
    return _check("device", "fail", _reason(key), requested)


def _cuda(outcome: RehearsalOutcome) -> Check:
    calls = (call for kind in ("raised", "disabled") for call in outcome.blocked if call.kind == kind)
    blocked = next((call for call in calls if is_cuda_error(call.message)), None)
    message = blocked.message[:300] if blocked else outcome.cuda_complaint
    if message:
        return _check("cuda", "fail", _reason("migration.certify.reason.cuda_error", message=message), blocked)
    if outcome.report is None:
        return _check("cuda", "not_run", _reason("migration.certify.reason.no_report"))
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
        return _check("gradients", "not_run", _reason("migration.certify.reason.no_gradients"))
    if (row := metric_rows.first_difference(rows)) is not None:
        return _check("gradients", "fail", _reason("migration.certify.reason.gradients_differ", step=row.step))
    return _check("gradients", "pass", _reason("migration.certify.reason.gradients_equal", count=len(rows)))


def _finite(evidence: Evidence) -> Check:
    losses = (*evidence.virtual_losses, *evidence.losses)
    if all(row.migrated is None for row in losses):
        return _check("finite", "not_run", _reason("migration.certify.reason.nothing_finite"))
    if (row := metric_rows.first_not_finite(losses)) is not None:
        key = "migration.certify.reason.not_finite"
        why = _reason(key, step=row.step, loss=str(row.migrated), run=evidence.migrated.run)
        return _check("finite", "fail", why)
    return _check("finite", "pass", _reason("migration.certify.reason.finite"))


def _operators(rows: tuple[Operator, ...]) -> Check:
    if not rows:
        return _check("operators", "not_run", _reason("migration.certify.reason.no_operators"))
    many = operators.count_kinds(rows)
    doubtful = {kind: many[kind] for kind in ("fallback", "maybe", "none", "unknown", "host")}
    if any(doubtful.values()):
        return _check("operators", "no_card", _reason("migration.certify.reason.operators_doubtful", **doubtful))
    return _check("operators", "pass", _reason("migration.certify.reason.operators_known", count=len(rows)))


def _untouched(written: str) -> Check:
    if written:
        return _check("untouched", "fail", _reason("migration.certify.reason.written", path=written))
    return _check("untouched", "pass", _reason("migration.certify.reason.untouched"))


def _virtual(evidence: Evidence) -> Check:
    """Compare the losses of the virtual NPU, where they are another rehearsal's than those compared to the bit."""
    numbers = evidence.numbers
    if evidence.migrated.limit:
        return _check(
            "virtual", "not_run", _reason("migration.certify.reason.virtual_limit", message=evidence.migrated.limit)
        )
    if not evidence.migrated.is_virtual:
        return _check("virtual", "not_run", _reason("migration.certify.reason.virtual_none"))
    if numbers is None or numbers is evidence.migrated:
        return _check("virtual", "pass", _reason("migration.certify.reason.virtual_same"))
    both = [row for row in evidence.virtual_losses if row.original is not None and row.migrated is not None]
    if not both:
        return _check("virtual", "not_run", _reason("migration.certify.reason.virtual_no_losses"))
    allowance = HALF_ALLOWANCE if has_half(evidence.migrated.contracts) else FLOAT_ALLOWANCE
    off = max(map(metric_rows.relative_difference, both))
    args = {"count": len(both), "percent": f"{100 * off:.3g}", "allowance": f"{100 * allowance:.3g}"}
    if off <= allowance:
        return _check("virtual", "pass", _reason("migration.certify.reason.virtual_near", **args))
    return _check("virtual", "no_card", _reason("migration.certify.reason.virtual_far", **args))


def _branches(leftovers: tuple[Leftover, ...]) -> Check:
    reachable = [leftover for leftover in leftovers if leftover.fate == "reachable"]
    if reachable:
        first = reachable[0]
        why = _reason("migration.certify.reason.branch_left", text=first.text, more=len(reachable) - 1)
        return Check(name="branches", state="fail", reason=why, path=first.path, line=first.line)
    fates = Counter(leftover.fate for leftover in leftovers)
    args = {fate: fates[fate] for fate in ("ran", "unreachable", "unloaded")}
    return _check("branches", "pass", _reason("migration.certify.reason.branches_clear", **args))


def not_run_reasons(evidence: Evidence) -> Iterator[Reason]:
    """Yield what no rehearsal came through."""
    yield _reason("migration.certify.not_run.steps", steps=_steps(evidence.migrated))
    for path, numbers in list(evidence.unrun_edits.items())[:MAX_FILES]:
        yield _reason("migration.certify.not_run.edited", path=path, lines=", ".join(map(str, numbers[:12])))
    unreachable = [leftover for leftover in evidence.leftovers if leftover.fate == "unreachable"]
    for leftover in unreachable[:MAX_FILES]:
        yield _reason(
            "migration.certify.not_run.unreachable", place=f"{leftover.path}:{leftover.line}", text=leftover.text
        )
    unloaded = dict.fromkeys(leftover.path for leftover in evidence.leftovers if leftover.fate == "unloaded")
    if unloaded:
        names = ", ".join(list(unloaded)[:MAX_FILES])
        yield _reason("migration.certify.not_run.unloaded", count=len(unloaded), names=names)


def unproven_reasons(evidence: Evidence) -> Iterator[Reason]:
    """Yield what cannot be shown without a card."""
    if evidence.on_npu.state != "pass":
        is_virtual = evidence.migrated.is_virtual
        yield _reason(
            "migration.certify.unproven.kernels_virtual" if is_virtual else "migration.certify.unproven.kernels"
        )
    yield _reason("migration.certify.unproven.speed")
    if not evidence.migrated.is_virtual:
        yield _reason("migration.certify.unproven.devices")
    if evidence.original.used_bfloat16:
        is_both = (evidence.numbers or evidence.migrated).used_bfloat16
        yield _reason("migration.certify.unproven.half_both" if is_both else "migration.certify.unproven.half_original")
    if "groups" in {check.name for check in evidence.contracts if check.state != "not_run"}:
        yield _reason("migration.certify.unproven.collectives")
    quiet = sorted({blocked.name for blocked in evidence.migrated.blocked if blocked.kind in ("ignored", "asked")})
    if quiet:
        yield _reason("migration.certify.unproven.quiet", names=", ".join(quiet)[:300])
