"""What a training was asked to do. Python 3.7 syntax, standard library only."""

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

RECIPES = ("linear", "digits", "text")
DEVICES = ("auto", "cpu", "ascend")
MODES = ("pynative", "jit")
AMP_LEVELS = ("O0", "O2")
OPTIMIZERS = ("sgd", "momentum", "adam", "adamw")

# The repository's own assets, where the engine runs from a checkout.
ASSETS = Path(__file__).resolve().parents[4] / "assets"


@dataclass(frozen=True)
class Config:
    """One training, everything resolved. A recipe's build(config) reads it."""

    recipe: str
    device: str  # auto, cpu, ascend
    mode: str  # pynative, jit
    batch: int  # samples of one micro batch
    accumulate: int  # micro batches of one optimizer step
    amp: str  # O0: float32, O2: float16 with a dynamic loss scale
    optimizer: str
    lr: float
    steps: int  # optimizer steps
    seed: int
    assets: Path  # the studio's assets folder
    corpus: Path  # folder with the text for recipe "text"

    @property
    def samples_per_step(self):
        return self.batch * self.accumulate


def parse(arguments):
    """The Config of a command line. Exits with code 2 on wrong use."""
    values = vars(_parser().parse_args(arguments))
    if values["corpus"] is None:
        values["corpus"] = values["assets"] / "help"
    return Config(**values)


def _parser():
    parser = argparse.ArgumentParser(prog="python -m ascend_engine", allow_abbrev=False)
    add = parser.add_argument
    add("--recipe", choices=RECIPES, required=True)
    add("--device", choices=DEVICES, default="auto")
    add("--mode", choices=MODES, default="pynative")
    add("--batch", type=_count, required=True, metavar="N", help="samples of a micro batch")
    add("--accumulate", type=_count, default=1, metavar="N", help="micro batches of a step")
    add("--amp", choices=AMP_LEVELS, default="O0")
    add("--optimizer", choices=OPTIMIZERS, required=True)
    add("--lr", type=_rate, required=True, metavar="X")
    add("--steps", type=_count, required=True, metavar="N", help="optimizer steps")
    add("--seed", type=_seed, default=1, metavar="N")
    add("--assets", type=Path, default=ASSETS, metavar="FOLDER")
    add("--corpus", type=Path, metavar="FOLDER", help="for text; default: help in the assets")
    return parser


def _count(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be 1 or more, not " + text)
    return value


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
