"""Asks the comparison, and msprobe's own, about pairs, and holds what they say against what is true."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from studio.places import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.planted.plant import Pair

SECONDS = 120
# "Functional.linear.4.forward" of "Functional.linear.4.forward.output.0".
CALL = re.compile(r"(.+?\.(?:forward|backward)(?:\.\d+(?=\.(?:input|output|parameters)))?)(?:\..*)?")


@dataclass(frozen=True, kw_only=True)
class Said:
    """What was said of a pair. `first`: as the command line's JSON has it, None where nothing differs; `failed`: why
    there is no answer."""

    pair: Pair
    first: dict[str, Any] | None = None
    failed: str = ""

    @property
    def is_right(self) -> bool:
        if self.failed:
            return False
        return self.first is None if self.pair.plant is None else self.pair.plant.is_named_by(self.first)

    @property
    def row(self) -> dict[str, Any]:
        truth = None if self.pair.plant is None else [asdict(one) for one in self.pair.plant.answers]
        return {"pair": self.pair.name, "group": group_of(self.pair), "right": self.is_right, "said": self.first,
                "failed": self.failed, "true": truth}  # fmt: skip


def group_of(pair: Pair) -> str:
    if pair.plant is None:
        return "nothing planted"
    return "noisy" if pair.golden.noise else "clean"


def ask(pair: Pair, folder: Path, home: Path) -> Said:
    """By the command that a person would type."""
    words = ("compare", str(folder / pair.target.folder), str(folder / pair.golden.folder), "--json")
    env = os.environ | {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    done = subprocess.run(
        (sys.executable, "-m", "studio", "--no-project", "--language", "en", *words),
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    try:
        first = json.loads(done.stdout.splitlines()[-1])["first_divergence"]
    except (IndexError, KeyError, ValueError):
        return Said(pair=pair, failed=f"{done.returncode}: {done.stderr[-400:]}")
    if done.returncode != (0 if first is None else 3):
        return Said(pair=pair, first=first, failed=f"exit code {done.returncode}")
    return Said(pair=pair, first=first)


def ask_msprobe(pairs: Sequence[Pair], folder: Path) -> list[Said]:
    """Its first row that is no pass, of each pair; the numbers of its process are msprobe's own."""
    orders, answers = folder / "msprobe.jsonl", folder / "msprobe_answers.jsonl"
    answers.unlink(missing_ok=True)
    with orders.open("w", encoding="utf-8") as file:
        for pair in pairs:
            order = {"pair": pair.name, "answers": str(answers), "target": str(folder / pair.target.folder),
                     "golden": str(folder / pair.golden.folder)}  # fmt: skip
            file.write(json.dumps(order) + "\n")
    env = os.environ | {"TORCH_DEVICE_BACKEND_AUTOLOAD": "0", "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    with (folder / "msprobe.log").open("wb") as log:
        command = (sys.executable, "-m", "tests.planted.msprobe_scores", str(orders))
        subprocess.run(command, cwd=folder, env=env, stdout=log, stderr=log, check=True)
    lines = [json.loads(line) for line in answers.read_text("utf-8").splitlines()]
    return [_of_msprobe(pair, line) for pair, line in zip(pairs, lines, strict=True)]


def _of_msprobe(pair: Pair, line: dict[str, Any]) -> Said:
    if "failed" in line:
        return Said(pair=pair, failed=line["failed"])
    row = line["first"]
    if row is None:
        return Said(pair=pair)
    name = row["name"] if row["name"] != "N/A" else row["golden"]
    match = CALL.fullmatch(name)
    call = match.group(1) if match else name
    first = {"name": call, "direction": "backward" if ".backward" in call else "forward", "place": _place(row, pair),
             "step": row["step"], "rank": row["rank"], "reason": f"{row['result']}: {row['message']}"}  # fmt: skip
    return Said(pair=pair, first=first)


def _place(row: dict[str, Any], pair: Pair) -> str:
    """It does not tell arguments from inputs, so whatever is true of the place counts as said by it."""
    if pair.plant is None:
        return "input"
    name = row["name"] if row["name"] != "N/A" else row["golden"]
    for answer in pair.plant.answers:
        match = CALL.fullmatch(name)
        if match and re.fullmatch(answer.name, match.group(1)):
            return answer.places[0]
    return "input"


def tally(said: Iterable[Said]) -> dict[str, list[int]]:
    """Of each group how many were right, of how many."""
    counts: dict[str, list[int]] = {}
    for one in said:
        count = counts.setdefault(group_of(one.pair), [0, 0])
        count[0] += one.is_right
        count[1] += 1
    return counts


def table(ours: Sequence[Said], theirs: Sequence[Said]) -> str:
    rows = [("kind", "pair", "ours", "msprobe")]
    for mine, its in zip(ours, theirs, strict=True):
        kind = mine.pair.plant.kind if mine.pair.plant else "nothing planted"
        rows.append((kind, mine.pair.name, _told(mine), _told(its)))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def _told(said: Said) -> str:
    if said.failed:
        return f"FAILED {said.failed[:60]}"
    first = said.first
    what = "none" if first is None else f"{first['name']} {first['place']}"
    return what if said.is_right else f"WRONG {what}"
