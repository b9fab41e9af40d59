"""What a comparison did not look at: it is counted, said, and never a pass."""

from __future__ import annotations

import json
import math
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import torch

from backends.precision.compare.comparison import GAPS
from studio.errors import StudioError
from studio.events import Finding, Note
from studio.run import last_events
from studio.texts import has, t

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.precision.compare.conftest import Compared


def copied(dumps: Path, name: str, folder: Path) -> Path:
    shutil.copytree(dumps / name, folder)
    return folder


def gaps_of(compared: Compared) -> list[str]:
    assert (compared.code, compared.answer["verdict"]) == (3, "incomplete")
    assert compared.answer["first_divergence"] is None
    said = [t(event.rule, **event.args) for event in last_events(compared.run.folder) if isinstance(event, Finding)]
    coverage = compared.answer["coverage"]
    assert f"{coverage['calls']} of {coverage['all_calls']} calls" in said[-1]
    return [gap["key"] for gap in compared.answer["gaps"]]


def test_that_a_whole_comparison_says_what_it_covers(compared: Callable[..., Compared]) -> None:
    whole = compared("steps", "steps_ulp")
    coverage = whole.answer["coverage"]
    assert (whole.code, whole.answer["verdict"], whole.answer["gaps"]) == (0, "pass", [])
    assert coverage["calls"] == coverage["all_calls"] == len(whole.comparison.names)
    assert 0 < coverage["values"] == coverage["all_values"] < len(whole.comparison.verdict)
    assert (coverage["steps"], coverage["all_steps"], coverage["ranks"]) == ([0, 1, 2], [0, 1, 2], [0])
    notes = [event for event in last_events(whole.run.folder) if isinstance(event, Note)]
    assert f"{coverage['calls']} calls" in t(notes[-1].key, **notes[-1].args)
    assert whole.comparison.coverage == compared("steps", "steps_ulp").comparison.coverage


def test_that_it_is_said_by_what_values_were_compared(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    by_digest, by_statistics = (compared(name, "healthy").answer["coverage"] for name in ("digests", "ulp"))
    assert (by_statistics["by_digest"], by_statistics["by_element"]) == (0, 0)
    assert by_digest["by_digest"] == 0, "the golden side has no digests"
    same = compared("digests", copied(dumps, "digests", tmp_path / "digests")).answer["coverage"]
    assert same["by_digest"] > 0.9 * same["values"]
    elements = compared("tensors", copied(dumps, "tensors", tmp_path / "tensors")).answer["coverage"]
    assert elements["by_element"] > 0.9 * elements["values"]


@pytest.mark.parametrize("is_target", [True, False])
@pytest.mark.parametrize("where", ["in a call", "between calls"])
def test_that_half_a_dump_is_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path, where: str, *, is_target: bool
) -> None:
    half = copied(dumps, "ulp", tmp_path / "half")
    (path,) = half.rglob("dump.json")
    text = path.read_text()
    names = list(json.loads(text)["data"])
    end = text.index(f'"{names[len(names) // 2]}"')
    path.write_text(text[: end + 60] if where == "in a call" else text[:end].rstrip().rstrip(","))
    found = compared(half, "healthy") if is_target else compared("healthy", half)
    assert gaps_of(found) == [f"precision.compare.{'damaged' if where == 'in a call' else 'cut'}_dump"]
    assert found.answer["coverage"]["calls"] == len(names) // 2 < found.answer["coverage"]["all_calls"] == len(names)


@pytest.mark.parametrize("is_target", [True, False])
def test_that_a_missing_step_is_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path, *, is_target: bool
) -> None:
    short = copied(dumps, "steps_ulp", tmp_path / "short")
    shutil.rmtree(short / "step1")
    found = compared(short, "steps") if is_target else compared("steps", short)
    assert gaps_of(found) == [f"precision.dump.no_{'target' if is_target else 'golden'}"]
    assert (found.answer["coverage"]["steps"], found.answer["coverage"]["all_steps"]) == ([0, 2], [0, 1, 2])
    chosen = {"step_numbers": "0, 2"}
    assert (compared(short, "steps", **chosen) if is_target else compared("steps", short, **chosen)).code == 0


@pytest.mark.parametrize(("option", "numbers"), [("step_numbers", "0, 9"), ("rank_numbers", "0, 3")])
def test_that_a_step_or_a_rank_that_neither_side_has_is_refused(
    compared: Callable[..., Compared], option: str, numbers: str
) -> None:
    with pytest.raises(StudioError) as refused:
        compared("steps_ulp", "steps", **{option: numbers})
    assert refused.value.key.startswith("precision.compare.no_such_")
    assert refused.value.values["absent"] == numbers[-1]


@pytest.mark.parametrize("is_target", [True, False])
def test_that_a_result_of_one_side_alone_is_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path, *, is_target: bool
) -> None:
    without = copied(dumps, "ulp", tmp_path / "without")
    (path,) = without.rglob("dump.json")
    content = json.loads(path.read_text())
    name = next(name for name in content["data"] if name.startswith("Functional.linear"))
    content["data"][name]["output"] = []
    path.write_text(json.dumps(content))
    found = compared(without, "healthy") if is_target else compared("healthy", without)
    assert gaps_of(found) == ["precision.compare.one_sided_results"]


def test_that_a_call_without_a_result_on_both_sides_is_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    pair = [copied(dumps, name, tmp_path / name) for name in ("ulp", "healthy")]
    for side in pair:
        (path,) = side.rglob("dump.json")
        content = json.loads(path.read_text())
        name = next(name for name in content["data"] if name.startswith("Functional.linear"))
        content["data"][name].pop("output")
        path.write_text(json.dumps(content))
    assert gaps_of(compared(*pair)) == ["precision.compare.no_results"]


def test_that_a_function_that_returns_nothing_is_no_gap(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    pair = [copied(dumps, name, tmp_path / name) for name in ("ulp", "healthy")]
    for side in pair:
        (path,) = side.rglob("dump.json")
        content = json.loads(path.read_text())
        for name, call in content["data"].items():
            if name.startswith("Functional.gelu") and name.endswith("forward"):
                call["output"] = [None]
        path.write_text(json.dumps(content))
    assert "precision.compare.no_results" not in compared(*pair).answer["notes"]


def test_that_a_rank_that_the_target_never_dumped_is_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    for side, ranks in (("target", 1), ("golden", 2)):
        (source,) = (dumps / "healthy" / "step0").iterdir()
        for rank in range(ranks):
            shutil.copytree(source, tmp_path / side / "step0" / f"rank{rank}")
    found = compared(tmp_path / "target", tmp_path / "golden")
    assert gaps_of(found) == ["precision.dump.no_target"]
    assert (found.answer["coverage"]["ranks"], found.answer["coverage"]["all_ranks"]) == ([0], [0, 1])


@pytest.mark.parametrize("is_target", [True, False])
def test_that_call_stacks_of_one_side_alone_are_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path, *, is_target: bool
) -> None:
    without = copied(dumps, "ulp", tmp_path / "without")
    next(without.rglob("stack.json")).unlink()
    found = compared(without, "healthy") if is_target else compared("healthy", without)
    assert gaps_of(found) == ["precision.compare.no_stacks"]


def _with_nan(dump: Any, part: str) -> Any:
    names = list(dump["data"])
    for name in names[len(names) // 2 :]:
        for value in dump["data"][name].get(part, []):
            if isinstance(value, dict) and "Max" in value:
                value.update(dict.fromkeys(("Max", "Min", "Mean", "Norm"), math.nan))
    return dump


def test_that_nan_on_both_sides_is_incomplete(compared: Callable[..., Compared], dumps: Path, tmp_path: Path) -> None:
    sides = [copied(dumps, "healthy", tmp_path / name) for name in ("target", "golden")]
    for side in sides:
        (path,) = side.rglob("dump.json")
        path.write_text(json.dumps(_with_nan(json.loads(path.read_text()), "output")))
    found = compared(*sides)
    assert gaps_of(found) == ["precision.compare.both_nan"]
    coverage = found.answer["coverage"]
    assert found.answer["gaps"][0]["args"]["count"] == coverage["all_values"] - coverage["values"] > 0


def _infinite(path: Path, *, is_masked: bool) -> None:
    """An output is -Inf on both sides: by a call that says so, or by one that overflows."""
    dump = json.loads(path.read_text())
    names = [name for name in dump["data"] if name.endswith("forward") and dump["data"][name].get("output")]
    call = dump["data"][names[len(names) // 2]]
    call["output"][0].update(Min=-math.inf, Mean=-math.inf, Norm=math.inf)
    if is_masked:
        call["input_args"].append({"type": "float", "value": "-inf"})
    path.write_text(json.dumps(dump))


@pytest.mark.parametrize("is_masked", [True, False])
def test_that_infinity_on_both_sides_is_incomplete_unless_an_argument_asks_for_it(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path, *, is_masked: bool
) -> None:
    sides = [copied(dumps, "healthy", tmp_path / name) for name in ("target", "golden")]
    for side in sides:
        (path,) = side.rglob("dump.json")
        _infinite(path, is_masked=is_masked)
    found = compared(*sides)
    if is_masked:
        assert (found.code, found.answer["gaps"]) == (0, [])
    else:
        assert gaps_of(found) == ["precision.compare.both_infinite"]
        assert found.answer["gaps"][0]["args"]["count"] == 1


def test_that_nan_on_the_golden_side_alone_differs(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    golden = copied(dumps, "healthy", tmp_path / "golden")
    (path,) = golden.rglob("dump.json")
    path.write_text(json.dumps(_with_nan(json.loads(path.read_text()), "output")))
    found = compared("healthy", golden)
    assert (found.code, found.first["reason"]) == (3, "golden_nan")


def test_that_a_side_without_its_backward_is_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    forward = copied(dumps, "ulp", tmp_path / "forward")
    (path,) = forward.rglob("dump.json")
    dump = json.loads(path.read_text())
    dump["data"] = {name: call for name, call in dump["data"].items() if ".forward" in name}
    path.write_text(json.dumps(dump))
    assert gaps_of(compared(forward, "healthy")) == ["precision.compare.one_direction"]


def test_that_tensor_files_that_cannot_be_read_are_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    broken = copied(dumps, "tensors", tmp_path / "broken")
    for file in sorted(broken.rglob("*.pt"))[:3]:
        file.write_bytes(file.read_bytes()[:40])
    assert gaps_of(compared(broken, "tensors")) == ["precision.compare.tensors_failed"]
    assert compared(broken, "tensors", tensors="off").code == 0


def test_that_tensors_of_another_shape_than_the_dump_says_are_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    rewritten = [copied(dumps, "tensors", tmp_path / name) for name in ("target", "golden")]
    for folder in rewritten:
        file = next(path for path in sorted(folder.rglob("*.pt")) if torch.load(path, weights_only=True).dim() == 2)
        torch.save(torch.load(file, weights_only=True)[:1].clone(), file)
    assert gaps_of(compared(*rewritten)) == ["precision.compare.tensors_failed"]


def test_that_values_of_an_unknown_form_are_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    odd = copied(dumps, "ulp", tmp_path / "odd")
    (path,) = odd.rglob("dump.json")
    dump = json.loads(path.read_text())
    dump["data"]["Functional.gelu.1.forward"] = "gone"
    path.write_text(json.dumps(dump))
    assert "precision.compare.unread_values" in compared(odd, "healthy").answer["notes"]


def test_that_every_gap_has_its_sentence() -> None:
    assert all(has(key) for key in GAPS)


def test_that_a_step_whose_folder_is_empty_on_both_sides_is_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    for side in ("target", "golden"):
        shutil.copytree(dumps / "healthy", tmp_path / side)
        (tmp_path / side / "step1").mkdir()
    found = compared(tmp_path / "target", tmp_path / "golden")
    assert gaps_of(found) == ["precision.compare.absent_dumps", "precision.compare.absent_dumps"]


def test_that_the_folder_of_a_rank_without_a_dump_is_incomplete(
    compared: Callable[..., Compared], dumps: Path, tmp_path: Path
) -> None:
    for side in ("target", "golden"):
        (source,) = (dumps / "healthy" / "step0").iterdir()
        shutil.copytree(source, tmp_path / side / "step0" / "rank0")
        (tmp_path / side / "step0" / "rank1").mkdir()
    found = compared(tmp_path / "target", tmp_path / "golden")
    assert gaps_of(found) == ["precision.compare.absent_dumps", "precision.compare.absent_dumps"]
    assert found.answer["gaps"][0]["args"]["names"] == "step0/rank1"
