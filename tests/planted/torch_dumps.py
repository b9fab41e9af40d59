"""`python -m tests.planted.torch_dumps ORDERS`: makes all the dumps that a file of JSON lines orders."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import traceback
from pathlib import Path
from typing import Any

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"

import torch
from msprobe.pytorch import PrecisionDebugger

from tests.planted import cnn, faults, networks, optimizers, transformer
from tests.planted.noise import Kernels, hooked, pausing, threads_and_kernels
from tests.planted.orders import gather, settings_of
from tests.planted.plant import OF_OPTIMIZER

MODELS = {"transformer": transformer, "cnn": cnn}
# What the dispatcher's mode does for each noise; the others are made elsewhere.
BELOW = {
    "ulp": "ulp", "kernels": "kernels", "hf32": "hf32", "autocast": "kernels", "half": "half", "order": "order",
    "atomics": "atomics", "bfloat16": "half", "float16": "half",
}  # fmt: skip
LOSS_SCALE = {"float16": 1024.0}
DUMPS_OF_A_PROCESS = 40


def model_of(name: str) -> Any:
    return MODELS[name] if name in MODELS else networks.network(name)


class Dumping:
    """msprobe's debugger is one for the whole process and reads its file again where that has changed."""

    def __init__(self, scratch: Path) -> None:
        self.config = scratch / "msprobe.json"
        self.debugger: Any = None

    def dump(self, order: dict[str, Any]) -> None:
        folder = Path(order["folder"])
        making = folder.with_name(folder.name + ".making")
        shutil.rmtree(making, ignore_errors=True)
        for rank in range(order["ranks"]):
            self._dump_rank(order, making / f"of{rank}", rank)
        gather(making, folder, order["ranks"])

    def _dump_rank(self, order: dict[str, Any], out: Path, rank: int) -> None:
        noise = order["noise"]
        planted = order["plant"] if order["plant_rank"] in (None, rank) else ""
        module = model_of(order["model"])
        on_step = order["plant_step"]
        healthy = networks.WRITTEN if noise == networks.WRITTEN else ""
        model = module.make(planted or healthy if on_step is None else healthy, order["block"])
        other = None if on_step is None else module.make(planted, order["block"])
        for built in filter(None, (model, other)):
            if noise == "double":
                built.double()
            if noise == "hooked":
                hooked(built)
            if noise == "layout":
                built.to(memory_format=torch.channels_last)
        self._train(order, model, other, out, rank, planted)

    def _train(self, order: dict[str, Any], model: Any, other: Any, out: Path, rank: int, planted: str) -> None:
        noise, on_step = order["noise"], order["plant_step"]
        change = planted.removeprefix(OF_OPTIMIZER) if planted.startswith(OF_OPTIMIZER) else ""
        update = optimizers.Update(model, order["optimizer"], change)
        self._configure(order, out)
        for step in range(order["steps"]):
            now = model
            if other is not None and step == on_step:
                other.load_state_dict(model.state_dict())
                now = other
            fault = faults.fault_of(planted) if on_step in (None, step) else None
            mode = Kernels(BELOW.get(noise, ""), fault, order["seed"] + 1000 * step)
            update.zero_grad()
            if now is not model:
                now.zero_grad()
            self._step(order, now, mode, step, rank, planted)
            assert fault is None or mode.hit, (planted, mode.calls)
            if now is not model:
                for parameter, source in zip(model.parameters(), now.parameters(), strict=True):
                    parameter.grad = source.grad
            update.step()

    def _step(self, order: dict[str, Any], model: Any, mode: Kernels, step: int, rank: int, planted: str) -> None:
        noise = order["noise"]
        scale = LOSS_SCALE.get(order["autocast"], 1.0) * (2.0 if planted == "gradient scaled" else 1.0)
        batch = tuple(_as_noise_has_it(tensor, noise) for tensor in model_of(order["model"]).batch(planted, step, rank))
        collector = self.debugger.service.data_collector
        for name in dir(type(collector)):
            if "_data_collect" in name:
                setattr(collector, name, pausing(mode, getattr(type(collector), name).__get__(collector)))
        autocast = order["autocast"]
        half = torch.autocast("cpu", getattr(torch, autocast)) if autocast else contextlib.nullcontext()
        self.debugger.start(model)
        # oneDNN has no LSTM of float16 on many processors, and none of bfloat16 on those without AVX-512.
        has_no_kernel = autocast == "float16" or (
            autocast == "bfloat16" and not torch.ops.mkldnn._is_mkldnn_bf16_supported()
        )
        with threads_and_kernels("layout" if has_no_kernel else noise), mode:
            with half:
                loss = model(*batch)
            loss.backward(gradient=torch.tensor(scale, dtype=loss.dtype))
        self.debugger.stop()
        self.debugger.step()

    def _configure(self, order: dict[str, Any], out: Path) -> None:
        settings = settings_of(order, out)
        if self.debugger is None:
            self._write(settings)
            self.debugger = PrecisionDebugger(config_path=str(self.config))
        else:
            self._write(settings | {"dump_enable": False})
            self.debugger._maybe_reload_config(force=True)
            self._write(settings)
            self.debugger._maybe_reload_config(force=True)
        self.debugger.set_init_step(0)

    def _write(self, settings: dict[str, Any]) -> None:
        self.config.write_text(json.dumps(settings))


def _as_noise_has_it(value: torch.Tensor, noise: str) -> torch.Tensor:
    if noise == "double" and value.is_floating_point():
        return value.double()
    return value.contiguous(memory_format=torch.channels_last) if noise == "layout" and value.dim() == 4 else value


def main() -> int:
    """Make the dumps, some in each of several processes, which are forked from this one that has imported all: msprobe
    wraps its own functions once more for each dump."""
    torch.set_num_threads(1)
    orders = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    scratch = Path(sys.argv[1]).parent
    failed = 0
    for begin in range(0, len(orders), DUMPS_OF_A_PROCESS):
        child = os.fork()
        if not child:
            os._exit(_dump_all(orders[begin : begin + DUMPS_OF_A_PROCESS], scratch))
        failed |= os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 1 if failed else 0


def _dump_all(orders: list[dict[str, Any]], scratch: Path) -> int:
    """Return the exit code of a process."""
    dumping = Dumping(scratch)
    failed = 0
    for order in orders:
        try:
            dumping.dump(order)
        except Exception:
            failed += 1
            print(f"FAILED {order}", traceback.format_exc(), sep="\n", file=sys.stderr, flush=True)
    sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
