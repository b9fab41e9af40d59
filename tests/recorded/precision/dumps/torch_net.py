"""Made tests/recorded/precision/dumps/torch_*: TORCH_DEVICE_BACKEND_AUTOLOAD=0 python torch_net.py FOLDER TASK"""

import json
import sys
from pathlib import Path

import torch
from msprobe.pytorch import PrecisionDebugger

folder, task = Path(sys.argv[1]), sys.argv[2]
config = folder.with_suffix(".json")
options = {"scope": [], "list": [], "data_mode": ["all"]}
config.write_text(
    json.dumps(
        {
            "task": "statistics" if task == "md5" else task,
            "dump_path": str(folder),
            "rank": [],
            "step": [],
            "level": "mix",
            "async_dump": False,
            "statistics": {**options, "summary_mode": "md5" if task == "md5" else "statistics"},
            "tensor": options,
        }
    )
)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 6)
        self.norm = torch.nn.LayerNorm(6)

    def forward(self, batch):
        x = self.norm(torch.relu(self.first(batch["x"])))
        x = torch.cat([x[:2], x[2:]], dim=0)
        x = torch.nn.functional.linear(x.to(torch.bfloat16), torch.ones(3, 6, dtype=torch.bfloat16))
        bad = torch.log(batch["negative"])
        return {"logits": x.float(), "bad": bad.view(torch.Size([3]))}


torch.manual_seed(0)
net = Net()
debugger = PrecisionDebugger(config_path=str(config))
debugger.start(model=net)
found = net({"x": torch.randn(4, 4), "negative": torch.tensor([-1.0, 0.0, 1.0])})
torch.nn.functional.cross_entropy(found["logits"], torch.tensor([0, 1, 2, 0])).backward()
debugger.stop()
debugger.step()
