"""What two rehearsals asked for, side by side."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from backends.migration.certify.contracts.comparison import compare_contracts, compare_topic
from backends.migration.certify.contracts.record import Contract, Entry, ran_lines, read_contracts, training_contracts
from backends.migration.certify.contracts.topics import TOPICS, comparable
from studio import texts
from studio.paths import GUEST

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.certify.certificate import Check


def entries(*listed: str, path: str = "train.py") -> tuple[Entry, ...]:
    return tuple(Entry(text=text, path=path, line=number) for number, text in enumerate(listed, 1))


def contract(rank: int = 0, **topics: tuple[Entry, ...]) -> Contract:
    return Contract(rank=rank, stance="cuda", device="cpu", steps=3, topics=topics)


def compare(before: dict[str, Any], after: dict[str, Any], rank: int = 0) -> dict[str, Check]:
    first, second = contract(rank, **before), contract(rank, **after)
    checks = compare_contracts([first], [second], [second], lambda path, line: (path, line + 100))
    for check in checks:
        assert texts.has(check.reason.key)
        assert "{" not in texts.t(check.reason.key, **check.reason.args)
    return {check.name: check for check in checks}


def differing(before: dict[str, Any], after: dict[str, Any], rank: int = 0) -> list[tuple[str, str, int]]:
    """Return name, key and line of the checks that refuse."""
    checks = compare(before, after, rank).values()
    return [(one.name, one.reason.key.rpartition(".")[2], one.line) for one in checks if one.state == "fail"]


def test_that_what_neither_asked_for_is_not_run_and_never_passes() -> None:
    assert {check.state for check in compare({}, {}).values()} == {"not_run"}


def test_that_cuda_stands_for_npu_and_nccl_for_hccl_and_nothing_else_does() -> None:
    before = {"devices": entries("cuda:0"), "groups": entries("init_process_group(nccl), 2 ranks")}
    after = {"devices": entries("npu:0"), "groups": entries("init_process_group(hccl), 2 ranks")}
    assert {name for name, check in compare(before, after).items() if check.state == "pass"} == {"devices", "groups"}
    assert comparable("cuda:0 nccl") == comparable("npu:0 hccl")
    assert comparable("autocast(cuda, float16)") != comparable("autocast(npu, bfloat16)")
    assert comparable("gloo") not in (comparable("nccl"), comparable("hccl"))


SCALED = ("scale", "step", "update")


@pytest.mark.parametrize(
    ("topic", "before", "after", "difference"),
    [
        ("devices", ("cuda:0",), ("npu:1",), ("devices", "differs", 1)),
        ("devices", ("cuda:0",), ("npu:0", "npu:1"), ("devices", "added", 2)),
        ("devices", ("cuda:0", "cuda:1"), ("npu:0",), ("devices", "missing", 102)),
        ("selected", ("cuda:0",), ("npu:1",), ("devices", "differs", 1)),
        ("autocast", ("autocast(cuda, bfloat16)",), ("autocast(npu, float16)",), ("dtypes", "differs", 1)),
        ("scaler", SCALED, (), ("scaler", "missing", 101)),
        ("scaler", SCALED, ("scale", "update"), ("scaler", "missing", 102)),
        ("scaler", SCALED, ("scale", "unscale_", "step", "update"), ("scaler", "added", 2)),
        ("seeds", ("torch 1",), ("torch 2",), ("seeds", "differs", 1)),
        ("seeds", ("torch 1",), (), ("seeds", "missing", 101)),
        ("groups", ("init_process_group(nccl), 2 ranks",), ("init_process_group(gloo), 2 ranks",),
         ("groups", "differs", 1)),
        ("collectives", ("all_reduce(a)", "broadcast(b)"), ("broadcast(b)", "all_reduce(a)"),
         ("collectives", "differs", 1)),
        ("optimizer", ("AdamW 0, group 0: lr=0.1",), ("AdamW 0, group 0: lr=0.01",), ("optimizer", "differs", 1)),
        ("parameters", ("SGD 0, group 0: 4 × float32",), ("SGD 0, group 0: 4 × float16",), ("optimizer", "differs", 1)),
        ("batches", ("a", "b", "c"), ("a", "c", "b"), ("batches", "differs", 2)),
        ("saved", ("a.pt: 2 entries",), ("a.pt: 1 entries",), ("saved", "differs", 1)),
        ("checkpointing", ("checkpoint",), (), ("memory", "missing", 101)),
    ],
)  # fmt: skip
def test_that_the_first_difference_is_named_with_its_line(
    topic: str, before: tuple[str, ...], after: tuple[str, ...], difference: tuple[str, str, int]
) -> None:
    assert differing({topic: entries(*before)}, {topic: entries(*after)}) == [difference]


def test_that_what_was_done_less_often_differs_although_it_was_done() -> None:
    def moves(count: int) -> dict[str, Any]:
        return {"host_moves": (Entry(text="Tensor to cpu", path="train.py", line=4, count=count),)}

    assert differing(moves(3), moves(6)) == [("devices", "count", 4)]
    assert differing(moves(3), moves(6), rank=1) == []


def test_that_ranks_that_are_stopped_a_step_apart_do_not_differ() -> None:
    steps = entries(*SCALED, *SCALED)
    assert differing({"scaler": steps}, {"scaler": steps[:4]}, rank=1) == []
    assert differing({"scaler": steps}, {"scaler": steps[:4]}) != []


def test_that_a_seed_of_the_card_that_torch_sets_anyway_may_go() -> None:
    before = {"seeds": entries("torch 1", "cuda 1")}
    assert differing(before, {"seeds": entries("torch 1")}) == []
    assert differing(before, {"seeds": entries("torch 1", "npu 2")}) == [("seeds", "added", 2)]
    assert differing({"seeds": entries("cuda 1")}, {"seeds": ()}) == [("seeds", "missing", 101)]


def test_that_parameters_that_stay_on_the_cpu_are_named() -> None:
    def places(*listed: str) -> dict[str, Any]:
        return {"places": entries(*(f"SGD 0, group 0: {text}" for text in listed)), "devices": entries("cuda:0")}

    assert differing(places("4 tensors on cuda:0"), places("4 tensors on npu:0")) == []
    assert differing(places("4 tensors on cuda:0"), places("2 tensors on cpu", "2 tensors on npu:0")) == [
        ("devices", "differs", 1)
    ]
    assert differing(places("2 tensors on cuda:0"), places("4 tensors on npu:0")) == []


def test_that_another_number_of_ranks_refuses_the_groups() -> None:
    two = [contract(0), contract(1)]
    states = {
        check.name: check.state for check in compare_contracts(two, two[:1], two[:1], lambda path, line: (path, line))
    }
    assert states == dict.fromkeys(TOPICS, "not_run") | {"groups": "fail"}


def test_that_without_a_contract_nothing_is_proven() -> None:
    assert {check.state for check in compare_contracts([], [contract()], [contract()], lambda *where: where)} == {
        "not_run"
    }


def test_that_contracts_are_read_by_rank_and_damaged_ones_are_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "artifacts" / "contracts"
    folder.mkdir(parents=True)
    good = {"rank": 1, "stance": "npu", "device": "virtual_npu", "steps": 2, "topics": {}, "rests": {},
            "lines": {"/a/train.py": [[1, 3], [7, 7]]}}  # fmt: skip
    (folder / "contract.r1.p9.json").write_text(json.dumps(good))
    (folder / "contract.r0.p8.json").write_text(json.dumps(good | {"rank": 0, "steps": 0}))
    (folder / "contract.r2.p7.json").write_text('{"rank": ')
    contracts = read_contracts(tmp_path)
    assert [one.rank for one in contracts] == [0, 1]
    assert [one.rank for one in training_contracts(contracts)] == [1]
    assert ran_lines(contracts) == {"/a/train.py": {1, 2, 3, 7}}


TEXTS = some.lists(some.sampled_from(["cuda:0", "cuda:1", "scale", "step"]), max_size=6)


@given(first=TEXTS, second=TEXTS, order=some.sampled_from(["sequence", "set", "counted"]))
def test_that_equal_topics_never_differ_and_a_difference_has_an_entry(
    first: list[str], second: list[str], order: Any
) -> None:
    assert compare_topic(entries(*first), entries(*first), order) is None
    difference = compare_topic(entries(*first), entries(*second), order)
    if order == "sequence":
        assert (difference is None) == (first == second)
    assert difference is None or difference[1] is not None or difference[2] is not None


P2P = """
import sys, tempfile
sys.path.insert(0, sys.argv[1])
import torch, torch.distributed as dist
from ascend_studio.contract import groups, log
log.torch = torch
groups.install(torch)
dist.init_process_group("gloo", init_method="file://" + tempfile.mkdtemp() + "/store", rank=0, world_size=1)
assert dist.isend is dist.distributed_c10d.isend and dist.all_reduce is dist.distributed_c10d.all_reduce
for op in (dist.isend, dist.irecv):
    print(dist.P2POp(op, torch.zeros(1), 1).op is op)
dist.all_reduce(torch.zeros(1))
print([entry["text"].partition("(")[0] for topic in log._topics.values() for entry in topic])
"""


def test_that_exchanges_between_pairs_of_ranks_are_torchs_own(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    (tmp_path / "p2p.py").write_text(P2P)
    done = subprocess.run(
        (sys.executable, "p2p.py", GUEST), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert done.stdout.split("\n", 2) == ["True", "True", "['init_process_group', 'all_reduce']\n"], done.stderr
