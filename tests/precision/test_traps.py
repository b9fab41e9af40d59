"""Traps: divergences of kinds that nobody tuned for, pairs that only look different, and dumps made to break things."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.compare.comparison import comparison_answer
from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from tests.packages import skip_without
from tests.precision.dump.recorded import DUMPS, copy_of
from tests.shared_folders import made_once

if TYPE_CHECKING:
    from collections.abc import Callable

    Ask = Callable[[Path, Path], dict[str, Any]]

CAPTURES = '''\
"""One process for each capture, forked from one that has imported torch and msprobe."""
import json, os, sys
os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
import torch
from torch import nn
from torch.nn import functional as F

NOISE = 0


def noisy(function):
    def call(*args, **kwargs):
        out = function(*args, **kwargs)
        if NOISE and torch.is_tensor(out) and out.is_floating_point():
            out.data.mul_(1 + torch.finfo(out.dtype).eps * torch.randint(-NOISE, NOISE + 1, out.shape).to(out.dtype))
        return out
    return call


for home, names in ((F, ("linear", "conv2d", "group_norm", "gelu", "silu")), (torch, ("softmax", "matmul"))):
    for name in names:
        setattr(home, name, noisy(getattr(home, name)))
from msprobe.pytorch import PrecisionDebugger


class Cells(nn.Module):
    """A recurrent cell, called as often as there are letters."""
    def __init__(self, fault):
        super().__init__()
        self.embed, self.cell, self.head = nn.Embedding(30, 12), nn.GRUCell(12, 12), nn.Linear(12, 30)
        self.fault = fault

    def forward(self, x):
        x, h, out = self.embed(x), torch.zeros(len(x), 12), []
        for n in range(x.shape[1]):
            if self.fault != "skip" or n != 3:
                h = self.cell(x[:, n], h)
            if self.fault == "clamp" and n == 2:
                h = h.clamp(-0.1, 0.1)
            out.append(h)
        return F.cross_entropy(self.head(torch.stack(out, 1)).flatten(0, 1), torch.arange(24) % 30)


class Experts(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.router, self.experts = nn.Linear(12, 4), nn.ModuleList(nn.Linear(12, 12) for _ in range(4))
        self.embed, self.fault = nn.Embedding(30, 12), fault

    def forward(self, x):
        x = self.embed(x).flatten(0, 1)
        weight, chosen = torch.topk(torch.softmax(self.router(x), -1), 2)
        if self.fault != "weights":
            weight = weight / weight.sum(-1, keepdim=True)
        out = torch.zeros_like(x)
        for n in range(4):
            rows, places = torch.where(chosen == n)
            expert = self.experts[{1: 2, 2: 1}.get(n, n) if self.fault == "expert" else n]
            out = out.index_add(0, rows, F.gelu(expert(x[rows])) * weight[rows, places, None])
        return (x + out).square().mean()


class Masked(nn.Module):
    """Attention whose mask is the smallest number of its dtype, and a half of its values through float16."""
    def __init__(self, fault):
        super().__init__()
        self.embed, self.fault = nn.Embedding(30, 12), fault
        self.qkv, self.up = nn.Linear(12, 36), nn.ModuleList(nn.Linear(12, 12) for _ in range(3))

    def forward(self, x):
        keep = torch.ones(x.shape[1])
        keep[-2:] = 0
        x = self.embed(x)
        for n, up in enumerate(self.up):
            q, k, v = self.qkv(x).chunk(3, -1)
            mask = (1.0 - keep.to(x.dtype)) * torch.finfo(x.dtype).min
            y = F.gelu(up(torch.matmul(torch.softmax(torch.matmul(q, k.transpose(1, 2)) + mask, -1), v)))
            if self.fault == "half" and n == 1:
                y = y.half().to(x.dtype)
            if self.fault == "rows" and n == 1:
                y.detach().numpy()[0, 0] *= 0.5
            x = x + up(y)
        return x.square().mean()


class Kernels(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.embed, self.qkv = nn.Embedding(30, 24), nn.ModuleList(nn.Linear(24, 72) for _ in range(2))

    def forward(self, x):
        x = self.embed(x)
        for layer in self.qkv:
            q, k, v = (one.unflatten(-1, (3, 8)).transpose(1, 2) for one in layer(x).chunk(3, -1))
            x = x + F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)
        return x.square().mean()


class Images(nn.Module):
    def __init__(self, fault):
        super().__init__()
        self.down, self.norm, self.fault = nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(4, 8), fault
        self.up, self.out = nn.ConvTranspose2d(8, 8, 2, 2), nn.Conv2d(16, 3, 3, padding=1)
        if fault == "transposed":
            with torch.no_grad():
                self.out.weight.copy_(self.out.weight.transpose(2, 3).clone())

    def forward(self, x):
        x = torch.sin(x[:, None, :, None].expand(4, 3, 6, 6) * torch.arange(1.0, 7).to(self.down.weight.dtype))
        a = F.silu(self.norm(self.down(x)))
        b = self.up(F.max_pool2d(a, 2))
        return self.out(torch.cat([b, a] if self.fault == "swapped" else [a, b], 1)).square().mean()


def capture(out, model, fault, how, task):
    global NOISE
    NOISE = 4 if how == "ulp" else 0
    section = {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "md5" if task == "md5" else "statistics"}
    with open(out + ".json", "w") as file:
        json.dump({"task": "statistics" if task == "md5" else task, "dump_path": out, "rank": [], "step": [],
                   "level": "mix", "async_dump": False, "statistics": section, "tensor": section}, file)
    torch.manual_seed(1)
    net = globals()[model](fault)
    x = torch.randint(0, 30, (4, 6))
    torch.manual_seed(2)
    if how == "double":
        net = net.double()
    backend = torch.nn.attention.SDPBackend
    with torch.nn.attention.sdpa_kernel(backend.MATH if how == "math" else backend.FLASH_ATTENTION):
        debugger = PrecisionDebugger(config_path=out + ".json")
        debugger.start(model=net)
        net(x).backward()
        debugger.stop()
        debugger.step()


torch.set_num_threads(1)
for name in sys.argv[2:]:
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            capture(os.path.join(sys.argv[1], name), *(part.strip("_") for part in name.split("-")))
            code = 0
        finally:
            sys.stdout.flush()
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0, name
'''

NAMED = {
    "Cells-skip": ("Module.cell.GRUCell.forward.3", "missing"),
    "Cells-clamp": ("Module.cell.GRUCell.forward.3", "input"),
    "Experts-weights": ("Tensor.sum.0.forward", "missing"),
    "Experts-expert": ("Functional.linear.2.forward", "input"),
    "Masked-half": ("Functional.linear.5.forward", "input"),
    "Masked-rows": ("Functional.linear.5.forward", "input"),
}
"""What was planted, and where it is seen first: msprobe traces no clamp, cat, copy and cast by itself."""
OF_TENSORS = {
    "Images-swapped": ("Functional.conv2d.1.forward", "input", 0),
    "Images-transposed": ("Functional.conv2d.1.forward", "input", 1),
}
"""The same numbers in another order: statistics do not see it before the result does."""
QUIET = (
    ("Cells-_-ulp-statistics", "Cells-_-_-statistics"),
    ("Experts-_-ulp-statistics", "Experts-_-_-statistics"),
    ("Masked-_-ulp-statistics", "Masked-_-_-statistics"),
    ("Masked-_-_-statistics", "Masked-_-double-statistics"),
    ("Masked-_-double-statistics", "Masked-_-ulp-statistics"),
    ("Kernels-_-math-statistics", "Kernels-_-flash-statistics"),
    ("Kernels-_-flash-statistics", "Kernels-_-math-statistics"),
    ("Images-_-_-tensor", "Images-_-double-tensor"),
)


def _all() -> set[str]:
    named = {f"{plant}-{how}-statistics" for plant in NAMED for how in ("_", "ulp")}
    golden = {f"{plant.partition('-')[0]}-_-_-statistics" for plant in NAMED}
    tensors = {f"{plant}-_-tensor" for plant in OF_TENSORS}
    return named | golden | tensors | {one for pair in QUIET for one in pair}


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    skip_without("torch", "msprobe")
    return made_once(tmp_path_factory, "traps", _capture)


def _capture(folder: Path) -> None:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    line = [sys.executable, "-c", CAPTURES, str(folder), *sorted(_all())]
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.fixture
def said(tmp_path: Path) -> Ask:
    def ask(target: Path, golden: Path) -> dict[str, Any]:
        spec = schema.with_value(schema.with_value(CompareSpec(), "target", target), "golden", golden)
        (tmp_path / "runs").mkdir(exist_ok=True)
        run = runs.create(tmp_path / "runs", "compare", schema.to_json(spec))
        code = compare(spec, run).code
        return {"code": code, **json.loads(json.dumps(comparison_answer(run)))}

    return ask


@pytest.mark.parametrize("how", ["_", "ulp"])
@pytest.mark.parametrize("plant", NAMED)
def test_that_a_trap_is_named(plant: str, how: str, captures: Path, said: Ask) -> None:
    golden = captures / f"{plant.partition('-')[0]}-_-_-statistics"
    found = said(captures / f"{plant}-{how}-statistics", golden)
    first = found["first_divergence"] or {}
    assert (found["code"], first.get("name"), first.get("place")) == (3, *NAMED[plant])


@pytest.mark.parametrize("how", ["_", "double"])
@pytest.mark.parametrize("plant", OF_TENSORS)
def test_that_tensors_show_what_statistics_cannot(plant: str, how: str, captures: Path, said: Ask) -> None:
    first = said(captures / f"{plant}-_-tensor", captures / f"Images-_-{how}-tensor")["first_divergence"]
    assert (first["name"], first["place"], first["index"]) == OF_TENSORS[plant]


@pytest.mark.parametrize(("target", "golden"), QUIET)
def test_that_other_kernels_dtypes_and_noise_are_no_divergence(
    target: str, golden: str, captures: Path, said: Ask
) -> None:
    found = said(captures / target, captures / golden)
    assert (found["code"], found["first_divergence"]) == (0, None)


def _ranks(captures: Path, out: Path, names: tuple[str, ...]) -> Path:
    for rank, name in enumerate(names):
        (source,) = (captures / name / "step0").iterdir()
        shutil.copytree(source, out / "step0" / f"rank{rank}")
    return out


def test_that_the_one_rank_of_three_is_named(captures: Path, said: Ask, tmp_path: Path) -> None:
    good, noisy, bad = (f"Masked-{one}-statistics" for one in ("_-_", "_-ulp", "half-ulp"))
    target = _ranks(captures, tmp_path / "target", (noisy, bad, noisy))
    golden = _ranks(captures, tmp_path / "golden", (good, good, good))
    first = said(target, golden)["first_divergence"]
    assert (first["rank"], first["name"], first["args"]["ranks"]) == (1, "Functional.linear.5.forward", "1")


# Dumps that were made to break things


def _changed(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    copy = copy_of("torch_statistics", tmp_path / "changed" / "rank0")
    whole = json.loads((copy / "dump.json").read_text(encoding="utf-8"))
    change(whole)
    (copy / "dump.json").write_text(json.dumps(whole), encoding="utf-8")
    return copy


def _state_of(folder: Path) -> list[tuple[str, int, int]]:
    return sorted((str(one), one.lstat().st_size, one.lstat().st_mtime_ns) for one in folder.rglob("*"))


@pytest.mark.parametrize("is_target", [True, False])
def test_that_a_dump_without_calls_is_refused(tmp_path: Path, said: Ask, *, is_target: bool) -> None:
    empty = _changed(tmp_path, lambda whole: whole.update(data={}))
    sides = (empty, DUMPS / "torch_statistics") if is_target else (DUMPS / "torch_statistics", empty)
    with pytest.raises(StudioError) as error:
        said(*sides)
    assert error.value.key == "precision.compare.empty"


def test_that_a_capture_of_the_structure_is_held_against_no_values(said: Ask) -> None:
    for sides in (("torch_structure", "torch_statistics"), ("torch_structure", "torch_structure")):
        with pytest.raises(StudioError):
            said(DUMPS / sides[0], DUMPS / sides[1])


def test_that_a_name_that_is_no_text_is_told_all_the_same(tmp_path: Path, said: Ask) -> None:
    target = _changed(tmp_path, lambda whole: whole["data"].update({"Functional.\ud800.0.forward": {}}))
    assert said(target, DUMPS / "torch_statistics")["code"] in (0, 3)


def test_that_two_captures_below_one_folder_are_not_mixed(tmp_path: Path, said: Ask) -> None:
    for name in ("one", "two"):
        shutil.copytree(DUMPS / "torch_statistics", tmp_path / "both" / name)
    with pytest.raises(StudioError) as error:
        said(tmp_path / "both", DUMPS / "torch_statistics")
    assert error.value.key == "precision.dump.several"


class _Runs:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.touch, (self.path,)


def test_that_tensor_files_made_to_run_code_run_none(tmp_path: Path, said: Ask) -> None:
    import pickle

    copy = copy_of("torch_tensor", tmp_path / "target" / "step0" / "rank0")
    ran = tmp_path / "ran"
    for n, file in enumerate(sorted((copy / "dump_tensor_data").iterdir())[:12]):
        if n % 2:
            file.write_bytes(pickle.dumps(_Runs(ran)))
            continue
        with zipfile.ZipFile(file, "w") as container:
            container.writestr("tensor/data.pkl", pickle.dumps(_Runs(ran)))
            container.writestr("tensor/data/0", bytes(64))
    before = _state_of(tmp_path / "target")
    found = said(tmp_path / "target", DUMPS / "torch_tensor")
    assert not ran.exists()
    assert "precision.compare.tensors_failed" in found["notes"]
    assert _state_of(tmp_path / "target") == before


def test_that_modules_within_each_other_end(tmp_path: Path, said: Ask) -> None:
    copy = copy_of("torch_statistics", tmp_path / "target" / "rank0")
    names = list(json.loads((copy / "construct.json").read_text(encoding="utf-8")))
    circle = dict(zip(names, [*names[1:], names[0]], strict=True))
    (copy / "construct.json").write_text(json.dumps(circle), encoding="utf-8")
    assert said(copy, DUMPS / "torch_statistics")["code"] in (0, 3)
