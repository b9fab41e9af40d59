"""What the studio computes of a training's tensors is in no dump, neither in the studio's nor in the user's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.guest.capturing import MINDSPORE, TORCH, Training, operators
from tests.packages import needs
from tests.precision.capture.planned import dumps, planned

if TYPE_CHECKING:
    from pathlib import Path

HOOKS = "curves,captures,config_pack"
OWN_DEBUGGER = (
    TORCH.replace(
        "optimizer = torch.optim",
        """import json
pathlib.Path("own.json").write_text(json.dumps({
    "task": "statistics", "dump_path": str(pathlib.Path("own").absolute()), "rank": [], "step": [], "level": "L1",
    "statistics": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"}}))
from msprobe.pytorch import PrecisionDebugger
debugger = PrecisionDebugger(config_path="own.json")
optimizer = torch.optim""",
    )
    .replace("    loss = net", "    debugger.start(model=net)\n    loss = net")
    .replace("    print(step", "    debugger.stop(); debugger.step()\n    print(step")
    .replace("range(1, 100000)", "range(1, 3)")
)


def calls_of(training: Training) -> list[list[str]]:
    capture = training.captured("plan")
    assert capture.state == "done", training.log()
    assert training.finish() == 0
    return [operators(path) for path in dumps(training, capture).values()]


@pytest.mark.parametrize(("script", "argument"), [(TORCH, "16"), (MINDSPORE, "pynative")], ids=["torch", "mindspore"])
@needs("msprobe")
def test_that_a_kept_configuration_adds_no_call_to_a_dump(tmp_path: Path, script: str, argument: str) -> None:
    plain = calls_of(planned(tmp_path / "plain", script, argument, hooks="curves,captures", level="L1"))
    kept = planned(tmp_path / "kept", script, argument, hooks=HOOKS, level="L1")
    assert calls_of(kept) == plain
    assert (kept.folder / "artifacts" / "config" / "rank0.zip").is_file(), kept.log()


@needs("torch", "msprobe")
def test_that_neither_curves_nor_configuration_add_a_call_to_the_users_own_dump(tmp_path: Path) -> None:
    """Its debugger runs over the step of the optimizer too, where the curves compute."""
    recorded = {}
    for name, hooks in (("plain", ""), ("hooked", "curves,config_pack")):
        training = Training(tmp_path / name, OWN_DEBUGGER, "16", hooks=hooks)
        assert training.child.wait(120) == 0, training.log()
        recorded[name] = [operators(path) for path in sorted((training.folder / "own").rglob("dump.json"))]
    assert len(recorded["plain"]) == 2
    assert recorded["hooked"] == recorded["plain"]
