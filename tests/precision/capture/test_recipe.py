"""A recipe of the studio, dumped from its first step, and the same with one weight that is another one."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from backends.precision.determinism import digests
from studio import files
from studio.run import open_run
from tests.runs import events_of
from tests.studio.test_command_line import last_json, studio

if TYPE_CHECKING:
    from studio.events import Event

CAPTURE = ("--capture", "dump", "--capture-steps", "1", "--capture-task", "md5", "--capture-level", "mix")


def launch(folder: Path, *words: str) -> Path:
    """The folder of a run of digits that has ended well."""
    done = studio("--no-project", "launch", "--recipe", "digits", "--steps", "2", *words, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return Path(last_json(done)["run"])


def perturbed(weights: Path, name: str, to: Path) -> Path:
    """A copy of a .safetensors file whose first number of one tensor is larger."""
    content = bytearray(weights.read_bytes())
    (size,) = struct.unpack("<Q", content[:8])
    begin = 8 + size + json.loads(content[8 : 8 + size])[name]["data_offsets"][0]
    number = np.frombuffer(content[begin : begin + 4], np.float32) + np.float32(0.01)
    content[begin : begin + 4] = number.tobytes()
    to.write_bytes(content)
    return to


def test_that_a_perturbed_weight_is_what_differs_first(tmp_path: Path, homes: Path) -> None:
    (weights,) = launch(tmp_path).rglob("weights.safetensors")
    golden = launch(tmp_path, "--weights", str(weights), *CAPTURE)
    other = perturbed(weights, "layers.3.weight", tmp_path / "other.safetensors")
    target = launch(tmp_path, "--weights", str(other), *CAPTURE)
    first = digests.compared(target, golden).first
    assert first is not None
    assert (first.step, first.name, first.place, first.index) == (1, "Primitive.conv2d.Conv2D.1.forward", "input", 1)

    (dump,) = golden.rglob("dump.json")
    data: dict[str, Any] = files.read_json(dump)["data"]
    assert dump.parent.parent.name == "step1"
    assert next(iter(data)) == "Primitive.conv2d.Conv2D.0.forward"
    events: list[Event] = events_of(open_run(golden))
    assert {"capture.norms_replaced", "capture.done"} <= {getattr(event, "key", "") for event in events}
    plain = launch(tmp_path, "--weights", str(weights))
    assert losses(golden) == losses(plain), "a capture changes nothing"


def losses(run: Path) -> list[float]:
    return [event.values["loss"] for event in events_of(open_run(run)) if "loss" in getattr(event, "values", {})]  # type: ignore[union-attr]
