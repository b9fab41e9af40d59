"""Several processes of PyTorch that train together: real ones, brought together by torchrun over gloo."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.common.logs import rank_logs
from backends.launch.framework_rules import TEXT_HEADS
from backends.launch.launchers import ENGINE, node_lines
from backends.launch.spec import LaunchSpec
from studio import schema, worker
from studio.events import Finding, Metric, Note
from studio.tail import RunTail
from tests.launch.pytorch.earlier_state import earlier_state
from tests.launch.pytorch.ranks_together import check_together
from tests.runs import ended, prepare, wait_for

if TYPE_CHECKING:
    from studio.events import Event
    from studio.run import Run

pytestmark = pytest.mark.skipif(not find_spec("torch"), reason="no PyTorch here")

CASES = """
    import pathlib
    corpus = pathlib.Path("corpus"); corpus.mkdir(exist_ok=True)
    (corpus / "a.txt").write_text("the quick brown fox jumps over the lazy dog. " * 200)
    text = f"--recipe text --corpus {corpus.absolute()}"
    compare("--recipe linear", "data", 8)
    compare("--recipe digits --accumulate 2 --clip 0.5", "data", 8)
    compare(text, "data", 2)
    compare("--recipe linear", "fsdp", 8)
    compare("--recipe digits --accumulate 2 --clip 0.5", "fsdp", 8)
    compare(text + " --accumulate 2", "fsdp", 2)
    compare(text + " --recompute", "fsdp", 2)
    compare(text + " --accumulate 2 --clip 0.5", "tensor", 2)
"""


def test_that_two_ranks_train_as_one_process_with_the_global_batch(tmp_path: Path) -> None:
    check_together(tmp_path, 2, CASES)


def by_rank(run: Run) -> dict[int, list[Event]]:
    events: dict[int, list[Event]] = {0: [], 1: []}
    for _, rank, batch in RunTail(run.folder).read(1 << 24):
        events[rank] += batch
    return events


def losses(events: list[Event]) -> dict[int, float]:
    return {
        event.step: float(event.values["loss"])
        for event in events
        if isinstance(event, Metric) and event.step is not None and "loss" in event.values
    }


def notes(events: list[Event]) -> dict[str, dict[str, Any]]:
    return {event.key: event.args for event in events if isinstance(event, Note)}


def done(run: Run) -> dict[int, list[Event]]:
    worker.start(run)
    assert ended(run).code == 0, run.log.read_text()
    return by_rank(run)


@pytest.mark.parametrize(
    ("parallel", "choices"),
    [
        ("data", {"recipe": "digits", "accumulate": 2, "batch": 8, "optimizer": "adamw"}),
        ("fsdp", {"recipe": "digits", "accumulate": 2, "batch": 8, "optimizer": "adamw", "amp": "O1", "scale": 2.0**24,
                  "loss_scale": "dynamic"}),
    ],
)  # fmt: skip
def test_that_a_resume_of_two_ranks_goes_on_bit_for_bit(parallel: str, choices: dict[str, Any], tmp_path: Path) -> None:
    common = {"framework": "torch", "parallel": parallel, "device": "cpu", "steps": 6, "seed": 1, **choices}
    straight = prepare(tmp_path / "runs", **common, checkpoint_every=2, keep=9)
    straight_losses = losses(done(straight)[1])
    earlier = earlier_state(straight.folder, tmp_path / "earlier", 2)
    rest = prepare(tmp_path / "runs", **common, resume=earlier)
    events = done(rest)
    assert notes(events[0])["launch.resumed"]["exact"]
    assert losses(events[1]) == {step: loss for step, loss in straight_losses.items() if step > 2}
    assert newest_weights(rest.folder) == newest_weights(straight.folder)


def test_that_divided_weights_are_taken_up_by_one_process_and_by_another_number_of_ranks(tmp_path: Path) -> None:
    """The global batch is the same, so are the samples and the losses."""
    common = {"framework": "torch", "recipe": "digits", "device": "cpu", "steps": 4, "seed": 1, "optimizer": "adamw"}
    straight = prepare(tmp_path / "runs", **common, parallel="fsdp", batch=8, checkpoint_every=2, keep=9)
    events = done(straight)
    means = [sum(pair) / 2 for pair in zip(losses(events[0]).values(), losses(events[1]).values(), strict=True)]
    earlier = earlier_state(straight.folder, tmp_path / "earlier", 2)
    alone = done(prepare(tmp_path / "runs", **common, batch=16, resume=earlier))
    assert list(losses(alone[0]).values()) == pytest.approx(means[2:], rel=1e-5)


def newest_weights(folder: Path) -> bytes:
    checkpoints = folder / "artifacts" / "checkpoints"
    return (checkpoints / (checkpoints / "last").read_text() / "weights.safetensors").read_bytes()


def test_that_a_stop_ends_all_ranks_after_the_same_step_with_one_checkpoint(tmp_path: Path) -> None:
    run = prepare(
        tmp_path, framework="torch", recipe="linear", parallel="fsdp", device="cpu", steps=1_000_000,
        checkpoint_every=50,
    )  # fmt: skip
    worker.start(run)
    wait_for(lambda: all(len(losses(events)) >= 8 for events in by_rank(run).values()), "steps of both ranks")
    assert worker.stop(run)
    glance = ended(run)
    assert (glance.code, glance.reason) == (143, "stopped"), run.log.read_text()
    first, second = by_rank(run).values()
    last = max(losses(first))
    assert list(losses(first)) == list(losses(second)) == list(range(1, last + 1))
    assert notes(first)["launch.stopped"] == {"step": last}
    assert notes(second) == {}
    assert (run.folder / "artifacts" / "checkpoints" / "last").read_text().startswith(f"step-{last:06d}-")
    assert [path.name for path in rank_logs(run.folder)] == ["rank_0.log", "rank_1.log"]


RAISES = """
import os
from ascend_engine.pytorch.recipes import linear

def build(config):
    plan = linear.build(config)
    seen = []

    def before_batch(sample):
        seen.append(sample)
        if len(seen) == 5 and os.environ["RANK"] == "1":
            ACTION

    plan.before_batch = before_batch
    return plan
"""


@pytest.mark.parametrize(
    ("action", "code"), [("raise ValueError('planted in rank 1')", 1), ("os.kill(os.getpid(), 9)", 137)]
)
def test_that_the_rank_that_fails_first_is_named_and_ends_the_run(action: str, code: int, tmp_path: Path) -> None:
    recipe_file = tmp_path / "raises.py"
    recipe_file.write_text(RAISES.replace("ACTION", action), "utf-8")
    run = prepare(
        tmp_path / "runs", framework="torch", recipe="own", recipe_file=recipe_file, parallel="data", device="cpu",
        steps=1_000_000, optimizer="sgd", lr=0.01,
    )  # fmt: skip
    worker.start(run)
    glance = ended(run)
    # torchrun may take a killed process down before anybody has seen of what it died.
    assert glance.code in ((code,) if code == 1 else (code, 255)), run.log.read_text()
    assert not glance.reason
    findings = {event.rule: event for events in by_rank(run).values() for event in events if isinstance(event, Finding)}
    if code == 1:
        assert findings["explain.first_rank"].args == {"rank": 1}
        fix = findings["explain.python_exception.fix"]
        assert fix.path == "logs/rank_1.log"
        assert [text for _, text in fix.args["said"]][-1] == "ValueError: planted in rank 1"
    else:
        named = findings.get("launch.rank_killed") or findings["launch.rank_gone"]
        assert named.args["rank"] == 1


def test_that_tensor_parallel_is_refused_where_the_heads_or_the_recipe_cannot_be_divided() -> None:
    spec = LaunchSpec()
    for name, value in {"framework": "torch", "parallel": "tensor", "recipe": "text", "workers": 3}.items():
        spec = schema.with_value(spec, name, value)
    assert [problem.rule for problem in schema.problems(spec)] == ["launch.rule.tensor_heads"]
    digits = schema.with_value(spec, "recipe", "digits")
    assert "launch.rule.tensor_recipe" in [problem.rule for problem in schema.problems(digits)]


def test_that_each_framework_has_its_own_launchers_and_ways_to_divide_the_work() -> None:
    spec = schema.with_value(LaunchSpec(), "framework", "torch")
    for name, value in {"parallel": "semi_auto", "amp": "O2"}.items():
        problems = schema.problems(schema.with_value(spec, name, value))
        assert [(problem.field, problem.rule) for problem in problems] == [(name, "form.not_a_choice")]
    portable = schema.with_value(schema.with_value(spec, "recipe", "lora"), "initial_weights", "portable")
    assert [problem.field for problem in schema.problems(portable)] == ["initial_weights"]  # a base model has its own
    together = schema.with_value(schema.with_value(spec, "parallel", "data"), "nodes", 2)
    together = schema.with_value(together, "master", "10.0.0.1")
    first, second = node_lines(together, Path("/opt/bin/python"), "{}", Path("/runs/a"))
    assert "torch.distributed.run --nnodes=2" in first
    assert "--node_rank=1" in second
    assert "msrun" not in first


def test_that_the_heads_of_the_rule_are_those_of_the_network() -> None:
    source = (ENGINE / "ascend_engine" / "pytorch" / "recipes" / "text.py").read_text()
    assert f"HEADS = {TEXT_HEADS}\n" in source


@pytest.mark.parametrize(
    ("recipe", "choices"),
    [("digits", {"amp": "O1", "amp_dtype": "bf16"}), ("text", {"batch": 2}), ("digits", {"parallel": "fsdp"})],
)
def test_that_a_recipe_has_the_losses_of_the_cpu_on_the_virtual_npu(
    recipe: str, choices: dict[str, Any], tmp_path: Path
) -> None:
    common = {"framework": "torch", "recipe": recipe, "steps": 3, "seed": 1, "optimizer": "adamw", **choices}
    virtual, cpu = (done(prepare(tmp_path / "runs", **common, device=device)) for device in ("virtual_npu", "cpu"))
    assert losses(virtual[0]) == losses(cpu[0])
    assert notes(virtual[0])["launch.device"]["device"] == "virtual_npu"
    assert "launch.on_virtual_npu" in notes(virtual[0])
