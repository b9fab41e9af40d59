"""Made tests/recorded/precision/dumps/mindspore_*: PYTHONPATH=studio/guest python mindspore_net.py FOLDER TASK"""

import json
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops

folder, task = Path(sys.argv[1]), sys.argv[2]
config = folder.with_suffix(".json")
options = {"scope": [], "list": [], "data_mode": ["all"]}
config.write_text(
    json.dumps(
        {
            "task": task,
            "dump_path": str(folder),
            "rank": [],
            "step": [],
            "level": "mix",
            "async_dump": False,
            "statistics": {**options, "summary_mode": "statistics"},
            "tensor": options,
        }
    )
)
ms.set_context(mode=ms.PYNATIVE_MODE, device_target="CPU")
ms.set_seed(0)

from ascend_studio.captures_mindspore import make_norms_work  # noqa: E402
from msprobe.mindspore import PrecisionDebugger  # noqa: E402

make_norms_work(ms)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first = nn.Dense(4, 6)

    def construct(self, x):
        return ops.concat(ops.split(ops.relu(self.first(x)), 3, axis=1), axis=1)


net = Net()
debugger = PrecisionDebugger(config_path=str(config))
debugger.start(net)
x = ms.Tensor(np.random.RandomState(0).randn(2, 4).astype(np.float32))
ms.value_and_grad(lambda one: net(one).sum(), None, net.trainable_params())(x)
debugger.stop()
debugger.step()
