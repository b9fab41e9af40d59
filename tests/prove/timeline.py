"""Profiles cut, changed and killed at random, a million lanes, and whatever else no profiler should write.

Each round goes through the command, in a process of its own: no crash, no more than a gigabyte for what is under
10 MB, no slice that is not in the file, all slices that are whole, nothing written beside the data. The shared real
profiles are among those that are changed, where they are. ASCEND_STUDIO_ROUNDS: how many of each kind, 60 by default;
ASCEND_STUDIO_SEED: where chance begins.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backends.timeline.trace import open_trace
from tests.timeline.command_runs import LINE, run_timeline, slices
from tests.timeline.hostile_files import (
    CASES,
    PACKED,
    array,
    bomb,
    good,
    lanes,
    mutated,
)
from tests.timeline.other_traces import kineto, mindspore
from tests.timeline.process_costs import Measured, measure
from tests.timeline.profile_data import DBS, TEXTS, profile
from tests.timeline.text_counts import count_text
from tests.timeline.torch_npu_db import write_db
from tests.timeline.torch_npu_trace import torch_npu

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterator

ROUNDS = int(os.environ.get("ASCEND_STUDIO_ROUNDS", "60"))
SEED = int(os.environ.get("ASCEND_STUDIO_SEED", "0"))
MEMORY = 1000  # MB, for each 10 MB
SECONDS = 120
STRANGERS = 40  # slices that up to 20 changes may have changed
DB = "ascend_pytorch_profiler_0.db"


def prove() -> dict[str, Any]:
    chance = random.Random(SEED)
    with tempfile.TemporaryDirectory() as name:
        os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
        wrong = [*_strange(Path(name)), *_cut(Path(name), chance), *_changed(Path(name), chance),
                 *_databases(Path(name), chance), *_killed(Path(name), chance)]  # fmt: skip
    print(*wrong, sep="\n", file=sys.stderr)
    return {"passed": not wrong, "rounds": ROUNDS, "seed": SEED, "wrong": wrong}


def _texts() -> list[bytes]:
    made = [array(torch_npu(kernels=40)), array(mindspore(300)), json.dumps(kineto(100), indent=2).encode()]
    return made + [profile(name).read_bytes() for name in TEXTS]


def _strange(folder: Path) -> Iterator[str]:
    """All strange files of the tests, and larger ones."""
    large: dict[str, Callable[[], bytes]] = {
        "million lanes": lambda: lanes(1_000_000),
    }
    for name, make in {**CASES, **large}.items():
        yield from _looked(folder, "trace_view.json", make(), name)[1]
    for name, make in {**PACKED, "large bomb": _large_bomb}.items():
        yield from _looked(folder, "trace_view.json.gz", make(), name)[1]


def _cut(folder: Path, chance: random.Random) -> Iterator[str]:
    texts = _texts()
    for number in range(ROUNDS):
        data = texts[number % len(texts)]
        cut = chance.randrange(len(data))
        shown, wrong = _looked(folder, "trace_view.json", data[:cut], f"cut {number % len(texts)} at {cut}")
        yield from wrong
        if shown is not None and (invented := shown - _shown_by(data)):
            yield f"cut {number % len(texts)} at {cut}: invented {list(invented)[:3]}"


def _changed(folder: Path, chance: random.Random) -> Iterator[str]:
    texts = _texts()
    for number in range(ROUNDS):
        data, seed = texts[number % len(texts)], chance.randrange(1 << 30)
        shown, wrong = _looked(folder, "trace_view.json", mutated(data, seed), f"text {number % len(texts)}: {seed}")
        yield from wrong
        if shown is None:
            continue
        there = _shown_by(data)
        if (shown - there).total() > STRANGERS:
            yield f"text {number % len(texts)}, seed {seed}: {(shown - there).total()} strangers"
        if (there - shown).total() > there.total() / 2:
            yield f"text {number % len(texts)}, seed {seed}: {(there - shown).total()} of {there.total()} lost"


def _databases(folder: Path, chance: random.Random) -> Iterator[str]:
    bases = [profile(name).read_bytes() for name in DBS]
    bases.append(write_db(folder / "made.db", tasks=3000).read_bytes())
    for number in range(ROUNDS):
        data, seed = bases[number % len(bases)], chance.randrange(1 << 30)
        broken = data[: seed % len(data)] if number % 3 == 0 else data[:100] + mutated(data[100:], seed)
        if number % 3 == 2:
            broken = data[:100] + _flipped(data[100:], seed)
        yield from _looked(folder, DB, broken, f"db {number % len(bases)}: {seed} {number % 3}")[1]


def _flipped(data: bytes, seed: int) -> bytes:
    """Some bits: nothing is moved, so that pages stay where they are."""
    chance, changed = random.Random(seed), bytearray(data)
    for _ in range(chance.randint(1, 200)):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _killed(folder: Path, chance: random.Random) -> Iterator[str]:
    """At any moment; the next one opens it all the same, and what was left half goes."""
    path = folder / "killed" / "trace_view.json"
    path.parent.mkdir()
    path.write_bytes(array(good(100_000)))
    for number in range(ROUNDS):
        child = subprocess.Popen((*LINE, str(path), "--json"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(chance.uniform(0.05, 1.5))
        child.kill()
        child.wait()
        if number % 5 == 4:
            said = run_timeline(path)
            if (said.code, said.answer.get("slices")) != (0, 100_000):
                yield f"after a kill: {said}"
            shutil.rmtree(os.environ["XDG_CACHE_HOME"], ignore_errors=True)


def _looked(folder: Path, name: str, data: bytes, called: str) -> tuple[Counter[Any] | None, list[str]]:
    """What is shown of it (None: refused), and what went wrong."""
    path = folder / "data" / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    done = measure((*LINE, str(path), "--json"), seconds=SECONDS)
    wrong = [f"{called}: {text}" for text in _wrong(done, len(data))]
    wrong += [f"{called}: left {left} beside" for left in path.parent.iterdir() if left != path]
    path.unlink()
    if wrong or done.code:
        return None, wrong
    return slices(open_trace(Path(json.loads(done.out.splitlines()[-1])["cache"]), path)), wrong


def _wrong(done: Measured, size: int) -> Iterator[str]:
    if "Traceback" in done.error:
        yield "Traceback: " + done.error.strip().splitlines()[-1]
    elif done.code not in (0, 1, 2):
        yield f"ended with {done.code}: {done.error[-300:]}"
    elif done.code and not done.error.strip():
        yield "refused without a word"
    if done.private > MEMORY * max(1, size / 10_000_000):
        yield f"{done.private:.0f} MB for {size / 1e6:.1f} MB"


def _shown_by(data: bytes) -> Counter[Any]:
    raw = count_text(data.decode())
    shown = raw.slices.copy()
    shown.update({(*key, key[3]): many for key, many in raw.instants.items()})
    return shown


def _large_bomb() -> bytes:
    return bomb(4000)
