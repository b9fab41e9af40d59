"""The projects of `prove scripts`: pytorch/examples and nanoGPT, how each is run, and what is not expected of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Edits = tuple[tuple[str, str], ...]


def _six_places(losses: Sequence[float]) -> list[str]:
    return [f"{loss:.6f}" for loss in losses]


def _of_batches(size: int) -> Callable[[Sequence[float]], list[str]]:
    return lambda losses: [f"{loss / size:.6f}" for loss in losses]


def _four_places(losses: Sequence[float]) -> list[str]:
    return [f"{loss:.4f}" for loss in losses]


def _exponents(losses: Sequence[float]) -> list[str]:
    return [f"{loss:.4e}" for loss in losses]


def _since_last_print(losses: Sequence[float]) -> list[str]:
    """It sums since the last print, and does not print after the first batch."""
    return [f"{loss:.2f}" for loss in (losses[0] + losses[1], *losses[2:])]


@dataclass(frozen=True, kw_only=True)
class Project:
    """`cpu`: the line of its own CPU path, "" where it has none; `cuda`: of a host with CUDA. `told`: finds a loss in
    what it prints (and before it the process, where there are two groups); `shown`: losses in its own format.

    `equal`: to what the rehearsal is compared bit for bit: "own", its CPU path; "copy", `cuda` in a copy that takes
    the CPU where it takes the accelerator (`on_cpu`); "seeded", the same, and `seeds` are edited into what is
    rehearsed too; "" where there is nothing to compare to. `why`: what is not as one would expect."""

    name: str
    folder: str
    cuda: str
    cpu: str = ""
    told: str = ""
    shown: Callable[[Sequence[float]], list[str]] = _six_places
    equal: Literal["own", "copy", "seeded", ""] = "own"
    file: str = "main.py"
    on_cpu: Edits = ()
    seeds: Edits = ()
    metrics: tuple[str, ...] = ("loss", "lr", "grad_norm")
    steps: int = 3
    points: int = 0  # stopped after so many, where it has no end of its own
    cards: int = 1
    why: str = ""


_ACCELERATOR = (
    ("torch.accelerator.is_available()", "True"), ("torch.accelerator.current_accelerator()", 'torch.device("cpu")'),
)  # fmt: skip
_LOSS = r"^Train Epoch.*Loss: (\S+)$"
_DDP_SERIES = "cross_entropy over one class is 0 whatever the network gives; only its rehearsal runs without a card"

_GPT = (
    "python train.py --dataset=tiny --batch_size=4 --block_size=32 --n_layer=2 --n_head=2 --n_embd=32 --eval_iters=1"
    " --eval_interval=100 --gradient_accumulation_steps=1 --max_iters=7 --compile=False"
)
_GPT_DDP = _GPT.replace("python", "torchrun --standalone --nproc_per_node=2").replace("steps=1", "steps=2")
_GPT_TOLD = r"^iter \d+: loss (\S+),"
_GPT_AMP = (
    ("nullcontext() if device_type == 'cpu' else torch.amp.autocast(device_type=device_type, dtype=ptdtype)",
     "torch.amp.autocast(device_type='cpu', dtype=torch.bfloat16)"),
    ("torch.cuda.amp.GradScaler(", "torch.amp.GradScaler('cpu', "),
    ("device = 'cuda'", "device = 'cpu'"),
    ("device_type = 'cuda' if 'cuda' in device else 'cpu'", "device_type = 'cpu'"),
)  # fmt: skip

PROJECTS = (
    Project(
        name="mnist", folder="examples/mnist", told=_LOSS, equal="copy", on_cpu=_ACCELERATOR,
        cuda="python main.py --batch-size 8 --epochs 1 --log-interval 1",
        cpu="python main.py --batch-size 8 --epochs 1 --log-interval 1 --no-accel",
        why="with an accelerator it shuffles, without one it does not: its CPU path reads other data",
    ),
    Project(
        name="mnist_forward_forward", folder="examples/mnist_forward_forward", told=r"^Loss: +(\S+)$",
        shown=lambda losses: [repr(loss) for loss in losses], equal="seeded", on_cpu=_ACCELERATOR,
        seeds=(("args = parser.parse_args()", "args = parser.parse_args(); torch.manual_seed(1)"),),
        cuda="python main.py --epochs 5 --log-interval 1",
        cpu="python main.py --epochs 5 --log-interval 1 --no_accel",
        why="it takes --seed and seeds nothing; it calls forward itself: no time_forward, no throughput",
    ),
    Project(
        name="mnist_hogwild", folder="examples/mnist_hogwild", told=r"^(\d+)\tTrain Epoch.*Loss: (\S+)$",
        cuda="python main.py --batch-size 8 --epochs 1 --log-interval 1 --num-processes 1 --cuda",
        cpu="python main.py --batch-size 8 --epochs 1 --log-interval 1 --num-processes 1",
    ),
    Project(
        name="mnist_hogwild, 2 processes", folder="examples/mnist_hogwild", equal="",
        told=r"^(\d+)\tTrain Epoch.*Loss: (\S+)$",
        cuda="python main.py --batch-size 8 --epochs 1 --log-interval 1 --cuda",
        cpu="python main.py --batch-size 8 --epochs 1 --log-interval 1",
        why="its processes train the same weights without a lock: no two runs are equal",
    ),
    Project(
        name="vae", folder="examples/vae", told=_LOSS, shown=_of_batches(8),
        cuda="python main.py --batch-size 8 --epochs 1 --log-interval 1",
        cpu="python main.py --batch-size 8 --epochs 1 --log-interval 1 --no-accel",
    ),
    Project(
        name="siamese_network", folder="examples/siamese_network", told=_LOSS, equal="copy", on_cpu=_ACCELERATOR,
        cuda="python main.py --batch-size 8 --epochs 1 --log-interval 1",
        cpu="python main.py --batch-size 8 --epochs 1 --log-interval 1 --no-accel",
        why="its CPU path draws the pairs from a generator that it does not seed, a loader's worker has one seeded",
    ),
    Project(
        name="dcgan --dataset fake", folder="examples/dcgan", told=r"Loss_[DG]: (\S+)", shown=_four_places,
        cuda="python main.py --dataset fake --batchSize 100 --ngf 8 --ndf 8 --niter 1 --workers 1 --manualSeed 1 "
        "--accel",
        cpu="python main.py --dataset fake --batchSize 100 --ngf 8 --ndf 8 --niter 1 --workers 1 --manualSeed 1",
        metrics=("loss", "lr", "grad_norm", "loss.1", "lr.1", "grad_norm.1"),
    ),
    Project(
        name="imagenet --dummy", folder="examples/imagenet", told=r"\tLoss (\S+) \(", shown=_exponents, points=6,
        cuda="python main.py --dummy -b 2 -j 1 -p 1 --seed 1",
        cpu="python main.py --dummy -b 2 -j 1 -p 1 --seed 1 --no-accel",
    ),
    Project(
        name="word_language_model", folder="examples/word_language_model", told=r"\| loss +(\S+) \|",
        shown=_since_last_print, metrics=("loss", "grad_norm"),
        cuda="python main.py --epochs 1 --log-interval 1 --emsize 32 --nhid 32 --accel",
        cpu="python main.py --epochs 1 --log-interval 1 --emsize 32 --nhid 32",
        why="it steps without an optimizer: there is no lr to see",
    ),
    Project(
        name="distributed/ddp", folder="examples/distributed/ddp", file="example.py", equal="seeded", steps=1, cards=2,
        cuda="torchrun --standalone --nproc_per_node=2 example.py",
        seeds=(("def demo_basic(rank):", "def demo_basic(rank):\n    torch.manual_seed(rank)"),),
        on_cpu=(
            ("if not verify_min_gpu_count", "if False and not verify_min_gpu_count"),
            ("torch.accelerator.current_accelerator()", 'torch.device("cpu")'),
            ("torch.accelerator.set_device_index(rank)", "pass"), (".to(rank)", ""), (", device_ids=[rank]", ""),
        ),
        why="it needs two accelerators, trains one step and seeds nothing",
    ),
    Project(
        name="ddp-tutorial-series/single_gpu", folder="examples/distributed/ddp-tutorial-series", equal="",
        cuda="python single_gpu.py 1 1", why=_DDP_SERIES,
    ),
    Project(
        name="ddp-tutorial-series/multigpu", folder="examples/distributed/ddp-tutorial-series", equal="", cards=2,
        cuda="python multigpu.py 1 1", why=_DDP_SERIES,
    ),
    Project(
        name="ddp-tutorial-series/multigpu_torchrun", folder="examples/distributed/ddp-tutorial-series", equal="",
        cards=2, cuda="torchrun --standalone --nproc_per_node=2 multigpu_torchrun.py 1 1", why=_DDP_SERIES,
    ),
    Project(
        name="ddp-tutorial-series/multinode", folder="examples/distributed/ddp-tutorial-series", equal="",
        cards=2, cuda="torchrun --standalone --nproc_per_node=2 multinode.py 1 1", why=_DDP_SERIES,
    ),
    Project(
        name="distributed/FSDP2", folder="examples/distributed/FSDP2", file="example.py", equal="seeded", cards=2,
        cuda="torchrun --standalone --nproc_per_node=2 example.py", metrics=("loss", "lr"),
        seeds=(
            ("model.reset_parameters()", "model.reset_parameters(); [one.reset_parameters() for one in model.layers]"),
        ),
        on_cpu=(
            ("if not verify_min_gpu_count", "if False and not verify_min_gpu_count"), (", device_id=device", ""),
        ),
        why="it needs two accelerators; its layers stay as to_empty made them, often NaN; its norm is a DTensor, in "
        "parts on all ranks: reading it would communicate",
    ),
    Project(
        name="nanoGPT fp32", folder="nanoGPT", told=_GPT_TOLD, shown=_four_places,
        cuda=f"{_GPT} --dtype=float32", cpu=f"{_GPT} --dtype=float32 --device=cpu",
    ),
    Project(
        name="nanoGPT bf16", folder="nanoGPT", file="train.py", told=_GPT_TOLD, shown=_four_places, equal="copy",
        cuda=f"{_GPT} --dtype=bfloat16", cpu=f"{_GPT} --dtype=bfloat16 --device=cpu", on_cpu=_GPT_AMP,
        why="its CPU path is without autocast",
    ),
    Project(
        name="nanoGPT fp16", folder="nanoGPT", file="train.py", told=_GPT_TOLD, shown=_four_places, equal="copy",
        cuda=f"{_GPT} --dtype=float16", cpu=f"{_GPT} --dtype=float16 --device=cpu", on_cpu=_GPT_AMP,
        why="its CPU path is without autocast and scaler; a rehearsal takes bfloat16 for float16 and says so",
    ),
    Project(
        name="nanoGPT DDP", folder="nanoGPT", file="train.py", told=_GPT_TOLD, shown=_four_places, equal="copy",
        cards=2, cuda=f"{_GPT_DDP} --dtype=float32",
        on_cpu=(
            ("backend = 'nccl'", "backend = 'gloo'"), ("device = f'cuda:{ddp_local_rank}'", "device = 'cpu'"),
            ("torch.cuda.set_device(device)", "pass"), (", device_ids=[ddp_local_rank]", ""),
        ),
        why="with torchrun it takes CUDA",
    ),
)  # fmt: skip
