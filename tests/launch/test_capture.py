"""`ascend-studio capture`: a training that a person started, captured from another terminal."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.capture import state
from backends.launch.capture.forecast import forecast
from backends.launch.capture.sentences import end_sentences
from backends.launch.capture.spec import CaptureSpec, Planned, capture_of
from backends.launch.capture.work import ANSWER, capture_answer
from backends.launch.spec import LaunchSpec
from studio import files, schema
from studio import run as runs
from studio.events import Metric, Note
from studio.project import runs_folder
from studio.sentences import sentence_of
from tests.command_line import last_json, studio
from tests.guest.capturing import TORCH, operators, slices
from tests.runs import events_of, prepare, wait_for, write_worker

if TYPE_CHECKING:
    from studio.run import Run


@pytest.fixture
def training(tmp_path: Path, homes: Path) -> Run:
    """A script of a person's own, launched and in its steps."""
    (tmp_path / "train.py").write_text(TORCH)
    done = studio("--no-project", "launch", "--detach", "--", sys.executable, "train.py", "16", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = runs.runs_in(runs_folder(None))
    wait_for(lambda: state.ready(run.folder) or runs.glance(run).state == "ended", run.name)
    return run


def test_that_a_running_script_is_captured_from_another_terminal(training: Run, tmp_path: Path) -> None:
    done = studio("--no-project", "capture", training.name, "--kind", "dump", "--steps", "2", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = last_json(done)
    (captured,) = result["captures"]
    assert (captured["kind"], captured["done"]) == ("dump", 2)
    (artifact,) = result["artifacts"]
    dumps = sorted(Path(artifact["path"]).glob("step*/proc*/dump.json"))
    assert [path.parent.parent.name for path in dumps] == [f"step{captured['start'] + one}" for one in range(2)]
    assert "Functional.linear.0.forward" in operators(dumps[0])
    assert "Estimate: about" in done.stderr
    assert "The first captured step took" in done.stderr

    again = studio("--no-project", "capture", training.name, "--kind", "dump", "--json", cwd=tmp_path)
    assert "As measured in this run" in again.stderr
    profile = studio("--no-project", "capture", training.name, "--steps", "3", "--json", cwd=tmp_path)
    trace = Path(last_json(profile)["artifacts"][0]["path"])
    assert sum(event["name"].startswith("ProfilerStep#") for event in slices(trace)) == 3

    refused = studio("--no-project", "capture", training.name, "--keep-free", "90000000", "--json", cwd=tmp_path)
    assert refused.returncode == 1
    assert "Not captured" in refused.stderr
    (tmp_path / "enough").touch()
    wait_for(lambda: runs.glance(training).state == "ended")
    assert runs.glance(training).code == 0
    late = studio("--no-project", "capture", training.name, cwd=tmp_path)
    assert late.returncode == 1
    assert "is not running" in late.stderr


def test_that_a_training_of_a_recipe_is_captured_while_it_runs(tmp_path: Path, homes: Path) -> None:
    """It tells its own losses: nothing else reads any."""
    recipe = ("launch", "--recipe", "linear", "--mode", "pynative", "--steps", "1000000")
    done = studio("--no-project", *recipe, "--detach", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    (run,) = runs.runs_in(runs_folder(None))
    wait_for(lambda: state.ready(run.folder) or runs.glance(run).state == "ended", run.name)
    done = studio("--no-project", "capture", run.name, "--kind", "profile", "--steps", "2", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = last_json(done)
    assert (result["captures"][0]["kind"], result["captures"][0]["done"]) == ("profile", 2)
    assert slices(Path(result["artifacts"][0]["path"]))
    assert studio("--no-project", "stop", run.name, cwd=tmp_path).returncode == 143
    wait_for(lambda: runs.glance(run).state == "ended")
    steps = [event.step for event in events_of(run) if isinstance(event, Metric) and "loss" in event.values]
    assert len(steps) == len(set(steps))


def test_that_a_run_without_hooks_and_wrong_words_are_refused(tmp_path: Path, homes: Path) -> None:
    run = prepare(runs_folder(None))
    write_worker(run.folder)
    done = studio("--no-project", "capture", run.name, cwd=tmp_path)
    assert (done.returncode, "was started without capture hooks" in done.stderr) == (1, True)
    for words, said in (
        ([], "RUN: Which run"), ([run.name, "--ranks", "a"], "--ranks: Numbers separated"),
        ([run.name, "--steps", "0"], "--steps: At least 1"),
    ):  # fmt: skip
        wrong = studio("--no-project", "capture", *words, cwd=tmp_path)
        assert wrong.returncode == 2
        assert said in wrong.stderr


def test_that_a_forecast_is_an_estimate_until_the_same_was_measured() -> None:
    request = state.Request(id="a", kind="profile", steps=4)
    ready = (state.Ready(tensors=10, parameters=1000), state.Ready(rank=1, tensors=10, parameters=1000))
    assert forecast(request, (), ()).total_bytes is None
    guess = forecast(request, ready, ())
    assert (guess.total_bytes, guess.is_measured) == (10 * 27_000 * 4 * 2, False)
    assert guess.need > (guess.total_bytes or 0)
    once = state.Rank(state="done", kind="profile", done=2, steps=2, byte_count=1000, seconds=0.3, usual=0.1)
    told = forecast(request, ready, (once,))
    assert (told.total_bytes, told.is_measured, round(told.slower[0], 3)) == (4000, True, 3.0)
    dump = state.Request(id="b", kind="dump", steps=1)
    assert not forecast(dump, ready, (once,)).is_measured


def test_that_what_an_earlier_version_kept_of_a_capture_is_read(tmp_path: Path) -> None:
    old = {"state": "done", "kind": "profile", "start": 3, "steps": 2, "done": 2, "seconds": 0.3, "usual": 0.1}
    (tmp_path / state.FOLDER / "a").mkdir(parents=True)
    files.write_json(tmp_path / state.FOLDER / "a" / "rank0.json", {**old, "octets": 1000})
    (rank,) = state.ranks(tmp_path, "a").values()
    assert rank.byte_count == 1000
    assert state.done_before(tmp_path) == (rank,)
    assert "Steps 3 to 4 are captured: 1.0 kB" in end_sentences({0: rank}, 1)[0]

    run = prepare(tmp_path / "runs")
    (run.folder / ANSWER).parent.mkdir(exist_ok=True)
    files.write_json(run.folder / ANSWER, [{"rank": 0, **old, "octets": 1000}])
    assert capture_answer(run) == {"captures": [{"rank": 0, **old, "byte_count": 1000}]}
    files.write_json(run.folder / ANSWER, [None])
    assert capture_answer(run) == {}


@pytest.mark.parametrize("key", ["first_step", "done", "estimate", "measured", "estimate_tensor", "estimate_most"])
def test_that_a_note_of_an_earlier_version_says_the_size(key: str) -> None:
    words = dict.fromkeys(("seconds", "usual", "kind", "steps", "path", "each", "slower"), "x")
    assert "4.2 MB" in sentence_of(Note(key=f"capture.{key}", args={**words, "octets": "4.2 MB"}))


def test_that_a_forecast_follows_what_was_chosen() -> None:
    ready = (state.Ready(tensors=64, parameters=1_000_000),)

    def bytes_of(**values: Any) -> int:
        request = state.Request(**{"id": "a", "kind": "dump", **values})
        return forecast(request, ready, ()).total_bytes or 0

    whole = bytes_of(task="tensor", level="mix")
    assert bytes_of(task="structure", level="L1") < bytes_of() < bytes_of(task="md5") < bytes_of(level="mix") < whole
    assert bytes_of(direction="forward") + bytes_of(direction="backward") > bytes_of()
    assert bytes_of(casts=True) > bytes_of()
    narrow = forecast(state.Request(id="a", kind="dump", task="tensor", targets=("linear",)), ready, ())
    assert (narrow.is_upper_bound, narrow.need) == (True, 0)
    # What msprobe 26.2 wrote of a transformer of 64 tensors and 992,641 parameters.
    measured = {(): 139_697, ("md5",): 148_133, ("tensor",): 19_047_137, ("tensor", "mix"): 37_746_966}
    for way, size in measured.items():
        told = bytes_of(**dict(zip(("task", "level"), way, strict=False)))
        assert size / 2 < told < size * 2, way


def test_that_a_dump_like_an_earlier_one_is_measured_and_another_is_not() -> None:
    ready = (state.Ready(tensors=10, parameters=1000),)
    once = state.Rank(state="done", kind="dump", done=1, byte_count=900, seconds=0.3, usual=0.1, targets=("linear",))
    like = state.Request(id="a", kind="dump", targets=("linear",))
    assert forecast(like, ready, (once,)).total_bytes == 900
    assert not forecast(state.Request(id="a", kind="dump"), ready, (once,)).is_measured


def test_that_a_request_says_what_was_chosen(tmp_path: Path) -> None:
    spec = CaptureSpec()
    chosen = {
        "run": tmp_path, "kind": "dump", "at": 12, "ranks": "0,3", "level": "mix", "task": "md5",
        "targets": "linear, Module.layers.3", "direction": "forward", "casts": True,
    }  # fmt: skip
    for name, value in chosen.items():
        spec = schema.with_value(spec, name, value)
    assert not schema.problems(spec)
    state.write_request(tmp_path, state.request_of(spec.capture, 7))
    written = json.loads((tmp_path / "capture.json").read_text())
    assert written.pop("id").endswith(state.newest_request(tmp_path).id[-4:])  # type: ignore[union-attr]
    assert written == {
        "kind": "dump", "start": 12, "steps": 2, "ranks": [0, 3], "task": "md5", "level": "mix", "stacks": False,
        "targets": ["linear", "Module.layers.3"], "direction": "forward", "casts": True,
        "optimizer_state": False, "need": 7,
        "margin": 500_000_000,
    }  # fmt: skip


def test_that_a_module_is_not_sought_where_only_operators_are_seen(tmp_path: Path) -> None:
    spec = CaptureSpec()
    for name, value in {"run": tmp_path, "kind": "dump", "targets": "linear,Cell.0.Dense"}.items():
        spec = schema.with_value(spec, name, value)
    (problem,) = schema.problems(spec)
    assert (problem.field, problem.rule) == ("level", "capture.rule.module_level")
    assert problem.args == {"module": "Cell.0.Dense"}
    assert not schema.problems(schema.with_value(spec, "level", "mix"))
    structure = schema.with_value(spec, "task", "structure")
    assert not schema.problems(structure)
    assert state.request_of(structure.capture).level == "mix"


def test_that_a_planned_dump_begins_with_the_first_step_and_a_profile_with_the_next() -> None:
    assert capture_of(Planned()) is None
    dump, profile = capture_of(Planned(capture="dump", capture_task="md5")), capture_of(Planned(capture="profile"))
    assert dump is not None
    assert profile is not None
    assert (dump.at, dump.task, profile.at) == (1, "md5", None)
    later = capture_of(Planned(capture="dump", capture_at=0, capture_ranks="1", capture_casts=True))
    assert later is not None
    assert (later.at, later.ranks, later.casts) == (0, "1", True)


def test_that_a_recipe_is_dumped_in_pynative_only() -> None:
    spec = schema.with_value(schema.with_value(LaunchSpec(), "capture", "dump"), "mode", "graph")
    assert [(one.field, one.rule) for one in schema.problems(spec)] == [("capture", "capture.rule.pynative")]
    assert not schema.problems(schema.with_value(spec, "capture", "profile"))
    wrong = schema.with_value(schema.with_value(spec, "mode", "pynative"), "capture_ranks", "a")
    assert [one.field for one in schema.problems(wrong)] == ["capture_ranks"]
