"""Curves out of output.log: written where the training writes no loss, once, whatever the log holds."""

from __future__ import annotations

import math
import os
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.launch.own.log_curves import NOTE, LogCurves, Steps
from studio import run as runs
from studio.errors import StudioError
from studio.events import Ended, Journal, Metric, Note, Progress, name_of
from studio.paths import ROOT
from tests.runs import events_of

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

RECORDED = ROOT / "tests" / "recorded" / "log_lines"


def new_run(folder: Path) -> Run:
    return runs.create(folder, "script", {})


def print_to(run: Run, *lines: str, end: str = "\n") -> None:
    with run.log.open("ab") as log:
        log.write(("\n".join(lines) + end).encode())


def points(run: Run, name: str = "loss") -> list[tuple[int, Any]]:
    found = [event for event in events_of(run) if isinstance(event, Metric) and name in event.values]
    return [(event.step, event.values[name]) for event in found]


def curves_of(run: Run, *lines: str, **given: str) -> list[tuple[int, Any]]:
    print_to(run, *lines)
    LogCurves(run, **given).finish()
    return points(run)


@pytest.mark.parametrize(
    ("lines", "done", "total", "phase"),
    [
        (["step 8/20 loss 0.5"], 8, 20, "train"),
        (["Epoch 2/10 - loss: 0.6", "Epoch 3/10 - loss: 0.5"], 3, 10, "train"),
        (["Epoch 3/3 step 40/100 loss 0.5"], 3, 3, "train"),
        ([f"step {step}/20 loss 0.5" for step in range(0, 20)], 20, 20, "train"),
        ([f"step {step} of 100 loss 0.5" for step in range(0, 100, 10)], 100, 100, "train"),
        (["第 8/20 步 损失 0.5"], 8, 20, "train"),
        (["step 8/20 loss 0.5", "Early stopping: no better since step 3"], 8, 20, "finish"),
    ],
)
def test_that_the_counts_of_a_log_say_how_far_the_training_came(
    tmp_path: Path, lines: list[str], done: int, total: int, phase: str
) -> None:
    run = new_run(tmp_path)
    assert curves_of(run, *lines)
    (progress,) = [event for event in events_of(run) if isinstance(event, Progress)]
    assert (progress.done, progress.total, progress.phase) == (done, total, phase)


def test_that_a_log_without_counts_says_nothing_of_its_length(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    assert curves_of(run, "step 8 loss 0.5 acc 3/4", "loaded 5/10 files")
    assert not [event for event in events_of(run) if isinstance(event, Progress)]


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("step 3 loss np.float32(0.25)", 0.25), ("step 3 loss np.float64(nan)", "NaN"), ("第 3 步 损失 nan", "NaN"),
        ("第 3 步 损失 0.25", 0.25),
    ],
)  # fmt: skip
def test_that_numbers_of_numpy_and_chinese_lines_are_read(tmp_path: Path, line: str, value: Any) -> None:
    assert curves_of(new_run(tmp_path), line) == [(3, value)]


def test_that_an_accuracy_that_is_nan_is_no_earlier_accuracy(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    curves_of(run, "step 1 loss 0.5 acc: 0.5", "step 2 loss 0.4 acc: nan")
    assert points(run, "accuracy") == [(1, 0.5), (2, "NaN")]


def hook_writes(run: Run, pid: int, text: str) -> None:
    with (run.folder / name_of(1, 0, pid)).open("a") as file:
        file.write(f'{{"type":"metric","time":1,"step":0,"values":{{{text}}}}}\n')


def test_that_a_growing_log_becomes_curves_once(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    curves = LogCurves(run)
    curves.tick()
    print_to(run, "loading", "iter 0: loss 4.5, time 100.00ms", "iter 1: loss 4.", end="")
    curves.tick()
    print_to(run, "25, time 90.00ms", "step 1: train loss 4.1, val loss 4.2")
    curves.tick()
    curves.tick()
    assert points(run) == [(0, 4.5), (1, 4.25)]
    assert points(run, "step_time") == [(0, 0.1), (1, 0.09)]
    print_to(run, "iter 2: loss nan, time 90.00ms", end="")
    curves.finish()
    curves.finish()
    curves.tick()
    assert points(run)[-1] == (2, "NaN")
    assert len(points(run)) == 3
    notes = [event for event in events_of(run) if isinstance(event, Note)]
    assert [(note.key, note.args["pattern"]) for note in notes] == [(NOTE, "nanogpt")]
    assert curves.pattern is not None


def test_that_auto_is_silent_where_the_training_writes_losses(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    curves = LogCurves(run)
    hook_writes(run, 77, '"step_time":0.1')  # no loss: the log is still needed
    print_to(run, "iter 0: loss 4.5, time 1.00ms")
    curves.tick()
    hook_writes(run, 77, '"loss":4.5')  # said before the line is half a second old
    curves.tick()
    print_to(run, "iter 1: loss 4.5, time 1.00ms")
    curves.finish()
    assert points(run) == [(0, 4.5)]
    assert not (run.folder / name_of(1, 0, os.getpid())).exists()
    LogCurves(run, "nanogpt").finish()  # a pattern that was asked for is read all the same
    assert sorted(points(run)) == [(0, 4.5), (0, 4.5), (1, 4.5)]


def test_that_off_reads_nothing_and_a_wrong_own_pattern_is_refused(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    assert curves_of(run, "iter 0: loss 4.5, time 1.00ms", choice="off") == []
    with pytest.raises(StudioError):
        LogCurves(run, "own", "(")
    assert curves_of(run, "it=3 l=2", "it=4 l=1", choice="own", own="it={step} l={loss}") == [(3, 2.0), (4, 1.0)]


def test_that_a_specific_pattern_takes_over_from_the_general_one(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    curves = LogCurves(run)
    print_to(run, "initial loss: 9")
    curves.tick()
    print_to(run, *(f"iter {step}: loss {step}.5, time 1ms" for step in range(3)))
    curves.tick()
    curves.finish()
    assert points(run)[-2:] == [(1, 1.5), (2, 2.5)]
    assert curves.pattern is not None
    assert curves.pattern.id == "nanogpt"


def test_that_steps_go_on_over_epochs() -> None:
    steps = Steps()
    assert [steps.of({"epoch": epoch, "step": step, "steps": 10}) for epoch, step in ((0, 5), (0, 10), (1, 5))] == [
        5,
        10,
        15,
    ]
    steps = Steps()
    assert [steps.of({"epoch": epoch, "step": 5, "steps": 10}) for epoch in (1, 2, 3)] == [5, 15, 25]
    steps = Steps()  # nothing numbers the epochs
    assert [steps.of({"step": step, "steps": 3}) for step in (1, 2, 3, 1, 2, 3, 1)] == [1, 2, 3, 4, 5, 6, 7]
    steps = Steps()  # nothing tells how long they are
    seen = [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1)]
    assert [steps.of({"epoch": epoch, "step": step}) for epoch, step in seen] == [1, 2, 3, 4, 5, 6, 7]
    steps = Steps()
    assert [steps.of({"epoch": epoch, "step": step}) for epoch, step in ((0, 0), (0, 1), (1, 0), (1, 1))] == [
        0,
        1,
        2,
        3,
    ]
    steps = Steps()  # steps that are counted over all epochs
    assert [steps.of({"epoch": epoch, "step": step, "steps": 30}) for epoch, step in ((0, 5), (1, 15))] == [5, 15]
    steps = Steps()
    assert [steps.of({}) for _ in range(3)] == [0, 1, 2]


def test_that_mindspores_own_monitor_is_read_over_its_epochs(tmp_path: Path) -> None:
    found = curves_of(new_run(tmp_path), (RECORDED / "mindspore.log").read_text())
    assert [step for step, _ in found] == [1, 2, 3, 4, 5, 6]
    assert [value for _, value in found][::5] == [3.0196101665496826, 0.18809044361114502]


def test_that_the_last_state_of_a_progress_bar_counts(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    print_to(run, (RECORDED / "tqdm.log").read_text().replace("\n", "\r"), end="")
    LogCurves(run).finish()
    assert points(run) == [(1, 10.473), (2, 10.224), (3, 10.047)]


def test_that_the_bar_beside_a_line_tells_its_step(tmp_path: Path) -> None:
    run = new_run(tmp_path / "a")
    assert curves_of(run, (RECORDED / "transformers.log").read_text()) == [(320, 1.6693)]
    assert points(run, "lr") == [(320, 0.0001977758764447498)]
    run = new_run(tmp_path / "b")
    found = curves_of(run, (RECORDED / "transformers_no_bar.log").read_text())
    assert found == [(0, 2.119), (1, 1.6462), (2, 1.5798)]


def test_that_several_ranks_that_print_the_same_are_one_curve(tmp_path: Path) -> None:
    lines = [f"step: {step}  loss: {step}.5" for step in (1, 2, 3) for _rank in range(4)]
    assert curves_of(new_run(tmp_path), *lines) == [(1, 1.5), (2, 2.5), (3, 3.5)]


def test_that_a_worker_that_takes_over_writes_no_point_twice(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    lines = [f"iter {step}: loss {step}.5, time 1ms" for step in range(6)]
    curves_of(run, *lines[:3])
    (run.folder / name_of(1, 0, os.getpid())).rename(run.folder / name_of(1, 0, 4242))
    assert sorted(curves_of(run, *lines[3:])) == [(step, step + 0.5) for step in range(6)]
    assert len([event for event in events_of(run) if isinstance(event, Note)]) == 1


def test_that_the_last_lines_count_where_only_the_exit_tells_the_end(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    curves = LogCurves(run)
    print_to(run, "iter 0: loss 4.5, time 1.00ms", "iter 1: loss 4.0", end="")
    (run.folder / "exit.a1").write_text("0\n")
    curves.tick()
    assert points(run) == [(0, 4.5), (1, 4.0)]


def test_that_a_long_log_is_read_to_its_end(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    with run.log.open("w") as log:
        for step in range(20_000):
            log.write(f"iter {step}: loss 1.5, time 1.00ms\n{'x' * 100}\n")
    LogCurves(run).finish()
    found = points(run)
    assert len(found) == 20_000
    assert found[-1] == (19_999, 1.5)


def test_that_points_that_a_full_disk_refuses_until_the_end_wait_for_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = new_run(tmp_path)
    print_to(run, *(f"step {step}: loss {step}.5" for step in range(1, 21)))
    with monkeypatch.context() as disk:
        disk.setattr(
            "studio.events.files.open_append", lambda path: (_ for _ in ()).throw(OSError(28, "full", str(path)))
        )
        curves = LogCurves(run)
        curves.tick()
        curves.finish()
        curves.finish()
    assert points(run) == []
    Journal(run.folder, 1).write_or_keep(Ended(code=4))
    assert points(run) == [(step, step + 0.5) for step in range(1, 21)]


def test_that_a_log_that_is_no_file_is_left_alone(tmp_path: Path) -> None:
    run = new_run(tmp_path)
    run.log.mkdir()
    curves = LogCurves(run)
    curves.tick()
    curves.finish()
    assert events_of(run) == []


@settings(max_examples=100, deadline=None)
@given(
    parts=st.lists(
        st.binary(max_size=60)
        | st.sampled_from(
            [b"iter 7: loss ", b"loss: 1", b"\r", b"\n", b"{'loss': 2.0, ", b"3/9 [", b"9" * 400, b"\x1b[31m"]
        ),
        max_size=20,
    ),
    choice=st.sampled_from(["auto", "transformers", "tqdm", "any"]),
)
def test_that_no_log_raises_and_every_value_is_a_number(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], choice: str
) -> None:
    run = new_run(tmp_path_factory.mktemp("runs"))
    curves = LogCurves(run, choice)
    for part in parts:
        with run.log.open("ab") as log:
            log.write(part)
        curves.tick()
    curves.finish()
    assert all(isinstance(value, str) or math.isfinite(value) for _, value in points(run))


@pytest.mark.parametrize(
    ("choice", "own", "line", "unread"),
    [
        ("own", "zzz{loss}", "step 1 loss 0.5", "own"), ("megatron", "", "step 1 loss 0.5", "megatron"),
        ("own", "step {step} loss {loss}", "step 1 loss 0.5", ""), ("auto", "", "nothing", ""),
        ("off", "", "nothing", ""),
    ],
)  # fmt: skip
def test_that_a_chosen_pattern_that_no_line_fits_is_known(
    tmp_path: Path, choice: str, own: str, line: str, unread: str
) -> None:
    run = new_run(tmp_path)
    print_to(run, line)
    curves = LogCurves(run, choice, own)
    curves.finish()
    assert curves.unread_pattern == unread
