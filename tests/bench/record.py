"""What a metric record costs the training that writes it."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from studio.paths import GUEST
from tests.bench.figure import Figure

CHILD = """
import os, statistics, time, ascend_studio
def cost(call, times=20000):
    rounds = []
    for _ in range(5):
        begun = time.process_time()
        for step in range(times):
            call(step)
        rounds.append((time.process_time() - begun) / times * 1e6)
    return statistics.median(rounds)
loss, lr, seconds = 0.41213374, 0.001, 0.025812
values = b'{"loss":0.41213374,"lr":0.001,"step_time":0.025812}'
line = b'{"type":"metric","time":1763660000123456789,"step":12,"values":' + values + b'}\\n'
file = os.open(os.environ["ASCEND_STUDIO_RUN"] + "/bare", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
print(cost(lambda step: ascend_studio.metric(step, loss=loss, lr=lr, step_time=seconds)))
print(cost(lambda step: os.write(file, line)))
"""


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"PYTHONPATH": str(GUEST), "ASCEND_STUDIO_RUN": folder}
        done = subprocess.run([sys.executable, "-c", CHILD], env=env, capture_output=True, text=True, check=True)
    ours, bare = map(float, done.stdout.split())
    return [
        Figure(
            what="metric record written",
            value=ours,
            unit="µs CPU",
            bar=20,
            peer=bare,
            peer_name="bare os.write",
        )
    ]
