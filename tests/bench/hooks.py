"""What the curves of an unmodified PyTorch script cost it, and what every start of a Python costs.

Hooked and bare steps of one training alternate in one process, in blocks: two processes differ by more than the hooks.
Medians; those of steps with a sampled gradient norm count with their share. The noise is the usual 95 % interval of the
difference of two medians, 1.57 times the interquartile range over the root of their number, for each: it knows nothing
of what changes slowly, so it is the least that there is.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile

from studio.places import GUEST
from tests.bench.figure import Figure, cpu_of

CHILD = """
import glob, os, random, statistics, sys, time
seconds, count = float(sys.argv[1]), int(sys.argv[2])
import ascend_studio.hooks as hooks, torch
from torch import nn
from torch.optim import optimizer as optimizers
from torch.utils.data import DataLoader, TensorDataset, dataloader

torch.set_num_threads(1)
places = [(nn.Module, "__call__"), (torch.autograd, "backward"), (dataloader._BaseDataLoaderIter, "__next__")]
unwatched = [getattr(*place) for place in places]
from ascend_studio import torch_hooks
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
plan = [True, False] * (count // PER_BLOCK)
random.shuffle(plan)
times = []
for on in plan:
    switch(on)
    times += [(on, timed(training), place) for place in range(PER_BLOCK)]
# The first of a block finds the interpreter's caches of the other kind.
hooked = zip((one for one in times if one[0]), norms()[1:])
hooked = [(one[1], norm) for one, norm in hooked if one[2]]
bare = [one[1] for one in times if not one[0] and one[2]]
share = sum(norm for _, norm in hooked) / len(hooked)
for kind in (0, 1):
    of_bare, plain, sampled = (statistics.median(one[kind] for one in ones) for ones in (
        bare, [one for one, norm in hooked if not norm], [one for one, norm in hooked if norm] or bare,
    ))
    low, _, high = statistics.quantiles([one[kind] for one in bare], n=4)
    print(of_bare, plain - of_bare + share * (sampled - plain), 2.2 * (high - low) / len(bare) ** 0.5)
"""


def _of_step(milliseconds: int, count: int) -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": folder, "OMP_NUM_THREADS": "1"}
        line = [sys.executable, "-c", CHILD, str(milliseconds / 1e3), str(count)]
        done = subprocess.run(line, env=env, capture_output=True, text=True, check=True)
    figures = []
    for kind, text in zip(("wall", "CPU"), done.stdout.splitlines(), strict=True):
        step, cost, noise = map(float, text.split())
        figures.append(
            Figure(
                what=f"torch curves, a step of {milliseconds} ms",
                value=cost * 1e6,
                unit=f"µs {kind}",
                bar=round(max(150.0, 0.005 * step * 1e6)),
                peer=step * 1e6,
                peer_name="bare",
                noise=noise * 1e6,
            )
        )
    return figures


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
        found += [*_of_step(5, 1500), *_of_step(200, 120)]
    return found
