"""What the studio's recording costs a step of a training: the engine's own record against a script without one.

The step is synthetic, so that it lasts as long as is asked for; the record is the real one, with all values that a
step with a loss scale has, the hook that captures wait in, the progress and the line in the log. A step is measured as
time that passes, in rounds of one with recording, two without, and one that only writes a line of the same length to a
file. The figure is the mean, since several steps are written at once. Rounds in which something else slowed the machine
are left out: those with a step, of whichever kind, that took over a fifth longer than the fast tenth of those without
recording. What the two without it differ by is the noise.

The write is the least that any recording does. After some milliseconds of computing a virtual machine whose host shares
its cores may find nothing in its caches any more: the same write then takes thirty times as long as it takes in a loop.
Where it alone is over the bar there is no verdict.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from backends.launch.plan import ENGINE, HOOKS
from studio.paths import GUEST, ROOT
from tests.bench.figure import Figure

BAR = 0.5  # percent of a step
STEPS = {5: 1500, 200: 60}  # ms that a step lasts -> steps of each kind

CHILD = """
import json, os, statistics, sys, time
import numpy as np
from ascend_engine.record import Record
from ascend_engine.nonfinite_values import Outcome
from tests.launch.engine_config import config_of

chosen = "--recipe digits --device cpu --amp O2 --loss-scale dynamic --optimizer sgd --lr 0.1 --batch 8"
config = config_of(f"{chosen} --steps 1000000000")
file = os.open("peer", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
line = b"x" * 200 + b"\\n"
left = np.random.default_rng(0).normal(size=(64, 64))
out = np.empty_like(left)

def compute(rounds):
    for _ in range(rounds):
        np.matmul(left, left, out=out)

def rounds_of(seconds):
    found = []
    for _ in range(20):
        begun = time.perf_counter()
        compute(500)
        found.append(time.perf_counter() - begun)
    return max(1, round(500 * seconds / statistics.median(found)))

def measure(milliseconds, steps):
    record = Record(config, "cpu", dict, 0, "MindSpore")
    record.start(1000)
    rounds = rounds_of(milliseconds / 1e3)
    outcome = Outcome(loss=0.41213374, finite=True, norm=1.2036712, sound=True)

    def recorded(number):
        begun = time.perf_counter()
        compute(rounds)
        record.step(number, outcome, time.perf_counter() - begun, 0.001, 1024.0)
        return time.perf_counter() - begun

    def bare(number):
        begun = time.perf_counter()
        compute(rounds)
        return time.perf_counter() - begun

    def written(number):
        begun = time.perf_counter()
        compute(rounds)
        os.write(file, line)
        return time.perf_counter() - begun

    ways = [recorded, bare, bare, written]
    times = [[], [], [], []]
    for number in range(1, steps + 1):
        for place in range(4):
            way = (number + place) % 4
            times[way].append(ways[way](number))
    kept = quiet(list(zip(*times)))
    usual = statistics.median(time for one in kept for time in one[1:3])
    def percent(way):
        return 100 * statistics.fmean(one[way] - one[1] for one in kept) / usual
    return percent(0), abs(percent(2)), percent(3), usual * 1e3, len(kept)

def quiet(rounds):
    fast = statistics.quantiles((time for one in rounds for time in one[1:3]), n=10)[0]
    found = [one for one in rounds if max(one) < 1.2 * fast]
    return found if len(found) >= 10 else rounds

found = {kind: measure(int(kind), steps) for kind, steps in json.loads(sys.argv[1]).items()}
open("found.json", "w").write(json.dumps(found))
"""


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        env = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, (GUEST, ENGINE, ROOT))), "ASCEND_STUDIO_RUN": name,
            "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", HOOKS: "captures",
        }  # fmt: skip
        line = [sys.executable, "-c", CHILD, json.dumps(STEPS)]
        with (folder / "output.log").open("wb") as log:  # as in a run: lines go to a file
            subprocess.run(line, cwd=folder, env=env, stdout=log, check=True)
        found = json.loads((folder / "found.json").read_text())
    return [
        Figure(
            what=f"the studio's recording, of a step of {usual:.1f} ms ({rounds} rounds)", value=value, unit="%",
            bar=BAR, peer=least, peer_name="a bare write of the line", noise=noise, floor=least,
        )
        for value, noise, least, usual, rounds in found.values()
    ]  # fmt: skip
