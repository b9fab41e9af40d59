"""Captures of trainings that run: what they leave, and that the training does not notice."""

from __future__ import annotations

import os
import socket
from typing import TYPE_CHECKING

from backends.launch.capture import state
from studio import files
from studio.paths import GUEST
from studio.run import last_events
from tests.guest.capturing import MINDSPORE, ODD, SECRET, TORCH, Training, operators, slices, small_disk
from tests.runs import wait_for

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def assert_same_losses(training: Training, plain: Training, step: int) -> None:
    """Of all steps that both did, beyond a step that was captured."""
    plain.wait_for_steps(step + 5)
    plain.finish()
    count = min(len(plain.losses), len(training.losses))
    assert count > step
    assert training.losses[:count] == plain.losses[:count]


def test_that_a_torch_training_is_profiled_and_dumped_while_its_losses_stay_the_same(tmp_path: Path) -> None:
    training = Training(tmp_path / "run", TORCH, "16")
    training.wait_for_steps(5)
    profile = training.capture(kind="profile", steps=2)
    assert (profile.state, profile.done) == ("done", 2), training.log()
    events = slices(training.folder / profile.path)
    assert [event["name"] for event in events if event["name"].startswith("ProfilerStep#")] == [
        f"ProfilerStep#{profile.start}", f"ProfilerStep#{profile.start + 1}"
    ]  # fmt: skip
    assert sum(event["name"] == "aten::addmm" for event in events) == 4  # two layers, two steps

    dump = training.capture(kind="dump", steps=2)
    steps = {path.parent.parent.name: operators(path) for path in (training.folder / dump.path).rglob("dump.json")}
    assert set(steps) == {f"step{dump.start}", f"step{dump.start + 1}"}
    found = steps[f"step{dump.start}"]
    assert (found[0], found[-1]) == ("Functional.linear.0.forward", "Functional.linear.0.backward")
    assert not [name for name in found if "add" in name or "sqrt" in name], "the optimizer's own operators"
    assert dump.byte_count > 1000
    assert dump.seconds > 0

    whole = training.capture(kind="dump", steps=1, task="tensor", level="mix")
    (path,) = (training.folder / whole.path).rglob("dump.json")
    assert "Module.0.Linear.forward.0" in operators(path)
    assert len(list((training.folder / whole.path).rglob("*.pt"))) > 10
    stacks = training.capture(kind="profile", steps=1, stacks=True)
    assert any("train.py" in event["name"] for event in slices(training.folder / stacks.path))

    training.wait_for_steps(stacks.start + 40)
    assert training.finish() == 0
    kinds = [event.kind for event in last_events(training.folder, 1 << 20) if getattr(event, "kind", "")]
    assert kinds == ["profile", "dump", "dump", "profile"]
    assert {"capture.armed", "capture.begun", "capture.first_step", "capture.done"} <= set(training.keys())
    written = (path for path in training.folder.rglob("*") if path.is_file())
    assert not [path for path in written if SECRET.encode() in path.read_bytes()]

    plain = Training(tmp_path / "plain", TORCH, "16", hooks="")
    assert_same_losses(training, plain, stacks.start)


def test_that_a_training_killed_in_a_capture_goes_on_without_it(tmp_path: Path) -> None:
    training = Training(tmp_path, TORCH, "16")
    id = training.ask(kind="dump", steps=1000)
    wait_for(lambda: (found := training.rank(id)) and found.done > 2, id)
    training.child.kill()
    training.child.wait()
    request = state.newest_request(tmp_path)
    assert request is not None
    assert not state.is_over(tmp_path, request)
    again = Training(tmp_path, TORCH, "16", ASCEND_STUDIO_ATTEMPT="2")
    wait_for(lambda: state.is_over(tmp_path, request), request.id)
    assert again.capture(id="next", kind="profile").state == "done"
    assert again.finish() == 0


def test_that_a_capture_leaves_room_on_the_disk(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 40_000_000) as disk:
        training = Training(disk / "run", TORCH, "200000")
        refused = training.capture(kind="profile", need=30_000_000, margin=20_000_000)
        assert (refused.state, refused.rule, refused.args["wanted"]) == ("failed", "capture.no_space", "50 MB")
        ended = training.capture(kind="dump", task="tensor", level="mix", steps=50, margin=15_000_000)
        assert (ended.state, ended.rule) == ("failed", "capture.disk_low"), ended
        seen = len(training.losses)
        training.wait_for_steps(seen + 3)
        assert training.finish() == 0
        assert "capture.disk_low" in training.rules()


def test_that_all_ranks_capture_the_same_steps(tmp_path: Path) -> None:
    """The first ones of all, and later ones."""
    folder = tmp_path / ODD
    folder.mkdir()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    state.write_request(folder, state.Request(id="plan", kind="dump", start=0))
    whole = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    two = [Training(folder, TORCH, "16", hooks="curves,captures", RANK=str(rank), **whole) for rank in range(2)]
    found = [two[0].captured("plan", rank) for rank in range(2)]
    assert [(one.state, one.start) for one in found] == [("done", 1), ("done", 1)]
    assert sorted(path.parent.name for path in folder.rglob("dump.json")) == ["rank0", "rank1"]
    records = {path.parent.name: files.read_json(path) for path in folder.rglob("optimizer.json")}
    assert sorted(records) == ["rank0", "rank1"]
    (group,) = records["rank1"]["updates"][0]["groups"]
    assert [parameter["name"] for parameter in group["parameters"]] == ["0.weight", "0.bias", "2.weight", "2.bias"]
    wait_for(lambda: len(state.ready(folder)) == 2)
    id = two[0].ask(kind="profile", steps=2)
    found = [two[0].captured(id, rank) for rank in range(2)]
    assert [one.state for one in found] == ["done", "done"]
    assert found[0].start == found[1].start
    only = two[0].captured(two[0].ask(id="only", kind="profile", ranks=(1,)), 1)
    assert only.state == "done"
    assert list(state.ranks(folder, "only")) == [1]
    (folder / "enough").touch()
    assert [one.child.wait(60) for one in two] == [0, 0]


def test_that_a_capture_planned_before_the_start_begins_at_its_step(tmp_path: Path) -> None:
    state.write_request(tmp_path, state.Request(id="plan", kind="profile", start=7, steps=1))
    training = Training(tmp_path, TORCH, "16", hooks="curves,captures")
    assert training.captured("plan").start == 7
    training.ask(id="never", kind="profile", start=10**6)
    wait_for(lambda: training.rank("never"))
    assert training.finish() == 0
    assert training.captured("never").rule == "capture.not_reached"


def test_that_what_cannot_be_done_is_said(tmp_path: Path) -> None:
    training = Training(tmp_path, "import sys\nsys.modules['msprobe'] = None\n" + TORCH, "16")
    found = training.capture(kind="dump")
    assert (found.state, found.rule) == ("failed", "capture.no_msprobe")
    assert training.capture(kind="profile").state == "done"
    waiting = training.ask(id="waiting", kind="profile", start=10**6)
    wait_for(lambda: training.rank(waiting))
    request = state.newest_request(tmp_path)
    assert request is not None
    state.withdraw(tmp_path, request)
    assert training.captured(waiting).state == "withdrawn"
    (tmp_path / state.REQUEST_FILE).write_text("{")
    (tmp_path / state.REQUEST_FILE).replace(tmp_path / state.REQUEST_FILE)
    assert training.capture(id="last", kind="profile").state == "done"
    assert training.finish() == 0


def test_that_a_debugger_of_the_scripts_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "own.json").write_text('{"task": "statistics", "dump_path": "own", "level": "L1", "step": [9999]}')
    own = "from msprobe.pytorch import PrecisionDebugger\nPrecisionDebugger(config_path='./own.json')\n"
    training = Training(tmp_path, own + TORCH, "16")
    found = training.capture(kind="dump")
    assert (found.state, found.rule) == ("failed", "capture.own_debugger"), training.log()
    assert training.capture(kind="profile").state == "done"
    assert training.finish() == 0


def test_that_a_mindspore_training_is_profiled_and_dumped_while_its_losses_stay_the_same(tmp_path: Path) -> None:
    training = Training(tmp_path / "run", MINDSPORE, "pynative")
    training.wait_for_steps(5)
    dump = training.capture(kind="dump", steps=2)
    steps = {path.parent.parent.name: operators(path) for path in (training.folder / dump.path).rglob("dump.json")}
    assert set(steps) == {f"step{dump.start}", f"step{dump.start + 1}"}, training.log()
    found = steps[f"step{dump.start}"]
    assert "Primitive.matmul.MatMul.1.forward" in found
    assert not [name for name in found if "Adam" in name or "Assign" in name]
    whole = training.capture(kind="dump", steps=1, task="tensor")
    assert len(list((training.folder / whole.path).rglob("*.npy"))) > 10
    profile = training.capture(kind="profile", steps=2)
    assert sum("Adam" in event["name"] for event in slices(training.folder / profile.path)) > 1
    assert training.finish() == 0
    plain = Training(tmp_path / "plain", MINDSPORE, "pynative", hooks="")
    assert_same_losses(training, plain, profile.start)


def test_that_a_dump_in_graph_mode_is_refused(tmp_path: Path) -> None:
    training = Training(tmp_path, MINDSPORE, "graph")
    found = training.capture(kind="dump")
    assert (found.state, found.rule) == ("failed", "capture.not_in_graph")
    assert training.capture(kind="profile").state == "done"
    assert training.finish() == 0


# What torch_npu 2.13.0 reads of its file: `json_data.get(…)` in _dynamic_profiler_config_context.py of its wheel, which
# cannot be imported without CANN.
READ_BY_TORCH_NPU = {
    "activities", "prof_dir", "analyse", "async_mode", "record_shapes", "profile_memory", "with_flops", "with_stack",
    "with_modules", "active", "warmup", "start_step", "is_rank", "rank_list", "metadata", "experimental_config",
}  # fmt: skip
STAND_IN = """
import json, os, sys, types
sys.modules["torch_npu"] = types.ModuleType("torch_npu")
def npu_step():
    path = os.path.join(os.environ["PROF_CONFIG_PATH"], "profiler_config.json")
    if os.path.exists(path):
        asked = json.load(open(path))
        folder = os.path.join(asked["prof_dir"], "host_1_2_ascend_pt")
        os.makedirs(folder, exist_ok=True)
        left = os.path.join(folder, "profiler_info.json")
        if not os.path.exists(left):
            with open(left + ".tmp", "w") as file:
                json.dump(asked, file)
            os.replace(left + ".tmp", left)
            if "data" in sys.argv:
                output = os.path.join(folder, "ASCEND_PROFILER_OUTPUT")
                os.makedirs(output)
                with open(os.path.join(output, "trace_view.json"), "w") as file:
                    file.write('[{"name": "step", "ph": "X", "ts": "1.5", "dur": 2, "pid": 1, "tid": 1}]')
"""


def test_that_a_profile_on_npus_is_asked_of_torch_npu_itself(tmp_path: Path) -> None:
    script = STAND_IN + TORCH.replace("    time.sleep(0.005)\n", "    time.sleep(0.005)\n    npu_step()\n")
    training = Training(tmp_path, script, "16", "data")
    found = training.capture(kind="profile", steps=3)
    assert found.state == "done", training.log()
    (path,) = (tmp_path / found.path).rglob("profiler_info.json")
    asked = files.read_json(path)
    assert asked.keys() <= READ_BY_TORCH_NPU
    assert (asked["active"], asked["start_step"], asked["activities"]) == (3, -1, ["CPU", "NPU"])
    assert training.finish() == 0


def test_that_a_profile_on_npus_without_data_is_not_done(tmp_path: Path) -> None:
    """torch_npu leaves its own two small files where the profiler could not start, and says so in a log alone."""
    script = STAND_IN + TORCH.replace("    time.sleep(0.005)\n", "    time.sleep(0.005)\n    npu_step()\n")
    training = Training(tmp_path, script, "16")
    id = training.ask(kind="profile", steps=3)
    wait_for(lambda: list(tmp_path.rglob("profiler_info.json")))
    assert training.finish() == 0
    rank = training.rank(id)
    assert rank is not None
    assert (rank.state, rank.rule) == ("failed", "capture.nothing_left")


def test_that_torch_npu_is_not_asked_where_shared_memory_would_keep_it_from_being_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It raises then, and the training would not start."""
    monkeypatch.syspath_prepend(str(GUEST))
    from ascend_studio import captures

    memory, folder = tmp_path / "memory", str(tmp_path / "npu")
    monkeypatch.setattr(captures, "npu_memory", lambda: str(memory))
    monkeypatch.setenv(captures.NPU_PROFILE, "")
    monkeypatch.delenv(captures.NPU_PROFILE)
    memory.touch()
    captures.prepare_npu_profile(folder)
    assert os.environ[captures.NPU_PROFILE] == folder, "of ranks that start together"
    os.utime(memory, (0, 0))
    captures.prepare_npu_profile(folder)
    assert captures.NPU_PROFILE not in os.environ
    monkeypatch.setenv(captures.NPU_PROFILE, "/their/own")
    captures.prepare_npu_profile(folder)
    assert os.environ[captures.NPU_PROFILE] == "/their/own"


def test_that_a_capture_holds_no_optimizer_of_a_script_that_makes_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(GUEST))
    from ascend_studio import captures

    class Optimizer:
        pass

    watch, one, two = captures.Watch("/nowhere"), Optimizer(), Optimizer()
    watch.saw(one)
    watch.saw(two)
    assert watch.optimizer is one
    del one
    assert watch.optimizer is None
    watch.saw(two)
    assert watch.optimizer is two
