"""One walk through two dumps in execution order: what each value may differ by, and where that is not enough.

Each value has a level: the relative error that it may have. An output's is what its own statistics show or, as far as
that may be hidden from them, what the levels of its inputs lead to. An input's is that of what made it. For each call:

1. `inputs.judge_inputs` finds what made each input, and holds it against what that explains. Arguments that are no
   tensors have to be equal.
2. `outputs.judge_outputs` holds each output against what the inputs and one rounding of the operator explain.
3. `calls.sum_up` gives the call its verdict: it differs where one of its rows is not explained (an `Event`).
4. `calls.pass_to_module` hands the level on to the module around the call.

What the optimizer did is judged by `updates.judge_update`.

A call of one side alone is judged by `calls.judge_one_sided`. What stands behind an event with an error larger than
rounding follows it. `verdict.first_divergence` takes the first of the events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.precision.compare.judgement.calls import judge_one_sided, pass_to_module, sum_up
from backends.precision.compare.judgement.evidence import gather_evidence
from backends.precision.compare.judgement.inputs import judge_inputs
from backends.precision.compare.judgement.moves import UnexplainedUpdates
from backends.precision.compare.judgement.outputs import judge_outputs
from backends.precision.compare.judgement.state import begin_walk, end_walk
from backends.precision.compare.judgement.updates import is_update, judge_update

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.precision.compare.arrays import Array
    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps


def judge(
    joined: JoinedDumps, drift: Mapping[int, float], noise: Array | None = None, families: frozenset[str] = frozenset(),
    *, is_nonfinite: bool = False, updates: UnexplainedUpdates | None = None,
) -> Judgement:  # fmt: skip
    """Judge one step of one rank. `drift`: by how much each row that is kept between steps may differ. `noise`: the
    distance of two golden runs of each row, NaN where unknown. `families`: the rounded ones of the step before, whose
    parameters were still equal. `is_nonfinite`: in a step before, one side alone had NaN or infinity.
    `updates`: parameters whose last update differs by more than its gradients explain."""
    evidence = gather_evidence(joined, drift, noise, families, updates or UnexplainedUpdates())
    walk = begin_walk(evidence, is_nonfinite=is_nonfinite)
    for call in evidence.calls:
        if call.is_missing or call.is_extra:
            judge_one_sided(walk, call)
            continue
        if is_update(call):
            judge_update(walk, call)
            continue
        events_before = len(walk.events)
        judge_inputs(walk, call)
        judge_outputs(walk, call)
        sum_up(walk, call, events_before)
        pass_to_module(walk, call)
    return end_walk(walk)
