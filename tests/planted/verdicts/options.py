"""Options that would do nothing, or something else than asked, are refused; the twin, with what it needs, is taken."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends import features
from studio import command_line, schema
from tests.planted.verdicts.case import Observation, VerdictCase

if TYPE_CHECKING:
    from pathlib import Path

REFUSED = Observation(state="refused", exit_code=2, success=False)
TAKEN = Observation(state="taken", success=True)
CARDS = "launch --device ascend --parallel data"
DUMP = "launch --capture dump"
SPLIT = "launch --recipe dense --mode graph --parallel"

PAIRS = (
    ("launch --workers 4", "launch --parallel data --workers 4"),
    ("launch --workers 2", "launch --parallel data --workers 2"),
    ("launch --nodes 2", "nodes --parallel data --nodes 2 --master 10.0.0.1"),
    ("launch --launcher msrun", "launch --parallel data --launcher msrun"),
    ("launch --stages 2", f"{SPLIT} hybrid --workers 4 --stages 2"),
    ("launch --search dynamic_programming", f"{SPLIT} auto --search dynamic_programming"),
    ("launch --pipeline-batches 8", f"{SPLIT} hybrid --pipeline-batches 8"),
    ("launch --strategy relu=2x1", f"{SPLIT} semi_auto --strategy relu=2x1"),
    ("launch --optimizer-parallel", f"{SPLIT} semi_auto --optimizer-parallel"),
    ("launch --fusion 4", "launch --parallel data --fusion 4"),
    ("launch --master 10.0.0.1", "launch --parallel data --master 10.0.0.1"),
    ("nodes --parallel data --nodes 2 --master not_a_host!", "nodes --parallel data --nodes 2 --master a_host"),
    ("nodes --parallel data --nodes 2 --master 127.0.0.1", "nodes --parallel data --nodes 1 --master 127.0.0.1"),
    ("nodes --parallel data --nodes 2 --master 0.0.0.0", "nodes --parallel data --nodes 2 --master node0.example.com"),
    ("launch --port 8200", "launch --parallel data --port 8200"),
    ("launch --parallel data --dataset full_batch", f"{SPLIT} semi_auto --dataset full_batch"),
    ("launch --parallel data --stages 4", f"{SPLIT} hybrid --workers 4 --stages 4 --pipeline-batches 8"),
    ("launch --loss-scale dynamic", "launch --amp O2 --loss-scale dynamic"),
    ("launch --scale 8", "launch --amp O2 --loss-scale static --scale 8"),
    ("launch --amp O2 --scale 8", "launch --amp O2 --loss-scale dynamic --scale 8"),
    ("launch --amp-dtype bf16", "launch --amp O2 --amp-dtype bf16"),
    ("launch --decay-every 3", "launch --schedule step --decay-every 3"),
    ("launch --schedule cosine --decay-rate 0.5", "launch --schedule step --decay-rate 0.5"),
    ("launch --jit-level O1", "launch --mode jit --jit-level O1"),
    ("launch --sink", "launch --loop model --mode graph --sink"),
    ("launch --loop model --sink", "launch --loop model --mode graph --sink --steps 4"),
    ("launch --mode jit --synchronous", "launch --mode pynative --synchronous"),
    ("launch --prefetch 5", "launch --data-workers 2 --prefetch 5"),
    ("launch --ckpt", "launch --loop model --ckpt"),
    ("launch --keep 2", "launch --checkpoint-every 10 --keep 2"),
    ("launch --best loss", "launch --best loss --checkpoint-every 10"),
    ("launch --device cpu --visible 0", "launch --device ascend --visible 0"),
    ("launch --device cpu --log-level info", "launch --device ascend --log-level info"),
    ("launch --device cpu --mode graph --launch-blocking", "launch --device cpu --launch-blocking"),
    ("launch --buffsize 300", f"{CARDS} --buffsize 300"),
    ("launch --connect-timeout 300", f"{CARDS} --connect-timeout 300"),
    ("launch --deterministic true", f"{CARDS} --deterministic true"),
    ("launch --steps 5 --checkpoint-every 6", "launch --steps 6 --checkpoint-every 5"),
    ("launch --steps 5 --schedule step --decay-every 5", "launch --steps 6 --schedule step --decay-every 5"),
    (f"{DUMP} --capture-task structure --capture-level L1", f"{DUMP} --capture-task structure --capture-level L0"),
    (f"{DUMP} --capture-task structure --capture-direction forward", f"{DUMP} --capture-direction forward"),
    (f"{DUMP} --capture-level L0 --capture-casts -- a.py", f"{DUMP} --capture-level mix --capture-casts -- a.py"),
    (f"{DUMP} --capture-targets linear --capture-casts -- a.py", f"{DUMP} --capture-targets linear -- a.py"),
    (f"{DUMP} --capture-optimizer-state", f"{DUMP} --capture-optimizer-state -- a.py"),
    ("launch --capture-at 3", "launch --capture profile --capture-at 3"),
    ("launch --capture profile --capture-level mix", "launch --capture dump --capture-level mix"),
    ("launch --capture-casts -- a.py", f"{DUMP} --capture-casts -- a.py"),
    ("launch --steps 5 --capture dump --capture-at 6", "launch --steps 7 --capture dump --capture-at 6"),
    ("launch --steps 1 --capture profile", "launch --steps 3 --capture profile"),
    ("launch --steps 2 --capture profile", "launch --steps 2 --capture profile --capture-steps 1"),
    (
        "launch --steps 5 --capture dump --capture-at 4 --capture-steps 3",
        "launch --steps 5 --capture dump --capture-at 4 --capture-steps 2",
    ),
    ("launch --capture dump --capture-ranks 1", "launch --parallel data --capture dump --capture-ranks 1"),
    ("launch --recipe linear --corpus FOLDER", "launch --recipe text --corpus FOLDER"),
    ("launch --recipe digits --images FOLDER", "launch --recipe resnet50 --images FOLDER"),
    ("launch --recompute", "launch --recipe text --recompute"),
    ("nodes --recipe linear --steps 5", "nodes --recipe linear --steps 5 --parallel data"),
    ("nodes --parallel data --capture dump", "nodes --parallel data"),
    ("shapes --steps 4", "shapes --batch 4"),
    ("as-script --capture dump", "as-script --steps 4"),
    ("as-script --grace 5", "as-script --checkpoint-every 5"),
    ("check-first --debug-port 5678", "check-first --time-limit 30"),
    ("preview --network text --layers 48", "preview --network gpt --layers 48"),
    ("preview --network digits --hidden 999", "preview --network llama --hidden 4096"),
    ("preview --network linear --flash", "preview --flash"),
    ("preview --heads 1 --sequence-parallel", "preview --sequence-parallel"),
    ("preview --network linear --cards 4 --sequence-parallel", "preview --network text --cards 4 --zero 2"),
    ("preview --micro-batches 1 --overlap 0.3", "preview --micro-batches 8 --overlap 0.3"),
    ("preview --micro-batches 1 --zero 2", "preview --micro-batches 8 --zero 2"),
    ("preview --cards 1 --zero 3", "preview --cards 8 --zero 3"),
    ("preview --flash --recomputation selective", "preview --flash --recomputation full"),
    ("preview --precision fp32 --gradients same", "preview --precision bf16 --gradients same"),
    ("preview --network digits --recomputation full", "preview --recomputation none"),
    ("preview --shard 64x128,128x256=2x4,4x2", "preview --shard 64x128,128x256=2x4,4x1"),
    ("preview --shard 64x128,128x256=2x4,2x2", "preview --cards 16 --shard 64x128,128x256=2x4,4x2"),
    ("preview --heads 32 --kv-heads 7", "preview --heads 32 --kv-heads 8"),
    ("launch --pattern loss -- python train.py", "launch --log-pattern auto -- python train.py"),
    ("launch --capture-steps 2 -- python train.py", "launch --capture profile --capture-steps 2 -- python train.py"),
    ("scan FOLDER --format csv", "scan FOLDER --format csv --out FOLDER/findings.csv"),
    ("scan FOLDER --report-language zh", "scan FOLDER --report-language zh --out FOLDER/findings.html"),
)
"""A line that must be refused, and its healthy twin."""


def told(line: str, folder: Path) -> Observation:
    """What the command line says of a line before it starts anything."""
    (folder / "train.py").touch()
    words = line.replace("FOLDER", str(folder)).split()
    arguments = command_line._parser(features()).parse_args(words)
    spec, wrong = schema.from_arguments(arguments.action.spec, arguments)
    given = schema.given_fields(arguments.action.spec, arguments)
    return REFUSED if wrong or command_line._problems_of(spec, given) else TAKEN


CASES = tuple(
    VerdictCase(name=f"option: {line}", verdict="option", expected=expected, observe=partial(told, line))
    for pair in PAIRS
    for line, expected in zip(pair, (REFUSED, TAKEN), strict=True)
)
