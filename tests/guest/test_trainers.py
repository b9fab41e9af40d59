"""What the trainers of Hugging Face and Lightning log, against what the scripts print themselves."""

from __future__ import annotations

import importlib.util
import json
import math
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.guest import trainers, trainings
from tests.guest.torch_process import execute, records

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

NOT_WRITTEN = {"step", "text", "train_loss", "total_flos"}


class Trained:
    def __init__(self, out: str, bare: str, events: list[dict[str, Any]]) -> None:
        self.out, self.bare, self.events = out.splitlines(), bare.splitlines(), events

    def said(self, word: str) -> list[Any]:
        """What the script printed behind a word, as JSON."""
        return [json.loads(line.partition(" ")[2]) for line in self.out if line.startswith(word + " ")]

    def points(self, name: str) -> list[tuple[int, float]]:
        metrics = [event for event in self.events if event["type"] == "metric"]
        return [(one["step"], one["values"][name]) for one in metrics if name in one["values"]]

    def names(self) -> set[str]:
        return {name for event in self.events if event["type"] == "metric" for name in event["values"]}

    def logged(self, name: str, offset: int = 0) -> list[tuple[int, float]]:
        return [(step + offset, values[name]) for step, values in self.said("log") if name in values]


def run_each(folder: Path, run: Path | None) -> dict[str, int]:
    """The pid of the process that ran each script."""
    folder.mkdir()
    paths = [folder / f"{name}.py" for name in trainers.SCRIPTS]
    for path in paths:
        path.write_text(trainings.BEGIN + trainers.BEGIN + trainers.SCRIPTS[path.stem])
    hugging_face, lightning = paths[:2], paths[2:]
    scripts = ["transformers.trainer", *hugging_face, "pytorch_lightning", *lightning]
    out = execute([sys.executable, "-c", trainings.EACH_IN_A_FORK, *scripts], run, folder)
    ends = [line.split() for line in out.splitlines()]
    assert all(code == "0" for _, _, code in ends), out
    return {path.stem: int(pid) for path, (_, pid, _) in zip(paths, ends, strict=True)}


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trained]:
    folder = tmp_path_factory.mktemp("trainers")
    run = folder / "run"
    run.mkdir()
    pids = run_each(folder / "hooked", run)
    run_each(folder / "bare", None)
    result = {}
    for name, pid in pids.items():
        out, bare = ((folder / kind / f"{name}.py.out").read_text() for kind in ("hooked", "bare"))
        result[name] = Trained(out, bare, records(run / f"events.a1.r0.p{pid}.jsonl"))
    return result


@pytest.mark.parametrize("name", trainers.SCRIPTS)
def test_that_all_that_is_logged_and_the_weights_are_bit_equal_with_and_without_hooks(
    trained: dict[str, Trained], name: str
) -> None:
    of_both = [[line for line in lines if "callbacks" not in line] for lines in (trained[name].out, trained[name].bare)]
    assert any(line.startswith("weights") for line in of_both[0])
    assert of_both[0] == of_both[1]


@pytest.mark.parametrize("name", trainers.SCRIPTS)
def test_that_nothing_but_metrics_and_progress_is_told(trained: dict[str, Trained], name: str) -> None:
    assert {event["type"] for event in trained[name].events} == {"metric", "progress"}
    assert not trained[name].names() & NOT_WRITTEN


@pytest.mark.parametrize("name", ["hugging_face", "lightning"])
def test_that_ours_is_the_last_callback_and_is_not_in_what_is_pickled(trained: dict[str, Trained], name: str) -> None:
    ((callbacks, *copied, pickled),) = trained[name].said("callbacks")
    (without,) = (json.loads(line.split(" ", 1)[1])[0] for line in trained[name].bare if line.startswith("callbacks"))
    assert callbacks == [*without, "StudioCallback"]
    assert copied == [["StudioCallback"]] * 2
    assert pickled == ["TrainerCallback" if name == "hugging_face" else "Callback"]


def approximately(points: list[tuple[int, float]]) -> list[Any]:
    """Micro steps are added up in another order, and a Trainer before 5.0 rounds to four places what it logs."""
    return [(step, pytest.approx(value, rel=1e-6, abs=6e-5)) for step, value in points]


@pytest.mark.parametrize("name", ["hugging_face", "hugging_face_resumed"])
def test_that_a_step_is_the_global_step_of_the_trainer_and_has_its_loss(trained: dict[str, Trained], name: str) -> None:
    one = trained[name]
    first = 1 if name == "hugging_face" else 5
    assert [step for step, _ in one.points("loss")][: 9 - first] == list(range(first, 9))
    for metric in ("loss", "grad_norm"):  # the second trainer logs one mean of its two steps
        assert one.points(metric)[: 9 - first] == approximately(one.logged(metric)[: 9 - first])
    # That of the step; a Trainer before 5.0 logs the one of the next.
    assert one.points("lr")[: 9 - first] == approximately([(step, min(0.1, step / 30)) for step in range(first, 9)])
    assert {"loss.1", "learning_rate"}.isdisjoint(one.names())


@pytest.mark.parametrize("name", ["hugging_face", "hugging_face_resumed"])
def test_that_evaluations_and_numbers_of_the_user_stand_at_their_steps(trained: dict[str, Trained], name: str) -> None:
    one = trained[name]
    assert len(one.points("eval_loss")) == (3 if name == "hugging_face" else 1)
    assert one.points("eval_loss") == one.logged("eval_loss")
    summaries = [step for step, values in one.said("log") if "train_loss" in values]
    assert len(one.points("own/number")) == len(one.logged("own/number")) - 1
    assert one.points("epoch")[:4] == one.logged("epoch")[:4]
    assert summaries[0] == 8


def test_that_a_second_trainer_goes_on_where_the_first_one_ended(trained: dict[str, Trained]) -> None:
    one = trained["hugging_face"]
    assert [step for step, _ in one.points("loss")] == list(range(1, 11))
    mean = sum(value for _, value in one.points("loss")[-2:]) / 2
    assert one.logged("loss")[-1][1] == pytest.approx(mean, abs=6e-5)
    ((at, value),) = one.points("test_loss")
    (printed,) = (line.split()[1] for line in one.out if line.startswith("predicted"))
    assert (at, value) == (10, float(printed))


@pytest.mark.parametrize(("name", "done", "total"), [("hugging_face", 10, 10), ("lightning", 18, 18)])
def test_that_the_progress_knows_the_end(trained: dict[str, Trained], name: str, done: int, total: int) -> None:
    told = [event for event in trained[name].events if event["type"] == "progress"]
    assert {"train", "evaluate", "finish"} == {one["phase"] for one in told}
    last = [one for one in told if one["phase"] == "train"][-1]
    assert (last["done"], last["total"]) == (done, total)


@pytest.mark.parametrize(("name", "first"), [("lightning", 1), ("lightning_resumed", 5)])
def test_that_losses_of_lightning_are_those_of_its_micro_steps(
    trained: dict[str, Trained], name: str, first: int
) -> None:
    micro: dict[int, float] = {}
    for step, value in trained[name].said("loss")[: 2 * (13 - first)]:
        micro[step + 1] = micro.get(step + 1, 0.0) + value / 2
    assert trained[name].points("loss")[: 13 - first] == approximately(list(micro.items()))
    assert list(micro) == list(range(first, 13))
    assert "loss.1" not in trained[name].names()


@pytest.mark.parametrize("name", ["lightning", "lightning_resumed"])
def test_that_what_lightning_gives_to_a_logger_becomes_curves(trained: dict[str, Trained], name: str) -> None:
    one = trained[name]
    # "step" moves what is logged with it: those are put where they were logged. A logger counts from 0.
    means = [values["own/mae_step"] for _, values in one.said("log") if "own/mae_step" in values]
    assert [value for _, value in one.points("own/mae_step")][: len(means)] == means
    assert all(step % 2 == 0 for step, _ in one.points("own/mae_step"))
    for metric in ("val_loss_epoch", "own/mae_epoch"):
        logged = one.logged(metric, offset=1)
        assert logged
        assert one.points(metric)[: len(logged)] == logged
    assert {value for _, value in one.points("eval_loss")} == {0.5}
    assert "val_loss_step" not in one.names()


def test_that_epochs_and_tests_of_lightning_stand_at_the_step_of_their_end(trained: dict[str, Trained]) -> None:
    one = trained["lightning"]
    assert one.points("at_end") == [(6, 0.0), (12, 1.0), (18, 0.0)]
    ((step, value),) = one.points("test_loss")
    assert step == 12
    assert math.isfinite(value)


def test_that_each_rank_of_lightning_has_its_losses_and_the_first_what_is_of_all(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(trainings.BEGIN + trainers.BEGIN + trainers.LIGHTNING + trainers.LIGHTNING_RANKS)
    run = tmp_path / "run"
    run.mkdir()
    execute([sys.executable, "train.py"], run, tmp_path)
    ranks = []
    for rank in (0, 1):
        (path,) = run.glob(f"events.a1.r{rank}.*")
        ranks.append(Trained("", "", records(path)))
    assert [[step for step, _ in one.points("loss")] for one in ranks] == [[1, 2, 3, 4, 5, 6]] * 2
    assert ranks[0].points("loss") != ranks[1].points("loss")
    assert ranks[0].points("val_loss_epoch")
    assert ranks[1].names().isdisjoint({"val_loss_epoch", "own/mae_step", "epoch"})
