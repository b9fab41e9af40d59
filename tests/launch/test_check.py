"""Check first: its guard, its figures, and `ascend-studio check-first` with real trainings."""

from __future__ import annotations

import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.common.summary import Evaluations, Summary
from backends.launch.check import figures, largest
from backends.launch.check.answer import FILE, Refusal, answer_in, refusal_in
from backends.launch.check.guard import Guarded, Limits, run_guarded
from backends.launch.check.host import Load, free_memory
from backends.launch.check.largest import Point
from backends.launch.check.messages import answer_values, messages, time_text
from backends.launch.check.predictions import check_before, last_check, prediction_pairs
from backends.launch.check.spec import CheckSpec, check_of
from backends.launch.check.trial import Trial, spec_of
from backends.launch.check.work import max_samples, on_this_host
from backends.launch.checkpoints import step_of
from backends.launch.spec import LaunchSpec
from studio import files, processes, schema, texts, worker
from studio import run as runs
from studio.command import Command
from tests.command_line import last_json, studio
from tests.launch.check_answers import MB, answer, search_result
from tests.launch.check_answers import answer as answer_of_check
from tests.launch.engine_process import check_fresh, needs_mindspore
from tests.launch.specs import launch_spec
from tests.runs import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from studio.run import Run

PLENTY = Limits(memory=1 << 40, seconds=600, space=0)


# The guard


def guarded(folder: Path, script: str, limits: Limits) -> Guarded:
    """Runs Python code under the guard, in a run of its own."""
    run = runs.create(folder, "check-first", {})
    return run_guarded(Command(argv=(sys.executable, "-c", script), cwd=run.folder), run, run.log, limits)


def test_that_a_command_within_its_limits_ends_with_its_own_code(tmp_path: Path) -> None:
    ended = guarded(tmp_path, "print('here'); raise SystemExit(7)", PLENTY)
    assert (ended.code, ended.cut) == (7, "")
    (run,) = runs.runs_in(tmp_path)
    assert run.log.read_text() == "here\n"


def test_that_a_time_whose_error_is_larger_is_told_by_its_upper_end() -> None:
    """878 ms ± 1.4 s would reach below zero."""
    assert time_text(figures.Estimate(value=0.5, error=0.7)) == "500 ms (≤ 1.2 s)"
    assert time_text(figures.Estimate(value=0.5, error=0.1)) == "500 ms ± 100 ms"


def test_that_too_much_memory_ends_it(tmp_path: Path) -> None:
    script = "import time\nheld = []\nwhile True: held.append(b'x' * 10**7); time.sleep(0.01)"
    ended = guarded(tmp_path, script, replace(PLENTY, memory=200 * MB))
    assert ended.cut == "memory"
    assert 200 * MB < ended.peak < 2000 * MB


def test_that_memory_of_its_children_counts_too(tmp_path: Path) -> None:
    child = "import time; held = b'x' * 3 * 10**8; time.sleep(60)"
    script = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], start_new_session=True)"
    assert guarded(tmp_path, script, replace(PLENTY, memory=200 * MB)).cut == "memory"
    assert not processes.marked(runs.runs_in(tmp_path)[0].folder)


def test_that_too_much_time_ends_it_and_all_that_it_started(tmp_path: Path) -> None:
    script = "import subprocess; subprocess.Popen(['setsid', 'sleep', '600']).wait()"
    ended = guarded(tmp_path, script, replace(PLENTY, seconds=0.5))
    assert ended.cut == "time"
    assert ended.seconds < 600
    assert not processes.marked(runs.runs_in(tmp_path)[0].folder)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """On a file system of its own, where nobody else writes much."""
    if not os.access("/dev/shm", os.W_OK):
        pytest.skip("no /dev/shm here")
    folder = Path(tempfile.mkdtemp(dir="/dev/shm"))
    yield folder
    shutil.rmtree(folder)


def test_that_a_disk_about_to_be_full_ends_it(small_disk: Path) -> None:
    script = "import time; open('big', 'wb').write(bytes(40 * 10**6)); time.sleep(600)"
    space = shutil.disk_usage(small_disk).free - 20 * MB
    assert guarded(small_disk, script, replace(PLENTY, seconds=600, space=space)).cut == "space"


def test_that_a_killed_worker_leaves_nothing_behind(tmp_path: Path, interpreter: Callable[[str], Path]) -> None:
    run = prepare(tmp_path, python=interpreter("sleep 600 & sleep 600"))
    pid = worker.start(run)
    trial = run.folder / "trials" / "1"
    wait_for(lambda: len(processes.marked(trial)) >= 3, what="the trial runs")
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    wait_for(lambda: not processes.marked(trial), what="nothing is left")
    assert runs.glance(run).state == "interrupted"
    worker.start(run)
    wait_for(lambda: len(processes.marked(trial)) >= 3, what="the next worker begins again")
    assert worker.stop(run)
    wait_for(lambda: runs.glance(run).state == "ended", what="the check ends")


def test_that_a_stop_ends_the_trial_at_once(tmp_path: Path, interpreter: Callable[[str], Path]) -> None:
    run = prepare(tmp_path, python=interpreter("trap '' TERM; sleep 600"))
    worker.start(run)
    wait_for(lambda: processes.marked(run.folder / "trials" / "1"), what="the trial runs")
    assert worker.stop(run)
    wait_for(lambda: runs.glance(run).state == "ended", what="the check ends")
    assert (runs.glance(run).reason, runs.glance(run).code) == ("stopped", 143)
    assert not processes.marked(run.folder / "trials" / "1")


def prepare(folder: Path, **chosen: Any) -> Run:
    spec = CheckSpec()
    for name, value in chosen.items():
        spec = schema.with_value(spec, name, value)
    folder.mkdir(exist_ok=True)
    return runs.create(folder, "check-first", schema.to_json(spec))


def test_that_a_check_over_its_time_is_cut_off_with_a_sentence(
    tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    python = interpreter("sleep 600")
    done = studio("check-first", "--python", str(python), "--time-limit", "0.5", "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert "The check was cut off after 500 ms; steps done by then: 0." in done.stderr
    assert last_json(done)["state"] == "ended"


def test_that_a_training_that_fails_says_why_and_the_check_with_it(
    tmp_path: Path, interpreter: Callable[[str], Path]
) -> None:
    python = interpreter("echo \"ModuleNotFoundError: No module named 'mindspore'\"; exit 1")
    done = studio("check-first", "--python", str(python), "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert "mindspore" in done.stderr
    assert last_json(done)["metrics"] == {}


# How much memory there is


def tree(root: Path, contents: dict[str, str]) -> Path:
    for name, text in {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n", **contents}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def test_that_a_host_without_cgroups_gives_what_is_available(tmp_path: Path) -> None:
    assert free_memory(tree(tmp_path, {})) == 8000 * 1024


def test_that_the_tightest_cgroup_above_counts(tmp_path: Path) -> None:
    contents = {
        "proc/self/cgroup": "0::/job/task\n",
        "sys/fs/cgroup/job/task/memory.max": "max\n",
        "sys/fs/cgroup/job/task/memory.current": "10\n",
        "sys/fs/cgroup/job/memory.max": "5000000\n",
        "sys/fs/cgroup/job/memory.current": "2000000\n",
        "sys/fs/cgroup/job/memory.stat": "anon 1\ninactive_file 300000\n",
    }
    assert free_memory(tree(tmp_path, contents)) == 3_300_000


def test_that_version_one_of_cgroups_counts_too(tmp_path: Path) -> None:
    base = "sys/fs/cgroup/memory/job"
    contents = {
        "proc/self/cgroup": "3:cpu:/\n4:memory,rdma:/job\n",
        f"{base}/memory.limit_in_bytes": "4000000\n",
        f"{base}/memory.usage_in_bytes": "1000000\n",
        f"{base}/memory.stat": "cache 1\ntotal_inactive_file 0\n",
    }
    assert free_memory(tree(tmp_path, contents)) == 3_000_000


# What follows from a few steps


def trial(**changes: Any) -> Trial:
    summary = Summary(
        compile_seconds=1.0, first_seconds=1.0, train_seconds=2.2, run_seconds=6.5, peak_bytes=500 * MB,
        evaluations=Evaluations(count=2, first=0.5, last=0.1, all=0.6, every=10),
    )  # fmt: skip
    steps = (1.0, *([0.1] * 17))
    made = Trial(
        batch=32, guarded=Guarded(code=0, cut="", peak=1, seconds=7.0), steps=steps, summary=summary, device="cpu",
        checkpoint=1000, pause=0.01, errors=(),
    )  # fmt: skip
    return replace(made, **changes)


def test_that_the_first_step_is_no_measure_of_the_others() -> None:
    assert figures.step_of([9.0, 0.2, 0.4]).value == pytest.approx(0.3)
    assert figures.step_of([9.0, 0.3]).error is None


def test_that_the_error_of_two_steps_is_that_of_two_steps() -> None:
    """A mean of two values is known to 6.3 s / sqrt(2) in nine of ten cases, of twelve to 1.8 s / sqrt(12)."""
    two = figures.step_of([9.0, 1.1, 1.4])
    twelve = figures.step_of([9.0, *([1.1, 1.4] * 6)])
    assert two.error is not None
    assert twelve.error is not None
    assert two.error == pytest.approx(math.hypot(6.314 * 0.2121 / 2**0.5, figures.RUN_NOISE * 1.25), rel=1e-3)
    assert twelve.error < 0.3 * two.error


def test_that_trials_tell_together_what_starts_and_steps_differ_by() -> None:
    short, long = trial(steps=(3.0, 0.1, 0.1)), trial(steps=(1.0, *([0.3] * 16)))
    assert figures.step_of(short.steps, long.steps).error == pytest.approx(0.1, rel=1)
    assert (figures.mean_of([3.0, 1.0, 2.0]).error or 0) > 2.0
    assert (figures.highest_of([500.0]).error or 0) == pytest.approx(0.04 * 500)


def test_that_a_training_that_slows_down_makes_the_error_larger() -> None:
    steps = [9.0, *([0.1] * 20), *([0.3] * 20)]
    assert figures.step_of(steps).error == pytest.approx(math.hypot(0.2, figures.RUN_NOISE * 0.2))


def test_that_another_process_is_expected_to_be_slower_or_faster_though_all_steps_are_equal() -> None:
    assert figures.step_of([9.0, *([0.1] * 20)]).error == pytest.approx(figures.RUN_NOISE * 0.1)


def test_that_the_total_is_the_start_the_first_step_the_others_and_the_evaluations() -> None:
    # 6.5 s in all, of which steps 2.7 and evaluations 0.6; 2.2 - 0.5 s for 17 steps with their recording.
    one = trial()
    assert figures.pace_of(one) == pytest.approx(0.1)
    total = figures.total_of([one], steps=31, checkpoints=1)
    assert total.value == pytest.approx((6.5 - 2.7 - 0.6) + 1.0 + 30 * 0.1 + 0.5 + 3 * 0.1)
    assert figures.total_of([one], 31, checkpoints=3).value == pytest.approx(total.value + 0.02)


def test_that_the_kept_checkpoints_are_counted() -> None:
    spec = launch_spec(checkpoint_every=10, keep=3, best="loss")
    assert figures.checkpoints_written(spec, steps=40, seconds=1) == 4
    assert figures.disk_of(spec, checkpoint_bytes=100, written=4) == figures.Disk(one=100, kept=4)
    assert figures.disk_of(spec, checkpoint_bytes=100, written=2).all == 200
    assert figures.checkpoints_written(launch_spec(checkpoint_minutes=1.0), steps=40, seconds=130) == 3


def test_that_a_trial_is_the_same_training_but_for_its_length() -> None:
    spec = launch_spec(mode="jit", amp="O2", accumulate=4, parallel="data", workers=4, epochs=2.0, debug_port=5678)
    tried = spec_of(spec, 64, 3)
    assert (tried.how.batch, tried.learning.steps, tried.learning.epochs) == (64, 3, None)
    assert (tried.how.mode, tried.how.accumulate, tried.precision) == ("jit", 4, spec.precision)
    assert (tried.parallel, tried.debug.debug_port) == (spec.parallel, None)


def test_that_the_step_to_go_on_from_is_read_from_its_pointer(tmp_path: Path) -> None:
    assert step_of(tmp_path) is None
    pointer = tmp_path / "artifacts" / "checkpoints" / "last"
    pointer.parent.mkdir(parents=True)
    pointer.write_text("step-000120-3f9a1c7e")
    assert step_of(tmp_path) == 120


# The largest micro batch


def test_that_the_line_leads_to_the_largest_batch() -> None:
    answer = search_result(2000 * MB)
    assert answer.estimate == pytest.approx(1500, abs=1)
    assert 1400 <= answer.ran <= 1500


def test_that_more_than_can_be_asked_for_is_not_looked_for() -> None:
    answer = search_result(2000 * MB, most=100)
    assert (answer.ran, answer.most, answer.failed) == (100, 100, None)


def test_that_a_batch_that_fails_bounds_the_next() -> None:
    def steep(batch: int) -> Point:
        peak = 500 * MB + batch * MB + max(0, batch - 1000) * 3 * MB
        return Point(batch=batch, peak=peak, fits=peak <= 2000 * MB)

    answer = search_result(2000 * MB, attempt=steep)
    assert answer.failed is not None
    assert 900 <= answer.ran <= 1125 < answer.failed
    assert answer.estimate is None or answer.estimate < answer.failed
    assert all(point.fits == (point.batch <= 1125) for point in answer.points)


def test_that_what_cannot_be_afforded_is_an_estimate_from_what_was_run() -> None:
    answer = search_result(2000 * MB, affordable=lambda batch: batch <= 128)
    assert answer.ran == 128
    assert answer.estimate == pytest.approx(1500, abs=1)


def test_that_a_line_far_beyond_what_was_run_is_no_estimate() -> None:
    """8 and 32 samples were run: 12,868 by their line are 400 times more than anything measured."""
    points = [Point(batch=8, peak=520 * MB), Point(batch=32, peak=560 * MB)]
    answer = largest.summed_up(points, 20_000 * MB, 65536)
    assert (answer.ran, answer.estimate, answer.error, answer.verified) == (32, None, None, False)


def test_that_an_estimate_has_its_error_and_says_that_no_run_verified_it() -> None:
    points = [Point(batch=batch, peak=(500 + batch) * MB) for batch in (8, 128, 512)]
    answer = largest.summed_up(points, 1500 * MB, 65536)
    assert answer.estimate == 1000
    assert answer.error is not None
    assert 5 < answer.error < 100
    assert largest.summed_up([*points, Point(batch=980, peak=1480 * MB)], 1500 * MB, 65536).verified
    (note,) = [one for one in messages(answer_of_check(largest=answer)) if "largest" in str(getattr(one, "key", ""))]
    assert (note.key, "±" in str(note.args["estimate"])) == ("launch.check.largest", True)


def test_that_a_smaller_batch_is_run_where_the_next_would_take_too_long() -> None:
    answer = search_result(2000 * MB, affordable=lambda batch: batch <= 700)
    assert 400 <= answer.ran <= 700
    assert answer.error is not None


def test_that_peaks_that_do_not_rise_make_no_line() -> None:
    flat = search_result(
        2000 * MB, attempt=lambda batch: Point(batch=batch, peak=501 * MB), affordable=lambda b: b <= 512
    )
    assert flat.estimate is None
    assert flat.ran == 512


def test_that_another_failure_ends_the_search() -> None:
    answer = search_result(2000 * MB, attempt=lambda batch: None)
    assert (answer.ran, answer.failed, answer.estimate) == (8, None, None)


@given(st.integers(1, 1000), st.floats(0.001, 100), st.floats(1, 2000), st.integers(600, 10_000))
def test_that_no_batch_is_called_fitting_that_was_not_run(batch: int, slope: float, base: float, limit: int) -> None:
    ran = []

    def attempt(size: int) -> Point:
        ran.append(size)
        peak = int((base + slope * size) * MB)
        return Point(batch=size, peak=peak, fits=peak <= limit * MB)

    first = Point(batch=batch, peak=int((base + slope * batch) * MB))
    answer = largest.search_largest([first], limit * MB, 65536, lambda size: True, attempt)
    assert answer.ran in [batch, *ran]
    assert len(ran) == len(set(ran)) <= largest.MAX_TRIALS
    assert answer.failed is None or answer.failed > answer.ran


def test_that_workers_on_a_host_share_its_memory() -> None:
    assert on_this_host(launch_spec(parallel="data", workers=4, nodes=2)) == 4
    assert on_this_host(launch_spec()) == 1


def test_that_the_data_bounds_the_micro_batch() -> None:
    assert max_samples(launch_spec(recipe="linear", accumulate=4)) == 256
    assert max_samples(launch_spec(recipe="linear", accumulate=4, parallel="data", workers=2)) == 128
    assert max_samples(launch_spec(recipe="text")) == 65536


# The answer


def test_that_an_answer_reads_back(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    files.write_json(run.folder / FILE, answer())
    assert answer_in(run) == answer()
    assert refusal_in(run) is None
    files.write_json(run.folder / FILE, Refusal(batch=8, limit=100, refused=True))
    assert (answer_in(run), refusal_in(run)) == (None, Refusal(batch=8, limit=100, refused=True))


@settings(max_examples=25)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_that_anything_else_in_its_file_is_no_answer(value: Any) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run = prepare(Path(folder))
        files.write_json(run.folder / FILE, value)
        assert answer_in(run) is None
        assert refusal_in(run) is None


def test_that_what_was_not_measured_has_no_error_and_is_not_told() -> None:
    told = answer_values(answer(largest=None))
    assert told["step_error"] == 0.001
    assert "first_error" not in told
    assert "largest_batch_run" not in told
    assert not any("micro batch" in key for key in told)


def test_that_a_disk_too_small_and_workers_that_were_checked_together_are_said() -> None:
    keys = [getattr(one, "rule", "") or getattr(one, "key", "") for one in messages(answer(free=2999, workers=4))]
    assert "launch.check.disk_short" in keys
    assert "launch.check.together" in keys
    assert "launch.check.busy" not in keys
    assert "launch.check.disk_short" not in [getattr(one, "rule", "") for one in messages(answer(free=3000))]


def test_that_only_a_check_of_the_same_choices_before_the_run_stands_beside_it(tmp_path: Path) -> None:
    other = runs.create(tmp_path, "check-first", schema.to_json(check_of(launch_spec(recipe="linear", lr=0.2))))
    same = runs.create(tmp_path, "check-first", schema.to_json(check_of(launch_spec(recipe="linear"))))
    for run in (other, same):
        files.write_json(run.folder / FILE, answer())
    trained = runs.create(tmp_path, "launch", schema.to_json(launch_spec(recipe="linear")))
    later = runs.create(tmp_path, "check-first", schema.to_json(check_of(launch_spec(recipe="linear"))))
    files.write_json(later.folder / FILE, answer())
    listed = runs.runs_in(tmp_path)
    before, newest = check_before(listed, trained), last_check(listed, trained.request.values)
    assert before is not None
    assert before[0].name == same.name
    assert newest is not None
    assert newest[0].name == later.name


def test_that_the_peak_on_a_card_is_told_where_there_is_one() -> None:
    with_card = answer(card_peak=figures.Estimate(value=20e9))
    assert "launch.check.card_peak" in [getattr(one, "key", "") for one in messages(with_card)]
    assert answer_values(with_card)["card_peak_bytes"] == 20e9


def test_that_times_measured_beside_others_say_so() -> None:
    keys = [getattr(one, "key", "") for one in messages(answer(busy=1.0))]
    assert "launch.check.busy" in keys


def test_that_what_others_do_meanwhile_is_counted() -> None:
    load = Load()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        time.sleep(0.5)
        busy = load.cores_of_others()
        other.kill()
    assert busy > 0.1


def test_that_every_field_of_the_check_has_its_texts() -> None:
    for language in texts.LANGUAGES:
        known = texts.all_texts(language)
        for field in schema.fields(CheckSpec):
            assert f"launch.field.{field.name}" in known
            assert f"launch.section.{field.section}" in known
    assert [field.name for field in schema.fields(LaunchSpec)] == [
        field.name for field in schema.fields(CheckSpec) if field.section != "check"
    ]


# For real

USAGE = """
import mindspore, numpy
from ascend_engine import npu
from ascend_engine import resource_usage
mindspore.set_device("CPU")
before = resource_usage.peak_memory()
held = numpy.ones(25_000_000)
assert resource_usage.peak_memory() - before > 150_000_000
assert 0 < resource_usage.age() < 300
assert resource_usage.peak_on_card("cpu", "mindspore") == 0
assert isinstance(npu.do(resource_usage.PEAK_ON_CARD["mindspore"]), int)
"""


@needs_mindspore
def test_that_a_training_knows_what_it_has_used(tmp_path: Path) -> None:
    check_fresh(tmp_path, USAGE)


@needs_mindspore
def test_that_a_check_predicts_what_a_training_then_measures(tmp_path: Path) -> None:
    choices = ("--recipe", "linear", "--device", "cpu", "--steps", "40", "--checkpoint-every", "10")
    done = studio("check-first", *choices, "--no-largest", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    told = last_json(done)["metrics"]
    assert told["measured_steps"] >= 2
    assert told["peak_bytes"] < told["limit_bytes"]
    assert told["disk_bytes"] == 3 * told["checkpoint_bytes"] > 0
    assert "the median of the measured steps" in done.stderr
    check = runs.open_run(Path(last_json(done)["run"]))
    assert not list(check.folder.glob("trials/*/artifacts"))

    trained = studio("launch", *choices, "--json", cwd=tmp_path)
    run = runs.open_run(Path(last_json(trained)["run"]))
    match = check_before((check,), run)
    assert match is not None
    beside = {pair.what: pair for pair in prediction_pairs(match[1], run)}
    assert set(beside) == {"step", "first", "total", "peak", "disk"}
    assert abs(beside["disk"].off) < 1
    assert abs(beside["peak"].off) < 20


@needs_mindspore
def test_that_a_batch_too_large_for_the_memory_is_refused_with_a_sentence(tmp_path: Path) -> None:
    words = ("--recipe", "text", "--batch", "2048", "--device", "cpu", "--memory-limit", "900")
    done = studio("check-first", *words, "--json", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    assert "with micro batches of 2048 samples the training took more than the 900.0 MB" in done.stderr
    told = last_json(done)
    assert (told["code"], told["metrics"]) == (3, {})
    kept = json.loads((Path(told["run"]) / FILE).read_text())
    assert kept == {"batch": 2048, "limit": 900 * MB, "refused": True}
    assert not processes.marked(Path(told["run"]) / "trials" / "1")
