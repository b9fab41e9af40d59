"""What only torch can read, such as files older than 1.6: a child of an interpreter that has it writes it anew."""

from __future__ import annotations

import dataclasses
import os
import subprocess
from pathlib import Path

import msgspec

from backends.precision.weights.plain_values import Checkpoint, PlainValue, checkpoint_of
from backends.precision.weights.safetensors import metadata_of, read_safetensors
from studio.errors import Stopped, StudioError
from studio.supervisor import STOP

WEIGHTS_SCRIPT = Path(__file__).parent / "child" / "save_weights.py"
WEIGHTS_SPARE = 2 << 30
NO_TORCH = 10
NO_TENSORS = 11
TWICE = 12
OLD_TORCH = 13
REFUSAL = "WeightsUn"
"""Begins the line in which torch says what it refuses; those behind it say where to read on."""
VALUES = "values"
"""Where the child keeps what is no tensor."""


def weights_through_torch(path: Path, target: Path, python: Path) -> Checkpoint:
    """What it holds, written to `target`. `python`: the interpreter that has torch. Raises StudioError and Stopped."""
    max_bytes = WEIGHTS_SPARE + 4 * path.stat().st_size
    argv = [str(python), str(WEIGHTS_SCRIPT), str(path.absolute()), str(target), str(max_bytes)]
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1"}
    try:
        child = subprocess.Popen(
            argv, cwd=target.parent, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, errors="replace",
        )  # fmt: skip
    except OSError as error:
        raise StudioError("precision.weights.child_failed", place=str(path), reason=str(error)[:300]) from None
    reply = _wait(child)
    _check(child.returncode, reply, path, python)
    values = msgspec.json.decode(metadata_of(target)[VALUES], type=dict[str, tuple[str | None, bool]])
    plain = (
        (name, PlainValue(text=text, is_number=is_number))
        for name, (text, is_number) in values.items()
        if text is not None
    )
    unknown = tuple(name for name, (text, _) in values.items() if text is None)
    checkpoint = checkpoint_of(read_safetensors(target), plain)
    return dataclasses.replace(checkpoint, unread=(*checkpoint.unread, *unknown))


def _wait(child: subprocess.Popen[str]) -> str:
    """What it said, when it has ended. Raises Stopped; nothing of it is left then."""
    while True:
        try:
            return child.communicate(timeout=0.2)[1]
        except subprocess.TimeoutExpired:
            if STOP.stop_requests:
                child.kill()
                child.communicate()
                raise Stopped from None


def _check(code: int, reply: str, path: Path, python: Path) -> None:
    if not code:
        return
    lines = reply.strip().splitlines() or [f"exit code {code}"]
    reason = next((line.strip() for line in lines if line.strip().startswith(REFUSAL)), lines[-1])[:300]
    if code == TWICE:
        raise StudioError("precision.weights.twice_in_file", place=str(path), name=reason)
    if code == NO_TORCH:
        raise StudioError("precision.weights.no_torch", place=str(path), python=str(python))
    if code == OLD_TORCH:
        raise StudioError("precision.weights.holds_numpy", place=str(path), python=str(python))
    if code == NO_TENSORS:
        raise StudioError("precision.weights.no_tensors", place=str(path))
    raise StudioError("precision.weights.child_failed", place=str(path), reason=reason)
