"""Small trainings that can be captured, and what their captures left."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from backends.launch.capture import state
from studio import files
from studio.paths import GUEST
from studio.processes import RUN_VARIABLE
from studio.run import last_events
from tests.runs import wait_for

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.launch.capture.state import Rank

SECRET = "hunter2-7fe1"
ODD = "项目 空格 🧪"  # msprobe takes no such path
LIBC = ctypes.CDLL(None)
# Both go on until a file says that it is enough, and print each loss as the bits of a double.
TORCH = """
import os, pathlib, sys, time
import torch
torch.manual_seed(3)
size = int(sys.argv[1])
net = torch.nn.Sequential(torch.nn.Linear(8, size), torch.nn.ReLU(), torch.nn.Linear(size, 1))
if "MASTER_PORT" in os.environ:
    torch.distributed.init_process_group("gloo")
    net = torch.nn.parallel.DistributedDataParallel(net)
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
for step in range(1, 100000):
    loss = net(torch.randn(4, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), flush=True)
    time.sleep(0.005)
    enough = torch.tensor(float(pathlib.Path("enough").exists()))
    if "MASTER_PORT" in os.environ:  # all ranks stop after the same step
        torch.distributed.all_reduce(enough)
    if enough:
        break
"""
MINDSPORE = """
import pathlib, sys, time
import numpy as np
import mindspore as ms
from mindspore import nn, ops
from ascend_studio import hooks
ms.set_seed(3)
ms.set_context(mode=ms.GRAPH_MODE if sys.argv[1] == "graph" else ms.PYNATIVE_MODE)
net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 1))
optimizer = nn.Adam(net.trainable_params(), 0.01)
def forward(x):
    return ops.mean(ops.square(net(x)))
grad = ms.value_and_grad(forward, None, optimizer.parameters)
random = np.random.default_rng(3)
for step in range(1, 100000):
    loss, gradients = grad(ms.Tensor(random.standard_normal((4, 8), dtype=np.float32)))
    optimizer(gradients)
    print(step, float(loss.asnumpy()).hex(), flush=True)
    hooks.stepped(step)
    time.sleep(0.005)
    if pathlib.Path("enough").exists():
        break
"""


class Training:
    """A child in a run's folder, as a worker would start it."""

    def __init__(self, folder: Path, script: str, *args: str, hooks: str = "captures", **env: str) -> None:
        self.folder = folder
        (folder / "artifacts").mkdir(parents=True, exist_ok=True)
        (folder / "train.py").write_text(script)
        own = {
            RUN_VARIABLE: str(folder), "PYTHONPATH": str(GUEST), "TORCH_DEVICE_BACKEND_AUTOLOAD": "0",
            "MY_API_TOKEN": SECRET, "OMP_NUM_THREADS": "1",
        }  # fmt: skip
        if hooks:
            own["ASCEND_STUDIO_HOOKS"] = hooks
        line = (sys.executable, "train.py", *args)
        env = {**os.environ, **own, **env}
        with (folder / "output.log").open("ab") as log:
            self.child = subprocess.Popen(
                line, cwd=folder, env=env, stdout=log, stderr=log, preexec_fn=_end_with_the_tests
            )

    @property
    def losses(self) -> list[str]:
        """Of the steps from the first on."""
        lines = (self.folder / "output.log").read_text(errors="replace").splitlines()
        return [line.split()[1] for line in lines if line.split()[1:] and line.split()[1][:3] in ("0x0", "0x1")]

    def wait_for_steps(self, count: int) -> None:
        wait_for(lambda: len(self.losses) >= count or self.child.poll() is not None, self.folder.name)

    def ask(self, **values: Any) -> str:
        request = state.Request(**{"id": f"c{len(list(self.folder.glob('artifacts/captures/c*')))}", **values})
        state.write_request(self.folder, request)
        return request.id

    def rank(self, id: str, rank: int = 0) -> Rank | None:
        return state.ranks(self.folder, id).get(rank)

    def captured(self, id: str, rank: int = 0) -> Rank:
        def over() -> bool:
            found = self.rank(id, rank)
            return found is not None and found.is_over

        wait_for(lambda: over() or self.child.poll() is not None, self.folder.name)
        found = self.rank(id, rank)
        assert found is not None, self.log()
        return found

    def capture(self, **values: Any) -> Rank:
        return self.captured(self.ask(**values))

    def finish(self) -> int:
        (self.folder / "enough").touch()
        return self.child.wait(120)

    def end(self) -> None:
        """However the tests went that share it."""
        self.child.kill()
        self.child.wait()

    def log(self) -> str:
        return (self.folder / "output.log").read_text(errors="replace")[-2000:]

    def rules(self) -> list[str]:
        return [str(getattr(event, "rule", "")) for event in last_events(self.folder)]

    def keys(self) -> list[str]:
        return [str(getattr(event, "key", "")) for event in last_events(self.folder)]


def _end_with_the_tests() -> None:
    """PR_SET_PDEATHSIG: also where those are killed, or a test fails that would have said that it is enough."""
    LIBC.prctl(1, signal.SIGKILL)


def operators(dump: Path) -> list[str]:
    """Names of what a dump.json holds, in order."""
    return list(files.read_json(dump)["data"])


def slices(trace: Path) -> list[dict[str, Any]]:
    """The events of a trace with a length, from either form of such files."""
    read = msgspec.json.decode(trace.read_bytes())
    events = read["traceEvents"] if isinstance(read, dict) else read
    return [event for event in events if event.get("ph") == "X"]


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Path]:
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(folder)], check=False).returncode:
        pytest.skip("nothing may be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
