"""Captures of a rehearsal on the virtual NPU: what they leave, and that nothing of them counts as the script's."""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from backends.common.rehearsal import OPERATORS
from tests.command_line import last_json, studio

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here"),
    pytest.mark.skipif(importlib.util.find_spec("msprobe") is None, reason="no msprobe here"),
]

SCRIPT = """
import torch, torch_npu
torch.manual_seed(0)
first, second = torch.nn.Linear(16, 32).npu(), torch.nn.Linear(32, 4).npu()
gain = torch.nn.Parameter(torch.ones(32, device="npu"))
optimizer = torch.optim.AdamW([*first.parameters(), gain, *second.parameters()], lr=1e-3)
for step in range(6):
    x, y = torch.randn(8, 16).npu(), torch.randint(0, 4, (8,)).npu()
    scores = second(torch_npu.npu_rms_norm(first(x), gain)[0])
    loss = torch.nn.functional.cross_entropy(scores, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def rehearsed(folder: Path, *options: str) -> dict[str, Any]:
    (folder / "train.py").write_text(SCRIPT)
    done = studio("rehearse", "--as", "npu", *options, "--json", "--", sys.executable, "train.py", cwd=folder)
    assert done.returncode == 0, done.stderr
    return last_json(done)


def operators(answer: dict[str, Any]) -> list[list[str]]:
    with (Path(answer["run"]) / OPERATORS).open(newline="") as file:
        return sorted(csv.reader(file))


def captured(answer: dict[str, Any], kind: str) -> Path:
    (path,) = [artifact["path"] for artifact in answer["artifacts"] if artifact["kind"] == kind]
    return Path(answer["run"]) / path


def forward_calls(dump: Path) -> list[str]:
    calls = json.loads(dump.read_text())["data"]
    return [call.removesuffix(".forward") for call in calls if call.endswith(".forward")]


def test_that_a_dump_of_a_rehearsal_names_fused_operators_and_counts_none_of_its_own(tmp_path: Path) -> None:
    plain, dumped = rehearsed(tmp_path), rehearsed(tmp_path, "--capture", "dump")
    first, second = (forward_calls(path) for path in sorted(captured(dumped, "dump").rglob("dump.json")))
    # Python looks the function up before it calls first(x), with which the dump begins: the plain one, as on a card.
    assert first == ["Functional.linear.0", "Functional.linear.1", "Functional.cross_entropy.0"]
    assert second == ["Functional.linear.0", "NPU.npu_rms_norm.0", "Functional.linear.1", "Functional.cross_entropy.0"]
    assert dumped["losses"] == plain["losses"]
    assert (dumped["blocked"], dumped["redirected"]) == (plain["blocked"], plain["redirected"])
    assert operators(dumped) == operators(plain)


def test_that_a_profile_of_a_rehearsal_has_its_steps_and_says_whose_times_they_are(tmp_path: Path) -> None:
    answer = rehearsed(tmp_path, "--capture", "profile")
    events = json.loads(captured(answer, "profile").read_text())["traceEvents"]
    steps = {event["name"] for event in events if str(event.get("name")).startswith("ProfilerStep#")}
    assert steps == {"ProfilerStep#2", "ProfilerStep#3"}
    notes = [path.read_text() for path in Path(answer["run"]).glob("events*.jsonl")]
    assert any("capture.of_rehearsal" in text for text in notes)
