"""What the curves of an unmodified PyTorch script cost it, and what every start of a Python costs.

The bar is kept by the time of what the hooks do when they have seen something, gradient norms and the writing included:
the mean over steps of one training with the hooks always on, and the median over some processes, since where things
lie in memory changes it; added is what passing through a wrapped call takes, times the calls of a step.

Beside it, without a bar, what hooked and bare steps differ by that alternate in one process, in blocks. Medians; those
of steps with a sampled gradient norm, and of steps that write what has gathered, count with their share. Two processes
of it may differ by more than the hooks cost: replacing what is wrapped throws away what the interpreter has learnt.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile

from studio.paths import GUEST
from tests.bench.figure import Figure, cpu_of

CHILD = """
import glob, os, random, statistics, sys, time
seconds, count = float(sys.argv[1]), int(sys.argv[2])
import ascend_studio.hooks as hooks, torch
from torch import nn
from torch.optim import optimizer as optimizers
from torch.utils.data import DataLoader, TensorDataset, dataloader

torch.set_num_threads(1)
own, inside, guarded = [0.0], [False], hooks.guarded
def timed_own(name):
    def guard(do):
        safe = guarded(name)(do)
        def run(*args, **kwargs):
            if inside[0]:
                return safe(*args, **kwargs)
            inside[0] = True
            begun = time.perf_counter()
            try:
                return safe(*args, **kwargs)
            finally:
                own[0] += time.perf_counter() - begun
                inside[0] = False
        return run
    return guard
if sys.argv[3] == "own":
    hooks.guarded = timed_own
places = [(nn.Module, "__call__"), (torch.autograd, "backward"), (dataloader._BaseDataLoaderIter, "__next__")]
unwatched = [getattr(*place) for place in places]
from ascend_studio import torch_hooks
from ascend_studio.late_metrics import LateMetrics
torch_hooks.install(torch)
watched = [getattr(*place) for place in places]
of_optimizers = [optimizers._global_optimizer_pre_hooks, optimizers._global_optimizer_post_hooks]
hooks_of = [dict(one) for one in of_optimizers]

def switch(on):
    for place, value in zip(places, watched if on else unwatched):
        setattr(*place, value)
    for one, hooks in zip(of_optimizers, hooks_of):
        one.clear()
        one.update(hooks if on else {})

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.act, self.drop = nn.GELU(), nn.Dropout(0.1)
    def forward(self, x):
        return x + self.drop(self.down(self.act(self.up(self.norm(x)))))

def steps(width, batch):
    net = nn.Sequential(*(Block(width) for _ in range(8)))
    optimizer, criterion = torch.optim.AdamW(net.parameters(), lr=1e-4), nn.MSELoss()
    rows = TensorDataset(torch.randn(2 * batch, width))
    while True:
        for (x,) in DataLoader(rows, batch_size=batch):
            optimizer.zero_grad()
            criterion(net(x), x).backward()
            optimizer.step()
            yield

PER_BLOCK = 6
written = [0]

def marked(write_out=LateMetrics.write_out):
    def write_and_mark(self):
        written[0] += 1
        write_out(self)
    return write_and_mark

LateMetrics.write_out = marked()

def timed(training):
    begun, cpu = time.perf_counter(), time.process_time()
    next(training)
    return time.perf_counter() - begun, time.process_time() - cpu

def norms():
    (path,) = glob.glob(os.environ["ASCEND_STUDIO_RUN"] + "/events*")
    with open(path) as file:
        return ["grad_norm" in line for line in file]

width, batch = (32, 4) if seconds < 0.05 else (256, 32)
switch(False)
while True:
    training = steps(width, batch)
    reached = statistics.median(timed(training)[1] for _ in range(12))
    if reached >= 0.9 * seconds:
        break
    batch = max(batch + 1, int(batch * min(8, max(1.1, seconds / reached))))
switch(True)
timed(training)
if sys.argv[3] == "own":
    calls = [0]
    original = nn.Module._call_impl
    def counted(self, *args, **kwargs):
        calls[0] += 1
        return original(self, *args, **kwargs)
    nn.Module._call_impl = counted
    next(training)
    nn.Module._call_impl = original
    for _ in range(count // 4):
        next(training)
    own[0], begun = 0.0, time.perf_counter()
    for _ in range(count):
        next(training)
    step = (time.perf_counter() - begun) / count
    cost = own[0] / count
    class Nothing(nn.Module):
        def forward(self, x):
            return x
    nothing = Nothing().eval()  # passed on as soon as what runs inside a root
    def calling():
        begun = time.perf_counter()
        for _ in range(20000):
            nothing(1)
        return (time.perf_counter() - begun) / 20000
    with_wrap = min(calling() for _ in range(5))
    switch(False)
    calling()
    through = max(0.0, with_wrap - min(calling() for _ in range(5)))
    print(step, cost + calls[0] * through)
    sys.exit()
plan = [True, False] * (count // PER_BLOCK)
random.shuffle(plan)
times = []
for on in plan:
    switch(on)
    for place in range(PER_BLOCK):
        before = written[0]
        times.append((on, timed(training), place, written[0] > before))
hooked = zip((one for one in times if one[0]), norms()[1:])
# The first of a block finds the interpreter's caches of the other kind.
hooked = [("writing" if one[3] else "norm" if norm else "plain", one[1]) for one, norm in hooked if one[2]]
bare = [one[1] for one in times if not one[0] and one[2]]
for kind in (0, 1):
    of_bare = statistics.median(one[kind] for one in bare)
    cost = -of_bare
    for what in {what for what, _ in hooked}:
        of_these = [one[kind] for sort, one in hooked if sort == what]
        cost += statistics.median(of_these) * len(of_these) / len(hooked)
    low, _, high = statistics.quantiles([one[kind] for one in bare], n=4)
    print(of_bare, cost, 2.2 * (high - low) / len(bare) ** 0.5)
"""


def _of_step(milliseconds: int, count: int, processes: int) -> list[Figure]:
    measured = [_measured("own", milliseconds, count)[0] for _ in range(processes)]
    step, cost = sorted(measured, key=lambda found: found[1])[processes // 2]
    what = f"torch curves, a step of {milliseconds} ms"
    found = Figure(
        what=f"{what}: what the hooks do (median of {processes})",
        value=cost * 1e6,
        unit="µs",
        bar=round(max(150.0, 0.005 * step * 1e6)),
        peer=step * 1e6,
        peer_name="the step",
    )
    measured = _measured("both", milliseconds, count)
    return [found, *(_difference(what, kind, *one) for kind, one in zip(("wall", "CPU"), measured, strict=True))]


def _difference(what: str, kind: str, step: float, cost: float, noise: float) -> Figure:
    what = f"{what}: hooked and bare ones differ by"
    return Figure(what=what, value=cost * 1e6, unit=f"µs {kind}", peer=noise * 1e6, peer_name="uncertain")


def _measured(how: str, milliseconds: int, count: int) -> list[list[float]]:
    """Return the figures of one process, a list for each line that it prints. Times in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": folder, "OMP_NUM_THREADS": "1"}
        line = [sys.executable, "-c", CHILD, str(milliseconds / 1e3), str(count), how]
        done = subprocess.run(line, env=env, capture_output=True, text=True, check=True)
    return [list(map(float, text.split())) for text in done.stdout.splitlines()]


def _of_start() -> Figure:
    bare, ours = ({**os.environ, "PYTHONPATH": path} for path in ("", str(GUEST)))
    line = [sys.executable, "-c", "pass"]
    without = cpu_of(line, runs=25, env=bare) * 1e3
    cost = cpu_of(line, runs=25, env=ours) * 1e3 - without
    return Figure(
        what="start of a Python, no hooks wanted", value=cost, unit="ms CPU", bar=5, peer=without, peer_name="bare"
    )


def figures() -> list[Figure]:
    found = [_of_start()]
    if importlib.util.find_spec("torch") is not None:
        found += [*_of_step(5, 1200, 3), *_of_step(200, 60, 1)]
    return found
