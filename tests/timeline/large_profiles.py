"""Large profiles for benchmarks: a real trace tiled by the shared tools where they are, else a made one tiled here."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import count
from typing import TYPE_CHECKING

from tests.timeline.profile_data import PROFILES, RANK
from tests.timeline.torch_npu_db import write_db
from tests.timeline.torch_npu_trace import STEP, microseconds, torch_npu

if TYPE_CHECKING:
    from pathlib import Path

TOOL = PROFILES.parents[1] / "tools" / "replicate_trace.py"
COPY = 2_198_000  # bytes of one copy of the real trace
TIME = re.compile(r'"ts": "(\d+)\.(\d{3})"')
COPY_OF_ID = re.compile(r'("id": "?)(\d+)')


def big_text(path: Path, size: int) -> Path:
    """About `size` bytes as torch_npu writes text."""
    source = PROFILES / RANK / "text" / "rank0_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json"
    if TOOL.is_file() and source.is_file():
        line = (sys.executable, "-I", str(TOOL), str(source), str(path), str(round(size / COPY)))
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    else:
        _tiled(path, size)
    return path


def _tiled(path: Path, size: int) -> None:
    """Ten steps again and again, later by ten steps each; flows keep apart by their ids."""
    events = torch_npu(steps=10, kernels=40)
    names = [event for event in events if event["ph"] == "M"]
    text = ", ".join(json.dumps(event) for event in events if event["ph"] != "M")
    parts = TIME.split(COPY_OF_ID.sub(r"\1@\2", text))
    texts, times = parts[::3], [int(a + b) for a, b in zip(parts[1::3], parts[2::3], strict=True)]
    with path.open("w", encoding="utf-8") as file:
        file.write("[" + ", ".join(map(json.dumps, names)))
        for number in count():
            shifted = [f'"ts": "{microseconds(time + number * 10 * STEP)}"' for time in times]
            whole = "".join(part for pair in zip(texts, [*shifted, ""], strict=True) for part in pair)
            file.write(", " + whole.replace("@", str(number + 1)))
            if file.tell() > size:
                break
        file.write("]")


def big_db(path: Path, rows: int) -> Path:
    """`rows` of TASK; a third of them are kernels with names of their own table."""
    return write_db(path, tasks=rows, compute=rows // 3, api=rows // 20)
