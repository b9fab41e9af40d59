"""A training whose loss is NaN or infinite: told while it runs, and not done at its end."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING

import pytest

from backends.common.nonfinite_losses import judged_end
from studio import run as runs
from studio.events import Ended, Finding, Journal, Metric, Note
from studio.guest.ascend_studio.writer.nonfinite_losses import is_loss
from studio.project import runs_folder
from studio.sentences import reason_of
from tests.command_line import last_json, studio

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
import ascend_studio
for step in range(1, 401):
    ascend_studio.metric(step, loss=0.5 if step < 26 else float(VALUE), lr=0.1)
"""


@pytest.mark.parametrize("value", ["nan", "inf"])
def test_that_a_script_whose_loss_is_no_number_is_not_done(tmp_path: Path, homes: Path, value: str) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace("VALUE", repr(value)))
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == 3
    answer = last_json(done)
    assert (answer["state"], answer["code"], answer["reason"]) == ("ended", 0, "nonfinite")
    assert "375 of the 400 steps" in answer["message"]
    assert "At step 26, loss is" in done.stderr, "it is told while it runs"
    (run,) = runs.runs_in(runs_folder(None))
    assert runs.outcome_of(runs.glance(run)) == "nonfinite"
    assert studio("--no-project", "watch", run.name, cwd=tmp_path).returncode == 3


def test_that_a_script_with_finite_losses_is_done(tmp_path: Path, homes: Path) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace("VALUE", "'0.25'"))
    done = studio("--no-project", "launch", "--json", "--", sys.executable, "train.py", cwd=tmp_path)
    assert (done.returncode, last_json(done)["reason"]) == (0, "")


def test_that_a_program_that_failed_keeps_its_own_end(tmp_path: Path) -> None:
    Journal(tmp_path, 1).write(Metric(step=1, values={"loss": "NaN"}))
    ended = Ended(code=7)
    assert judged_end(tmp_path, 1, ended) == (ended, [])


def end_of(folder: Path, *events: object) -> tuple[str, list[Finding]]:
    Journal(folder, 1).write(*events)  # type: ignore[arg-type]
    ended, findings = judged_end(folder, 1, Ended(code=0))
    return ended.reason, findings


def test_that_steps_that_a_loss_scaler_skipped_are_no_fault(tmp_path: Path) -> None:
    skipped = [Metric(step=n, values={"loss": "Infinity", "grad_norm": "Infinity", "skipped": 1}) for n in range(1, 17)]
    assert end_of(tmp_path, *skipped, Metric(step=17, values={"loss": 0.5, "skipped": 0})) == ("", [])


def test_that_other_values_than_losses_may_be_infinite(tmp_path: Path) -> None:
    values = {"loss": 0.5, "grad_norm": "Infinity", "loss_scale": "Infinity", "perplexity": "Infinity"}
    assert end_of(tmp_path, Metric(step=1, values=values)) == ("", [])


def test_that_the_first_process_and_step_are_named(tmp_path: Path) -> None:
    """The finding counts the steps of one process, and says which."""
    for rank, first in ((0, 5), (1, 3)):
        events = [Metric(step=n, values={"loss": 1.0 if n < first else "NaN"}) for n in range(1, 11)]
        lines = b"".join(b'{"type":"metric","time":1,"step":%d,"values":{"loss":%s}}\n' % (
            event.step, b"1.0" if event.values["loss"] == 1.0 else b'"NaN"') for event in events)  # fmt: skip
        (tmp_path / f"events.a1.r{rank}.p{rank + 10}.jsonl").write_bytes(lines)
    _, (finding,) = judged_end(tmp_path, 1, Ended(code=0))
    assert finding.args == {"name": "loss", "step": 3, "value": "NaN", "count": 8, "total": 10, "rank": 1}


def skips(last: float, skipped: int) -> list[object]:
    """The events of `--on-nan skip` over ten steps: step 4 has no finite loss, and the last one is `last`."""
    chosen = Finding(rule="launch.nan_skipped", severity="warning", args={"step": 4, "what": "loss", "value": "NaN"})
    losses = [1.0, 1.0, 1.0, "NaN", 1.0, 1.0, 1.0, 1.0, 1.0, last if math.isfinite(last) else "Infinity"]
    metrics = [Metric(step=n, values={"loss": value}) for n, value in enumerate(losses, 1)]  # type: ignore[dict-item]
    return [*metrics, chosen, Note(key="launch.summary", args={"steps": 10, "skipped": skipped})]


def test_that_a_step_left_out_as_chosen_is_no_fault(tmp_path: Path) -> None:
    assert end_of(tmp_path, *skips(0.5, 1)) == ("", [])


def test_that_leaving_out_every_further_step_is_one(tmp_path: Path) -> None:
    reason, (finding,) = end_of(tmp_path, *skips(math.inf, 4))
    assert (reason, finding.rule) == ("nonfinite", "run.nonfinite_steps")


def test_that_leaving_out_half_of_the_updates_is_one(tmp_path: Path) -> None:
    reason, (finding,) = end_of(tmp_path, *skips(0.5, 5))
    assert (reason, finding.args) == ("nonfinite", {"count": 5, "total": 10})


def test_that_an_attempt_before_does_not_count(tmp_path: Path) -> None:
    Journal(tmp_path, 1).write(Metric(step=1, values={"loss": "NaN"}))
    Journal(tmp_path, 2).write(Metric(step=1, values={"loss": 0.5}))
    assert judged_end(tmp_path, 2, Ended(code=0)) == (Ended(code=0), [])


def test_that_the_engine_says_it_once_and_skipping_all_is_not_done(tmp_path: Path, homes: Path) -> None:
    words = ("--recipe", "linear", "--steps", "40", "--lr", "100", "--on-nan", "skip", "--mode", "pynative")
    done = studio("--no-project", "launch", *words, "--json", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    (run,) = runs.runs_in(runs_folder(None))
    assert reason_of(run.folder, runs.glance(run))
    assert 'run.nonfinite"' not in "".join(path.read_text() for path in run.folder.glob("events*"))


@pytest.mark.parametrize("name", ["mse", "val_nll", "train/ce", "elbo", "cost"])
def test_that_a_loss_of_another_name_is_a_loss(tmp_path: Path, name: str) -> None:
    reason, findings = end_of(tmp_path, Metric(step=1, values={name: "NaN"}), Metric(step=2, values={name: 0.5}))
    assert (reason, findings[0].args["name"]) == ("nonfinite", name)
    assert is_loss(name)


@pytest.mark.parametrize("name", ["accuracy", "scale", "processed", "loss_scale", "skl"])
def test_that_a_metric_that_is_no_loss_may_be_infinite(tmp_path: Path, name: str) -> None:
    reason, _ = end_of(tmp_path, Metric(step=1, values={name: "Infinity"}))
    assert reason == ""
    assert not is_loss(name)


def test_that_a_gradient_norm_that_is_nan_at_the_end_is_a_fault(tmp_path: Path) -> None:
    events = [Metric(step=step, values={"loss": 3.0, "grad_norm": "NaN"}) for step in (1, 2)]
    reason, findings = end_of(tmp_path, *events)
    assert (reason, findings[0].args["name"]) == ("nonfinite", "grad_norm")


def test_that_a_gradient_norm_that_was_nan_once_is_none(tmp_path: Path) -> None:
    values = ("NaN", 0.5)
    events = [Metric(step=step, values={"loss": 3.0, "grad_norm": norm}) for step, norm in enumerate(values)]
    assert end_of(tmp_path, *events) == ("", [])


def scaled(count: int, skipped: range, loss: float | str = 0.5, suffix: str = "") -> list[object]:
    """Steps under a loss scaler, which leaves out those of `skipped`; their loss is `loss`."""
    values = [{"loss": loss if n in skipped else 0.5, "skipped": float(n in skipped)} for n in range(1, count + 1)]
    named = [{name + suffix: value for name, value in step.items()} for step in values]
    return [Metric(step=n, values=step) for n, step in enumerate(named, 1)]  # type: ignore[arg-type]


def test_that_a_loss_that_ends_as_nan_is_told_although_a_scaler_skipped_its_steps(tmp_path: Path) -> None:
    reason, (finding,) = end_of(tmp_path, *scaled(60, range(46, 61), "NaN"))
    assert (reason, finding.args["count"], finding.args["step"]) == ("nonfinite", 15, 46)


@pytest.mark.parametrize(
    ("count", "skipped"), [(40, range(1, 41)), (5, range(1, 6)), (400, range(301, 401)), (400, range(1, 201))]
)
def test_that_a_training_whose_updates_were_left_out_is_not_done(tmp_path: Path, count: int, skipped: range) -> None:
    """The loss is finite, the gradients are not: a scaler leaves out each update, whatever its scale."""
    reason, (finding,) = end_of(tmp_path, *scaled(count, skipped))
    assert (reason, finding.args) == ("nonfinite", {"count": len(skipped), "total": count})


@pytest.mark.parametrize(("count", "skipped"), [(40, range(1, 17)), (3, range(1, 3)), (400, range(390, 401))])
def test_that_a_scaler_that_looks_for_its_scale_is_no_fault(tmp_path: Path, count: int, skipped: range) -> None:
    assert end_of(tmp_path, *scaled(count, skipped)) == ("", [])


def test_that_a_second_optimizer_skips_steps_of_its_own(tmp_path: Path) -> None:
    assert end_of(tmp_path, *scaled(40, range(1, 9), "Infinity", suffix=".1")) == ("", [])


def test_that_a_recipe_that_overflows_in_each_step_is_not_done(tmp_path: Path) -> None:
    notes = [Note(key="launch.overflow", args={"step": n, "scale": 2.0}) for n in range(1, 31)]
    summary = Note(key="launch.summary", args={"steps": 30, "overflows": 30, "skipped": 0})
    reason, (finding,) = end_of(tmp_path, *notes, summary)
    assert (reason, finding.args) == ("nonfinite", {"count": 30, "total": 30})
