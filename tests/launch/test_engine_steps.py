"""The training step in all its modes, by scripts that use the engine's own modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.launch.engine_process import assert_no_warnings, check, needs_mindspore, train, train_small_text
from tests.launch.step_scripts import COMMON, accumulation

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = needs_mindspore


def test_that_accumulation_is_the_large_batch(tmp_path: Path) -> None:
    """A convolution and a straight line; all recipes, optimizers and counts: `prove accumulation`."""
    check(
        tmp_path, accumulation(("linear", ("sgd", "momentum", "adam", "adamw"), (2, 8)), ("digits", ("adamw",), (4,)))
    )


def test_that_an_overflow_skips_the_update_and_halves_a_dynamic_scale(tmp_path: Path) -> None:
    script = """
x, y = np.ones((4, 3), np.float32), np.ones((4, 1), np.float32)
bad = x.copy()
bad[0, 0] = np.inf

def run(mode, accumulate, scaler):
    ms.set_seed(1)
    prepare = modes.preparation(config_of("--mode " + mode))
    network = nn.Dense(3, 1)
    optimizer = make_optimizer("adamw", network.trainable_params(), 0.01)
    step = Step(network, nn.MSELoss(), optimizer, accumulate=accumulate, scaler=scaler, prepare=prepare)
    for planted in (False, True, False, False, False):
        before = network.weight.asnumpy().copy()
        outcome = step([(x, y)] * (accumulate - 1) + [(bad if planted else x, y)])
        moved = not np.array_equal(before, network.weight.asnumpy())
        assert np.isfinite(network.weight.asnumpy()).all()
        yield outcome.finite, moved, float(scaler.scale_value.asnumpy())

halved = [(True, True, 1024.0), (False, False, 512.0), (True, True, 512.0), (True, True, 512.0), (True, True, 1024.0)]
kept = [(True, True, 1024.0), (False, False, 1024.0), *[(True, True, 1024.0)] * 3]
for mode in MODES:
    for accumulate in (1, 2):
        seen = list(run(mode, accumulate, amp.DynamicLossScaler(1024.0, 2, 3)))
        assert seen == halved, (mode, accumulate, seen)
        seen = list(run(mode, accumulate, amp.StaticLossScaler(1024.0)))
        assert seen == kept, (mode, accumulate, seen)
"""
    check(tmp_path, COMMON + script)


def test_that_clipping_norm_decay_and_rate_are_those_of_numpy_in_every_mode(tmp_path: Path) -> None:
    script = """
x = np.random.default_rng(0).normal(size=(16, 3)).astype(np.float32)
y = (x.sum(1, keepdims=True) * 5).astype(np.float32)

def expected(clip, decay):
    w, b = np.full((1, 3), 0.5), np.zeros(1)
    for lr in (0.1, 0.02):
        error = x @ w.T + b - y
        gw, gb = 2 * error.T @ x / 16, 2 * error.mean(0)
        norm = np.sqrt((gw**2).sum() + (gb**2).sum())
        share = min(1, clip / (norm + 1e-6))
        w, b = w - lr * (share * gw + decay * w), b - lr * share * gb
        yield norm, np.concatenate([w.ravel(), b])

for mode in MODES:
    for accumulate in (1, 2):
        for scaler in (None, amp.DynamicLossScaler(1024.0, 2, 100)):
            prepare = modes.preparation(config_of("--mode " + mode))
            network = nn.Dense(3, 1, weight_init=0.5, bias_init="zeros")
            optimizer = make_optimizer("sgd", network.trainable_params(), 0.1)
            decay = make_decay("sgd", optimizer, 0.3)
            step = Step(network, nn.MSELoss(), optimizer, accumulate=accumulate, scaler=scaler, clip=2.0,
                        decay=decay, prepare=prepare)
            for lr, (norm, weights) in zip((0.1, 0.02), expected(2.0, 0.3)):
                set_learning_rate(optimizer, lr)
                outcome = step(zip(np.split(x, accumulate), np.split(y, accumulate)))
                assert abs(outcome.norm - norm) < 1e-4 * norm, (mode, accumulate)
                assert np.abs(flat(optimizer.parameters) - weights).max() < 1e-5, (mode, accumulate)
"""
    check(tmp_path, COMMON + script)


def test_that_decay_is_the_same_in_every_mode_and_leaves_biases_alone(tmp_path: Path) -> None:
    script = """
def weights(mode, name, decay, lr):
    ms.set_seed(1)
    network = nn.SequentialCell(nn.Dense(4, 4), nn.LayerNorm((4,)))
    optimizer = make_optimizer(name, network.trainable_params(), lr)
    step = Step(network, nn.MSELoss(), optimizer, decay=make_decay(name, optimizer, decay),
                prepare=modes.preparation(config_of("--mode " + mode)))
    x = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)
    for number in range(3):
        step([(x, x)])
    return [one.asnumpy() for one in network.trainable_params()]

for name in OPTIMIZERS:
    eager = weights("pynative", name, 0.5, 0.01)
    for mode in ("jit", "graph"):
        for one, other in zip(weights(mode, name, 0.5, 0.01), eager):
            assert np.abs(one - other).max() < 1e-5, (name, mode)

plain, decayed = weights("jit", "adamw", 0.0, 1e-9), weights("jit", "adamw", 1e6, 1e-9)
for one, other in zip(decayed, plain):
    ratio = 0.999**3 if one.ndim > 1 else 1
    assert np.allclose(one, other * ratio, atol=1e-6)
"""
    check(tmp_path, COMMON + script)


def test_that_a_planted_nan_is_found_where_it_is_and_leaves_the_weights_alone(tmp_path: Path) -> None:
    script = """
from ascend_engine import nonfinite_values

x = np.ones((4, 3), np.float32)

def run(mode, guarded, plant):
    ms.set_seed(1)
    network = nn.Dense(3, 1)
    optimizer = make_optimizer("adam", network.trainable_params(), 0.01)
    loss = root if plant == "gradient" else nn.MSELoss()
    step = Step(network, loss, optimizer, guarded=guarded, prepare=modes.preparation(config_of("--mode " + mode)))
    if plant != "weight":  # once a step is compiled, @jit no longer reads what set_data gives a weight
        assert nonfinite_values.what_of(step([(x, x[:, :1])]), None, False) == ""
    inputs, labels = x.copy(), x[:, :1].copy()
    if plant == "loss":
        inputs[1, 1] = np.nan
    if plant == "gradient":
        labels[:] = 0
    if plant == "weight":
        spoiled = network.bias.asnumpy().copy()
        spoiled[0] = np.inf
        network.bias.set_data(ms.Tensor(spoiled))
    before = network.weight.asnumpy().copy()
    outcome = step([(inputs, labels)])
    kept = np.array_equal(before, network.weight.asnumpy())
    return nonfinite_values.what_of(outcome, None, False), kept

def root(outputs, labels):
    \"\"\"Its gradient is infinite at 0, where the root itself is not.\"\"\"
    return ms.ops.sqrt(ms.ops.abs(outputs * labels)).mean()

for mode in MODES:
    for plant in ("loss", "weight", "gradient"):
        assert run(mode, True, plant) == (plant, True), (mode, plant, run(mode, True, plant))
        what, kept = run(mode, False, plant)
        assert what == plant and not kept, (mode, plant)
"""
    check(tmp_path, COMMON + script)


LINEAR = "--recipe linear --device cpu --optimizer sgd --batch 32 --lr 1e6 --steps 30"


@pytest.mark.parametrize(
    ("options", "rule", "severity", "code"),
    [
        ("--mode jit", "launch.nan_stopped", "error", 1),
        ("--mode graph --on-nan skip", "launch.nan_skipped", "warning", 0),
        ("--mode pynative --on-nan go_on", "launch.nan", "warning", 0),
    ],
)
def test_that_the_first_loss_that_is_no_number_is_one_finding(
    tmp_path: Path, options: str, rule: str, severity: str, code: int
) -> None:
    ran = train(tmp_path, f"{LINEAR} {options}")
    assert ran.code == code, ran.output
    (finding,) = ran.findings()
    losses = ran.metric("loss")
    first = next(place for place, loss in enumerate(losses) if isinstance(loss, str))
    assert (finding["rule"], finding["severity"]) == (rule, severity)
    assert finding["args"] == {"step": first + 1, "what": "loss", "value": losses[first]}
    assert len(losses) == (first + 1 if code else 30)
    assert_no_warnings(ran.output)


@pytest.mark.parametrize(
    ("options", "rule"),
    [("--amp O2 --amp-dtype bf16", "launch.no_bf16"), ("--mode graph --jit-level O2", "launch.no_o2")],
)
def test_that_what_the_cpu_cannot_do_is_refused_with_the_reason(tmp_path: Path, options: str, rule: str) -> None:
    ran = train(tmp_path, f"{LINEAR} {options}")
    assert ran.code == 1
    assert [finding["rule"] for finding in ran.findings()] == [rule]


@pytest.mark.parametrize(
    ("recipe", "amp", "mode"), [("text", "O1", "graph"), ("digits", "O3", "jit"), ("digits", "auto", "pynative")]
)
def test_that_every_level_trains_and_its_overflows_are_counted(
    tmp_path: Path, recipe: str, amp: str, mode: str
) -> None:
    options = "--device cpu --optimizer adamw --lr 0.003 --weight-decay 0.01 --batch 4 --clip 1"
    precision = f"--mode {mode} --amp {amp} --loss-scale dynamic --scale 16777216 --schedule cosine --warmup 5"
    line = f"{options} {precision} --accumulate 2 --steps 12"
    ran = train_small_text(tmp_path, line) if recipe == "text" else train(tmp_path, f"--recipe {recipe} {line}")
    assert ran.code == 0, ran.output
    scales, overflows = ran.metric("loss_scale"), ran.metric("overflows")
    assert overflows[-1] > 0
    assert scales[-1] == 2**24 / 2 ** overflows[-2]
    notes = [event["args"] for event in ran.events if event.get("key") == "launch.overflow"]
    assert [note["scale"] for note in notes] == scales[: int(overflows[-1])]
    assert ran.metric("lr")[4] == pytest.approx(0.003)
    assert ran.metric("lr")[11] < 0.0005
    assert ran.metric("grad_norm")[-1] > 0
    assert_no_warnings(ran.output)
