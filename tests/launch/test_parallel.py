"""Data parallel on two processes of this host, brought together by msrun: real ones, as few as possible."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.common.logs import rank_logs
from studio import worker
from studio.events import Artifact, Finding, Metric, Note, attempt_and_rank
from studio.tail import RunTail
from tests.launch.engine_process import needs_mindspore
from tests.launch.split_memory import estimated, measured
from tests.launch.together import EQUAL, check_together
from tests.runs import ended, prepare, wait_for

if TYPE_CHECKING:
    from pathlib import Path

    from studio.events import Event
    from studio.run import Run

"""Bytes that a step adds up beside its gradients."""

CASES = (
    EQUAL
    + """
compare("--recipe linear", 8)
compare("--recipe linear --mode graph --accumulate 2", 4)
compare("--recipe digits --mode jit --accumulate 2", 8)

# An input of rank 1 is infinite: both leave the update out, halve the scale and name the same cause.
case = Case("--recipe linear --batch 8 --mode jit --loss-scale dynamic", PLACE)
(inputs, labels), = case.batches(0)
before = flat(case.weights)
if PLACE.rank == 1:
    inputs = inputs * np.float32("inf")
scale = float(case.scaler.scale_value.asnumpy())
outcome = case.step([(inputs, labels)])
assert not outcome.finite and (flat(case.weights) == before).all()
assert float(case.scaler.scale_value.asnumpy()) == scale / 2
assert PLACE.others_lost()
assert nonfinite_values.what_of(outcome, scale, True, PLACE.others_lost()) == "loss"
assert np.isfinite(outcome.loss) == (PLACE.rank == 0)
assert case.step(case.batches(1)).finite and not PLACE.others_lost()

# One rank alone is asked to stop: all end after the same step.
case = Case("--recipe linear --batch 8 --mode jit", PLACE)
for number in range(20):
    if PLACE.must_stop(PLACE.rank == 1 and number >= 7):
        break
    case.step(case.batches(number))
assert number == 8, number

# Samples of the validation set are shared out; each rank has the metrics of all of them.
case = Case("--recipe digits --batch 8", PLACE)
evaluate.BATCH = 100
shared, all_of_them = (evaluate.evaluate(case.plan, case.plan.network, place) for place in (PLACE, ALONE))
assert shared.keys() == all_of_them.keys() and shared
assert all(abs(shared[name] - all_of_them[name]) < 1e-6 for name in shared), (shared, all_of_them)

# Weights that are not equal at the beginning are refused by every rank.
ms.ops.assign(case.weights[0], case.weights[0] + PLACE.rank)
try:
    group.check_begin(PLACE, case.weights)
    raise AssertionError("different weights were taken")
except Failure as failure:
    assert failure.rule == "launch.ranks_differ"

for name in ("linear", "digits", "text"):
    for optimizer in ("sgd", "momentum", "adamw"):
        case = Case(f"--recipe {name} --optimizer {optimizer} --batch 8", PLACE)
        group.note_bytes(PLACE, case.optimizer.parameters, case.optimizer.get_parameters())
"""
)


@needs_mindspore
def test_that_two_ranks_train_as_one_process_with_the_global_batch(tmp_path: Path) -> None:
    ran = check_together(tmp_path, 2, CASES)
    told = [event["args"] for event in ran.events if event.get("key") == "launch.bytes"]
    asked = [(name, optimizer) for name in ("linear", "digits", "text") for optimizer in ("sgd", "momentum", "adamw")]
    assert [measured(args) for args in told] == [estimated(*one, 2) for one in asked]


def by_rank(run: Run) -> dict[int, list[Event]]:
    found: dict[int, list[Event]] = {0: [], 1: []}
    for _, rank, events in RunTail(run.folder).read(1 << 24):
        found[rank] += events
    return found


def steps(events: list[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Metric) and "loss" in event.values]


@needs_mindspore
def test_that_a_stop_ends_all_ranks_after_the_same_step_with_one_checkpoint(tmp_path: Path) -> None:
    run = prepare(tmp_path, recipe="linear", parallel="data", device="cpu", steps=1_000_000, checkpoint_every=5)
    worker.start(run)
    wait_for(lambda: all(len(steps(events)) >= 8 for events in by_rank(run).values()), "steps of both ranks")
    assert worker.stop(run)
    glance = ended(run)
    assert (glance.code, glance.reason) == (143, "stopped"), run.log.read_text()
    first, second = by_rank(run).values()
    last = steps(first)[-1]
    assert steps(first) == steps(second) == list(range(1, last + 1))
    assert [event.args for event in first if isinstance(event, Note) and event.key == "launch.stopped"] == [
        {"step": last}
    ]
    # What holds for all is told once, and kept once.
    assert {event.key for event in second if isinstance(event, Note)} == set()
    assert not [event for event in second if isinstance(event, Artifact)]
    pointed = (run.folder / "artifacts" / "checkpoints" / "last").read_text()
    assert pointed.startswith(f"step-{last:06d}-")
    losses = [[e.values["loss"] for e in events if isinstance(e, Metric)] for events in (first, second)]
    assert losses[0] != losses[1]
    weights = [[e.values["weight"] for e in events if isinstance(e, Metric)] for events in (first, second)]
    assert weights[0] == weights[1]
    (throughput, seconds) = next(
        (event.values["throughput"], event.values["step_time"]) for event in first if isinstance(event, Metric)
    )
    assert throughput * seconds == pytest.approx(64)
    assert [path.name for path in rank_logs(run.folder)] == ["worker_0.log", "worker_1.log", "scheduler.log"]


@needs_mindspore
def test_that_the_summary_has_the_mean_loss_of_all_ranks(tmp_path: Path) -> None:
    run = prepare(tmp_path, recipe="linear", parallel="data", device="cpu", steps=3)
    worker.start(run)
    assert ended(run).code == 0, run.log.read_text()
    first, second = by_rank(run).values()
    (summary,) = [event.args for event in first if isinstance(event, Note) and event.key == "launch.summary"]
    losses = [
        [event.values["loss"] for event in events if isinstance(event, Metric) and "loss" in event.values][-1]
        for events in (first, second)
    ]
    assert losses[0] != losses[1]
    assert summary["metrics"]["loss"] == pytest.approx(sum(map(float, losses)) / 2)


APART = """
import os
import mindspore as ms
from ascend_engine.recipes import linear

def build(config):
    plan = linear.build(config)
    offset = ms.Parameter(ms.Tensor(0.0, ms.float32), name="offset", requires_grad=False)
    rise = 100.0 if os.environ["RANK_ID"] == "1" else -40.0
    plain_loss = plan.loss
    plan.loss = lambda outputs, labels: plain_loss(outputs, labels) + offset
    plan.before_batch = lambda sample: offset.set_data(offset + rise)
    return plan
"""


@needs_mindspore
def test_that_the_best_checkpoint_is_that_of_the_mean_loss_of_all_ranks(tmp_path: Path) -> None:
    """The loss of rank 0 falls from step to step, the mean rises."""
    recipe = tmp_path / "apart.py"
    recipe.write_text(APART, encoding="utf-8")
    run = prepare(
        tmp_path, recipe="own", recipe_file=recipe, parallel="data", device="cpu", steps=6, checkpoint_every=1,
        best="loss", keep=9,
    )  # fmt: skip
    worker.start(run)
    assert ended(run).code == 0, run.log.read_text()
    first, second = ([event for event in events if isinstance(event, Metric)] for events in by_rank(run).values())
    assert first[0].values["loss"] > first[-1].values["loss"]
    assert second[0].values["loss"] < second[-1].values["loss"]
    folder = run.folder / "artifacts" / "checkpoints"
    written = sorted(path.name for path in folder.glob("step-*"))
    assert len(written) > 1
    assert (folder / "best").read_text() == written[0]
    assert (folder / "last").read_text() == written[-1]


RAISES = """
import os
from ascend_engine.recipes import linear

def build(config):
    plan = linear.build(config)
    seen = []

    def before_batch(sample):
        seen.append(sample)
        if len(seen) == 5 and os.environ["RANK_ID"] == "1":
            raise ValueError("planted in rank 1")

    plan.before_batch = before_batch
    return plan
"""


@needs_mindspore
def test_that_the_rank_that_raises_is_named_with_its_lines_and_ends_the_run(tmp_path: Path) -> None:
    recipe_file = tmp_path / "raises.py"
    recipe_file.write_text(RAISES, "utf-8")
    run = prepare(
        tmp_path / "runs", recipe="own", recipe_file=recipe_file, parallel="data", device="cpu", steps=1_000_000,
        optimizer="sgd", lr=0.01,
    )  # fmt: skip
    worker.start(run)
    glance = ended(run)
    assert (glance.code, glance.reason) == (1, ""), run.log.read_text()
    events = [event for file in by_rank(run).values() for event in file]
    findings = {event.rule: event for event in events if isinstance(event, Finding)}
    assert findings["explain.first_rank"].args == {"rank": 1}
    fix = findings["explain.python_exception.fix"]
    assert fix.path == "logs/worker_1.log"
    assert [text for _, text in fix.args["said"]][-1] == "ValueError: planted in rank 1"
    assert {attempt_and_rank(file.name) for file in run.folder.glob("events*")} == {(1, 0), (1, 1)}
