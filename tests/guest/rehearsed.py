"""Scripts that tests rehearse, written for CUDA, for an NPU, and for either."""

# Trains once for each precision; prints losses as exact hexadecimals.
CUDA = """
import io, sys
import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

assert isinstance(torch.device("cpu"), torch.device) and issubclass(type(torch.zeros(1).device), torch.device)
use = "cuda" if torch.cuda.is_available() and "cpu" not in sys.argv else "cpu"
device = torch.device(use, 0) if use == "cuda" else torch.device(use)
if use == "cuda":
    import copy
    assert device.type == "cuda" and torch.device(0).type == "cuda" and copy.deepcopy(device) == device
    assert torch.cuda.device_count() == 1 and torch.cuda.get_device_properties(0).total_memory > 0
    assert torch.zeros(2, device=0).device.type == "cpu"
    assert torch.zeros(2).type(torch.cuda.LongTensor).dtype == torch.int64
    torch.cuda.set_device(0)
    torch.cuda.nvtx.range_push("all")
    with torch.cuda.device(0), torch.device("cuda"):
        assert torch.ones(2).sum() == 2
    assert torch.accelerator.current_accelerator().type == "cuda"

def train(precision):
    torch.manual_seed(1)
    torch.cuda.manual_seed_all(1)
    generator = torch.Generator(device=device)
    generator.manual_seed(2)
    net = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Dropout(0.1), nn.Linear(144, 10)).to(device)
    if use == "cuda":
        net = nn.DataParallel(net.cuda(0))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(32, 1, 8, 8), torch.randint(0, 10, (32,)))
    loader = DataLoader(data, batch_size=8, shuffle=True, pin_memory=use == "cuda")
    dtype = {"float32": None, "bfloat16": torch.bfloat16, "float16": torch.float16}[precision]
    scaler = torch.amp.GradScaler(use, enabled=dtype is torch.float16)
    for x, y in loader:
        if use == "cuda":
            stream, begin, end = torch.cuda.Stream(), torch.cuda.Event(enable_timing=True), torch.cuda.Event()
            begin.record()
            with torch.cuda.stream(stream):
                x, y = x.pin_memory().to(device, non_blocking=True), y.cuda(non_blocking=True)
            torch.cuda.current_stream().wait_stream(stream)
        noise = torch.rand(8, device=device, generator=generator)
        with torch.autocast(use, dtype=dtype, enabled=dtype is not None):
            loss = (F.cross_entropy(net(x), y, reduction="none") * noise).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        if use == "cuda":
            end.record()
            torch.cuda.synchronize()
            assert begin.elapsed_time(end) > 0
        print(precision, loss.item().hex())
    file = io.BytesIO()
    torch.save(net.state_dict(), file)
    file.seek(0)
    torch.load(file, map_location={"cuda:1": "cuda:0"} if use == "cuda" else use)

for precision in ("float32", "float16", "bfloat16"):
    train(precision)
"""

AGNOSTIC = """
import torch
device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")
net = torch.nn.Linear(4, 2).to(device)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(3):
    with torch.autocast(device.type, dtype=torch.bfloat16):
        loss = net(torch.randn(8, 4, device=device)).square().mean()
    loss.backward()
    optimizer.step()
torch.accelerator.synchronize()
print("device", device.type)
"""

# Each (line as it was, line as it is migrated); where both are the same nothing had to be done.
MIGRATED = [
    ("import torch", "import torch"),
    ("", "import torch_npu"),
    ("import torch.distributed as dist, tempfile, io", ""),
    ("torch.cuda.set_device(0)", "torch.npu.set_device(0)"),
    ('device = torch.device("cuda:0")', 'device = torch.device("npu:0")'),
    ('rendezvous = "file://" + tempfile.mktemp()', ""),
    ('dist.init_process_group("nccl", init_method=rendezvous, rank=0, world_size=1)',
     'dist.init_process_group("hccl", init_method=rendezvous, rank=0, world_size=1)'),
    ('generator = torch.Generator(device="cuda")', 'generator = torch.Generator(device="npu")'),
    ("net = torch.nn.Linear(4, 2).to(device)", ""),
    ("net = torch.nn.parallel.DistributedDataParallel(net, device_ids=[0])", ""),
    ("optimizer = torch.optim.SGD(net.parameters(), lr=0.1)", ""),
    ('scaler = torch.amp.GradScaler("cuda")', 'scaler = torch.amp.GradScaler("npu")'),
    ("stream = torch.cuda.Stream()", "stream = torch.npu.Stream()"),
    ("event = torch.cuda.Event(enable_timing=True)", "event = torch.npu.Event(enable_timing=True)"),
    ("for step in range(2):", ""),
    ('    x = torch.randn(8, 4, device="cuda", generator=generator)',
     '    x = torch.randn(8, 4, device="npu", generator=generator)'),
    ("    x = x.cuda(non_blocking=True)", "    x = x.npu(non_blocking=True)"),
    ('    with torch.autocast("cuda", dtype=torch.bfloat16):', '    with torch.autocast("npu", dtype=torch.bfloat16):'),
    ("        loss = net(x).square().mean()", ""),
    ("    optimizer.zero_grad()", ""),
    ("    scaler.scale(loss).backward()", ""),
    ("    scaler.step(optimizer)", ""),
    ("    scaler.update()", ""),
    ("    torch.cuda.synchronize()", "    torch.npu.synchronize()"),
    ("file = io.BytesIO()", ""),
    ("torch.save(net.state_dict(), file)", ""),
    ("file.seek(0)", ""),
    ('torch.load(file, map_location="cuda:0")', 'torch.load(file, map_location="npu:0")'),
    ("dist.destroy_process_group()", ""),
]  # fmt: skip


def migrated(without: int | None = None) -> str:
    """The whole migrated sample, or the same without one of its edits."""
    return "\n".join(old if at == without or not new else new for at, (old, new) in enumerate(MIGRATED))


EDITS = [at for at, (old, new) in enumerate(MIGRATED) if new and old != new]

# What transfer_to_npu covers stays as it was; the rest had to be edited.
ORIGINAL = "\n".join(old for old, _ in MIGRATED)
TRANSFERRED = "import torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n" + ORIGINAL
NOT_COVERED = TRANSFERRED + '\ntorch.cuda.nvtx.range_push("step")'
ONLY_ASKS = AGNOSTIC.replace(
    'torch.accelerator.current_accelerator() if torch.accelerator.is_available() else torch.device("cpu")',
    'torch.device("cuda" if torch.cuda.is_available() else "cpu")',
).replace("torch.accelerator.synchronize()\n", "")
# Dtypes by their names on a card, as texts and as classes.
TYPES = """
import torch, torch_npu
net = torch.nn.Linear(4, 2).npu()
rows = torch.npu.FloatTensor([[1.0, 2.0, 3.0, 4.0]])
targets = torch.zeros(1).type("torch.npu.LongTensor")
assert rows.device == net.weight.device and targets.device == rows.device and targets.dtype == torch.int64
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
torch.nn.functional.cross_entropy(net(rows), targets).backward()
optimizer.step()
torch.set_default_tensor_type("torch.npu.FloatTensor")
assert torch.ones(1).device == rows.device
torch.set_default_tensor_type(torch.FloatTensor)
assert torch.ones(1).device.type == "cpu"
"""
# Without torch_npu, torch knows no such device on an NPU's host either.
NOT_IMPORTED = """
import torch
for needs_npu in (lambda: torch.zeros(2).npu(), lambda: torch.accelerator.synchronize()):
    try:
        needs_npu()
    except (AttributeError, RuntimeError) as error:
        print(error)
    else:
        raise SystemExit(0)
torch.zeros(2, device="npu")
"""
ASKS_NPU = ONLY_ASKS.replace("cuda", "npu").replace("import torch", "import torch, torch_npu", 1)
