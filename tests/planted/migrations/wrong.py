"""Sixty migrations with a mistake, each in a migration that is otherwise right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.planted.migrations.case import MigrationCase
from tests.planted.migrations.originals import BY_HAND, BY_TRANSFER, changed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.certify.certificate import CheckName

    Edits = tuple[tuple[str, str], ...]

_STEP = "        optimizer.step()\n"


def wrong_cases() -> Iterator[MigrationCase]:
    yield from _devices()
    yield from _indices()
    yield from _dtypes()
    yield from _scalers()
    yield from _seeds()
    yield from _backends()
    yield from _data()
    yield from _branches()
    yield from _memory()
    yield from _fallbacks()


def _case(
    kind: str, name: str, original: str, reasons: tuple[CheckName, ...], *edits: tuple[str, str], **more: object
) -> MigrationCase:
    base = BY_TRANSFER if more.pop("by_transfer", False) else BY_HAND
    text = changed(base[original], *edits)
    return MigrationCase(
        name=f"{kind} {name}", original=original, text=text, kind=kind, reasons=reasons, **more  # type: ignore[arg-type]
    )  # fmt: skip


def _devices() -> Iterator[MigrationCase]:
    kind = "device"
    yield _case(
        kind,
        "a batch that is never moved",
        "plain",
        ("migrated",),
        ("x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)", "y = y.to(device)"),
        is_short=True,
    )
    yield _case(
        kind, "cuda by name", "plain", ("migrated", "cuda"), ('torch.device("npu:0")', 'torch.device("cuda:0")')
    )
    yield _case(kind, "a call of cuda", "scaled", ("migrated", "cuda"), ("Net().npu()", "Net().cuda()"))
    yield _case(kind, "everything on the CPU", "brain", ("device",), ('device = "npu"', 'device = "cpu"'))
    yield _case(
        kind,
        "the CPU where CUDA is asked for",
        "simple",
        ("device",),
        (
            'torch.device("npu" if torch.npu.is_available() else "cpu")',
            'torch.device("cuda" if torch.cuda.is_available() else "cpu")',
        ),
    )
    yield _case(
        kind,
        "targets that stay on the host",
        "scaled",
        ("migrated",),
        ('torch.randint(0, 4, (16,), device="npu")', "torch.randint(0, 4, (16,))"),
    )


def _indices() -> Iterator[MigrationCase]:
    kind = "index"
    yield _case(
        kind,
        "off by one",
        "plain",
        ("devices",),
        ("set_device(0)", "set_device(1)"),
        ('"npu:0")\ninputs', '"npu:1")\ninputs'),
        cards=2,
        is_short=True,
    )
    yield _case(
        kind, "off by one without that card", "plain", ("migrated",), ('torch.device("npu:0")', 'torch.device("npu:1")')
    )
    yield _case(
        kind,
        "another current card",
        "scaled",
        ("devices",),
        ("torch.manual_seed(1)", "torch.manual_seed(1)\ntorch.npu.set_device(1)"),
        cards=2,
    )
    yield _case(
        kind,
        "rank plus one",
        "ranks",
        ("devices",),
        ('int(os.environ["RANK"])', "0"),
        ("torch.npu.set_device(rank)", "torch.npu.set_device(rank + 1)"),
        (".npu(rank)", ".npu(rank + 1)"),
        ("device_ids=[rank]", "device_ids=[rank + 1]"),
        ('f"npu:{rank}"', 'f"npu:{rank + 1}"'),
        cards=2,
    )
    yield _case(
        kind,
        "one tensor on another card",
        "brain",
        ("devices",),
        ("for step in", 'scratch = torch.zeros(4, device="npu:1") + 1\nfor step in'),
        cards=2,
    )
    yield _case(
        kind,
        "two cards in one operator",
        "scaled",
        ("migrated",),
        ('x = torch.randn(16, 8, device="npu")', 'x = torch.randn(16, 8, device="npu:1")'),
        cards=2,
    )


def _dtypes() -> Iterator[MigrationCase]:
    kind = "dtype"
    yield _case(
        kind,
        "float16 for bfloat16",
        "brain",
        ("dtypes",),
        ("dtype=torch.bfloat16", "dtype=torch.float16"),
        is_short=True,
    )
    yield _case(kind, "bfloat16 for float16", "scaled", ("dtypes",), ("dtype=torch.float16", "dtype=torch.bfloat16"))
    yield _case(
        kind,
        "no autocast",
        "brain",
        ("dtypes",),
        ('with torch.autocast(device_type="npu", dtype=torch.bfloat16):', "if True:"),
    )
    yield _case(
        kind,
        "autocast switched off",
        "brain",
        ("dtypes",),
        ("dtype=torch.bfloat16)", "dtype=torch.bfloat16, enabled=False)"),
    )
    yield _case(
        kind,
        "a network in half precision",
        "plain",
        ("losses", "optimizer", "migrated"),
        ("nn.Linear(16, 1)).to(device)", "nn.Linear(16, 1)).to(device).bfloat16()"),
        ("net(x), y)", "net(x.bfloat16()).float(), y)"),
    )
    yield _case(
        kind,
        "the wrong device of autocast",
        "scaled",
        ("dtypes",),
        ('torch.autocast("npu", dtype=torch.float16)', 'torch.autocast("cpu", dtype=torch.bfloat16)'),
    )


def _scalers() -> Iterator[MigrationCase]:
    kind = "scaler"
    unscaled = (
        ("    scaler.scale(loss).backward()\n    scaler.unscale_(optimizer)\n", "    loss.backward()\n"),
        ("    scaler.step(optimizer)\n    scaler.update()\n", "    optimizer.step()\n"),
    )
    yield _case(kind, "removed", "scaled", ("scaler",), *unscaled, is_short=True)
    yield _case(kind, "switched off", "scaled", ("scaler",), ("init_scale=1024.0", "init_scale=1024.0, enabled=False"))
    yield _case(kind, "clipped before it is unscaled", "scaled", ("scaler",), ("    scaler.unscale_(optimizer)\n", ""))
    yield _case(kind, "another scale", "scaled", ("scaler",), ("init_scale=1024.0", "init_scale=65536.0"))
    yield _case(kind, "never updated", "scaled", ("scaler",), ("    scaler.update()\n", ""))
    yield _case(
        kind,
        "one that was not there",
        "brain",
        ("scaler",),
        ("optimizer = torch.optim", 'scaler = torch.amp.GradScaler("npu")\noptimizer = torch.optim'),
        (
            "    loss.backward()\n    optimizer.step()\n",
            "    scaler.scale(loss).backward()\n    scaler.step(optimizer)\n    scaler.update()\n",
        ),
    )


def _seeds() -> Iterator[MigrationCase]:
    kind = "seed"
    yield _case(
        kind,
        "another one",
        "simple",
        ("seeds",),
        ('torch.manual_seed(settings["seed"])', "torch.manual_seed(2)"),
        is_short=True,
    )
    yield _case(kind, "none", "brain", ("seeds",), ("torch.manual_seed(3)\n", ""))
    yield _case(kind, "another one of the card", "plain", ("seeds",), ("manual_seed_all(11)", "manual_seed_all(12)"))
    yield _case(kind, "none of the card", "plain", ("seeds",), ("torch.npu.manual_seed_all(11)\n", ""))
    yield _case(kind, "none of Python", "plain", ("seeds",), ("random.seed(5)\n", ""))
    yield _case(kind, "another generator", "brain", ("losses", "batches"), ("manual_seed(42)", "manual_seed(43)"))


def _backends() -> Iterator[MigrationCase]:
    kind = "backend"
    yield _case(kind, "gloo", "ranks", ("groups", "migrated"), ('"hccl"', '"gloo"'), is_short=True)
    yield _case(kind, "nccl", "ranks", ("migrated",), ('"hccl"', '"nccl"'))
    yield _case(
        kind,
        "collectives in another order",
        "ranks",
        ("collectives",),
        (
            "    dist.all_reduce(value, op=dist.ReduceOp.SUM, group=group)\n    dist.broadcast(value, src=0)\n",
            "    dist.broadcast(value, src=0)\n    dist.all_reduce(value, op=dist.ReduceOp.SUM, group=group)\n",
        ),
    )
    yield _case(kind, "a mean for a sum", "ranks", ("collectives",), ("ReduceOp.SUM", "ReduceOp.MAX"))
    yield _case(kind, "no barrier", "ranks", ("collectives",), ("    dist.barrier()\n", ""))
    yield _case(
        kind,
        "no DistributedDataParallel",
        "ranks",
        ("groups",),
        (
            "DDP(nn.Linear(4, 2).npu(rank), device_ids=[rank], gradient_as_bucket_view=True)",
            "nn.Linear(4, 2).npu(rank)",
        ),
    )


def _data() -> Iterator[MigrationCase]:
    kind = "data"
    yield _case(kind, "not shuffled", "plain", ("batches",), ("shuffle=True", "shuffle=False"), is_short=True)
    yield _case(kind, "another batch size", "simple", ("batches",), ('settings["batch"]', "8"))
    yield _case(kind, "the last batch", "plain", ("batches",), ("drop_last=True", "drop_last=False"))
    yield _case(kind, "another learning rate", "simple", ("optimizer",), ('lr=settings["lr"]', "lr=0.01"))
    yield _case(kind, "another weight decay", "plain", ("optimizer",), ("weight_decay=0.1", "weight_decay=0.0"))
    yield _case(kind, "a schedule that stands still", "plain", ("optimizer",), ("        schedule.step()\n", ""))
    yield _case(kind, "another optimizer", "brain", ("optimizer",), ("torch.optim.Adam(", "torch.optim.AdamW("))
    yield _case(
        kind, "a checkpoint without the optimizer", "plain", ("saved",), (', "optimizer": optimizer.state_dict()', "")
    )


def _branches() -> Iterator[MigrationCase]:
    kind = "branch"
    yield _case(kind, "map_location", "plain", ("branches",), ('map_location="npu:0"', 'map_location="cuda:0"'))
    yield _case(
        kind, "synchronize", "plain", ("branches",), ("torch.npu.synchronize", "torch.cuda.synchronize"), is_short=True
    )
    yield _case(kind, "evaluation", "brain", ("branches",), ("x, y = x.npu(), y.npu()", "x, y = x.cuda(), y.cuda()"))
    yield _case(
        kind,
        "nccl behind an option",
        "plain",
        ("branches",),
        (
            "if args.profile:",
            'if args.resume == "ranks":\n    torch.distributed.init_process_group("nccl")\nif args.profile:',
        ),
    )
    yield _case(
        kind,
        "a choice that was not made",
        "ranks",
        ("branches",),
        ('dist.init_process_group("hccl"', 'dist.init_process_group("nccl" if rank > 7 else "hccl"'),
    )
    yield _case(
        kind,
        "the CPU in a function that did not run",
        "brain",
        ("branches",),
        (
            "    net.eval()\n",
            '    net.eval()\n    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")\n',
        ),
    )
    yield _case(
        kind,
        "a module that is imported late",
        "simple",
        ("branches",),
        ("for step in", "def late():\n    import export\n\n    export.run(net)\n\n\nfor step in"),
        files=(("export.py", "import torch\n\n\ndef run(net):\n    net.cuda()(torch.zeros(1, 4).cuda())\n"),),
    )


def _memory() -> Iterator[MigrationCase]:
    kind = "memory"
    yield _case(
        kind,
        "no checkpointing",
        "scaled",
        ("memory",),
        ("self.head(checkpoint(self.body, x, use_reentrant=False))", "self.head(self.body(x))"),
        is_short=True,
    )
    yield _case(
        kind, "graphs that are retained", "brain", ("memory",), ("loss.backward()", "loss.backward(retain_graph=True)")
    )
    yield _case(kind, "gradients that are kept", "scaled", ("memory",), ("set_to_none=True", "set_to_none=False"))
    yield _case(
        kind,
        "a limit",
        "simple",
        ("memory",),
        ("for step in", "torch.npu.set_per_process_memory_fraction(0.5)\nfor step in"),
    )


def _fallbacks() -> Iterator[MigrationCase]:
    kind = "fallback"
    yield _case(
        kind,
        "the loss on the host",
        "plain",
        ("devices",),
        ("loss_of(net(x), y)", "loss_of(net(x).cpu(), y.cpu())"),
        is_short=True,
    )
    yield _case(
        kind,
        "a layer on the host",
        "brain",
        ("devices",),
        (".to(device)\noptimizer", ".to(device)\nnet[0].cpu()\noptimizer"),
        ("logits = net(x)", 'logits = net[2](net[1](net[0](x.to("cpu")).to(device)))'),
    )
    yield _case(
        kind,
        "optimizer on copies of the host",
        "simple",
        ("devices",),
        (".to(device)\noptimizer", '.to(device)\nnet = net.to("cpu")\noptimizer'),
        ("net(torch", "net.to(device)(torch"),
    )
    yield _case(
        kind,
        "numbers through the host",
        "scaled",
        ("devices",),
        ("    optimizer.zero_grad(", '    loss = loss.cpu().to("npu")\n    optimizer.zero_grad('),
    )
    yield _case(kind, "unmigrated", "brain", ("migrated", "cuda"), ('device = "npu"', 'device = "cuda"'))
