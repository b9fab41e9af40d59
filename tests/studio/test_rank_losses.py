"""A loss of a run with several ranks is their mean wherever it is one figure, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.common.run_status import RunStatus
from studio import run as runs
from studio.events import Ended, Finding, Journal, Metric
from studio.follow import follow
from studio.rank_losses import MOST_RANKS, losses_of
from studio.sentences import loss_text, sentence_of
from studio.texts import t

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

NAN = Finding(rule="run.nonfinite", severity="warning", args={"step": 5, "name": "loss", "value": "NaN"})


def write(run: Run, rank: int, losses: dict[int, float], *, pid: int = 0, attempt: int = 1) -> None:
    lines = [
        f'{{"type":"metric","time":1,"step":{step},"values":{{"loss":{loss},"lr":0.5}}}}\n'
        for step, loss in losses.items()
    ]
    (run.folder / f"events.a{attempt}.r{rank}.p{pid or 100 + rank}.jsonl").write_text("".join(lines))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return runs.create(tmp_path, "launch", {})


def test_that_a_glance_has_the_mean_at_the_last_step_that_all_ranks_have(run: Run) -> None:
    write(run, 0, {1: 1.0, 2: 2.0, 3: 9.0})
    write(run, 1, {1: 3.0, 2: 4.0})
    glance = runs.glance(run)
    assert (glance.values, glance.is_mean, glance.ranks) == ({"loss": 3.0, "lr": 0.5}, True, 2)
    assert glance.mean_step == 2
    assert loss_text(glance).endswith(t("run.figure_of_ranks", figure="3", ranks=2))
    assert loss_text(glance, is_short=True) == t("run.mean_loss", loss="3")


def test_that_one_rank_has_its_own_loss(run: Run) -> None:
    write(run, 0, {1: 1.0, 2: 2.0})
    glance = runs.glance(run)
    assert (glance.values["loss"], glance.is_mean) == (2.0, False)
    assert loss_text(glance) == "loss 2"


def test_that_ranks_without_a_common_step_show_the_first_and_say_so(run: Run) -> None:
    write(run, 0, {5: 1.0})
    write(run, 1, {1: 3.0})
    glance = runs.glance(run)
    assert (glance.values["loss"], glance.is_mean) == (1.0, False)
    assert loss_text(glance) == t("run.loss_of_first", loss="1")


def test_that_two_processes_of_one_rank_have_no_mean(run: Run) -> None:
    write(run, 0, {1: 1.0})
    write(run, 0, {1: 3.0}, pid=7)
    write(run, 1, {1: 5.0})
    assert losses_of(run.folder).means() == []


def test_that_a_run_with_too_many_ranks_for_a_list_says_whose_loss_it_shows(run: Run) -> None:
    for rank in range(MOST_RANKS + 1):
        write(run, rank, {1: 1.0 + rank})
    assert loss_text(runs.glance(run)) == t("run.loss_of_first", loss="1")


def test_that_a_later_attempt_is_a_mean_of_its_own(run: Run) -> None:
    write(run, 0, {1: 1.0})
    write(run, 1, {1: 3.0})
    write(run, 0, {1: 5.0}, attempt=2)
    write(run, 1, {1: 7.0}, attempt=2)
    assert runs.glance(run).values["loss"] == 6.0


def test_that_a_terminal_shows_the_mean_and_names_the_ranks_of_a_nan_once(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    for rank in (0, 1):
        write(run, rank, {1: 1.0 + 2 * rank})
        with (run.folder / f"events.a1.r{rank}.p{100 + rank}.jsonl").open("a") as file:
            file.write('{"type":"finding","time":2,"rule":"run.nonfinite","severity":"warning",')
            file.write('"args":{"step":5,"name":"loss","value":"NaN"}}\n')
    Journal(run.folder, 1).write(Ended(code=0))
    lines: list[str] = []
    follow(run, lines.append, may_revive=False)
    assert [line for line in lines if line.startswith("Rank")] == [f"Rank 0, 1: {sentence_of(NAN)}"]
    assert any(t("run.figure_of_ranks", figure="2", ranks=2) in line for line in (*lines, capsys.readouterr().err))


def test_that_a_mean_beside_figures_of_a_later_step_says_of_which_it_is(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rank 1 stood still after its second step, rank 0 went on."""
    write(run, 0, {1: 1.0, 2: 2.0, 20: 9.0})
    write(run, 1, {1: 3.0, 2: 4.0})
    Journal(run.folder, 1).write(Ended(code=0))
    lines: list[str] = []
    follow(run, lines.append, may_revive=False)
    told = t("run.figure_of_ranks_at", figure="3", ranks=2, step=2)
    assert any(told in line for line in (*lines, capsys.readouterr().err))


def test_that_the_window_tells_a_nan_of_several_ranks_once_with_its_ranks() -> None:
    status = RunStatus()
    metric = Metric(step=1, values={"loss": 1.0})
    later = Finding(rule=NAN.rule, severity="warning", args={**NAN.args, "step": 7})
    for rank, finding in enumerate((NAN, NAN, later)):
        status.extend(1, rank, [metric, finding])
    assert list(map(sentence_of, status.findings)) == [
        f"Rank 0, 1: {sentence_of(NAN)}",
        f"Rank 2: {sentence_of(later)}",
    ]


def test_that_a_run_of_one_rank_names_none() -> None:
    status = RunStatus()
    status.extend(1, 0, [NAN])
    assert list(map(sentence_of, status.findings)) == [sentence_of(NAN)]


def test_that_the_basis_is_of_the_loss_alone_and_other_losses_stay_those_of_rank_0(run: Run) -> None:
    for rank, loss in ((0, 1.0), (1, 3.0)):
        line = f'{{"type":"metric","time":1,"step":{rank + 1},"values":{{"loss":{loss}}}}}\n'
        line += f'{{"type":"metric","time":1,"step":9,"values":{{"val_loss":{loss}}}}}\n'
        (run.folder / f"events.a1.r{rank}.p{rank + 1}.jsonl").write_text(line)
    glance = runs.glance(run)
    assert (glance.is_mean, glance.values) == (False, {"loss": 1.0, "val_loss": 1.0})


def test_that_a_mean_that_is_no_number_is_the_same_glance_each_time(run: Run) -> None:
    write(run, 0, {1: 1.0})
    write(run, 1, {1: 3.0})
    path = next(run.folder.glob("events.a1.r1.*"))
    path.write_text(path.read_text().replace("3.0", '"NaN"'))
    first, second = runs.glance(run), runs.glance(run)
    assert first.is_mean
    assert first == second
