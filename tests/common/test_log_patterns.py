"""Patterns over a log: every built-in one on lines as they were printed, the user's own, and lines of any kind."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.common import log_patterns
from backends.common.log_patterns import LONGEST_LINE, Pattern, best, own, patterns, plain, preview, read
from studio.errors import StudioError
from studio.paths import ROOT

RECORDED = ROOT / "tests" / "recorded" / "log_lines"


def rows(name: str) -> tuple[str, list[tuple[dict[str, int], dict[str, float]]]]:
    """The pattern that fits a recorded log, and what it reads."""
    lines = (RECORDED / f"{name}.log").read_text().splitlines()
    pattern = best(lines)
    assert pattern is not None
    return pattern.id, [(row.places, row.values) for _, row in preview(pattern, lines)]


def test_that_nanogpt_is_read() -> None:
    name, found = rows("nanogpt")
    assert (name, len(found)) == ("nanogpt", 5)
    assert found[0] == ({"step": 1631}, {"loss": 4.0863, "step_time": pytest.approx(0.56194)})
    assert found[-1][0] == {"step": 3010}
    assert math.isnan(found[-1][1]["loss"])


def test_that_megatron_is_read() -> None:
    assert rows("megatron") == ("megatron", [
        ({"step": 11, "total": 50000}, {
            "loss": 13.76514, "step_time": pytest.approx(52.7281), "lr": 1.499e-5, "grad_norm": 459.628,
            "loss_scale": 65536.0,
        }),
        ({"step": 1, "total": 24000}, {
            "loss": 11.92634, "step_time": pytest.approx(271.607), "lr": 1.5e-6, "grad_norm": 5.96, "loss_scale": 1.0,
        }),
    ])  # fmt: skip


def test_that_mindformers_is_read_in_each_of_its_versions() -> None:
    name, found = rows("mindformers")
    assert (name, len(found)) == ("mindformers", 4)
    assert found[0][1] == {"loss": 10.649, "step_time": pytest.approx(103.328), "lr": 0.0, "loss_scale": 1.0}
    assert found[1][1]["grad_norm"] == 10.579812
    assert found[2] == (
        {"epoch": 1, "step": 92, "steps": 25880},
        {"loss": 9.902, "step_time": pytest.approx(2.068), "lr": 9.92268e-06, "loss_scale": 262144.0},
    )
    assert found[3][1]["grad_norm"] == 45.702465


def test_that_the_others_are_read() -> None:
    assert rows("transformers") == ("transformers", [({}, {"loss": 1.6693, "lr": 0.0001977758764447498})])
    assert rows("transformers_no_bar")[1][2][1]["grad_norm"] == 14.871335983276367
    assert rows("torchtitan")[1][0] == (
        {"step": 14}, {"loss": 3.24405, "grad_norm": 0.8319, "tokens_per_second": 7282.0}
    )  # fmt: skip
    name, found = rows("tqdm")
    assert (name, found[-1]) == ("tqdm", ({"step": 3, "steps": 18, "epoch": 0}, {"loss": 10.047}))
    name, found = rows("language_model")
    assert (name, len(found)) == ("language_model", 3)
    assert found[0] == (
        {"epoch": 25, "step": 800, "steps": 1106}, {"loss": 4.02, "lr": 20.0, "step_time": pytest.approx(0.10703)}
    )  # fmt: skip
    assert rows("any") == ("any", [
        ({"epoch": 1, "step": 100, "steps": 3995}, {"loss": 11.6707, "lr": 0.09924906492233276}),
        ({"epoch": 1, "step": 200, "steps": 3995}, {"loss": 8.8465, "lr": 0.09849812090396881}),
    ])  # fmt: skip


@pytest.mark.parametrize("pattern", patterns(), ids=lambda pattern: pattern.id)
def test_that_each_pattern_reads_its_example_better_than_any_other(pattern: Pattern) -> None:
    row = read(pattern.example, pattern)
    assert row is not None
    assert math.isfinite(row.values["loss"])
    assert best([pattern.example]) is pattern
    assert pattern.source
    assert preview(own(pattern.text), [pattern.example]) == ((0, row),)  # it may be taken and changed


@pytest.mark.parametrize(("line", "loss"), [
    ("Loss:  0.69", 0.69), ("step 250: train loss 1.5440, val loss 1.7220", 1.544),
    ("[RANK0] Epoch 1 | Train Loss 4.1", 4.1),
    ("loss = -1.5e-3", -1.5e-3), ("epoch 3 loss_train: 2 loss_val: 1", 2.0), ("loss train (curr): 1.671, val 1", 1.671),
    ("test loss: 0.5", None), ("Test set: Average loss: 0.1", None), ("val_loss: 0.5", None), ("lossless: 3", None),
    ("| end of epoch  25 | time: 127.27s | valid loss  4.35 |", None), ("glossary 5", None),
    ("cost = 0.5", 0.5), ("Cost after iteration 100: 0.64", 0.64), ("epoch 2 step 30 cost: 1.25, lr 0.1", 1.25),
    ("train_nll: 3.1", 3.1), ("objective is 2e-3", 2e-3), ("epoch cost: 3.2 s", None), ("time cost: 3.2", None),
    ("cost 35ms", None), ("cost time: 3.2", None), ("test cost: 0.5", None), ("total cost = 12.5", None),
    ("cost: 1e5 ms", None), ("cost: 1,234 s", None), ("costs = 5", None), ("per step cost: 120.3 ms", None),
    ("loss scale: 65536", None), ("the loss is high", None),
])  # fmt: skip
def test_that_a_plain_loss_is_read_and_a_tests_loss_is_not(line: str, loss: float | None) -> None:
    pattern = best([line])
    row = read(line, pattern) if pattern else None
    assert (row.values["loss"] if row else None) == loss


@pytest.mark.parametrize("line", ["cost = nan", "step 7 cost: NaN", "nll nan", "epoch 1, objective = -inf", "BCE: inf"])
def test_that_a_loss_by_another_name_that_is_no_number_is_read(line: str) -> None:
    pattern = best([line])
    row = read(line, pattern) if pattern else None
    assert row is not None
    assert not math.isfinite(row.values["loss"])


@pytest.mark.parametrize("line", [
    '{"step": 3, "val_loss": 0.5}', '{"step": 3, "eval/loss": 0.5}', "验证损失: 0.5", "第 3 步 测试集损失 0.5",
    "cls_loss: 0.3 step 3", "train_loss_weight = 0.5", '{"loss": "mse", "step": 3}',
])  # fmt: skip
def test_that_the_loss_of_a_test_or_a_part_is_not_the_loss(line: str) -> None:
    assert best([line]) is None


@pytest.mark.parametrize(
    "text", ["2,5", "2.5kB", "2.5k3", "1.2.3", "1_000.5", "1'234.5", "1\xa0234,5", "1.#INF", "1.5 x 10^3"]
)
def test_that_the_beginning_of_a_number_in_another_form_is_not_the_loss(text: str) -> None:
    pattern = log_patterns.by_id("any")
    assert pattern is not None
    assert log_patterns.read(f"step 3 loss: {text}", pattern) is None
    nanogpt = log_patterns.by_id("nanogpt")
    assert nanogpt is not None
    assert log_patterns.read(f"iter 3: loss {text}, time 3.00ms", nanogpt) is None


@pytest.mark.parametrize(
    ("text", "loss"), [("2.5k", 2500.0), ("3.1M", 3.1e6), ("-1K", -1000.0), ("1,200.5k", 1_200_500.0), ("2G", 2e9)]
)
def test_that_a_number_that_is_printed_short_is_read(text: str, loss: float) -> None:
    """A log that mixes 2.5k with plain numbers lost those steps, and two such logs agreed."""
    for id, line in (("any", f"step 3 loss: {text}"), ("nanogpt", f"iter 3: loss {text}, time 3.00ms")):
        pattern = log_patterns.by_id(id)
        assert pattern is not None
        row = log_patterns.read(line, pattern)
        assert row is not None
        assert row.values["loss"] == pytest.approx(loss)


def test_that_a_line_with_a_loss_comes_before_many_with_a_cost() -> None:
    pattern = best([*["cost: 3.5"] * 20, "epoch 1 loss: 0.25"])
    assert pattern is not None
    assert pattern.id == "any"


def test_that_an_own_pattern_is_an_expression_with_short_forms_and_units() -> None:
    pattern = own(
        r"at {step} of {total}: {loss}" + "\n" + r"(?P<step_time_us>\d+) us" + "\n" + "acc {accuracy_percent}%"
    )
    found = preview(pattern, ["x", "at 1,200 of 3000: 4 (250 us) acc 50%", "at 7 of 8: inf"])
    assert [place for place, _ in found] == [1, 2]
    assert found[0][1].places == {"step": 1200, "total": 3000}
    assert found[0][1].values == {"loss": 4.0, "step_time": pytest.approx(0.00025), "accuracy": 0.5}
    assert found[1][1].values == {"loss": math.inf}


@pytest.mark.parametrize(("text", "key"), [
    ("", "pattern.empty"), (" \n ", "pattern.empty"), ("x" * 3000, "pattern.long"), ("{loss", "pattern.nothing_named"),
    ("{step}", "pattern.nothing_named"), ("({loss}", "pattern.wrong"), ("{loss}{loss}", "pattern.wrong"),
    ("(?P<1>x)", "pattern.wrong"), ("a{9999999999}{loss}", "pattern.wrong"), ("(a+)+$ {loss}", "pattern.slow"),
    ("(a|a)*b {loss}", "pattern.slow"), (".*.*.*=.*{loss}", "pattern.slow"), (r"(\s*)*{loss}", "pattern.slow"),
    (r"(?P<loss>\d+)*\1", "pattern.slow"), (r"\s*" * 20 + "{loss}", "pattern.slow"),
    (r"(?:.?){40}{loss}", "pattern.slow"), (r"(?=(a+)+$){loss}", "pattern.slow"),
])  # fmt: skip
def test_that_an_own_pattern_that_is_wrong_says_so_at_once(text: str, key: str) -> None:
    begin = time.thread_time()
    with pytest.raises(StudioError) as error:
        own(text)
    assert error.value.key == key
    assert "{" not in str(error.value).replace(text, "") or key in ("pattern.empty", "pattern.nothing_named")
    assert time.thread_time() - begin < 20


@settings(max_examples=300, deadline=None)
@given(text=st.text(alphabet="(){}[]|?*+.\\d\\w{loss}{step}a1 -^$:=,P<>!", max_size=30))
def test_that_no_own_pattern_hangs(text: str) -> None:
    try:
        pattern = own(text)
    except StudioError:
        return
    for line in ("a1 -" * 500, "1" * 2000, " " * 2000, text * 100):
        read(line, pattern)


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_that_no_line_raises_or_takes_long(data: st.DataObject) -> None:
    example = data.draw(st.sampled_from(patterns())).example
    at = data.draw(st.integers(0, len(example)))
    line = example[:at] + data.draw(st.text(max_size=20)) * data.draw(st.integers(1, 200)) + example[at:]
    for pattern in patterns():
        row = read(line, pattern)
        assert row is None or all(isinstance(value, float) for value in row.values.values())
    assert isinstance(plain(data.draw(st.binary(max_size=200))), str)


@pytest.mark.parametrize("pattern", patterns(), ids=lambda pattern: pattern.id)
def test_that_a_long_line_costs_no_more_than_a_short_one(pattern: Pattern) -> None:
    """By processor time, with room for a loaded machine: what is looked at ends at LONGEST_LINE."""
    for unit in ("loss ", "loss: 1 ", "Epoch: [1][", "1/1 [", " ", "|", "iteration 1/1 |", pattern.example):
        line = (unit * 4000)[: 3 * LONGEST_LINE] + "\x01"
        begin = time.thread_time()
        read(line, pattern)
        assert time.thread_time() - begin < 0.5


def test_that_colours_and_broken_bytes_are_left_out() -> None:
    assert plain(b"\x1b[31mloss\x1b[0m: 1\xff") == "loss: 1�"
    assert len(log_patterns.plain(b"x" * 10**6)) == 4 * LONGEST_LINE


@pytest.mark.parametrize(("line", "places", "values"), [
    ("epoch 3 | loss=0.25 acc: 91%", {"epoch": 3}, {"loss": 0.25, "accuracy": 0.91}),
    ("Epoch: 3/10 - loss: 0.25, accuracy: 0.913", {"epoch": 3}, {"loss": 0.25, "accuracy": 0.913}),
    ("Epoch: [0][  1/100]\tTime  9.0 ( 9.0)\tData  0.4 ( 0.4)\tLoss 2.5e-01 (6.9e+00)\tAcc@1  12.50 ( 10.11)",
     {"epoch": 0, "step": 1, "steps": 100}, {"loss": 0.25, "step_time": 9.0, "time_data": 0.4, "accuracy": 0.125}),
    ("step 7 loss 0.25 Acc@1 91.25", {"step": 7}, {"loss": 0.25, "accuracy": 0.9125}),
    ("step 7 loss 0.25 acc 1.0", {"step": 7}, {"loss": 0.25, "accuracy": 1.0}),
    ('{"step": 4, "loss": 0.25, "lr": 1e-4, "epoch": 2}', {"step": 4, "epoch": 2}, {"loss": 0.25, "lr": 1e-4}),
    ('{"step": 6, "train_loss": 0.25}', {"step": 6}, {"loss": 0.25}),
    ("step=4 total_loss=tensor(0.25, device='npu:0')", {"step": 4}, {"loss": 0.25}),
    ("step 4 | Loss_total: 0.25  loss_cls: 0.2", {"step": 4}, {"loss": 0.25}),
    ("第 9 步，损失: 0.25，准确率: 58%", {"step": 9}, {"loss": 0.25, "accuracy": 0.58}),
    ("第 2/10 轮 第 9/100 步 训练集损失值：0.25 学习率：1e-4", {"epoch": 2, "step": 9, "steps": 100},
     {"loss": 0.25, "lr": 1e-4}),
    ("step 7 loss 0.25 account 5", {"step": 7}, {"loss": 0.25}),
])  # fmt: skip
def test_that_a_plain_line_gives_epoch_and_accuracy(
    line: str, places: dict[str, int], values: dict[str, float]
) -> None:
    pattern = best([line])
    assert pattern is not None
    row = read(line, pattern)
    assert row is not None
    assert (row.places, row.values) == (places, pytest.approx(values))
