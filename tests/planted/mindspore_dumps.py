"""`python -m tests.planted.mindspore_dumps ORDERS`: as torch_dumps, with MindSpore in pynative mode."""

from __future__ import annotations

import json
import os
import shutil
import sys
import traceback
from pathlib import Path
from typing import Any

os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
sys.path.append(str(Path(__file__).parents[2] / "studio" / "guest"))

import mindspore as ms
import numpy as np
from ascend_studio.captures_mindspore import make_norms_work
from msprobe.mindspore import PrecisionDebugger

from tests.planted import mindspore_net
from tests.planted.mindspore_noise import FAULTS, Wrong, near
from tests.planted.orders import gather, settings_of


class Dumping:
    def __init__(self, scratch: Path) -> None:
        self.config = scratch / "msprobe_mindspore.json"
        self.debugger: Any = None
        self.wrong = Wrong()
        self.wrong.install()

    def dump(self, order: dict[str, Any]) -> None:
        folder = Path(order["folder"])
        making = folder.with_name(folder.name + ".making")
        shutil.rmtree(making, ignore_errors=True)
        for rank in range(order["ranks"]):
            planted = order["plant"] if order["plant_rank"] in (None, rank) else ""
            self._train(order, making / f"of{rank}", rank, planted)
        gather(making, folder, order["ranks"])

    def _train(self, order: dict[str, Any], out: Path, rank: int, planted: str) -> None:
        on_step = order["plant_step"]
        net = mindspore_net.make(planted if on_step is None else "", order["block"])
        other = None if on_step is None else mindspore_net.make(planted, order["block"])
        for trained in filter(None, (net, other)):
            _prepare(trained, order["noise"])
        self._configure(order, out)
        for step in range(order["steps"]):
            now = net
            if other is not None and step == on_step:
                for parameter, source in zip(other.get_parameters(), net.get_parameters(), strict=True):
                    parameter.set_data(source)
                now = other
            fault = FAULTS.get(planted) if on_step in (None, step) else None
            gradients = self._step(order, now, fault, mindspore_net.batch(planted, step, rank))
            assert fault is None or self.wrong.hit, (planted, self.wrong.calls)
            for trained, gradient in zip(net.trainable_params(), gradients, strict=True):
                trained.set_data(ms.Tensor(trained.asnumpy() - 0.1 * gradient.asnumpy()))

    def _step(self, order: dict[str, Any], net: Any, fault: Any, batch: Any) -> Any:
        learn = ms.value_and_grad(net, None, net.trainable_params())
        self.debugger.start(net)
        self.wrong.begin(order["noise"] if order["noise"] == "ulp" else "", fault)
        try:
            _, gradients = learn(*batch)
            for each_gradient in gradients:
                each_gradient.asnumpy()
        finally:
            self.wrong.is_running = False
            self.debugger.stop()
            self.debugger.step()
        return gradients

    def _configure(self, order: dict[str, Any], out: Path) -> None:
        """MindSpore's debugger reads its file once: what torch's does when that changes is done here."""
        self.config.write_text(json.dumps(settings_of(order, out)))
        if self.debugger is None:
            self.debugger = PrecisionDebugger(config_path=str(self.config))
            make_norms_work(ms)
        else:
            common, task = self.debugger._parse_config_path(str(self.config), None)
            config = type(self.debugger.config)(common, task)
            config.execution_mode = self.debugger.config.execution_mode
            self.debugger.config = config
            self.debugger.service.apply_runtime_config(config)
        self.debugger.set_init_step(0)
        if self.debugger.service is not None:
            self.debugger.service.first_start = True  # else it wraps the primitives of its first network only


def _prepare(net: Any, noise: str) -> None:
    if noise == "double":
        for parameter in net.get_parameters():
            parameter.set_dtype(ms.float64)
    if noise == "hooked":
        generator = np.random.default_rng(11)
        for _, cell in net.cells_and_names():
            cell.register_forward_hook(
                lambda _cell, _args, out: near(out, generator) if isinstance(out, ms.Tensor) else out
            )


def main() -> int:
    ms.set_context(mode=ms.PYNATIVE_MODE)
    ms.runtime.set_cpu_affinity(False)
    dumping = Dumping(Path(sys.argv[1]).parent)
    failed = 0
    for line in Path(sys.argv[1]).read_text("utf-8").splitlines():
        try:
            dumping.dump(json.loads(line))
        except Exception:
            failed += 1
            print(f"FAILED {line}", traceback.format_exc(), sep="\n", file=sys.stderr, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
