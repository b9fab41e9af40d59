"""What a training asked for, bounded, and written to one file per process.

An entry is a text with the line of the script that caused it and how often. Entries of a set are told apart by their
text; those of a sequence by their order, and equal ones in a row are one entry.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys

import ascend_studio
from ascend_studio.rehearsal import record
from ascend_studio.writer import process_rank

if False:
    from typing import Any, Dict, List, Optional, Tuple

CONTRACTS = os.path.join("artifacts", "contracts")
MAX_ENTRIES = 1000  # of a topic; what follows is a digest
MAX_TEXT = 600  # characters
_GUEST = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Functions of these wrap those of torch: who called them is who called torch.
_WRAPPERS = (
    os.path.join(_GUEST, "contract", ""), os.path.join(_GUEST, "virtual_npu", "placement.py"),
    *[os.path.join(_GUEST, "rehearsal", name + ".py") for name in ("npu", "redirect", "devices", "ranks", "amp")],
)  # fmt: skip

_topics: Dict[str, List[Dict[str, Any]]] = {}
_texts: Dict[Tuple[str, str], Dict[str, Any]] = {}
_rests: Dict[str, Any] = {}
lines: Dict[str, Any] = {}
"""The lines that ran, by file: see lines.py."""
torch: Any = None


def begin(module: Any) -> None:
    global torch
    torch = module
    record.contents.append(lambda _part: write())
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=forget)


def forget() -> None:
    for kept in (_topics, _texts, _rests):
        kept.clear()


def add(topic: str, text: str, location: Optional[Tuple[str, int]] = None) -> None:
    """Add to a set."""
    entry = _texts.get((topic, text))
    if entry is not None:
        entry["count"] += 1
    elif len(_topics.get(topic, ())) < MAX_ENTRIES:
        _texts[topic, text] = _enter(topic, text, location)


def append(topic: str, text: str, location: Optional[Tuple[str, int]] = None) -> None:
    """Add to a sequence."""
    entries = _topics.get(topic, ())
    if entries and entries[-1]["text"] == text[:MAX_TEXT]:
        entries[-1]["count"] += 1
    elif len(entries) < MAX_ENTRIES:
        _enter(topic, text, location)
    else:
        _rests.setdefault(topic, hashlib.blake2b(digest_size=8)).update(text.encode("utf-8", "replace"))


def _enter(topic: str, text: str, location: Optional[Tuple[str, int]]) -> Dict[str, Any]:
    path, line = location or record.user_location()
    entry = {"text": text[:MAX_TEXT], "path": path, "line": line, "count": 1}
    _topics.setdefault(topic, []).append(entry)
    return entry


def is_compiling() -> bool:
    """Return whether torch's compiler reads the call: it cannot follow a look at frames."""
    compiler = getattr(torch, "compiler", None)
    return bool(compiler is not None and hasattr(compiler, "is_compiling") and compiler.is_compiling())


def is_from_script() -> bool:
    """Return whether the script itself made the call, not a library or the guest for it."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_WRAPPERS):
        frame = frame.f_back
    return bool(frame is not None and record.is_users(frame.f_code.co_filename))


def write() -> None:
    """Write the file of this process; nothing for a process that trained and asked for nothing."""
    run = os.environ.get(ascend_studio.RUN)
    if run is None or not _topics:
        return
    contract = {
        "rank": process_rank.rank(),
        "stance": record.stance,
        "device": record.device,
        "steps": record.steps(),
        "topics": _topics,
        "rests": {topic: digest.hexdigest() for topic, digest in _rests.items()},
        "lines": {path: _spans(numbers) for path, numbers in list(lines.items())},
    }
    try:
        folder = os.path.join(run, CONTRACTS)
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "contract.r%d.p%d.json" % (process_rank.rank(), os.getpid()))
        with open(path + ".tmp", "w", encoding="utf-8", errors="replace") as file:
            json.dump(contract, file)
        os.replace(path + ".tmp", path)
    except OSError:
        pass


def _spans(numbers: Any) -> List[List[int]]:
    """Return line numbers as first and last of each run."""
    spans: List[List[int]] = []
    for number in sorted(numbers):
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    return spans
