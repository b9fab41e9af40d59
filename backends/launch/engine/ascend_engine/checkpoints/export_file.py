"""The weights of a checkpoint as a file of a framework's own format, there whole or not at all."""

from __future__ import annotations

import argparse
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

import ascend_studio
import numpy as np

from ascend_engine import failures
from ascend_engine.checkpoints import checkpoint
from ascend_engine.checkpoints.checkpoint import Damaged
from ascend_engine.failures import Failure

Write = Callable[[Path, Mapping[str, np.ndarray]], None]
"""Writes arrays to a new file, flushes it and reads it back. Raises OSError, RuntimeError and ValueError."""


def main(module: str, write: Write) -> int:
    """The command line of a framework's module; returns its exit code."""
    parser = argparse.ArgumentParser(prog="python -m " + module, allow_abbrev=False)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    try:
        export(arguments.checkpoint, arguments.out, write)
    except Exception as error:
        failures.report(error)
        return 1
    return 0


def export(folder: Path, out: Path, write: Write) -> None:
    """Write the weights in a checkpoint's folder to `out`; a file of that name is replaced at the very end. Raises
    Failure."""
    try:
        saved = checkpoint.read(folder)
    except Damaged as error:
        raise Failure("launch.checkpoint_damaged", name=folder.name, reason=str(error)) from error
    making = out.with_name(f".{out.stem}.{secrets.token_hex(4)}{out.suffix}")
    try:
        write(making, saved.weights)
        making.replace(out)
        checkpoint.flush_folder(out.parent)
    except (OSError, RuntimeError, ValueError) as error:
        raise Failure("launch.export_failed", file=str(out), error=failures.first_line(error)) from error
    finally:
        making.unlink(missing_ok=True)
    ascend_studio.artifact(out.suffix[1:], out)
    ascend_studio.note("launch.exported", file=str(out), step=saved.step, count=len(saved.weights))
    print(f"{len(saved.weights)} parameters of step {saved.step} in {out}")
