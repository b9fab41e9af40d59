"""Run on the CPU what was written for CUDA or an NPU, as a rehearsal.

    as cuda    every device is redirected to the CPU
    as npu     torch.cuda is not there, as in the torch of an NPU host; a stand-in torch_npu is, and what its
               transfer_to_npu covers is redirected once the script has imported that. Where torch lets a device be
               written in Python, tensors are on a virtual NPU, else they are redirected to the CPU
    as cpu     a host with neither: torch_npu cannot be imported, and torch was built without CUDA
    here       nothing is redirected: the same few steps on whatever device this host has, to compare with

What was redirected, what was refused and every operator that ran go into a part of the report, one file per process.
"""

from __future__ import annotations

import os
import sys

from ascend_studio import contract, hooks
from ascend_studio.rehearsal import before, devices, limits, npu, operators, record, seeds, trace, virtual

if False:
    from types import ModuleType

STANCES = ("cuda", "npu", "cpu", "here")
AUTOLOAD = "TORCH_DEVICE_BACKEND_AUTOLOAD"
AUTOLOAD_VARIABLE = "ASCEND_STUDIO_AUTOLOAD"


def begin(stance: str) -> None:
    if stance not in STANCES:
        raise ValueError("no such stance: " + stance)
    seed = seeds.requested_seed()
    if seed is not None:
        seeds.begin(seed)
    record.begin(stance)
    if stance != "here":
        _prepare(stance)
    hooks.after_import("torch", hooks.guarded("rehearsal")(_install_or_end))


def _prepare(stance: str) -> None:
    # The real torch_npu must not load: without CANN it ends the import of torch. Children ask for the same.
    os.environ.setdefault(AUTOLOAD_VARIABLE, os.environ.get(AUTOLOAD, "1"))
    os.environ[AUTOLOAD] = "0"
    npu.stance = stance
    sys.meta_path.insert(0, before.Finder({"torch_npu": npu.spec_of, "torchvision": before.torchvision}))


def _install_or_end(torch: ModuleType) -> None:
    """Install the stand-ins and the limits, or end the process: without them this would be a whole training, on
    whatever device is there.
    """
    try:
        if record.stance != "here":
            _install(torch)
        _follow_steps(torch)
    except Exception as error:
        hooks.give_up("rehearsal", error)
        reason = "%s: %s" % (type(error).__name__, error)
        raise SystemExit("PyTorch %s cannot be rehearsed on the CPU. %s" % (torch.__version__, reason)) from error


def _install(torch: ModuleType) -> None:
    if record.stance == "npu" and virtual.choose(torch):
        virtual.prepare(torch, limits.tick)
    elif record.stance != "cpu":
        devices.install(torch, record.stance)
    if record.stance != "cuda":
        npu.refuse_cuda(torch)
    is_autoloaded = os.environ.get(AUTOLOAD_VARIABLE, "1") == "1" and hasattr(torch, "_import_device_backends")
    if record.stance == "npu" and is_autoloaded:
        __import__("torch_npu")
    if not virtual.is_on():
        operators.install(torch, limits.tick)


def _follow_steps(torch: ModuleType) -> None:
    record.write_stance()
    limits.install()
    if seeds.requested_seed() is not None:
        trace.install(torch)
        contract.install(torch)
