"""A small project and its migration, for rehearsals of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

# Seeds nothing, reads data beside the project, and writes where it is started.
TRAIN = """
import json, os, random
import torch

scale = json.load(open(os.path.join("..", "data", "scale.json")))
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2)).cuda()
optimizer = torch.optim.AdamW(net.parameters(), lr=random.random())
for step in range(1000):
    with torch.autocast(device.type, dtype=torch.bfloat16):
        loss = scale * net(torch.randn(3, 4, device=device)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    torch.save(net.state_dict(), "checkpoint.pt")
"""
MIGRATED = (
    TRAIN.replace("import torch\n", "import torch\ntry:\n    import torch_npu\nexcept ImportError:\n    pass\n")
    .replace('"cuda" if torch.cuda.is_available() else "cpu"', '"npu" if torch.npu.is_available() else "cuda"')
    .replace(".cuda()", ".to(device)")
)


def project(folder: Path, name: str, text: str) -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "train.py").write_text(text)
    (folder / "data").mkdir(exist_ok=True)
    (folder / "data" / "scale.json").write_text("0.5")
    return folder / name
