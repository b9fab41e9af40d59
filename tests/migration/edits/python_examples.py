"""Python code for each template of an edit. `on_device(tensor, index)` is the runner's: whether the tensor is where
.cuda() would have put it."""

from __future__ import annotations

from backends.migration.migrate.name_edits import NVTX_FUNCTIONS
from backends.migration.migrate.variable_edits import VARIABLES
from tests.migration.edits.example import Example

DIST = "import torch\nimport torch.distributed as dist\n"

METHODS = (
    Example(name="cuda()", code="x = torch.ones(2).cuda()\nresult = on_device(x)"),
    Example(name="cuda(non_blocking)", code="x = torch.ones(2).cuda(non_blocking=True)\nresult = on_device(x)"),
    Example(name="cuda(rank, True)", code="rank = 1\nx = torch.ones(2).cuda(rank, True)\nresult = on_device(x, rank)"),
    Example(name="cuda(1)", code="x = torch.ones(2).cuda(1)\nresult = on_device(x, 1)"),
    Example(name="cuda(None)", code="x = torch.ones(2).cuda(None)\nresult = on_device(x)"),
    Example(name="cuda(device=rank)", code="rank = 1\nx = torch.ones(2).cuda(device=rank)\nresult = on_device(x, 1)"),
    Example(
        name="cuda(device)",
        code='device = torch.device("cuda", 1)\nx = torch.ones(2).cuda(device)\nresult = on_device(x, 1)',
    ),
    Example(name="module.cuda()", code="net = torch.nn.Linear(2, 2).cuda()\nresult = on_device(net.weight)"),
    Example(name="chain", code="x = (torch.ones(2) + 1).cuda().half().cuda()\nresult = on_device(x), x.dtype"),
    Example(
        name="lines",
        code="x = (\n    torch.ones(2)\n    .cuda(  # there\n"
        "        non_blocking=True\n    )\n)\nresult = on_device(x)",
    ),
    Example(name="to(rank)", code="rank = 1\nx = torch.ones(2).to(rank)\nresult = on_device(x, rank)"),
    Example(name="to(rank % 2)", code="rank = 3\nx = torch.ones(2).to(rank % 2)\nresult = on_device(x, 1)"),
    Example(name="device=1", code="x = torch.ones(2, device=1)\nresult = on_device(x, 1)"),
    Example(name="device=gpu", code="gpu = 1\nx = torch.ones(2, device=gpu)\nresult = on_device(x, gpu)"),
    Example(
        name="map_location of a storage",
        code="import io\nfile, rank = io.BytesIO(), 1\n"
        "torch.save(torch.ones(2), file)\nfile.seek(0)\n"
        "x = torch.load(file, map_location=lambda storage, loc: storage.cuda(rank))\nresult = on_device(x, rank)",
    ),
    Example(
        name="map_location to the current device",
        code="import io\nfile = io.BytesIO()\n"
        "torch.save(torch.ones(2), file)\nfile.seek(0)\n"
        "x = torch.load(file, map_location=lambda storage, loc: storage.cuda())\nresult = on_device(x)",
    ),
    Example(
        name="is_cuda",
        code="x = torch.ones(2).cuda()\nresult = 1 if x.is_cuda and not torch.ones(2).is_cuda else 2",
        on_npu=1,
    ),
    Example(name="is_cuda compared", code="x, y = torch.ones(2).cuda(), True\nresult = x.is_cuda == y", on_npu=True),
)
NAMES = (
    Example(name="torch.cuda", code="torch.cuda.synchronize()\n"
        "result = torch.cuda.is_available(), torch.cuda.device_count()"),
    Example(name="set_device", code="torch.cuda.set_device(1)\nresult = torch.cuda.current_device()", on_npu=1),
    Example(name="getattr", code='getattr(torch, "cuda").synchronize()\n'
        'result = getattr(torch.cuda, "is_available")()'),
    Example(name="import as", code="c.synchronize()\n"
        "result = c.is_available()", head="import torch\nfrom torch import cuda as c\n"),
    Example(
        name="import beside others", code="cuda.synchronize()\nresult = cuda.is_available(), nn.Identity.__name__",
        head="import torch\nfrom torch import nn, cuda\n",
    ),
    Example(
        name="imported function", code="wait()\nresult = is_available()",
        head="import torch\nfrom torch.cuda import synchronize as wait, is_available\n",
    ),
    Example(name="stream", code="s = torch.cuda.Stream()\nwith torch.cuda.stream(s):\n"
        "    x = torch.ones(2).cuda()\nresult = on_device(x)"),
    Example(name="tensor type", code="x = torch.zeros(2).type(torch.cuda.LongTensor)\nresult = x.dtype"),
    *(
        Example(name=f"nvtx.{function}", code=f"torch.cuda.nvtx.{call}\nresult = 1")
        for function, call in {
            "range_push": 'range_push("a")',
            "range_pop": "range_pop()",
            "mark": 'mark("a")',
            "range_start": 'range_start("a")',
            "range_end": 'range_end(torch.cuda.nvtx.range_start("a"))',
        }.items()
    ),
    Example(name="nccl asked", code='result = "nccl" if dist.is_nccl_available() else "gloo"', head=DIST),
)  # fmt: skip
assert {example.name.removeprefix("nvtx.") for example in NAMES if example.name.startswith("nvtx.")} == {
    *NVTX_FUNCTIONS
}
STRINGS = (
    Example(name="text", code='x = torch.ones(2, device="cuda")\nresult = on_device(x)'),
    Example(name="text with an index", code="x = torch.ones(2).to('cuda:1')\nresult = on_device(x, 1)"),
    Example(name="f-string", code='rank = 1\nx = torch.ones(2).to(f"cuda:{rank}")\nresult = on_device(x, 1)'),
    Example(name="% rank", code='rank = 1\nx = torch.ones(2).to("cuda:%d" % rank)\nresult = on_device(x, 1)'),
    Example(name="format", code='rank = 1\nx = torch.ones(2).to("cuda:{}".format(rank))\nresult = on_device(x, 1)'),
    Example(name="sum of words", code="x = torch.ones(2).to('cu' + 'da')\nresult = on_device(x)"),
    Example(name="sum with an index", code='x = torch.ones(2).to("cuda:" + str(1))\nresult = on_device(x, 1)'),
    Example(name="device or cpu", code='d = "cuda" if torch.cuda.is_available() else "cpu"\n'
        'result = on_device(torch.ones(2).to(d))'),
    Example(name="torch.device", code='d = torch.device("cuda", 1)\n'
        'result = str(d), on_device(torch.ones(2, device=d), 1)'),
    Example(name="case", code='match torch.device("cuda").type:\n    case "cuda":\n'
        '        result = 1\n    case _:\n        result = 2'),
    Example(
        name="choices",
        code='import argparse\np = argparse.ArgumentParser()\n'
        'p.add_argument("--device", default="cuda", choices=["cuda", "cpu"])\n'
        "x = torch.ones(2).to(p.parse_args([]).device)\nresult = on_device(x)",
    ),
    Example(name="Literal", code='from typing import Literal, get_args\n'
        'D = Literal["cuda", "cpu"]\nx = torch.ones(2).cuda()\n'
            'd = torch.ones(2, device="cuda").device\nresult = torch.device("cuda").type in get_args(D)'),
    Example(name="member", code='result = torch.device("cuda").type in ["cuda", "mps"]'),
    Example(name="key", code='result = {"cuda": 1, "cpu": 0}[torch.device("cuda").type]'),
    Example(name="equal", code='d = torch.device("cuda:1")\nresult = d.type == "cuda", d.type != "cuda"'),
    Example(name="equal on the left", code='d = torch.device("cuda")\nresult = "cuda" == d.type, "cuda" != d.type'),
    Example(name="contained", code='d = torch.device("cuda")\n'
        'result = ("cuda" in str(d)) is True, ("cuda" not in str(d)) is True'),
    Example(name="prefix", code='d = torch.device("cuda:1")\n'
        'result = str(d).startswith("cuda"), str(d).startswith(("cuda", "xpu"))'),
    Example(
        name="map of backends", code='import tempfile\nrendezvous = "file://" + tempfile.mktemp()\n'
        'dist.init_process_group("cpu:gloo,cuda:nccl", init_method=rendezvous, rank=0, world_size=1)\n'
        "x = torch.ones(2).cuda()\ndist.all_reduce(x)\nresult = x.tolist()\ndist.destroy_process_group()", head=DIST,
    ),
    Example(
        name="backend", code='import tempfile\nrendezvous = "file://" + tempfile.mktemp()\n'
        'dist.init_process_group("nccl", init_method=rendezvous, rank=0, world_size=1)\n'
        "result = dist.get_backend()\ndist.destroy_process_group()", head=DIST, on_npu="backend",
    ),
)  # fmt: skip
AMP = (
    Example(
        name="autocast of cuda.amp",
        code="x = torch.ones(2, 2).cuda()\n"
        "with torch.cuda.amp.autocast(dtype=torch.bfloat16):\n    y = x @ x\nresult = y.dtype",
    ),
    Example(
        name="autocast with values",
        code="x = torch.ones(2, 2).cuda()\n"
        "with torch.cuda.amp.autocast(True, torch.bfloat16, False):\n    y = x @ x\nresult = y.dtype",
    ),
    Example(
        name="GradScaler of cuda.amp", code="s = torch.cuda.amp.GradScaler(init_scale=8.0)\nresult = s.get_scale()"
    ),
    Example(name="GradScaler of amp", code="s = torch.amp.GradScaler(init_scale=8.0)\nresult = s.get_scale()"),
    Example(
        name="amp imported",
        code="x, s = torch.ones(2, 2).cuda(), GradScaler(enabled=False)\n"
        "with autocast(dtype=torch.bfloat16):\n"
        "    y = x @ x\nresult = y.dtype, s.get_scale()",
        head="import torch\nfrom torch.cuda.amp import autocast, GradScaler\n",
    ),
    Example(
        name="amp as a module",
        code="x = torch.ones(2, 2).cuda()\nwith amp.autocast(dtype=torch.bfloat16):\n    y = x @ x\nresult = y.dtype",
        head="import torch\nfrom torch.cuda import amp\n",
    ),
    Example(
        name="amp handed on",
        code="make = GradScaler\ns = make(init_scale=8.0)\nresult = s.get_scale()",
        head="import torch\nfrom torch.cuda.amp import GradScaler\n",
    ),
    Example(
        name="custom_fwd and custom_bwd",
        code="class Double(torch.autograd.Function):\n"
        "    @staticmethod\n    @custom_fwd\n    def forward(ctx, x):\n"
        "        return x * 2\n    @staticmethod\n    @custom_bwd\n    def backward(ctx, g):\n        return g * 2\n"
        "x = torch.ones(2).cuda().requires_grad_()\nDouble.apply(x).sum().backward()\nresult = x.grad.tolist()",
        head="import torch\nfrom torch.cuda.amp import custom_fwd, custom_bwd\n",
    ),
    Example(
        name="torch.autocast",
        code="x = torch.ones(2, 2).cuda()\n"
        'with torch.autocast("cuda", dtype=torch.bfloat16):\n    y = x @ x\nresult = y.dtype',
    ),
)
ATTENTION = (
    Example(
        name="attention",
        code='def load(attn_implementation):\n    return attn_implementation\n'
        'result = load(attn_implementation="flash_attention_2")',
        on_npu="sdpa",
    ),
)  # fmt: skip
OS = "import os\nimport torch\n"
VARIABLE = tuple(
    example
    for name, other in VARIABLES.items()
    for example in (
        Example(
            name=f"{name} set",
            code=f'os.environ["{name}"] = "1"\nx = torch.ones(2).cuda()\n'
            f'result = os.environ[other_name("{name}", "{other}")]',
            head=OS,
        ),
        Example(name=f"{name} read", code=f'os.environ[other_name("{name}", "{other}")] = "1"\n'
                f'x = torch.ones(2).cuda()\nresult = os.environ["{name}"]', head=OS),
        Example(name=f"{name} asked for", code=f'os.environ[other_name("{name}", "{other}")] = "1"\n'
                f'x = torch.ones(2).cuda()\nresult = os.environ.get("{name}", "")', head=OS),
        Example(
            name=f"{name} for a child",
            code=f'x = torch.ones(2).cuda()\nenv = dict(os.environ) | {{"{name}": "1"}}\n'
            f'result = env[other_name("{name}", "{other}")]',
            head=OS,
        ),
        Example(
            name=f"{name} set beside another",
            code=f'os.environ["{name}"] = e = "1"\nx = torch.ones(2).cuda()\n'
            f'result = e, os.environ[other_name("{name}", "{other}")]',
            head=OS,
        ),
    )
)  # fmt: skip
PYTHON = METHODS + NAMES + STRINGS + AMP + ATTENTION + VARIABLE
