"""What the outcomes of two rehearsals prove."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from backends.common.rehearsal import Blocked, Report
from backends.migration.certify import npu_check
from backends.migration.certify.certificate import Check, Reason, is_granted
from backends.migration.certify.checks import Evidence, RehearsalOutcome, make_checks, not_run_reasons, unproven_reasons
from backends.migration.certify.leftovers import Leftover
from backends.migration.certify.metric_rows import MetricRow
from backends.migration.certify.operators import classify_operators
from backends.migration.certify.promise import check_cpu
from studio import texts


def blocked(kind: Any, name: str = "torch.cuda") -> Blocked:
    return Blocked(name=name, message="Torch not compiled with CUDA enabled", kind=kind, path="train.py", line=7)


def left(
    code: int | None = 0, *, answer: bool = True, steps: int = 3, kinds: tuple[str, ...] = (), **more: Any
) -> RehearsalOutcome:
    report = Report(
        stance="npu", steps=steps, losses=(), redirected=more.pop("redirected", {"Module.to": 1}),
        blocked=tuple(map(blocked, kinds)), operators=1, processes=1, ended="steps", answer=answer,
    )  # fmt: skip
    return RehearsalOutcome(run="run", code=code, report=report, **more)


def row(original: float | str | None, migrated: float | str | None, step: int = 1) -> MetricRow:
    return MetricRow(
        process=0, step=step, name="loss", original=original, migrated=migrated, equal=original == migrated
    )


GOOD = Evidence(
    original=left(),
    migrated=left(),
    losses=(row(0.5, 0.5),),
    gradients=(row(1.0, 1.0),),
    operators=classify_operators([{"operator": "aten.mm.default", "count": "2"}], lambda _: "kernel"),
)


def states(evidence: Evidence) -> dict[str, str]:
    listed = make_checks(evidence)
    assert not [check.reason.key for check in listed if not texts.has(check.reason.key)]
    for one in listed:
        texts.t(one.reason.key, **one.reason.args).format()
    return {str(one.name): one.state for one in listed}


def test_that_a_certificate_is_granted_where_all_but_the_npu_itself_is_proven() -> None:
    assert {name: state for name, state in states(GOOD).items() if state != "pass"} == {
        "npu": "no_card", "virtual": "not_run",
    }  # fmt: skip
    assert is_granted(make_checks(GOOD))


@pytest.mark.parametrize(
    ("change", "name", "state"),
    [
        ({"original": left(1)}, "original", "fail"),
        ({"original": left(steps=0)}, "original", "fail"),
        ({"migrated": left(3, answer=False, kinds=("raised",))}, "migrated", "fail"),
        ({"migrated": left(3, answer=False, kinds=("disabled",))}, "cuda", "fail"),
        ({"migrated": left(1, kinds=("unknown",))}, "migrated", "not_run"),
        ({"migrated": left(1)}, "migrated", "fail"),
        ({"migrated": left(None)}, "migrated", "fail"),
        ({"migrated": left(steps=0)}, "migrated", "fail"),
        ({"migrated": RehearsalOutcome(run="run", code=1, report=None)}, "cuda", "not_run"),
        ({"migrated": left(redirected={"torch.npu.is_available": 2})}, "device", "fail"),
        ({"migrated": left(cuda_complaint="RuntimeError: No CUDA GPUs are available")}, "cuda", "fail"),
        ({"losses": (row(0.5, 0.5), row(0.4, 0.3, 2))}, "losses", "fail"),
        ({"losses": (row(0.5, None),)}, "losses", "fail"),
        ({"losses": ()}, "losses", "fail"),
        ({"losses": ()}, "finite", "not_run"),
        ({"losses": (row("NaN", "NaN"),)}, "finite", "fail"),
        ({"losses": (row("Infinity", "-Infinity"),)}, "finite", "fail"),
        ({"gradients": (row(1.0, 2.0),)}, "gradients", "fail"),
        ({"gradients": ()}, "gradients", "not_run"),
        ({"operators": ()}, "operators", "not_run"),
        ({"written_file": "/a/train.py"}, "untouched", "fail"),
    ],
)
def test_that_what_is_missing_or_differs_is_said_at_its_check(change: dict[str, Any], name: str, state: str) -> None:
    assert states(replace(GOOD, **change))[name] == state


@pytest.mark.parametrize(
    ("message", "state"),
    [
        ("Torch not compiled with CUDA enabled", "fail"),
        ("Attempting to deserialize object on a CUDA device", "fail"),
        ("Function Backward returned an invalid gradient - expected device cpu but got npu:0", "pass"),
        ("Could not run 'aten::batch_norm_stats' with arguments from the 'CPU' backend: [CUDA, Meta]", "pass"),
    ],
)
def test_that_cuda_is_said_to_be_used_where_an_error_speaks_of_it(message: str, state: str) -> None:
    outcome = left(3, answer=False, kinds=("raised",))
    assert outcome.report is not None
    call = replace(outcome.report.blocked[0], message=message)
    listed = states(replace(GOOD, migrated=replace(outcome, report=replace(outcome.report, blocked=(call,)))))
    assert (listed["migrated"], listed["cuda"]) == ("fail", state)


def test_that_one_check_that_fails_refuses_the_certificate() -> None:
    assert not is_granted(make_checks(replace(GOOD, gradients=(row(1.0, 2.0),))))
    assert is_granted(make_checks(replace(GOOD, gradients=(), operators=())))


def test_that_float16_of_the_original_alone_is_not_said_of_both() -> None:
    evidence = replace(GOOD, original=left(used_bfloat16=True))
    keys = [reason.key.rpartition(".")[2] for reason in unproven_reasons(evidence)]
    assert "half_original" in keys
    assert "half_both" not in keys


def virtual(**more: Any) -> RehearsalOutcome:
    outcome = left(**more)
    assert outcome.report is not None
    return replace(outcome, report=replace(outcome.report, device="virtual_npu", device_operators=5))


def test_that_the_virtual_npu_is_judged_by_its_distance_from_the_same_project_on_the_cpu() -> None:
    def state(*rows: MetricRow) -> str:
        return states(replace(GOOD, migrated=virtual(), numbers=left(), virtual_losses=rows))["virtual"]

    assert states(replace(GOOD, migrated=virtual()))["virtual"] == "pass"
    assert [state(row(0.5, 0.5001)), state(row(0.5, 0.52)), state()] == ["pass", "no_card", "not_run"]
    assert (
        states(replace(GOOD, migrated=virtual(), numbers=left(), virtual_losses=(row(0.5, "NaN"),)))["finite"] == "fail"
    )


def test_that_a_branch_which_may_still_run_cuda_takes_the_grant_away() -> None:
    def left_over(fate: Any) -> Leftover:
        return Leftover(path="train.py", line=9, text='"nccl"', fate=fate)

    assert is_granted(make_checks(replace(GOOD, leftovers=tuple(map(left_over, ("ran", "unreachable", "unloaded"))))))
    checks = make_checks(replace(GOOD, leftovers=(left_over("ran"), left_over("reachable"))))
    assert not is_granted(checks)
    assert [(check.path, check.line) for check in checks if check.name == "branches"] == [("train.py", 9)]


def test_that_operators_which_only_a_cpu_has_are_not_told_as_kernels_of_an_npu() -> None:
    rows = [{"operator": "aten._scaled_dot_product_flash_attention_for_cpu.default", "count": "2"}]
    assert states(replace(GOOD, operators=classify_operators(rows, lambda _: "kernel")))["operators"] == "no_card"


def test_that_a_rehearsal_without_a_stand_in_proves_nothing() -> None:
    assert not is_granted(make_checks(replace(GOOD, migrated=left(1, kinds=("unknown",)))))


def test_that_equal_losses_that_differ_first_at_a_later_step_name_that_step() -> None:
    evidence = replace(GOOD, losses=(row(1.0, 1.0), row(0.5, 0.25, 4), row(0.1, 0.2, 3)))
    (check,) = (listed for listed in make_checks(evidence) if listed.name == "losses")
    assert check.reason.args == {"step": 3, "original": "0.1", "migrated": "0.2"}


def test_that_a_certificate_says_what_it_does_not_prove() -> None:
    groups = Check(name="groups", state="pass", reason=Reason(key="migration.certify.contract.equal"))
    evidence = replace(
        GOOD,
        original=left(used_bfloat16=True),
        migrated=left(used_bfloat16=True, kinds=("asked",)),
        contracts=(groups,),
    )
    keys = [reason.key.rpartition(".")[2] for reason in unproven_reasons(evidence)]
    assert keys == ["kernels", "speed", "devices", "half_both", "collectives", "quiet"]
    assert [reason.key.rpartition(".")[2] for reason in not_run_reasons(evidence)] == ["steps"]
    ran = Check(name="npu", state="pass", reason=Reason(key="migration.certify.reason.no_npu"))
    assert "kernels" not in [one.key.rpartition(".")[2] for one in unproven_reasons(replace(GOOD, on_npu=ran))]


@pytest.mark.parametrize(
    ("code", "rows", "state", "reason"),
    [
        (1, (), "fail", "npu_failed"),
        (None, (), "fail", "npu_failed"),
        (0, (), "not_run", "npu_no_losses"),
        (0, (row(0.5, None),), "not_run", "npu_no_losses"),
        (0, (row(0.5, 0.5), row(0.4, "NaN", 2)), "fail", "npu_not_finite"),
        (0, (row(0.5, 0.504),), "pass", "npu_near"),
        (0, (row(0.5, 0.51),), "no_card", "npu_far"),
        (0, (row(0.0, 0.0),), "pass", "npu_near"),
    ],
)
def test_that_losses_of_a_real_npu_may_differ_a_little(
    code: int | None, rows: tuple[MetricRow, ...], state: str, reason: str
) -> None:
    check = npu_check.check_npu_run("run", code, rows, "it said")
    assert (check.state, check.reason.key) == (state, f"migration.certify.reason.{reason}")
    assert "{" not in texts.t(check.reason.key, **check.reason.args)


def test_that_operators_are_counted_together_and_the_most_doubtful_come_first() -> None:
    classes = {"mm": "kernel", "lgamma": "fallback", "add.Tensor": "composite"}
    rows = [
        {"operator": "aten.mm.default", "count": "2", "phase": "forward", "module": "Net"},
        {"operator": "aten.mm.default", "count": "3", "phase": "backward", "module": "Net"},
        {"operator": "aten.add.Tensor", "count": "1"},
        {"operator": "aten.lgamma.default", "count": "broken"},
        {"operator": "aten._scaled_dot_product_flash_attention_for_cpu.default", "count": "1"},
        {"operator": "c10d.allreduce_.default", "count": "1"},
        {"operator": "torchvision.nms.default", "count": "1"},
        {},
    ]
    operators = classify_operators(rows, classes.__getitem__)
    assert [(operator.name, operator.kind, operator.count) for operator in operators] == [
        ("lgamma", "fallback", 0), ("torchvision.nms", "unknown", 1),
        ("_scaled_dot_product_flash_attention_for_cpu", "host", 1), ("c10d.allreduce_", "host", 1),
        ("add.Tensor", "composite", 1), ("mm", "kernel", 5),
    ]  # fmt: skip
    assert (operators[-1].phases, operators[-1].modules) == (("backward", "forward"), ("Net",))


def test_that_a_result_owes_a_plain_cpu_host_only_where_the_original_runs_on_one() -> None:
    failed, trained = left(1, steps=0, last_line="Torch not compiled with CUDA enabled"), left()
    assert check_cpu(trained, None).state == "pass"
    assert check_cpu(failed, trained).state == "fail"
    check = check_cpu(failed, failed)
    assert (check.state, check.reason.args["message"]) == ("not_run", "Torch not compiled with CUDA enabled")
