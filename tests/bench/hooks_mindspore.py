"""What curves without edits cost a MindSpore training: steps with and without the wraps, in turn, in one process.

The bar is kept by the CPU time of what the wraps do when they have seen something, gradient norms and the record
included, waiting for the device and passing through a wrap (0.2 µs each) not. Beside it, without a bar, what blocks of
steps differ by that alternate between with and without: the median over the pairs of blocks and its quartiles. Both
mean something only on a machine that does little else.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from studio.paths import GUEST
from tests.bench.figure import Figure

ALLOWED_PART, ALLOWED_SECONDS = 0.005, 150e-6

CHILD = """
import json, statistics, sys, time
import numpy as np
import mindspore
from mindspore import Tensor, nn

mode, target = sys.argv[1], float(sys.argv[2])
SECONDS = 8
WRAPPED = {
    "mindspore.nn.cell": ("Cell.__call__",),
    "mindspore.nn.optim.optimizer": ("Optimizer.__init__", "Optimizer.__call__"),
    "mindspore.ops.composite.base": ("_pynative_forward_run",),
    "mindspore.graph.api": ("_JitExecutor.__call__",),
    "mindspore.graph._utils.pijit_context": ("PIJitCaptureContext.__enter__", "PIJitCaptureContext.__exit__"),
}

def places():
    for module, names in WRAPPED.items():
        for name in names:
            *owners, last = name.split(".")
            owner = sys.modules[module]
            for one in owners:
                owner = getattr(owner, one)
            yield owner, last

def state():
    return [getattr(owner, name) for owner, name in places()]

def put(values):
    for (owner, name), value in zip(places(), values):
        setattr(owner, name, value)

without = state()
from ascend_studio import hooks, mindspore_hooks
own, inside, guarded = [0.0], [True], hooks.guarded
def settle():
    # Nothing is left to be computed: reading would wait for it, or even do it.
    for one in (*weights, optimizer.global_step):
        one.asnumpy()
def timed(name):
    def guard(do):
        safe = guarded(name)(do)
        def run(*args, **kwargs):
            if inside[0]:
                return safe(*args, **kwargs)
            inside[0] = True
            settle()
            begun = time.thread_time()
            try:
                return safe(*args, **kwargs)
            finally:
                own[0] += time.thread_time() - begun
                inside[0] = False
        return run
    return guard
hooks.guarded = timed
mindspore_hooks.install(mindspore)
with_hooks = state()
assert all(a is not b for a, b in zip(without, with_hooks))

mindspore.set_device("CPU")
mindspore.set_seed(1)
width = 64 if target < 0.05 else 512
net = nn.SequentialCell(nn.Dense(width, width), nn.ReLU(), nn.Dense(width, width), nn.ReLU(), nn.Dense(width, 1))
optimizer = nn.Momentum(net.trainable_params(), 1e-4, 0.9)
weights = list(net.get_parameters())
mse = nn.MSELoss()
def forward(x, y):
    return mse(net(x), y)
grad = mindspore.value_and_grad(forward, None, optimizer.parameters)
def step(x, y):
    loss, gradients = grad(x, y)
    optimizer(gradients)
    return loss
if mode != "pynative":
    step = mindspore.jit(step, capture_mode="bytecode" if mode == "bytecode" else "ast")

def data(rows):
    x = np.random.default_rng(1).standard_normal((rows, width)).astype(np.float32)
    return Tensor(x), Tensor(x[:, :1].copy())

def block(steps, x, y):
    begun, begun_cpu = time.perf_counter(), time.thread_time()
    for _ in range(steps):
        step(x, y).asnumpy()
    return (time.perf_counter() - begun) / steps, (time.thread_time() - begun_cpu) / steps

rows = 64
for _ in range(4):  # until a step takes about as long as wanted
    x, y = data(rows)
    block(2, x, y)
    seconds = min(block(3, x, y) for _ in range(3))[0]
    rows = max(1, min(200000, int(rows * min(8, max(0.2, target / seconds)))))
x, y = data(rows)
steps = 10 if target < 0.05 else 2
pairs = []
put(with_hooks); block(25, x, y)
begun = time.perf_counter()
while time.perf_counter() - begun < SECONDS:
    put(with_hooks); on = block(steps, x, y)
    put(without); off = block(steps, x, y)
    pairs.append((off, on))
put(with_hooks); block(2, x, y)
inside[0] = False
looked_at = 100 if target < 0.05 else 20
block(looked_at, x, y)
def quartiles(which):
    return statistics.quantiles([on[which] - off[which] for off, on in pairs], n=4)
print(json.dumps({
    "step": statistics.median(off[0] for off, on in pairs), "wall": quartiles(0), "cpu": quartiles(1),
    "pairs": len(pairs), "own": own[0] / looked_at, "steps": looked_at,
}))
"""


def figures() -> list[Figure]:
    found = []
    for mode in ("pynative", "jit", "bytecode"):
        for target in (0.005, 0.2):
            found += _of(mode, target)
    return found


def _of(mode: str, target: float) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        child = Path(folder, "child.py")  # a file: @jit reads the source of what it compiles
        child.write_text(CHILD)
        env = os.environ | {"PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": folder}
        done = subprocess.run(
            [sys.executable, str(child), mode, str(target)],
            env=env, cwd=folder, stdout=subprocess.PIPE, text=True, check=True, timeout=300,
        )  # fmt: skip
    values = json.loads(done.stdout.splitlines()[-1])
    what = f"MindSpore {mode}, step of {values['step'] * 1e3:.3g} ms, hooks add"
    allowed = max(ALLOWED_PART * values["step"], ALLOWED_SECONDS) * 1e6
    own = f"CPU of what they do, norms included (mean of {values['steps']} steps)"
    return [
        Figure(what=f"{what}, {own}", value=values["own"] * 1e6, unit="µs", bar=allowed),
        Figure(what=f"{what}, CPU of its thread ({_spread(values, 'cpu')})", value=values["cpu"][1] * 1e6, unit="µs"),
        Figure(what=f"{what}, by the clock ({_spread(values, 'wall')})", value=values["wall"][1] * 1e6, unit="µs"),
    ]


def _spread(values: dict[str, Any], name: str) -> str:
    low, _, high = (1e6 * value for value in values[name])
    return f"quartiles {low:.0f} … {high:.0f} of {values['pairs']} pairs"
