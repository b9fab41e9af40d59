"""Rehearsals in the guest alone: real PyTorch, real scripts, in processes of their own."""

from __future__ import annotations

import importlib.util
import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.rehearse import report
from backends.launch.rehearse.spec import Rehearsal, RehearseSpec
from backends.launch.rehearse.work import assembled, refusal
from studio import run as runs
from studio.events import Ended
from studio.paths import GUEST
from tests.guest import rehearsed
from tests.guest.rehearsed_process import child, events

if TYPE_CHECKING:
    from pathlib import Path

    from backends.common.rehearsal import Report
    from studio.events import Finding

    Verdict = tuple[Report, Finding | None]


pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch here")

# Imports torch once and runs each script in a fork, as a script that an NPU's host would run: with the excepthook.
FORKS = """
import json, os, runpy, sys
import torch
from ascend_studio.rehearsal import record
for number, script in enumerate(json.load(open(sys.argv[1]))):
    pid = os.fork()
    if not pid:
        code, os.environ["ASCEND_STUDIO_RUN"] = 0, os.path.join(os.getcwd(), str(number))
        os.mkdir(os.environ["ASCEND_STUDIO_RUN"])
        path = os.path.join(os.environ["ASCEND_STUDIO_RUN"], "train.py")
        open(path, "w").write(script)
        try:
            runpy.run_path(path, run_name="__main__")
        except Exception:
            sys.excepthook(*sys.exc_info())
            code = 1
        record.write()
        sys.stdout.flush()
        os._exit(code)
    print("code", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


CUDA_TYPES = """
import torch
net = torch.nn.Linear(4, 2).cuda()
rows, targets = torch.cuda.FloatTensor([[1.0, 2.0, 3.0, 4.0]]), torch.cuda.LongTensor([1])
assert isinstance(rows, torch.cuda.FloatTensor) and not isinstance(targets, torch.cuda.FloatTensor)
assert targets.type(torch.cuda.FloatTensor).dtype == torch.float32 and torch.cuda.HalfTensor(2, 3).shape == (2, 3)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
torch.nn.functional.cross_entropy(net(rows), targets).backward()
optimizer.step()
"""


def test_that_as_cuda_the_names_of_dtypes_make_tensors(tmp_path: Path) -> None:
    done = child(tmp_path, CUDA_TYPES, hooks="curves,rehearse=cuda")
    assert done.returncode == 0, done.stderr


def test_that_a_script_for_cuda_runs_and_its_float32_losses_are_those_of_its_cpu_path(tmp_path: Path) -> None:
    done = child(tmp_path, rehearsed.CUDA, hooks="curves,rehearse=cuda")
    assert done.returncode == 0, done.stderr
    (tmp_path / "cpu").mkdir()
    on_cpu = child(tmp_path / "cpu", rehearsed.CUDA, "cpu")
    losses = [line for line in done.stdout.splitlines() if line.startswith("float32")]
    assert len(losses) == 4
    assert losses == [line for line in on_cpu.stdout.splitlines() if line.startswith("float32")]

    half = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("float16")]
    assert half == [line.split()[1] for line in done.stdout.splitlines() if line.startswith("bfloat16")]
    notes = [event["key"] for event in events(tmp_path) if event["type"] == "note"]
    assert notes == ["rehearsal.as_cuda", "rehearsal.half_as_bfloat16"]

    (part,) = report.read_parts(tmp_path)
    assert part.blocked == ()
    counts = part.redirected
    assert {name: counts[name] for name in ("Module.cuda", "GradScaler", "autocast", "torch.cuda.synchronize")} == {
        "Module.cuda": 3, "GradScaler": 3, "autocast": 12, "torch.cuda.synchronize": 12,
    }  # fmt: skip
    assert {"DataParallel", "DataLoader(pin_memory)", "torch.Generator", "Tensor.type"} <= counts.keys()
    check_operators(part.operators)


def check_operators(rows: tuple[tuple[Any, ...], ...]) -> None:
    """Forward, backward and optimizer, each with its module, and nothing of what the curves compute themselves."""
    table = {(row[0], row[1], row[2], row[3].split(" ")[0]): row for row in rows}
    forward = table["aten.convolution.default", "forward", "DataParallel.module.0", "float32"]
    backward = table["aten.convolution_backward.default", "backward", "DataParallel.module.0", "float32"]
    assert (forward[4], forward[6], forward[7]) == ("8x1x8x8 4x1x3x3 4", "8x4x6x6", 4)
    assert backward[7] == forward[7]
    assert ("aten.mm.default", "backward", "DataParallel.module.4", "bfloat16") in table
    assert any(row[1] == "optimizer" for row in rows)
    assert "aten._foreach_norm.Scalar" not in {row[0] for row in rows}


def verdicts(folder: Path, scripts: list[str], npu_device: str) -> list[Verdict]:
    """As the worker would judge each script, as npu."""
    (folder / "scripts.json").write_text(json.dumps(scripts), encoding="utf-8")
    off = {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}  # so that `import torch_npu` is an edit that counts
    done = child(
        folder, FORKS, "scripts.json", hooks="curves,rehearse=npu", **off, ASCEND_STUDIO_REHEARSAL_NPU_DEVICE=npu_device
    )
    codes = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("code ")]
    assert len(codes) == len(scripts), done.stderr
    spec = RehearseSpec(rehearsal=Rehearsal(stance="npu", steps=None))
    asked = runs.create(folder / "runs", "rehearse", {})
    found = []
    for number, code in enumerate(codes):
        run = runs.Run(folder=folder / str(number), request=asked.request)
        one = assembled(spec, run, report.read_parts(run.folder), Ended(code=code), "")
        assert code == 0 or one.blocked, done.stderr
        found.append((one, None if one.answer else refusal(one, Ended(code=code))))
    return found


DROPPED = [rehearsed.migrated(without=edit) for edit in rehearsed.EDITS]
AS_NPU = {
    "whole": rehearsed.migrated(),
    "transferred": rehearsed.TRANSFERRED,
    "gap": rehearsed.NOT_COVERED,
    "original": rehearsed.ORIGINAL,
    "asks_npu": rehearsed.ASKS_NPU,
    "asks_cuda": rehearsed.ONLY_ASKS,
    "not_imported": rehearsed.NOT_IMPORTED,
    "types": rehearsed.TYPES,
}


@pytest.fixture(scope="module", params=["virtual", "cpu"])
def as_npu(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> tuple[dict[str, Verdict], list[Verdict]]:
    """Of each script by its name, and of those with one edit less."""
    found = verdicts(tmp_path_factory.mktemp("npu"), [*AS_NPU.values(), *DROPPED], request.param)
    return dict(zip(AS_NPU, found, strict=False)), found[len(AS_NPU) :]


def test_that_as_npu_the_names_of_dtypes_make_tensors_of_the_device(as_npu: Any) -> None:
    report, why = as_npu[0]["types"]
    assert why is None
    assert report.steps == 1


def test_that_as_npu_a_migrated_script_passes_and_each_dropped_edit_is_caught(as_npu: Any) -> None:
    named, others = as_npu
    whole, why = named["whole"]
    assert whole.answer, why
    assert whole.blocked == ()
    assert (whole.steps, len(whole.losses)) == (2, 2)
    assert len(others) == 13
    missed = [rehearsed.MIGRATED[edit] for edit, (one, _) in zip(rehearsed.EDITS, others, strict=True) if one.answer]
    assert not missed
    lines = [finding.line for _, finding in others if finding]
    places = [edit + 1 for edit in rehearsed.EDITS[1:]]
    places[places.index(5)] = 9  # torch.device("cuda") is a device anywhere, and refused where it is used
    assert lines[1:] == places


def test_that_as_npu_only_what_transfer_to_npu_covers_is_redirected_and_only_if_it_is_imported(as_npu: Any) -> None:
    named, _ = as_npu
    (transferred, why), (gap, gap_why), (original, original_why) = map(named.get, ("transferred", "gap", "original"))
    assert transferred.answer, why
    assert (transferred.blocked, transferred.steps) == ((), 2)
    assert (gap.answer, gap.steps, original.answer, original.steps) == (False, 2, False, 0)
    assert "NVTX" in str(gap_why)
    assert "CUDA" in str(original_why) or "cuda" in str(original_why)
    assert named["asks_npu"][0].answer
    _, finding = named["asks_cuda"]
    assert (finding.rule, finding.line) == ("launch.rehearse.no_device", 3)


def test_that_as_npu_there_is_no_npu_before_torch_npu_is_imported(as_npu: Any) -> None:
    report, finding = as_npu[0]["not_imported"]
    assert (report.answer, finding.line) == (False, 10)
    assert "npu" in str(finding.args["message"])


def test_that_a_script_that_asks_torch_for_its_accelerator_runs_as_npu(tmp_path: Path) -> None:
    done = child(tmp_path, rehearsed.AGNOSTIC + "torch.zeros(2).cuda()", hooks="rehearse=npu")
    assert done.stdout == "device npu\n", done.stderr
    assert done.stderr.splitlines()[-1] == "AssertionError: Torch not compiled with CUDA enabled"


def test_that_a_torch_that_cannot_be_rehearsed_ends_instead_of_training(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("__version__ = '1.11.0'\n")
    paths = os.pathsep.join((str(GUEST), str(tmp_path)))
    done = child(tmp_path, "import torch\nprint('trains')", hooks="rehearse=cuda", PYTHONPATH=paths)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("PyTorch 1.11.0 cannot be rehearsed on the CPU")
    assert "hooks.given_up" in [event.get("rule") for event in events(tmp_path)]
