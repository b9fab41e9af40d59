"""The optimizer's record beside a dump: read as calls of it, whatever it holds."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.compare.comparison import FOLDER, comparison_answer
from backends.precision.compare.comparison_files import open_comparison
from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from backends.precision.dump.dump import INPUT, KWARG, OUTPUT, DumpLocation
from backends.precision.dump.optimizer import OPTIMIZER_FILE
from backends.precision.dump.read import read_dump
from backends.precision.issue.markdown import issue_text
from backends.precision.overflow.first_overflow import first_overflow
from studio import run as runs
from studio import schema
from studio.texts import t
from tests.precision.dump.recorded import copy_of
from tests.precision.signoff.made import compared_dumps

if TYPE_CHECKING:
    from pathlib import Path


def record(
    lr: Any = 0.01, norm: Any = 0.08, name: str = "AdamW", gradient: Any = 2.0, **more: Any
) -> dict[str, Any]:  # fmt: skip
    parameter: dict[str, Any] = {
        "name": "0.weight", "dtype": "float32", "size": 64, "before": [1.0, -1.0, 0.0, 4.0],
        "gradient": [0.5, -0.5, 0.0, gradient], "update": [0.01, -0.01, 0.0, norm], "state": {},
    }  # fmt: skip
    parameter.update({key: value for key, value in more.items() if key not in ("format", "left_out")})
    values = {"lr": lr, "betas": [0.9, 0.999], "maximize": False}
    groups = [{"values": values, "left_out": more.get("left_out", 0), "parameters": [parameter]}]
    return {"format": more.get("format", 2), "updates": [{"optimizer": name, "groups": groups}]}


LARGE = {"size": 1 << 20, "sampled": 4096, "gradient_sums": [1.0, -1.0, 0.0, 2.0], "update_sums": [0.1, -0.1, 0.0, 0.8]}


def dump_with(folder: Path, content: dict[str, Any] | bytes) -> Path:
    copy = copy_of("mindspore_tensor", folder)
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    (copy / OPTIMIZER_FILE).write_bytes(data)
    return copy


def test_that_each_group_is_a_call_of_its_own_behind_all_others(tmp_path: Path) -> None:
    plain = read_dump(DumpLocation(folder=copy_of("mindspore_tensor", tmp_path / "plain")))
    dump = read_dump(DumpLocation(folder=dump_with(tmp_path / "with", record(name="NpuFusedAdamW"))))
    assert dump.calls == (*plain.calls, "Optimizer.AdamW.group0.0.forward")
    rows = [row for row, call in enumerate(dump.call.tolist()) if call == len(plain.calls)]
    assert [(int(dump.role[row]), dump.item[row]) for row in rows] == [
        (KWARG, "betas.0"), (KWARG, "betas.1"), (KWARG, "lr"), (KWARG, "maximize"), (INPUT, "0.weight"),
        (INPUT, "0.weight.gradient"), (OUTPUT, "0.weight.update"),
    ]  # fmt: skip
    assert [dump.value[row] for row in rows[:4]] == ["0.9", "0.999", "0.01", "False"]
    assert dump.stats[rows[-1]].tolist() == [0.01, -0.01, 0.0, 0.08]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b'{"updates": 3}',
        b'{"format": 2, "updates": []}',
        b'{"updates": [{"optimizer": "A", "groups": 1}]}',
    ],
)
def test_that_a_damaged_record_is_no_call_and_a_gap(tmp_path: Path, content: bytes) -> None:
    plain = copy_of("mindspore_tensor", tmp_path / "plain")
    damaged = dump_with(tmp_path / "with", content)
    assert read_dump(DumpLocation(folder=damaged)).calls == read_dump(DumpLocation(folder=plain)).calls
    answer = comparison_answer(compared_dumps(tmp_path, damaged, plain))
    assert (answer["verdict"], answer["notes"]) == ("incomplete", ["precision.dump.optimizer_damaged"])


def test_that_an_incomplete_comparison_is_called_so_in_the_list_of_runs(tmp_path: Path) -> None:
    damaged = dump_with(tmp_path / "with", b"{")
    run = compared_dumps(tmp_path, damaged, copy_of("mindspore_tensor", tmp_path / "plain"))
    spec = schema.from_json(CompareSpec, run.request.values)[0]
    ended = compare(spec, run)
    assert (ended.code, ended.reason) == (3, "incomplete")
    glance = replace(runs.glance(run), state="ended", code=ended.code, reason=ended.reason)
    assert (runs.outcome_of(glance), t("state.incomplete")) == ("incomplete", "Incomplete")


@pytest.mark.parametrize(
    ("change", "reason", "ratio"),
    [
        ({"lr": 0.02, "norm": 0.16}, "optimizer_rate", "2"), ({"lr": 0.02}, "optimizer_rate_alone", None),
        ({"norm": 0.04}, "optimizer_scaled", "0.5"), ({"gradient": 1.0, "norm": 0.04}, "optimizer_gradient", "0.5"),
    ],
)  # fmt: skip
def test_that_a_difference_in_the_optimizer_is_named_and_written_down(
    tmp_path: Path, change: dict[str, Any], reason: str, ratio: str | None
) -> None:
    target = dump_with(tmp_path / "target", record(**change))
    run = compared_dumps(tmp_path, target, dump_with(tmp_path / "golden", record()))
    first = comparison_answer(run)["first_divergence"]
    assert (first["name"], first["reason"]) == ("Optimizer.AdamW.group0.0.forward", reason)
    assert first["args"].get("ratio") == ratio
    comparison = open_comparison(run.folder / FOLDER)
    assert comparison.first is not None
    assert "Optimizer.AdamW.group0.0" in issue_text(comparison, comparison.first.call, "en")


def compared_records(tmp_path: Path, target: dict[str, Any], golden: dict[str, Any]) -> dict[str, Any]:
    run = compared_dumps(tmp_path, dump_with(tmp_path / "target", target), dump_with(tmp_path / "golden", golden))
    return comparison_answer(run)


def test_that_a_sampled_parameter_says_how_many_of_its_elements_were_compared(tmp_path: Path) -> None:
    answer = compared_records(tmp_path, record(**LARGE), record(**LARGE))
    assert (answer["verdict"], answer["notes"]) == ("pass", ["precision.compare.sampled_updates"])
    coverage = answer["coverage"]
    assert (coverage["update_elements"], coverage["all_update_elements"]) == (4096, 1 << 20)


def test_that_an_update_that_differs_outside_of_the_sample_shows_in_its_sums(tmp_path: Path) -> None:
    other = LARGE | {"update_sums": [0.1, -0.1, 0.0, 0.7]}
    first = compared_records(tmp_path, record(**other), record(**LARGE))["first_divergence"]
    assert (first["reason"], first["suspect"], first["args"]["ratio"]) == ("optimizer_part", "optimizer", "0.875")


@pytest.mark.parametrize(
    ("cosine", "reason"), [(0.8, "optimizer_sign"), (0.0, "optimizer_direction"), (-0.1, "optimizer_direction")]
)
def test_that_an_update_of_the_right_size_that_points_elsewhere_is_named(
    tmp_path: Path, cosine: float, reason: str
) -> None:
    target, golden = (record(direction=[number, number, number, abs(number)]) for number in (cosine, -0.8))
    first = compared_records(tmp_path, target, golden)["first_divergence"]
    assert (first["reason"], first["suspect"], first["args"]["parameter"]) == (reason, "optimizer", "0.weight")


def test_that_a_direction_may_differ_as_the_noise_of_its_gradient_turns_it(tmp_path: Path) -> None:
    target = record(direction=[-0.78, -0.78, -0.78, 0.78], gradient=2.0001)
    assert compared_records(tmp_path, target, record(direction=[-0.8, -0.8, -0.8, 0.8]))["verdict"] == "pass"


def test_that_an_update_of_nothing_but_zeros_has_no_direction_and_is_no_overflow(tmp_path: Path) -> None:
    still = record(norm=0.0, direction=["NaN"] * 4)
    assert compared_records(tmp_path, still, still)["verdict"] == "pass"


def test_that_sums_of_a_noisy_gradient_may_differ_as_elements_at_random_do(tmp_path: Path) -> None:
    noisy = LARGE | {"gradient_sums": [1.0, -1.0, 0.0, 2.0001], "update_sums": [0.1, -0.1, 0.0, 0.82]}
    assert compared_records(tmp_path, record(**noisy), record(**LARGE))["verdict"] == "pass"


@pytest.mark.parametrize(
    ("target", "golden", "gap"),
    [
        ({"left_out": 3}, {"left_out": 3}, "precision.dump.optimizer_partial"),
        ({"format": 1, "size": 4000}, {"format": 1, "size": 4000}, "precision.dump.optimizer_unclear"),
        (LARGE | {"sampled": 2048}, LARGE, "precision.compare.no_figures"),
    ],
)
def test_that_what_a_record_leaves_out_is_a_gap(
    tmp_path: Path, target: dict[str, Any], golden: dict[str, Any], gap: str
) -> None:
    answer = compared_records(tmp_path, record(**target), record(**golden))
    assert answer["verdict"] == "incomplete", answer["first_divergence"]
    assert gap in [note["key"] for note in answer["gaps"]]


@pytest.mark.parametrize("reason", ["optimizer_absent", "optimizer_extra"])
def test_that_a_parameter_of_one_sides_optimizer_alone_is_named(tmp_path: Path, reason: str) -> None:
    more = record()
    parameters = more["updates"][0]["groups"][0]["parameters"]
    parameters.append(parameters[0] | {"name": "2.weight"})
    records = (record(), more) if reason == "optimizer_absent" else (more, record())
    first = compared_records(tmp_path, *records)["first_divergence"]
    assert (first["reason"], first["args"].get("parameter"), first["suspect"]) == (reason, "2.weight", "optimizer")


def with_parameters(*names: str) -> dict[str, Any]:
    content = record(**LARGE)
    (first,) = content["updates"][0]["groups"][0]["parameters"]
    content["updates"][0]["groups"][0]["parameters"] = [first | {"name": name} for name in names]
    return content


def test_that_an_optimizer_that_got_a_few_of_the_parameters_is_named_and_the_others_do_not_count(
    tmp_path: Path,
) -> None:
    few, all_of_them = with_parameters("0.weight"), with_parameters("0.weight", "2.weight", "4.weight", "6.weight")
    answer = compared_records(tmp_path, few, all_of_them)
    first = answer["first_divergence"]
    assert (first["reason"], first["args"]["parameter"], first["args"]["count"]) == (
        "optimizer_absent",
        "2.weight",
        "3",
    )
    assert answer["coverage"]["update_elements"] == 4096


def with_groups(*groups: tuple[float, tuple[str, ...]]) -> dict[str, Any]:
    """A record whose groups have such a weight decay and such parameters."""
    content = record()
    (group,) = content["updates"][0]["groups"]
    (parameter,) = group["parameters"]
    content["updates"][0]["groups"] = [
        {
            "values": group["values"] | {"weight_decay": decay},
            "parameters": [parameter | {"name": name} for name in names],
        }
        for decay, names in groups
    ]
    return content


@pytest.mark.parametrize(
    "groups",
    [
        [(0.0, ("0.bias", "2.bias")), (0.1, ("0.weight", "2.weight"))],
        [(0.1, ("2.weight",)), (0.1, ("0.weight",)), (0.0, ("0.bias",)), (0.0, ("2.bias",))],
    ],
)
def test_that_parameters_in_other_groups_with_the_same_settings_agree(tmp_path: Path, groups: Any) -> None:
    golden = with_groups((0.1, ("0.weight", "2.weight")), (0.0, ("0.bias", "2.bias")))
    for number, records in enumerate(((with_groups(*groups), golden), (golden, with_groups(*groups)))):
        answer = compared_records(tmp_path / str(number), *records)
        assert (answer["verdict"], answer["first_divergence"]) == ("pass", None)


def test_that_one_parameter_in_a_group_with_another_setting_is_named(tmp_path: Path) -> None:
    golden = with_groups((0.1, ("0.weight", "2.weight")), (0.0, ("0.bias",)))
    target = with_groups((0.1, ("0.weight",)), (0.0, ("0.bias", "2.weight")))
    first = compared_records(tmp_path, target, golden)["first_divergence"]
    assert (first["reason"], first["name"]) == (
        "optimizer_setting_alone",
        "Optimizer.AdamW.group0_1.0.forward",
    )
    assert (first["args"]["target"], first["args"]["golden"]) == ("0.0", "0.1")


def test_that_parameters_by_other_names_are_not_compared_and_a_gap(tmp_path: Path) -> None:
    named, numbered = with_parameters("0.weight", "2.weight"), with_parameters("0.0", "0.1")
    answer = compared_records(tmp_path, named, numbered)
    assert (answer["verdict"], answer["coverage"]["update_elements"]) == ("incomplete", 0)
    assert "precision.compare.optimizer_alone" in [note["key"] for note in answer["gaps"]]


def test_that_updates_that_one_record_lacks_are_a_gap(tmp_path: Path) -> None:
    answer = compared_records(tmp_path, record(update=None), record())
    assert answer["verdict"] == "incomplete", answer["first_divergence"]
    assert [note["key"] for note in answer["gaps"]] == ["precision.compare.optimizer_alone"]


@pytest.mark.parametrize("reason", ["optimizer_no_gradient", "optimizer_extra_gradient"])
def test_that_a_gradient_of_one_side_alone_is_named(tmp_path: Path, reason: str) -> None:
    without = record(norm=0.0)
    without["updates"][0]["groups"][0]["parameters"][0]["gradient"] = None
    records = (without, record()) if reason == "optimizer_no_gradient" else (record(), without)
    first = compared_records(tmp_path, *records)["first_divergence"]
    assert (first["reason"], first["args"].get("parameter"), first["suspect"]) == (reason, "0.weight", "optimizer")


def test_that_a_second_golden_run_widens_what_updates_may_differ_by_and_says_so(tmp_path: Path) -> None:
    """An update that is 4 % larger is named, but not where two golden runs are 3 % apart; one twice as large is."""
    again = dump_with(tmp_path / "again", record(norm=0.0776))
    with (again / "dump.json").open("a") as file:
        file.write("\n")  # another capture, not a copy
    golden = dump_with(tmp_path / "golden", record())
    outcomes = {}
    for norm in (0.0832, 0.16):
        target = dump_with(tmp_path / f"target{norm}", record(norm=norm))
        for second in (None, again):
            run = compared_dumps(tmp_path / f"{norm} {second}".replace("/", "_"), target, golden, second)
            outcomes[norm, second is not None] = comparison_answer(run)
    firsts = {key: answer["first_divergence"] for key, answer in outcomes.items()}
    reasons = {key: first and first["reason"] for key, first in firsts.items()}
    assert reasons == {
        (0.0832, False): "optimizer_scaled", (0.0832, True): None, (0.16, False): "optimizer_scaled",
        (0.16, True): "optimizer_scaled",
    }  # fmt: skip
    noise = outcomes[0.0832, True]["golden_again"]
    assert (noise["updates"], noise["update_name"], noise["by_noise"]) == (1, "0.weight", 1)
    assert noise["largest_update"] == pytest.approx(0.03)


def test_that_a_record_of_one_side_alone_is_no_divergence(tmp_path: Path) -> None:
    plain = copy_of("mindspore_tensor", tmp_path / "plain")
    run = compared_dumps(tmp_path, dump_with(tmp_path / "target", record()), plain)
    answer = comparison_answer(run)
    assert (answer["verdict"], answer["coverage"]["one_sided_calls"]) == ("pass", 1)
    assert "precision.compare.one_side" in answer["notes"]


@pytest.mark.parametrize("side", ["target", "golden"])
def test_that_a_record_of_some_steps_of_a_side_alone_is_a_gap(tmp_path: Path, side: str) -> None:
    for name in ("target", "golden"):
        for step in (1, 2):
            folder = dump_with(tmp_path / "made" / name / str(step), record())
            (tmp_path / name / f"step{step}").mkdir(parents=True)
            folder.rename(tmp_path / name / f"step{step}" / "rank0")
    (tmp_path / side / "step2" / "rank0" / OPTIMIZER_FILE).unlink()
    answer = comparison_answer(compared_dumps(tmp_path, tmp_path / "target", tmp_path / "golden"))
    assert answer["verdict"] == "incomplete", answer["first_divergence"]
    assert [note["key"] for note in answer["gaps"]] == ["precision.compare.absent_records"]


def test_that_a_nan_in_an_update_is_an_overflow_of_the_optimizer(tmp_path: Path) -> None:
    content = record()
    content["updates"][0]["groups"][0]["parameters"][0]["update"] = ["NaN"] * 4
    found = first_overflow(read_dump(DumpLocation(folder=dump_with(tmp_path / "with", content))), 0, 0)
    assert found is not None
    assert (found.call, found.is_made) == ("Optimizer.AdamW.group0.0.forward", True)
