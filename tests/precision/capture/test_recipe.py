"""A recipe of the studio, dumped from its first step, and the same with one weight that is another one."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.determinism import digests
from studio import files
from studio.run import open_run
from tests.command_line import last_json, studio
from tests.guest.capturing import ODD
from tests.precision.capture.digits_weights import weights
from tests.runs import events_of

if TYPE_CHECKING:
    from studio.events import Event

CAPTURE = ("--capture", "dump", "--capture-steps", "1", "--capture-task", "md5", "--capture-level", "mix")


def launch(folder: Path, *words: str) -> Path:
    """The folder of a run of digits that has ended well."""
    done = studio("--no-project", "launch", "--recipe", "digits", "--steps", "1", *words, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return Path(last_json(done)["run"])


def test_that_a_perturbed_weight_is_what_differs_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / ODD))
    golden = launch(tmp_path, "--weights", weights(tmp_path / "golden.safetensors"), *CAPTURE)
    other = weights(tmp_path / "other.safetensors", "layers.3.weight")
    target = launch(tmp_path, "--weights", other, *CAPTURE)
    first = digests.compare_digests(target, golden).first
    assert first is not None
    assert (first.step, first.name, first.place, first.index) == (1, "Primitive.conv2d.Conv2D.1.forward", "input", 1)

    (dump,) = golden.rglob("dump.json")
    data: dict[str, Any] = files.read_json(dump)["data"]
    assert dump.parent.parent.name == "step1"
    assert next(iter(data)) == "Primitive.conv2d.Conv2D.0.forward"
    events: list[Event] = events_of(open_run(golden))
    assert {"capture.norms_replaced", "capture.done"} <= {getattr(event, "key", "") for event in events}


@pytest.mark.skipif(not find_spec("torch"), reason="no PyTorch here")
def test_that_recipes_of_pytorch_are_compared_and_those_of_two_frameworks_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    golden_weights = weights(tmp_path / "golden.safetensors")
    golden = launch(tmp_path, "--framework", "torch", "--weights", golden_weights, *CAPTURE)
    other = weights(tmp_path / "other.safetensors", "layers.3.weight")
    target = launch(tmp_path, "--framework", "torch", "--weights", other, *CAPTURE)
    first = digests.compare_digests(target, golden).first
    assert first is not None
    assert (first.step, first.place) == (1, "input")
    assert "conv2d.1.forward" in first.name
    of_mindspore = launch(tmp_path, "--weights", golden_weights, *CAPTURE)
    done = studio("--no-project", "compare", str(target), str(of_mindspore), "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert "captured with torch and the golden side with mindspore" in last_json(done)["message"]
