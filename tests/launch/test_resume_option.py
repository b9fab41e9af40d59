"""Which option of a script takes a checkpoint, and the line that gives it, read from the source alone."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from backends.launch.own.resume.line import with_options
from backends.launch.own.resume.script_option import resume_option, values_of

CHECKPOINT = Path("/out/4 a.pt")

ARGPARSE = "import argparse\nparser = argparse.ArgumentParser()\n"
ADD = ARGPARSE + "parser.add_argument"
TRAINER = """
from transformers import HfArgumentParser, Trainer, TrainingArguments
(args,) = HfArgumentParser((TrainingArguments,)).parse_args_into_dataclasses()
"""
NANOGPT = """
out_dir = 'out'
init_from = 'scratch' # 'scratch' or 'resume' or 'gpt2*'
exec(open('configurator.py').read())
if init_from == 'resume':
    checkpoint = torch.load(out_dir + '/ckpt.pt')
"""
COMMANDS = (
    ARGPARSE
    + """
parser.add_argument("--resume", type=str)
commands = parser.add_subparsers(dest="do")
fit = commands.add_parser("fit")
fit.add_argument("--lr")
"""
)
CLICK = """
import click
@click.command()
@click.option("--resume-from", type=click.Path())
def main(resume_from): ...
"""
FIRE = """
import fire
def main(lr: float = 0.1, resume_from: str = None): ...
if __name__ == "__main__":
    fire.Fire(main)
"""
ABSL = """
from absl import app, flags
flags.DEFINE_string("resume", None, "Checkpoint to resume from.")
flags.DEFINE_bool("resume_wandb", False, "")
"""

FOUND = {
    "path": (ADD + '("--resume", default="")', "", "--resume '/out/4 a.pt'"),
    "best_name": (
        ADD + '("--resume-id")\nparser.add_argument("--resume", action="store_true")\n'
        'parser.add_argument("--resume-from-checkpoint")',
        "", "--resume-from-checkpoint '/out/4 a.pt'",
    ),
    "optional_value": (
        ADD + '("--resume", nargs="?", const="latest")', "--lr 1", "--lr 1 --resume '/out/4 a.pt'",
    ),
    "switch": (ADD + '("-r", "--resume", action="store_true")', "--lr 1", "--lr 1 --resume"),
    "switch_and_path": (
        ADD + '("--resume", action="store_true")\n'
        'parser.add_argument("--checkpoint", help="checkpoint to load")',
        "", "--resume --checkpoint '/out/4 a.pt'",
    ),
    "replaced": (
        ADD + '("--resume", default="")', "--resume old.pt --lr 1", "--resume '/out/4 a.pt' --lr 1",
    ),
    "replaced_with_equals": (
        ADD + '("--resume", default="")', "--lr 1 --resume=old.pt", "--lr 1 --resume '/out/4 a.pt'",
    ),
    "loaded": (
        ADD + '("--checkpoint")\nargs = parser.parse_args()\nstate = torch.load(args.checkpoint)',
        "", "--checkpoint '/out/4 a.pt'",
    ),
    "by_its_help": (
        ADD + '("--ckpt-path", help="go on: path to load from")', "", "--ckpt-path '/out/4 a.pt'",
    ),
    "trainer": (
        TRAINER + "Trainer().train(resume_from_checkpoint=args.resume_from_checkpoint)",
        "--do_train", "--do_train --resume_from_checkpoint '/out/4 a.pt'",
    ),
    "lightning_cli": (
        "from lightning.pytorch.cli import LightningCLI\nLightningCLI(Net)",
        "fit --trainer.max_epochs 2", "fit --trainer.max_epochs 2 --ckpt_path '/out/4 a.pt'",
    ),
    "nanogpt": (NANOGPT, "config/a.py --out_dir=out", "config/a.py --out_dir=out --init_from=resume"),
    "choices": (ADD + '("--start", choices=["scratch", "resume"])', "", "--start resume"),
    "subcommand": (COMMANDS, "fit --lr 1", "--resume '/out/4 a.pt' fit --lr 1"),
    "click": (CLICK, "", "--resume-from '/out/4 a.pt'"),
    "fire": (FIRE, "", "--resume_from '/out/4 a.pt'"),
    "absl": (ABSL, "", "--resume '/out/4 a.pt'"),
    "behind_dashes": (
        ADD + '("--resume")\nparser.add_argument("rest", nargs="*")',
        "-- a b", "--resume '/out/4 a.pt' -- a b",
    ),
}  # fmt: skip

NOTHING = {
    "written": ADD + '("--checkpoint", help="where to save the checkpoint")',
    "not_loaded": ADD + '("--checkpoint")',
    "epoch": ADD + '("--resume-epoch", type=int)',
    "wandb": ADD + '("--wandb-resume")',
    "trainer_that_does_not_hand_it_on": TRAINER + "Trainer().train()",
    "no_python": "def (",
    "none": ADD + '("--lr")',
}


@pytest.mark.parametrize("name", FOUND)
def test_that_the_option_for_a_checkpoint_is_read_from_the_source(tmp_path: Path, name: str) -> None:
    source, given, expected = FOUND[name]
    script = tmp_path / "train.py"
    script.write_text(source)
    arguments = tuple(shlex.split(given))
    option = resume_option(script, arguments)
    assert option is not None
    line = with_options(("python", "train.py", *arguments), values_of(option, CHECKPOINT), option.subcommands)
    assert shlex.join(line) == f"python train.py {expected}"


@pytest.mark.parametrize("name", NOTHING)
def test_that_an_option_of_another_meaning_is_not_taken_for_one(tmp_path: Path, name: str) -> None:
    script = tmp_path / "train.py"
    script.write_text(NOTHING[name])
    assert resume_option(script, ()) is None


def test_that_a_launcher_and_its_environment_stay_in_front(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(FOUND["path"][0])
    option = resume_option(script, ())
    assert option is not None
    line = ("LEVEL=1", "torchrun", "--nproc-per-node", "2", "train.py", "--lr", "1")
    assert with_options(line, values_of(option, CHECKPOINT)) == (*line, "--resume", str(CHECKPOINT))
