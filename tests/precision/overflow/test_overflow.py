"""The first NaN or Inf of a dump: ours by its statistics, msprobe's check beside it."""

from __future__ import annotations

import json
import math
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from backends.precision.dump.dump import DumpLocation
from backends.precision.dump.read import read_dump
from backends.precision.overflow import work
from backends.precision.overflow.first_overflow import TAKES_INFINITE, TURNS_SIGNS, first_overflow
from backends.precision.overflow.result import Named, Overflow, OverflowResult, overflow_answer, read_overflow
from backends.precision.overflow.spec import OverflowSources, OverflowSpec
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.events import Finding, Note
from studio.sentences import sentence_of
from tests.command_line import last_json, studio
from tests.precision.dump.recorded import copy_of
from tests.precision.msprobe.recorded import RECORDED
from tests.runs import events_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.run import Run

RANK = RECORDED / "target" / "step0" / "rank0"
NORM = "Functional.layer_norm.0.forward"
NAN, INF = math.nan, math.inf


def dump_of(folder: Path, change: Callable[[dict[str, Any]], None], *, step: int = 0, rank: int = 0) -> Path:
    """The recorded dump in a folder, with its calls changed."""
    made = folder / f"step{step}" / f"rank{rank}"
    shutil.copytree(RANK, made)
    found = json.loads((made / "dump.json").read_text())
    change(found["data"])
    (made / "dump.json").write_text(json.dumps(found))
    return made


def given_to(data: dict[str, Any], number: int, **statistics: float) -> str:
    """Other statistics of the first input of a call; its name."""
    name = [one for one in data if data[one].get("input_args")][number]
    data[name]["input_args"][0].update(statistics)
    return name


def looked(folder: Path, found: Path, python: Path, steps: str = "") -> tuple[int, OverflowResult, Run]:
    spec = OverflowSpec(looked=OverflowSources(dump=found, overflow_steps=steps, check_python=python))
    run = runs.create(folder / "runs", "overflow-check", schema.to_json(spec))
    ended = work.overflow_check(spec, run)
    result = read_overflow(run)
    assert result is not None
    return ended.code, result, run


@pytest.fixture
def no_msprobe(interpreter: Callable[[str], Path]) -> Path:
    return interpreter("exit 0")


def test_that_the_call_that_makes_a_nan_is_named_and_not_those_that_pass_it_on() -> None:
    found = first_overflow(read_dump(DumpLocation(folder=RECORDED / "overflowed" / "step0" / "rank0")), 4, 2)
    assert found == Overflow(step=4, rank=2, call=NORM, is_made=True, value="NaN", place="output", item="0")


def test_that_a_nan_that_comes_in_is_said_to(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        for entry in list(data.values())[5:]:
            for tensor in (*entry["input_args"], *entry["output"]):
                if tensor and "Max" in tensor:
                    tensor.update(Max=NAN, Min=NAN)

    found = first_overflow(read_dump(DumpLocation(folder=dump_of(tmp_path, change))), 0, 0)
    assert found is not None
    assert (found.is_made, found.place, found.value) == (False, "input", "NaN")


def test_that_an_inf_that_an_argument_asks_for_is_none(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        name = next(iter(data))
        data[name]["output"][0].update(Min=-INF, Mean=-INF, Norm=INF)
        data[name]["input_args"].append({"type": "float", "value": -INF})

    assert first_overflow(read_dump(DumpLocation(folder=dump_of(tmp_path, change))), 0, 0) is None


def test_that_an_inf_without_such_an_argument_is_one(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data[NORM]["output"][0].update(Min=-INF, Mean=-INF, Norm=INF)

    found = first_overflow(read_dump(DumpLocation(folder=dump_of(tmp_path, change))), 0, 0)
    assert found is not None
    assert (found.call, found.value, found.is_made) == (NORM, "-Inf", True)


def test_that_the_norm_of_large_numbers_and_the_mean_of_a_mask_are_none(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data[NORM]["output"][0].update(Mean=NAN, Norm=INF)

    assert first_overflow(read_dump(DumpLocation(folder=dump_of(tmp_path, change))), 0, 0) is None


def test_that_a_nan_that_mindspores_extremes_leave_out_is_one(tmp_path: Path) -> None:
    folder = copy_of("mindspore_tensor", tmp_path / "dump")
    content = json.loads((folder / "dump.json").read_text())
    name = next(name for name, entry in content["data"].items() if "Max" in (entry.get("output") or [{}])[0])
    content["data"][name]["output"][0].update(Mean=NAN, Norm=NAN)
    (folder / "dump.json").write_text(json.dumps(content))
    found = first_overflow(read_dump(DumpLocation(folder=folder)), 0, 0)
    assert found is not None
    assert (found.call, found.value, found.is_made) == (name, "NaN", True)


def test_that_a_step_that_was_not_captured_is_refused_beside_one_that_was(tmp_path: Path, no_msprobe: Path) -> None:
    folder = dump_of(tmp_path / "dump", lambda _: None).parent.parent
    with pytest.raises(StudioError) as refused:
        looked(tmp_path, folder, no_msprobe, "0, 9")
    assert (refused.value.key, refused.value.values["absent"]) == ("precision.overflow.no_step", "9")


def test_that_memory_that_nobody_has_written_is_none(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        empty = {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [2], "Max": NAN, "Min": NAN}
        data["Torch.empty.0.forward"] = {"input_args": [], "input_kwargs": {}, "output": [empty]}

    assert first_overflow(read_dump(DumpLocation(folder=dump_of(tmp_path, change))), 0, 0) is None


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    planted=some.lists(
        some.tuples(
            some.integers(0, 13), some.sampled_from(("input_args", "output")), some.sampled_from((NAN, INF, -INF))
        ),
        max_size=5,
    )
)
def test_that_any_statistics_give_the_earliest_that_makes_one_or_is_given_a_nan_that_comes_through(
    tmp_path: Path, planted: list[tuple[int, str, float]]
) -> None:
    def change(data: dict[str, Any]) -> None:
        for call, where, value in planted:
            tensors = [one for one in list(data.values())[call][where] if one and "Max" in one]
            for tensor in tensors[:1]:
                tensor.update(Max=value, Min=value)

    shutil.rmtree(tmp_path / "step0", ignore_errors=True)
    folder = dump_of(tmp_path, change)
    found = first_overflow(read_dump(DumpLocation(folder=folder)), 0, 0)
    said = None if found is None else (found.call, found.is_made)
    assert said == _slowly(json.loads((folder / "dump.json").read_text())["data"])


def _slowly(data: dict[str, Any]) -> tuple[str, bool] | None:
    def bad(tensors: Any, is_one: Callable[[float], bool]) -> bool:
        return any(is_one(one[key]) for one in tensors if one and "Max" in one for key in ("Max", "Min"))

    def inputs(entry: dict[str, Any]) -> list[Any]:
        return [*entry["input_args"], *entry["input_kwargs"].values(), *entry.get("parameters", {}).values()]

    def endless(value: float) -> bool:
        return not math.isfinite(value)

    def high(tensors: Any) -> bool:
        return bad(tensors, lambda value: value == INF)

    def hides(name: str, one: dict[str, Any], signs: set[float]) -> bool:
        if ".forward" not in name or TAKES_INFINITE & {word.lower() for word in name.split(".")}:
            return False
        tensors = one["input_args"][:1] if name.startswith("Module.") else inputs(one)
        outputs = [tensor for tensor in one["output"] if tensor]
        return bool(outputs) and not bad(outputs, endless) and bad(tensors, lambda value: value in {INF, -INF} - signs)

    given = [name for name, one in data.items() if bad(inputs(one), math.isnan)]
    has_high = False
    signs: set[float] = set()
    for name, one in data.items():
        if name in given:
            has_output = any(tensor and "Max" in tensor for tensor in one["output"])
            if bad(one["output"], endless) or not has_output:
                return name, False
        elif bad(one["output"], math.isnan) or (bad(one["output"], endless) and not bad(inputs(one), endless)):
            return name, True
        elif high(inputs(one)) and not has_high and bad(one["output"], endless):
            return name, False
        elif high(one["output"]) and not high(inputs(one)) and name.split(".")[1] not in TURNS_SIGNS:
            return name, True
        elif hides(name, one, signs):
            return name, False
        has_high |= high(one["output"])
        signs |= {sign for sign in (INF, -INF) if bad(one["output"], lambda value, sign=sign: value == sign)}
    return (given[0], False) if given else None


def test_that_a_nan_in_the_data_comes_before_what_it_makes_backward(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        names = list(data)
        for tensor in (*data[names[0]]["input_args"][:1], *data[names[0]]["output"]):
            tensor.update(Max=NAN, Min=NAN)
        data[names[-1]]["output"][0].update(Max=NAN, Min=NAN)

    found = first_overflow(read_dump(DumpLocation(folder=dump_of(tmp_path, change))), 0, 0)
    assert found is not None
    assert (found.place, found.is_made, found.call.split(".")[-1]) == ("input", False, "forward")


def test_that_a_wholly_masked_row_is_named_at_its_softmax(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data[NORM]["input_args"][0].update(Min=-INF, Mean=-INF, Norm=INF)
        data[NORM]["output"][0].update(Max=NAN, Min=NAN)

    found = first_overflow(read_dump(DumpLocation(folder=dump_of(tmp_path, change))), 0, 0)
    assert found is not None
    assert (found.call, found.is_made, found.has_infinite_inputs) == (NORM, True, True)


def test_that_a_nan_that_a_call_does_not_pass_on_comes_after_one_that_is_made(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data[next(iter(data))]["input_args"][0].update(Max=NAN, Min=NAN)
        data[NORM]["output"][0].update(Max=INF)

    found = first_overflow(read_dump(DumpLocation(folder=dump_of(tmp_path, change))), 0, 0)
    assert found is not None
    assert (found.call, found.is_made) == (NORM, True)


def test_that_a_dump_of_which_not_all_could_be_read_is_no_success(tmp_path: Path, no_msprobe: Path) -> None:
    capture = tmp_path / "capture"
    dump_of(capture, lambda _: None, step=0, rank=0)
    whole = dump_of(capture, lambda _: None, step=0, rank=1) / "dump.json"
    whole.write_bytes(whole.read_bytes()[: whole.stat().st_size // 2])
    code, result, run = looked(tmp_path, capture, no_msprobe)
    assert (code, result.damaged, result.found) == (3, 1, ())
    assert "precision.overflow.incomplete" in [event.rule for event in events_of(run) if isinstance(event, Finding)]


def test_that_a_rank_without_a_dump_is_no_success(tmp_path: Path, no_msprobe: Path) -> None:
    capture = tmp_path / "capture"
    dump_of(capture, lambda _: None, step=0, rank=0)
    assert looked(tmp_path, capture, no_msprobe)[0] == 0
    (capture / "step0" / "rank1").mkdir()
    code, result, run = looked(tmp_path, capture, no_msprobe)
    assert (code, result.found, result.empty) == (3, (), ("step0/rank1",))
    assert overflow_answer(run)["empty"] == ["step0/rank1"]
    sentences = [sentence_of(event) for event in events_of(run) if isinstance(event, Finding)]
    assert "ranks without a dump: 1" in sentences[0]
    assert sentences[1].startswith("Without a dump: step0/rank1.")
    assert looked(tmp_path, capture / "step0" / "rank0", no_msprobe)[0] == 0, "only this rank was asked for"
    dump_of(capture, lambda _: None, step=2, rank=0)
    assert looked(tmp_path, capture, no_msprobe, "2")[1].empty == ()


def test_that_a_run_may_be_named_where_a_dump_is_asked_for(tmp_path: Path, homes: Path, no_msprobe: Path) -> None:
    folder = tmp_path / "project"
    made = runs.create(folder / ".ascend-studio" / "runs", "script", {})
    dump_of(made.folder / "artifacts" / "captures" / "a", lambda _: None)
    words = ("overflow-check", made.name, "--check-python", str(no_msprobe), "--json")
    done = studio("--project", str(folder), *words, cwd=tmp_path)
    assert (done.returncode, last_json(done)["passes"]) == (0, 1), done.stderr
    other = runs.create(folder / ".ascend-studio" / "runs", "script", {})
    dump_of(other.folder / "artifacts" / "captures" / "a", lambda _: None)
    done = studio("--project", str(folder), "compare", made.name, other.name, "--json", cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    done = studio("--project", str(folder), "overflow-check", "no-such-run", cwd=tmp_path)
    assert (done.returncode, "does not exist" in done.stderr) == (2, True)


def test_that_a_mask_that_msprobe_alone_names_is_clean_and_its_opinion_is_said(tmp_path: Path) -> None:
    pytest.importorskip("msprobe")

    def change(data: dict[str, Any]) -> None:
        data[NORM]["output"][0].update(Min=-INF, Mean=-INF, Norm=INF)
        data[NORM]["input_args"].append({"type": "float", "value": "-inf"})

    dump_of(tmp_path / "capture", change)
    code, result, run = looked(tmp_path, tmp_path / "capture", Path(sys.executable))
    assert [named.call for named in result.named] == [NORM]
    assert (code, result.found) == (0, ())
    notes = [event for event in events_of(run) if isinstance(event, Note)]
    assert any("msprobe's overflow_check nevertheless names" in sentence_of(event) for event in notes)


# The command


def test_that_all_steps_and_ranks_are_looked_through_steps_first(tmp_path: Path, no_msprobe: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data[NORM]["output"][0].update(Max=INF)

    capture = tmp_path / "采集 🚀"
    dump_of(capture, lambda _: None, step=0, rank=0)
    dump_of(capture, change, step=0, rank=1)
    dump_of(capture, change, step=2, rank=0)
    code, result, run = looked(tmp_path, capture, no_msprobe)
    assert (code, result.passes) == (3, 3)
    assert [(one.step, one.rank) for one in result.found] == [(0, 1), (2, 0)]
    assert result.problem == "precision.msprobe.missing"
    assert overflow_answer(run)["first_overflow"]["call"] == NORM
    said = runs.last_events(run.folder)
    rules = [one.rule for one in said if isinstance(one, Finding)]
    assert (rules, result.empty) == (["precision.overflow.made", "precision.overflow.empty"], ("step2/rank1",))
    assert looked(tmp_path, capture, no_msprobe, "2")[1].found == result.found[1:]
    with pytest.raises(StudioError, match="Available: 0, 2"):
        looked(tmp_path, capture, no_msprobe, "7")


def test_that_a_capture_without_figures_is_refused_with_what_to_do(tmp_path: Path, no_msprobe: Path) -> None:
    structure = copy_of("torch_structure", tmp_path / "structure")
    with pytest.raises(StudioError, match="Capture statistics or tensors"):
        looked(tmp_path, structure, no_msprobe)


def test_that_dumps_of_mindspore_are_read_by_ours_alone(tmp_path: Path, no_msprobe: Path) -> None:
    code, result, _ = looked(tmp_path, copy_of("mindspore_tensor", tmp_path / "dump"), no_msprobe)
    assert (code, result.found, result.problem) == (0, (), "precision.overflow.torch_only")


def test_that_the_command_ends_with_3_where_there_is_one_and_with_0_where_not(tmp_path: Path, no_msprobe: Path) -> None:
    more = ("--check-python", str(no_msprobe), "--json")
    done = studio("--no-project", "overflow-check", str(RECORDED / "overflowed"), *more, cwd=tmp_path)
    assert done.returncode == 3
    said = last_json(done)
    assert said["first_overflow"]["call"] == NORM
    assert said["msprobe"] == {"named": [], "problem": "precision.msprobe.missing"}
    assert "produces NaN in output 0" in done.stderr
    done = studio("--no-project", "overflow-check", str(RECORDED / "target"), *more, cwd=tmp_path)
    assert (done.returncode, last_json(done)["first_overflow"]) == (0, None)
    assert studio("--no-project", "overflow-check", "nowhere", cwd=tmp_path).returncode == 2


@pytest.mark.parametrize(
    ("ours", "theirs", "key"),
    [
        (NORM, NORM, "precision.overflow.same"),
        (NORM, "Tensor.masked_fill.0.forward", "precision.overflow.other"),
        (NORM, "", "precision.overflow.only_ours"),
        ("", NORM, "precision.overflow.only_msprobe"),
        ("", "", "precision.overflow.neither"),
    ],
)
def test_that_msprobes_call_is_held_against_ours(ours: str, theirs: str, key: str) -> None:
    found = (Overflow(step=0, rank=0, call=ours, is_made=True, value="Inf"),) if ours else ()
    named = (Named(step=0, rank=0, call=theirs),) if theirs else ()
    said = work.result_notes(OverflowResult(passes=1, calls=1, found=found, named=named))[1]
    assert isinstance(said, Note)
    assert said.key == key


def test_that_an_argument_that_is_nan_is_named_although_all_results_are_finite(tmp_path: Path) -> None:
    def change(data: dict[str, Any]) -> None:
        data[NORM]["input_args"].append({"type": "float", "value": NAN})

    dump = read_dump(DumpLocation(folder=dump_of(tmp_path, change)))
    found = first_overflow(dump, 0, 0)
    assert found is not None
    assert (found.call, found.place, found.value, found.is_made) == (NORM, "argument", "NaN", False)
    assert work.rule_of(found).startswith("precision.overflow.argument")
    assert sentence_of(Finding(rule=work.rule_of(found), severity="warning", args=work.args_of(found)))
