"""The command compare-losses over real folders of runs."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.losses import result
from backends.precision.losses.spec import Judging, LossesSpec, Runs
from backends.precision.losses.work import compare_losses
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Ended, Finding, Journal, Metric, Note
from studio.paths import MAIN
from studio.sentences import sentence_of
from tests.command_line import last_json, studio
from tests.runs import events_of, wait_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from studio.run import Run


def trained(
    folder: Path, losses: Sequence[float | str], name: str = "loss", *, is_over: bool = True, code: int = 0
) -> Run:
    run = runs.create(folder / "trained", "launch", {})
    journal = Journal(run.folder, 1)
    journal.write(*(Metric(step=step, values={name: loss}) for step, loss in enumerate(losses, 1)))
    if is_over:
        journal.write(Ended(code=code))
    return run


def rules_of(run: Run) -> list[str]:
    return [event.rule for event in events_of(run) if isinstance(event, Finding)]


def compared(folder: Path, target: Run, golden: Run, **judging: Any) -> tuple[Ended, dict[str, Any], Run]:
    again = judging.pop("again", None)
    given = Runs(target_run=target.folder, golden_run=golden.folder)
    if again:
        given = Runs(target_run=target.folder, golden_run=golden.folder, noise_run=again.folder)
    spec = LossesSpec(runs=given, judging=Judging(**judging))
    run = runs.create(folder / "runs", "compare-losses", schema.to_json(spec))
    ended = compare_losses(spec, run)
    return ended, result.losses_answer(run), run


GOLDEN = [2.0 - step / 100 for step in range(100)]


def test_that_equal_losses_pass_and_the_figures_are_kept(tmp_path: Path) -> None:
    ended, answer, run = compared(tmp_path, trained(tmp_path, GOLDEN), trained(tmp_path, GOLDEN))
    assert ended.code == 0
    assert (answer["pass"], answer["steps"], answer["mean_rel"], answer["first_beyond"]) == (True, 100, 0, None)
    assert answer["noise"] is None
    assert [event.key for event in events_of(run) if hasattr(event, "key")] == [
        "precision.losses.limits_default",
        "precision.losses.limits_spikes",
        "precision.losses.pass",
    ]


def test_that_losses_apart_are_a_no(tmp_path: Path) -> None:
    off = [*GOLDEN[:60], *(loss * 1.2 for loss in GOLDEN[60:])]
    ended, answer, run = compared(tmp_path, trained(tmp_path, off), trained(tmp_path, GOLDEN))
    assert (ended.code, ended.reason) == (3, "no")
    assert (answer["verdict"], answer["first_beyond"], answer["mean_rel"]) == ("differs", 61, pytest.approx(0.08))
    assert [event.rule for event in events_of(run) if hasattr(event, "rule")] == ["precision.losses.differ_mean"]


def test_that_the_noise_of_a_second_golden_run_counts(tmp_path: Path) -> None:
    runs_of = [
        trained(tmp_path, [loss * (1 + sign * 0.02 * (-1) ** step) for step, loss in enumerate(GOLDEN)])
        for sign in (1, 0, -1)
    ]
    assert compared(tmp_path, runs_of[0], runs_of[1])[0].code == 3
    ended, answer, _ = compared(tmp_path, runs_of[0], runs_of[1], again=runs_of[2])
    assert (ended.code, answer["limit"]) == (0, pytest.approx(0.04))


def test_that_a_nan_on_one_side_is_a_no_and_can_be_read_as_json(tmp_path: Path) -> None:
    broken = trained(tmp_path, [*GOLDEN[:10], "NaN", *GOLDEN[11:]])
    ended, answer, _ = compared(tmp_path, broken, trained(tmp_path, GOLDEN))
    assert (ended.code, answer["verdict"], answer["nonfinite"]) == (3, "nonfinite", 11)


def test_that_a_later_attempt_hides_what_it_went_over_again(tmp_path: Path) -> None:
    resumed = trained(tmp_path, [*GOLDEN[:50], *([9.0] * 10)], is_over=False)
    later = Journal(resumed.folder, 2)
    later.write(*(Metric(step=step, values={"loss": GOLDEN[step - 1]}) for step in range(51, 101)), Ended(code=0))
    ended, answer, _ = compared(tmp_path, resumed, trained(tmp_path, GOLDEN))
    assert (ended.code, answer["steps"], answer["max_abs"]) == (0, 100, 0)


def test_that_a_missing_metric_says_which_there_are(tmp_path: Path) -> None:
    with pytest.raises(StudioError) as error:
        compared(tmp_path, trained(tmp_path, GOLDEN), trained(tmp_path, GOLDEN, name="train_loss"))
    assert error.value.key == "precision.losses.no_metric"
    assert error.value.values["known"] == "train_loss"


def test_that_steps_behind_those_asked_for_are_said_not_to_be_compared(tmp_path: Path) -> None:
    ended, _, run = compared(tmp_path, trained(tmp_path, GOLDEN), trained(tmp_path, GOLDEN), loss_steps=3)
    said = [sentence_of(event) for event in events_of(run) if isinstance(event, Note)]
    assert (ended.code, "first 3 of 100 steps" in said[-1], "which is all" in said[-1]) == (0, True, False)


def test_that_a_drift_that_grows_steadily_fails_and_its_limit_is_printed(tmp_path: Path) -> None:
    drift = [loss * (1 + 0.0195 * step / 99) for step, loss in enumerate(GOLDEN)]
    ended, answer, run = compared(tmp_path, trained(tmp_path, drift), trained(tmp_path, GOLDEN))
    assert (ended.code, answer["verdict"], answer["exceeded"]) == (3, "differs", ["trend"])
    assert "precision.losses.differ_trend" in rules_of(run)
    assert any(
        "growth over the run 1.000%" in sentence_of(event) for event in events_of(run) if isinstance(event, Note)
    )
    wobble = [loss * (1 + 0.012 * (-1) ** step) for step, loss in enumerate(GOLDEN)]
    assert compared(tmp_path, trained(tmp_path, wobble), trained(tmp_path, GOLDEN), allow_losses=0.013)[0].code == 0


def test_that_a_golden_run_that_is_shifted_throughout_is_no_noise(tmp_path: Path) -> None:
    shifted = trained(tmp_path, [loss * 1.05 for loss in GOLDEN])
    target = trained(tmp_path, [loss * 1.03 for loss in GOLDEN])
    ended, answer, _ = compared(tmp_path, target, trained(tmp_path, GOLDEN), again=shifted)
    assert (ended.code, answer["noise_problem"], answer["limit"]) == (3, "biased", 0.01)


def test_that_a_run_compared_with_itself_is_refused(tmp_path: Path) -> None:
    run = trained(tmp_path, GOLDEN)
    (tmp_path / "link").symlink_to(run.folder)
    done = studio("compare-losses", str(run.folder), str(tmp_path / "link"), cwd=tmp_path)
    assert (done.returncode, "nothing was compared with another" in done.stderr) == (2, True)


def test_that_another_metric_may_be_named(tmp_path: Path) -> None:
    pair = [trained(tmp_path, GOLDEN, name="损失") for _ in range(2)]
    assert compared(tmp_path, *pair, metric="损失")[0].code == 0


def test_that_too_few_steps_are_a_no(tmp_path: Path) -> None:
    ended, answer, _ = compared(tmp_path, trained(tmp_path, GOLDEN[:20]), trained(tmp_path, GOLDEN), loss_steps=50)
    assert (ended.code, answer["verdict"], answer["steps"]) == (3, "too_few", 20)


def test_that_runs_that_train_are_followed_to_their_end(tmp_path: Path) -> None:
    target, golden = trained(tmp_path, GOLDEN[:5], is_over=False), trained(tmp_path, GOLDEN)
    line = [
        sys.executable, "-I", str(MAIN), "--no-project", "compare-losses", str(target.folder), str(golden.folder),
        "--follow", "--json",
    ]  # fmt: skip
    child = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        folder = tmp_path / "home" / "state" / "ascend-studio" / "runs"
        wait_for(lambda: [run for run in runs.runs_in(folder) if result.read_losses(run.folder).get("steps") == 5])
        assert child.poll() is None
        journal = Journal(target.folder, 1)
        journal.write(*(Metric(step=step, values={"loss": GOLDEN[step - 1]}) for step in range(6, 101)), Ended(code=0))
        out, error = child.communicate(timeout=300)
    finally:
        child.kill()
    assert child.returncode == 0, error
    assert '"steps": 100' in out


def test_that_the_command_line_finds_runs_and_ends_with_3(tmp_path: Path) -> None:
    off, golden = trained(tmp_path, [loss * 2 for loss in GOLDEN]), trained(tmp_path, GOLDEN)
    done = studio("compare-losses", str(off.folder), str(golden.folder), "--steps", "50", "--json", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert last_json(done)["mean_rel"] == pytest.approx(1)
    done = studio("compare-losses", str(off.folder), str(golden.folder), "--allow", "1.5", cwd=tmp_path)
    assert done.returncode == 0
    assert "150" in done.stderr


def test_that_the_noise_is_not_taken_from_the_target_or_the_golden_run_itself(tmp_path: Path) -> None:
    target, golden = trained(tmp_path, GOLDEN), trained(tmp_path, [loss * 1.2 for loss in GOLDEN])
    for again in (target, golden):
        words = ("compare-losses", str(target.folder), str(golden.folder), "--golden-again", str(again.folder))
        done = studio(*words, cwd=tmp_path)
        assert (done.returncode, "run of its own" in done.stderr) == (2, True)


def test_that_a_run_that_still_works_is_no_pass(tmp_path: Path) -> None:
    golden = trained(tmp_path, GOLDEN)
    live = trained(tmp_path, GOLDEN[:30], is_over=False)
    ended, _, run = compared(tmp_path, live, golden)
    assert ended.code == 3
    assert [event.rule for event in events_of(run) if hasattr(event, "rule")] == ["precision.losses.running"]
    assert compared(tmp_path, live, golden, loss_steps=30)[0].code == 0


def test_that_a_second_golden_run_without_the_metric_is_named(tmp_path: Path) -> None:
    without = trained(tmp_path, GOLDEN, name="accuracy")
    with pytest.raises(StudioError, match=without.name):
        compared(tmp_path, trained(tmp_path, GOLDEN), trained(tmp_path, GOLDEN), again=without)


def test_that_a_second_golden_run_of_half_of_the_steps_is_remarked_on(tmp_path: Path) -> None:
    golden, half = trained(tmp_path, GOLDEN), trained(tmp_path, GOLDEN[:50])
    _, _, run = compared(tmp_path, trained(tmp_path, GOLDEN), golden, again=half)
    assert rules_of(run) == ["precision.losses.noise_short"]
    assert "(50 of 100)" in sentence_of(next(event for event in events_of(run) if isinstance(event, Finding)))


def test_that_a_run_that_failed_is_remarked_on(tmp_path: Path) -> None:
    crashed = trained(tmp_path, GOLDEN, code=9)
    ended, _, run = compared(tmp_path, crashed, trained(tmp_path, GOLDEN))
    assert (ended.code, rules_of(run)) == (3, ["precision.losses.run_failed", "precision.losses.target_failed"])
    ended, _, run = compared(tmp_path, crashed, trained(tmp_path, GOLDEN), loss_steps=100)
    assert (ended.code, rules_of(run)) == (0, ["precision.losses.run_failed"])
    ended, _, run = compared(tmp_path, trained(tmp_path, GOLDEN[:40], code=1), trained(tmp_path, GOLDEN))
    assert (ended.code, rules_of(run)) == (3, ["precision.losses.run_failed", "precision.losses.incomplete"])


def test_that_a_golden_loss_of_0_makes_no_absurd_percent(tmp_path: Path) -> None:
    zero, target = [*GOLDEN[:-1], 0.0], [*GOLDEN[:-1], 0.5]
    ended, answer, run = compared(tmp_path, trained(tmp_path, target), trained(tmp_path, zero))
    sentences = [sentence_of(event) for event in events_of(run) if isinstance(event, (Finding, Note))]
    assert (ended.code, answer["zero_golden"]) == (3, 100)
    assert "mean relative error is >1000%" in sentences[-1]
    assert "At step 100 the golden loss is 0" in sentences[-2]
    assert not [sentence for sentence in sentences if "000000" in sentence]


def test_that_one_step_is_not_called_steps(tmp_path: Path) -> None:
    _, _, run = compared(tmp_path, trained(tmp_path, GOLDEN[:1]), trained(tmp_path, GOLDEN))
    assert "1 steps" not in sentence_of(next(event for event in events_of(run) if isinstance(event, Finding)))
    _, _, run = compared(tmp_path, trained(tmp_path, GOLDEN[:1]), trained(tmp_path, GOLDEN[:1]))
    assert "1 steps" not in " ".join(sentence_of(event) for event in events_of(run) if isinstance(event, Note))
