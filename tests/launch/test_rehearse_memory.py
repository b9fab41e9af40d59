"""The memory and the operators of a rehearsal: what the ranks left is put together, judged, and told."""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any

import pytest

from backends.common import aten_support, card_memory, operator_inventory
from backends.common.card_memory import Assumed, CardMemory, MemoryReport, Shortage, Unfollowed
from backends.launch.rehearse import inventory, memory, report
from backends.launch.rehearse.spec import RehearseSpec
from backends.launch.rehearse.work import rehearsal_command, report_end
from studio import schema, texts
from studio.events import Ended, Finding, Journal, Note
from tests.command_line import last_json, studio
from tests.launch.rehearsals import part, prepare, rehearse_spec
from tests.runs import events_of

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

GIB = 1 << 30
PLACE = {"path": "/x/train.py", "line": 7}
REFUSAL = {
    "tried": GIB,
    "allocated": 40 * GIB,
    "reserved": 60 * GIB,
    "step": 0,
    "phase": "forward",
    "module": "",
    **PLACE,
}


def card(**values: Any) -> dict[str, Any]:
    plain = {
        "card": 0, "total": 64 * GIB, "peak": 10 * GIB, "reserved": 12 * GIB, "missing": 0, "step": 1,
        "kinds": {"parameters": 6 * GIB, "activations": 4 * GIB},
        "modules": [{"module": "Net.body", "count": 1, "kinds": {"parameters": 6 * GIB}}], "refusal": None,
    }  # fmt: skip
    return plain | values


def assumed(use: str) -> dict[str, Any]:
    return {"use": use, "times": 3, **PLACE}


def fake(*used: str, refused: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    return {"assumed": [assumed(use) for use in used], "refused": list(refused), "world": 8}


def left(run: Run, rank: int = 0, **values: Any) -> None:
    part(run, rank, **{"device": "virtual_npu", "device_operators": 9, "memory": [card()]} | values)


def ended(run: Run, code: int = 0, **values: Any) -> Ended:
    spec = rehearse_spec(stance="npu", **values)
    return report_end(spec, run, Journal(run.folder, 1), Ended(code=code), "")


def rules(run: Run) -> list[str]:
    return [event.rule for event in events_of(run) if isinstance(event, Finding)]


def keys(run: Run) -> list[str]:
    return [event.key for event in events_of(run) if isinstance(event, Note)]


def test_that_the_choices_reach_the_guest(tmp_path: Path) -> None:
    spec = rehearse_spec(line=("python", "train.py"), workdir=tmp_path, stance="npu", card_memory=32, fake=True)
    wanted = {
        "ASCEND_STUDIO_REHEARSAL_CARD_MEMORY": "32", "ASCEND_STUDIO_REHEARSAL_FAKE": "1",
        "ASCEND_STUDIO_REHEARSAL_NPU_DEVICE": "virtual",
    }  # fmt: skip
    assert wanted.items() <= rehearsal_command(spec, prepare(tmp_path), {}).env.items()
    plain = rehearsal_command(rehearse_spec(line=("python", "train.py"), stance="npu"), prepare(tmp_path), {})
    assert "ASCEND_STUDIO_REHEARSAL_FAKE" not in plain.env


@pytest.mark.parametrize(
    ("values", "field", "rule"),
    [
        ({"npu_device": "cpu"}, "npu_device", "launch.rule.fake_needs_virtual"),
        ({"seed": 1}, "seed", "launch.rule.fake_has_no_numbers"),
        ({"capture": "dump"}, "capture", "launch.rule.fake_has_no_capture"),
    ],
)
def test_that_what_needs_numbers_is_refused_where_nothing_is_computed(
    values: dict[str, Any], field: str, rule: str
) -> None:
    spec = rehearse_spec(line=("python", "-c", "0"), stance="npu", fake=True, **values)
    assert (field, rule) in [(problem.field, problem.rule) for problem in schema.problems(spec)]
    spec = rehearse_spec(line=("python", "-c", "0"), stance="npu", **values)
    assert rule not in [problem.rule for problem in schema.problems(spec)]


def test_that_the_memory_of_a_card_that_is_not_there_is_refused() -> None:
    spec = rehearse_spec(line=("python", "-c", "0"), stance="npu", npu_device="cpu", card_memory=32)
    assert [problem.rule for problem in schema.without_effect(spec, ("card_memory",))] == [
        "launch.rule.card_memory_of_virtual"
    ]
    for name in ("card_memory", "fake"):
        spec = schema.with_value(RehearseSpec(), name, 32 if name == "card_memory" else True)
        assert [problem.rule for problem in schema.without_effect(spec, (name,))] == ["form.does_not_apply"]


@pytest.mark.parametrize(
    ("values", "fit"),
    [
        ({"reserved": 58 * GIB}, "fits"),
        ({"reserved": 59 * GIB}, "close"),  # with 10 % of error more than 64 GiB
        ({"missing": GIB}, "beyond"),
        ({"refusal": REFUSAL}, "beyond"),
    ],
)
def test_that_it_fits_only_where_the_error_of_the_estimate_leaves_room(
    tmp_path: Path, values: dict[str, Any], fit: str
) -> None:
    run = prepare(tmp_path)
    left(run, memory=[card(**values)])
    held = memory.memory_of(report.read_parts(run.folder))
    assert held is not None
    assert held.fit == fit


@pytest.mark.parametrize(
    ("values", "given", "code", "reason", "told"),
    [
        ({"fake": fake("read")}, {}, 0, "", ["launch.rehearse.fits"]),
        ({"fake": fake("read")}, {"reserved": 60 * GIB}, 3, "incomplete", ["launch.rehearse.close"]),
        ({"fake": fake("size")}, {}, 3, "incomplete", ["launch.rehearse.assumed_size", "launch.rehearse.not_shown"]),
        ({"fake": fake("compared")}, {}, 3, "incomplete", ["launch.rehearse.assumed_compared"]),
        ({"fake": fake(), "steps": 0}, {}, 3, "incomplete", ["launch.rehearse.not_shown"]),
        ({"fake": fake()}, {"missing": GIB, "refusal": REFUSAL}, 3, "no", ["launch.rehearse.beyond"]),
        ({}, {"reserved": 60 * GIB}, 0, "", ["launch.rehearse.close"]),
    ],
)
def test_that_a_rehearsal_of_sizes_succeeds_only_where_it_has_shown_that_the_training_fits(
    tmp_path: Path, values: dict[str, Any], given: dict[str, Any], code: int, reason: str, told: list[str]
) -> None:
    run = prepare(tmp_path)
    part(run, device="virtual_npu", device_operators=9, memory=[card(**given)], **values)
    end = ended(run)
    assert (end.code, end.reason) == (code, reason)
    assert set(told) <= {*rules(run), *keys(run)}
    assert all(texts.has(key) for key in (*rules(run), *keys(run)))


def test_that_a_card_that_is_full_ends_a_computed_rehearsal_with_no_and_the_line(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    left(run)
    part(run, device="virtual_npu", device_operators=9, memory=[card(refusal=REFUSAL)])
    assert (ended(run, code=1).reason, rules(run)) == ("no", ["launch.rehearse.out_of_memory"])
    (finding,) = [event for event in events_of(run) if isinstance(event, Finding)]
    assert (finding.path, finding.line) == ("/x/train.py", 7)


def test_that_a_script_that_went_on_with_less_memory_is_no_refusal(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    part(run, device="virtual_npu", device_operators=9, memory=[card(refusal=REFUSAL)])
    assert ended(run).code == 0
    assert "launch.rehearse.out_of_memory" in rules(run)


def test_that_the_answer_has_memory_and_operators_and_the_files_are_there(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    rows = [
        ["aten.mm.default", "forward", "Net", "float32 float32", "2x3 3x4", "float32", "2x4", 5],
        ["aten.mm.default", "backward", "Net", "float32 float32", "4x3 3x4", "float32", "2x4", 5],
        ["aten.sort.stable", "forward", "Net", "float64", "7", "float64 int64", "7 7", 1],
        ["aten.huber_loss.default", "forward", "", "float32", "7", "float32", "scalar", 2],
        ["own.operator.default", "forward", "", "float32", "7", "float32", "7", 2],
    ]
    listed = {
        "waits": [{"operator": "nonzero", "calls": 2, "bytes_read": 0, **PLACE}],
        "dynamic": [
            {"operator": "aten.mm.default", "module": "Net", "shapes": ["a", "b"], "count": 2, "step": 1, **PLACE},
        ],
        "casts": [{"times": 4, **PLACE}], "left_out": 1,
    }  # fmt: skip
    for rank in (0, 1):
        left(run, rank, operators=rows, inventory=listed, calls_together=3)
    ended(run)
    answer = report.rehearsal_answer(run)
    assert (answer["memory"]["fit"], answer["memory"]["is_whole"], len(answer["memory"]["cards"])) == ("fits", True, 2)
    found = operator_inventory.read_inventory(run.folder)
    assert found is not None
    by_name = {row.operator: row for row in found.operators}
    matmul = by_name["aten.mm.default"]
    assert (matmul.kernel, matmul.support, matmul.calls) == ("kernel", "documented", 20)
    assert (matmul.phases, matmul.shape_count) == (("backward", "forward"), 2)
    assert by_name["aten.sort.stable"].support == "other"
    assert [row.operator for row in found.unknown_dtypes] == ["aten.sort.stable"]
    assert by_name["aten.huber_loss.default"].kernel == "fallback"
    assert by_name["own.operator.default"].kernel == "unknown"
    assert [(wait.calls, wait.line) for wait in found.waits] == [(4, 7)]
    assert [(row.step, row.count) for row in found.dynamic] == [(2, 2)]
    assert [cast.times for cast in found.casts] == [8]
    assert (found.left_out, found.calls_together) == (2, 6)
    assert {"launch.rehearse.waits", "launch.rehearse.dynamic", "launch.rehearse.double"} <= set(rules(run))
    assert "launch.rehearse.unknown_dtype" in rules(run)
    assert card_memory.read_memory(run.folder) is not None


def test_that_nothing_of_memory_is_told_where_no_virtual_card_was_there(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    part(run, redirected={"Module.to": 1})
    ended(run)
    assert not (run.folder / card_memory.FILE).exists()
    assert "memory" not in report.rehearsal_answer(run)


def test_that_the_documentation_names_dtypes_for_functions_methods_and_operators_in_place() -> None:
    assert "float64" in aten_support.documented_dtypes("aten.add.Tensor")
    assert aten_support.documented_dtypes("aten.native_layer_norm.default") == {"bfloat16", "float16", "float32"}
    assert aten_support.documented_dtypes("aten.no_such_operator.default") == frozenset()
    assert aten_support.kernel_of("aten.add.Tensor") == "kernel"
    assert aten_support.kernel_of("prims.add.default") == "unknown"


def test_that_every_sentence_of_a_report_can_be_told() -> None:
    """Those of a report with everything in it."""
    held = MemoryReport(
        is_fake=True, world=8, steps=3,
        cards=(CardMemory(**{**card(missing=GIB), "modules": (), "refusal": Shortage(**REFUSAL)}),),
        assumed=(Assumed(**assumed("size")), Assumed(**assumed("compared"))),
        unfollowed=(Unfollowed(operator="aten.nonzero.default", reason="why", **PLACE),),
    )  # fmt: skip
    events = [*memory.memory_events(held), memory.fit_event(held)]
    events += inventory.inventory_events(operator_inventory.Inventory(), 3)
    for event in events:
        key = event.key if isinstance(event, Note) else event.rule
        assert "{" not in texts.t(key, **(event.args or {}))


STEP = """
import torch, torch_npu
net = torch.nn.Sequential(*[torch.nn.Linear(8192, 8192) for _ in range(LAYERS)]).npu()
optimizer = torch.optim.AdamW(net.parameters())
for step in range(9):
    loss = net(torch.randn(64, 8192).npu()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("loss", loss.item())
"""


@needs_torch
@pytest.mark.parametrize(("layers", "code", "fit"), [(4, 0, "fits"), (16, 3, "beyond")])
def test_that_the_command_line_says_whether_a_model_fits_without_computing_it(
    tmp_path: Path, layers: int, code: int, fit: str
) -> None:
    """A layer has 256 MiB of weights, and four times that with gradient and state."""
    (tmp_path / "train.py").write_text(STEP.replace("LAYERS", str(layers)))
    words = ("rehearse", "--as", "npu", "--fake", "--card-memory", "16", "--steps", "2", "--json")
    done = studio("--no-project", *words, "--", sys.executable, "train.py", cwd=tmp_path)
    assert done.returncode == code, done.stderr
    found = last_json(done)
    assert (found["memory"]["fit"], found["memory"]["is_fake"], found["steps"]) == (fit, True, 2)
    (held,) = found["memory"]["cards"]
    assert held["kinds"]["parameters"] == layers * ((8192 * 8192 + 8192) * 4 + 2 * 512)
    assert [row["use"] for row in found["memory"]["assumed"]] == ["read"]
    if fit == "beyond":
        assert held["missing"] > 0
        assert "It does not fit" in done.stderr
    else:
        assert "It fits" in done.stderr


def test_that_a_rehearsal_without_a_step_does_not_say_that_it_fits(tmp_path: Path) -> None:
    run = prepare(tmp_path)
    left(run, steps=0)
    ended = report_end(rehearse_spec(stance="npu"), run, Journal(run.folder, 1), Ended(code=0), "")
    assert (ended.code, ended.reason) == (0, "incomplete")
    said = {
        event.key if isinstance(event, Note) else event.rule
        for event in events_of(run)
        if isinstance(event, (Note, Finding))
    }
    assert {"launch.rehearse.card_memory_so_far", "launch.rehearse.fit_not_shown", "launch.rehearse.no_step"} <= said
    assert not said & {"launch.rehearse.fits", "launch.rehearse.card_memory"}
    assert report.rehearsal_answer(run)["memory"]["fit"] is None
