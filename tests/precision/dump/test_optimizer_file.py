"""The optimizer's record beside a dump: read as calls of it, whatever it holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.compare.comparison import FOLDER, comparison_answer
from backends.precision.compare.comparison_files import open_comparison
from backends.precision.dump.dump import INPUT, KWARG, OUTPUT, DumpLocation
from backends.precision.dump.optimizer import OPTIMIZER_FILE
from backends.precision.dump.read import read_dump
from backends.precision.issue.markdown import issue_text
from backends.precision.overflow.first_overflow import first_overflow
from tests.precision.dump.recorded import copy_of
from tests.precision.signoff.made import compared_dumps

if TYPE_CHECKING:
    from pathlib import Path


def record(lr: Any = 0.01, norm: Any = 0.08, name: str = "AdamW", gradient: Any = 2.0) -> dict[str, Any]:
    parameter = {
        "name": "0.weight", "dtype": "float32", "size": 64, "before": [1.0, -1.0, 0.0, 4.0],
        "gradient": [0.5, -0.5, 0.0, gradient], "update": [0.01, -0.01, 0.0, norm], "state": {},
    }  # fmt: skip
    groups = [{"values": {"lr": lr, "betas": [0.9, 0.999], "maximize": False}, "parameters": [parameter]}]
    return {"format": 1, "updates": [{"optimizer": name, "groups": groups}]}


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
    "content", [b"", b"{", b"[]", b'{"updates": 3}', b'{"updates": [{"optimizer": "A", "groups": 1}]}']
)
def test_that_a_damaged_record_is_no_call_and_a_gap(tmp_path: Path, content: bytes) -> None:
    plain = copy_of("mindspore_tensor", tmp_path / "plain")
    damaged = dump_with(tmp_path / "with", content)
    assert read_dump(DumpLocation(folder=damaged)).calls == read_dump(DumpLocation(folder=plain)).calls
    answer = comparison_answer(compared_dumps(tmp_path, damaged, plain))
    assert (answer["verdict"], answer["notes"]) == ("incomplete", ["precision.dump.optimizer_damaged"])


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


def test_that_a_record_of_one_side_alone_is_no_divergence(tmp_path: Path) -> None:
    plain = copy_of("mindspore_tensor", tmp_path / "plain")
    run = compared_dumps(tmp_path, dump_with(tmp_path / "target", record()), plain)
    answer = comparison_answer(run)
    assert (answer["verdict"], answer["coverage"]["one_sided_calls"]) == ("pass", 1)
    assert "precision.compare.one_side" in answer["notes"]


def test_that_a_nan_in_an_update_is_an_overflow_of_the_optimizer(tmp_path: Path) -> None:
    content = record()
    content["updates"][0]["groups"][0]["parameters"][0]["update"] = ["NaN"] * 4
    found = first_overflow(read_dump(DumpLocation(folder=dump_with(tmp_path / "with", content))), 0, 0)
    assert found is not None
    assert (found.call, found.is_made) == ("Optimizer.AdamW.group0.0.forward", True)
