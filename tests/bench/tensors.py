"""Comparing two tensors in files, element by element: its speed beside reading both with numpy, and its memory."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.dump.tensors import open_tensor
from backends.precision.measure.measures import measure
from studio.paths import ROOT
from tests.bench.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Callable

MEGABYTES = 256
LARGE = 2 * 1024**3
ROUNDS = 10
"""The first reads the files into the page cache."""
TORCH = """
import sys, numpy, torch
tensor = torch.from_numpy(numpy.load(sys.argv[1]))
torch.save(tensor.to(getattr(torch, sys.argv[3])), sys.argv[2])
"""
PEAK = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from backends.precision.dump.tensors import open_tensor
from backends.precision.measure.measures import measure
found = measure(open_tensor(Path(sys.argv[2])), open_tensor(Path(sys.argv[3])))
assert found.elements == int(sys.argv[4]), found
status = Path("/proc/self/status").read_text()  # ru_maxrss has the parent's, from before exec
print(int(status.split("VmHWM:")[1].split()[0]) / 1024)
"""


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return [*_speeds(folder), _memory(folder)]


def _speeds(folder: Path) -> list[Figure]:
    """Against a tensor that differs a little everywhere, which halves round away, and one that also halves show."""
    some = np.random.default_rng(1)
    one = some.normal(size=MEGABYTES * 2**20 // 4).astype(np.float32)
    paths = {name: folder / f"{name}.npy" for name in ("golden", "near", "far")}
    np.save(paths["golden"], one)
    np.save(paths["near"], one * (1 + 1e-6 * some.random(one.shape, np.float32)))
    np.save(paths["far"], one * (1 + 4e-3 * some.random(one.shape, np.float32)))
    found = [_speed("float32 of numpy", paths["near"], paths["golden"])]
    for dtype in ("float32", "bfloat16", "float16"):
        golden, near, far = (_as_torch(paths[name], dtype) for name in ("golden", "near", "far"))
        found.append(_speed(f"{dtype} of torch", near, golden))
        found.append(_speed(f"{dtype} of torch, most elements differ", far, golden))
        for path in (golden, near, far):
            path.unlink()
    return found


def _as_torch(path: Path, dtype: str) -> Path:
    made = path.with_name(f"{path.stem}.{dtype}.pt")
    line = (sys.executable, "-c", TORCH, str(path), str(made), dtype)
    subprocess.run(line, check=True, env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"})
    return made


def _speed(what: str, a: Path, b: Path) -> Figure:
    """Both are in the page cache; CPU seconds of ours and of numpy's turn by turn, the median of what they are to each
    other."""
    ours, numpys = [], []
    for _ in range(ROUNDS):
        numpys.append(_cpu(lambda: (np.fromfile(a, np.uint8), np.fromfile(b, np.uint8))))
        ours.append(_cpu(lambda: measure(open_tensor(a), open_tensor(b))))
    ratios = [one / other for one, other in zip(ours[1:], numpys[1:], strict=True)]
    return Figure(
        what=f"measures of 2 tensors, {what}, {a.stat().st_size / 1e6:.0f} MB each, beside numpy.fromfile of both",
        value=statistics.median(ratios), unit="x CPU", bar=2.0, peer=1.0,
        peer_name=f"({statistics.median(numpys):.3f} s)",
    )  # fmt: skip


def _cpu(call: Callable[[], object]) -> float:
    begun = time.process_time()
    call()
    return time.process_time() - begun


def _memory(folder: Path) -> Figure:
    paths = [_sparse(folder / f"large{i}.npy") for i in range(2)]
    line = (sys.executable, "-c", PEAK, str(ROOT), *map(str, paths), str(LARGE // 4))
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    return Figure(what="memory for two tensors of 2 GB each, at most", value=float(done.stdout), unit="MB", bar=500)


def _sparse(path: Path) -> Path:
    """Zeros that take no room on the disk."""
    with path.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (LARGE // 4,)}
        np.lib.format.write_array_header_1_0(file, header)
        file.truncate(file.tell() + LARGE)
    return path
