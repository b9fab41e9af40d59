"""What a training was asked to do. Python 3.7 syntax, standard library only."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

RECIPES = ("linear", "digits", "text", "dense", "resnet50", "own")
DEVICES = ("auto", "cpu", "ascend")
LOOPS = ("functional", "cell", "model")
MODES = ("pynative", "jit", "graph")
JIT_LEVELS = ("O0", "O1", "O2")
AMP_LEVELS = ("O0", "O1", "O2", "O3", "auto")
AMP_DTYPES = ("fp16", "bf16")
LOSS_SCALES = ("none", "static", "dynamic")
ON_NAN = ("stop", "skip", "go_on")
SCHEDULES = ("constant", "step", "cosine")
BEST = ("none", "loss", "accuracy", "eval_loss")
PARALLEL = ("none", "data", "semi_auto", "auto", "hybrid")
SEARCHES = ("sharding_propagation", "dynamic_programming", "recursive_programming")
DATASETS = ("data_parallel", "full_batch")
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw")

# The repository's own assets, where the engine runs from a checkout.
ASSETS = Path(__file__).resolve().parents[4] / "assets"


@dataclass(frozen=True)
class Config:
    """One training, everything resolved. A recipe's build(config) reads it."""

    recipe: str
    device: str  # auto, cpu, ascend
    loop: str  # functional, cell (an nn.Cell that does the step), model (Model.train)
    mode: str  # pynative, jit, graph
    jit_level: str  # O0, O1, O2; "" leaves it to MindSpore
    batch: int  # samples of one micro batch
    accumulate: int  # micro batches of one optimizer step
    amp: str  # O0: float32; O1, O2, O3, auto: more or less of it in amp_dtype
    amp_dtype: str  # fp16, bf16
    loss_scale: str  # none, static, dynamic
    scale: float  # the static loss scale, or the first of a dynamic one
    clip: float | None  # largest global norm of the gradients
    on_nan: str  # stop, skip, go_on
    optimizer: str
    lr: float
    schedule: str  # constant, step, cosine
    warmup: int  # steps over which the learning rate rises
    decay_every: int  # steps from one to the next fall of schedule "step"
    decay_rate: float  # what each of them multiplies the learning rate by
    weight_decay: float
    steps: int  # optimizer steps
    seed: int
    assets: Path  # the studio's assets folder
    corpus: Path  # folder with the text for recipe "text"
    checkpoint_every: int | None  # steps
    checkpoint_minutes: float | None
    keep: int  # newest checkpoints
    ckpt: bool  # ModelCheckpoint's files too
    best: str  # metric whose best checkpoint is kept too; none, loss, accuracy, eval_loss
    resume: Path | None  # run to go on from
    recipe_file: Path | None  # for recipe "own": a Python file with build(config)
    images: Path | None  # for recipe "resnet50": folder of CIFAR-10's binary files
    weights: Path | None  # .ckpt or .safetensors to start from
    sink: bool  # Model.train feeds the device in a queue of its own
    recompute: bool  # activations are computed again instead of kept
    data_workers: int  # threads that read micro batches ahead; 0: the training's own
    prefetch: int  # micro batches read ahead
    drop_remainder: bool  # leave out the samples of an epoch that fill no whole step
    parallel: str  # none, data, semi_auto, auto, hybrid
    workers: int  # processes that train together, one device each
    search: str  # of parallel "auto"
    strategy: tuple[str, ...]  # OPERATOR=2x1,1x4 for Primitive.shard
    stages: int  # of a pipeline
    pipeline_batches: int  # micro batches that are in the pipeline at once
    optimizer_parallel: bool
    fusion: int | None  # MB of gradients in one communication
    dataset: str  # data_parallel, full_batch
    synchronous: bool  # PyNative waits for each operator
    debug_port: int | None  # debugpy listens there, on 127.0.0.1

    @property
    def compiled(self):
        return self.mode != "pynative"

    @property
    def samples_per_step(self):
        """Of one optimizer step, over all workers."""
        return self.batch * self.accumulate * self.readers

    @property
    def readers(self):
        """Workers that each read samples of their own: the stages of a pipeline share theirs."""
        return self.workers // self.stages


def parse(arguments):
    """The Config of a command line. Exits with code 2 on wrong use."""
    values = vars(_parser().parse_args(arguments))
    if values["corpus"] is None:
        values["corpus"] = values["assets"] / "help"
    values["strategy"] = tuple(values["strategy"])
    return Config(**values)


def _parser():
    parser = argparse.ArgumentParser(prog="python -m ascend_engine", allow_abbrev=False)
    add = parser.add_argument
    add("--recipe", choices=RECIPES, required=True)
    add("--device", choices=DEVICES, default="auto")
    add("--loop", choices=LOOPS, default="functional")
    add("--mode", choices=MODES, default="pynative")
    add("--jit-level", choices=JIT_LEVELS, default="")
    add("--batch", type=_count, required=True, metavar="N", help="samples of a micro batch")
    add("--accumulate", type=_count, default=1, metavar="N", help="micro batches of a step")
    add("--amp", choices=AMP_LEVELS, default="O0")
    add("--amp-dtype", choices=AMP_DTYPES, default="fp16")
    add("--loss-scale", choices=LOSS_SCALES, default="none")
    add("--scale", type=_rate, default=1024.0, metavar="X", help="static, or the first of dynamic")
    add("--clip", type=_rate, metavar="X", help="largest global norm of the gradients")
    add("--on-nan", choices=ON_NAN, default="stop")
    add("--optimizer", choices=OPTIMIZERS, required=True)
    add("--lr", type=_rate, required=True, metavar="X")
    add("--schedule", choices=SCHEDULES, default="constant")
    add("--warmup", type=_count_or_none, default=0, metavar="N", help="steps")
    add("--decay-every", type=_count, default=100, metavar="N", help="steps, for schedule step")
    add("--decay-rate", type=_rate, default=0.1, metavar="X", help="for schedule step")
    add("--weight-decay", type=_rate_or_none, default=0.0, metavar="X")
    add("--steps", type=_count, required=True, metavar="N", help="optimizer steps")
    add("--seed", type=_seed, default=1, metavar="N")
    add("--assets", type=Path, default=ASSETS, metavar="FOLDER")
    add("--corpus", type=Path, metavar="FOLDER", help="for text; default: help in the assets")
    add("--checkpoint-every", type=_count, metavar="N", help="steps")
    add("--checkpoint-minutes", type=_rate, metavar="X")
    add("--keep", type=_count, default=3, metavar="N", help="newest checkpoints")
    add("--ckpt", action="store_true", help="ModelCheckpoint's files too, for loop model")
    add("--best", choices=BEST, default="none", help="metric; its best checkpoint is kept too")
    add("--resume", type=Path, metavar="RUN", help="folder of the run to go on from")
    add("--recipe-file", type=Path, metavar="FILE", help="for own: has build(config) -> Recipe")
    add("--images", type=Path, metavar="FOLDER", help="for resnet50: CIFAR-10's binary files")
    add("--weights", type=Path, metavar="FILE", help=".ckpt or .safetensors to start from")
    add("--sink", action="store_true", help="for loop model")
    add("--recompute", action="store_true")
    add("--data-workers", type=_count_or_none, default=0, metavar="N", help="threads")
    add("--prefetch", type=_count, default=2, metavar="N", help="micro batches")
    add("--drop-remainder", action="store_true")
    add("--parallel", choices=PARALLEL, default="none")
    add("--workers", type=_count, default=1, metavar="N", help="processes")
    add("--search", choices=SEARCHES, default=SEARCHES[0], help="for parallel auto")
    add("--strategy", action="append", default=[], metavar="OPERATOR=2x1,1x4")
    add("--stages", type=_count, default=1, metavar="N", help="of a pipeline")
    add("--pipeline-batches", type=_count, default=1, metavar="N")
    add("--optimizer-parallel", action="store_true")
    add("--fusion", type=_count, metavar="MB", help="gradients in one communication")
    add("--dataset", choices=DATASETS, default="data_parallel")
    add("--synchronous", action="store_true", help="PyNative waits for each operator")
    add("--debug-port", type=_count, metavar="N", help="debugpy listens there, on 127.0.0.1")
    return parser


def _count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more, not " + text)
    return value


def _count_or_none(text):
    return 0 if text == "0" else _count(text)


def _rate_or_none(text):
    return 0.0 if float(text) == 0 else _rate(text)


def _rate(text):
    value = float(text)
    if not (math.isfinite(value) and value > 0):
        raise argparse.ArgumentTypeError("must be a number above 0, not " + text)
    return value


def _seed(text):
    value = int(text)
    if not 0 <= value < 2**31:
        raise argparse.ArgumentTypeError("must be from 0 to 2147483647, not " + text)
    return value
