"""The curves of unmodified PyTorch scripts, against what the scripts print themselves."""

from __future__ import annotations

import importlib.util
import socket
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from tests.guest import trainings
from tests.guest.torch_process import execute, records

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

TIMES = {"step_time", "time_forward", "time_backward", "time_optimizer", "throughput"}


def printed(text: str) -> dict[str, list[float]]:
    """What a script printed as "name value name value", by name."""
    series = defaultdict(list)
    for line in text.splitlines():
        words = line.split()
        if words and words[0] in ("loss", "loss.1", "step"):
            for name, value in zip(words[::2], words[1::2], strict=True):
                series[name].append(float(value))
    return series


def captured(events: list[dict[str, Any]], name: str) -> list[float]:
    values = [event["values"] for event in events if event["type"] == "metric"]
    return [float(one[name]) for one in values if name in one]


class Trained:
    def __init__(self, script: str, out: str, bare: str, events: list[dict[str, Any]]) -> None:
        self.script, self.out, self.bare, self.events = script, out, bare, events

    def metrics(self) -> list[dict[str, Any]]:
        return [event["values"] for event in self.events if event["type"] == "metric"]


def run_each(folder: Path, run: Path | None) -> dict[str, int]:
    """The pid of the process that ran each script."""
    paths = []
    folder.mkdir()
    for name, script in trainings.SCRIPTS.items():
        paths.append(folder / f"{name}.py")
        paths[-1].write_text(trainings.BEGIN + script)
    out = execute([sys.executable, "-c", trainings.EACH_IN_A_FORK, "torch", *paths], run, folder)
    ends = [line.split() for line in out.splitlines()]
    assert all(code == "0" for _, _, code in ends), out
    return {Path(path).stem: int(pid) for path, pid, _ in ends}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    folder = tmp_path_factory.mktemp("torch")
    run = folder / "run"
    run.mkdir()
    pids = run_each(folder / "hooked", run)
    run_each(folder / "bare", None)
    result = {}
    for name, pid in pids.items():
        out, bare = ((folder / kind / f"{name}.py.out").read_text() for kind in ("hooked", "bare"))
        result[name] = Trained(name, out, bare, records(run / f"events.a1.r0.p{pid}.jsonl"))
    # The process that only started the others has nothing to tell, nor have the data loader's workers.
    assert len(list(run.glob("events*"))) == len(pids)
    return result


@pytest.mark.parametrize("name", trainings.SCRIPTS)
def test_that_losses_and_weights_are_bit_equal_with_and_without_hooks(trained: dict[str, Trained], name: str) -> None:
    assert "weights" in trained[name].out
    assert trained[name].out == trained[name].bare


@pytest.mark.parametrize("name", trainings.SCRIPTS)
def test_that_the_curves_are_what_the_script_prints(trained: dict[str, Trained], name: str) -> None:
    series = printed(trained[name].out)
    steps = series.pop("step", None)
    for metric, values in series.items():
        # repr: also the same where one is NaN.
        assert repr(captured(trained[name].events, metric)) == repr(values), metric
    if steps:
        assert [event["step"] for event in trained[name].events] == steps


@pytest.mark.parametrize("name", sorted(set(trainings.SCRIPTS) - {"broken_hooks"}))
def test_that_nothing_but_metrics_is_told(trained: dict[str, Trained], name: str) -> None:
    assert [event for event in trained[name].events if event["type"] != "metric"] == []


def test_that_each_step_after_the_first_has_its_times(trained: dict[str, Trained]) -> None:
    first, *others = trained["plain"].metrics()
    assert not TIMES & set(first)
    for values in others:
        assert TIMES | {"time_data"} <= set(values)
        parts = [values[f"time_{part}"] for part in ("data", "forward", "backward", "optimizer")]
        assert min(parts) > 0
        assert sum(parts) < values["step_time"]
        assert values["throughput"] * values["step_time"] == pytest.approx(6)
        assert "tokens_per_second" not in values


def test_that_samples_and_tokens_of_all_micro_steps_count(trained: dict[str, Trained]) -> None:
    for values in trained["accumulation"].metrics()[1:]:
        assert values["throughput"] * values["step_time"] == pytest.approx(6)
        assert values["tokens_per_second"] * values["step_time"] == pytest.approx(24)


@pytest.mark.parametrize("name", ["closure", "two_backwards", "line_search"])
def test_that_lbfgs_counts_its_steps_and_not_the_closures_in_them(trained: dict[str, Trained], name: str) -> None:
    lines = [line.split() for line in trained[name].out.splitlines()]
    closures = [int(words[1]) for words in lines if words[0] == "closures"]
    assert min(closures) > 1
    with_loss = [event for event in trained[name].events if "loss" in event["values"]]
    assert [event["step"] for event in with_loss] == list(range(1, len(closures) + 1))
    assert {event["step"] for event in trained[name].events} == {event["step"] for event in with_loss}
    timed = [event["values"] for event in with_loss if "throughput" in event["values"]]
    assert [values["throughput"] * values["step_time"] for values in timed[1:]] == [pytest.approx(9)] * len(timed[1:])


def test_that_a_batch_shown_to_two_networks_counts_once(trained: dict[str, Trained]) -> None:
    values = [values for values in trained["two_optimizers"].metrics() if "step_time" in values]
    assert [one["throughput"] * one["step_time"] for one in values[1:]] == [pytest.approx(5)] * 2


def test_that_the_norm_is_sampled_where_the_script_has_none(trained: dict[str, Trained]) -> None:
    assert len(captured(trained["accumulation"].events, "grad_norm")) >= 1
    assert len(captured(trained["two_optimizers"].events, "grad_norm.1")) >= 1


def test_that_the_norm_is_of_unscaled_gradients(trained: dict[str, Trained]) -> None:
    (sampled, *_) = captured(trained["scaler"].events, "grad_norm")
    assert sampled == pytest.approx((4 * 1.5**2 + 1) ** 0.5)


def test_that_an_error_in_a_hook_is_told_once_and_ends_the_curves(trained: dict[str, Trained]) -> None:
    (told,) = [event for event in trained["broken_hooks"].events if event["type"] == "finding"]
    assert told["rule"] == "hooks.given_up"
    assert "NoneType" in told["args"]["reason"]


@pytest.fixture(scope="module")
def bare_ranks(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each rank writes without hooks, however it is started."""
    folder = tmp_path_factory.mktemp("bare")
    (folder / "train.py").write_text(trainings.DISTRIBUTED)
    execute([sys.executable, "-c", trainings.RANKS_IN_FORKS, "train.py", ".", str(free_port())], None, folder)
    return [(folder / f"rank{rank}.txt").read_text() for rank in (0, 1)]


def test_that_torchrun_under_bash_has_a_curve_for_each_rank(tmp_path: Path, bare_ranks: list[str]) -> None:
    (tmp_path / "train.py").write_text(trainings.DISTRIBUTED)
    line = f"{sys.executable} -m torch.distributed.run --standalone --nproc_per_node 2 train.py $1"
    (tmp_path / "run.sh").write_text(f"cd {tmp_path}\n{line}\n")
    for name in ("run", "hooked"):
        (tmp_path / name).mkdir()
    execute(["bash", "run.sh", "hooked"], tmp_path / "run", tmp_path)
    for rank in (0, 1):
        (path,) = (tmp_path / "run").glob(f"events.a1.r{rank}.*")
        out = (tmp_path / "hooked" / f"rank{rank}.txt").read_text()
        assert captured(records(path), "loss") == printed(out)["loss"]
        assert captured(records(path), "grad_norm")[0] == pytest.approx(printed(out)["grad_norm"][0], rel=1e-6)
        assert out == bare_ranks[rank]
    assert len(list((tmp_path / "run").glob("events*"))) == 2


def test_that_spawned_trainings_have_a_curve_each(tmp_path: Path, bare_ranks: list[str]) -> None:
    (tmp_path / "train.py").write_text(trainings.DISTRIBUTED)
    for name in ("run", "hooked"):
        (tmp_path / name).mkdir()
    execute([sys.executable, "train.py", "hooked", str(free_port())], tmp_path / "run", tmp_path)
    losses = []
    for rank in (0, 1):
        out = (tmp_path / "hooked" / f"rank{rank}.txt").read_text()
        losses.append(printed(out)["loss"])
        assert out == bare_ranks[rank]
    files = list((tmp_path / "run").glob("events*"))
    assert sorted(captured(records(path), "loss") for path in files) == sorted(losses)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


LEAVES = """
import glob, os, sys, torch
torch.manual_seed(0)
net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
def steps(count):
    for _ in range(count):
        loss = net(torch.ones(4, 2)).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
def written():
    (events,) = glob.glob(os.environ["ASCEND_STUDIO_RUN"] + "/events*")
    return open(events).read()
steps(6)
net.eval()
net(torch.ones(1, 2))
print(written().count('"loss"'), flush=True)
net.train()
steps(6)
if os.fork() == 0:
    os._exit(0)
os.wait()
os.execv(sys.executable, [sys.executable, "-c", "pass"])
"""


def test_that_points_of_short_steps_are_there_before_an_evaluation_and_before_another_program(tmp_path: Path) -> None:
    """They are written several at a time."""
    run = tmp_path / "run"
    run.mkdir()
    (tmp_path / "leaves.py").write_text(LEAVES)
    assert execute([sys.executable, tmp_path / "leaves.py"], run, tmp_path) == "6\n"
    (found,) = run.glob("events*")
    assert [event["step"] for event in records(found) if event["type"] == "metric"] == list(range(1, 13))
