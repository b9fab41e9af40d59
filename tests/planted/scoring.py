"""Verdicts of the comparison, and of msprobe's own, on pairs of dumps, held against what is true."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from backends.precision.compare.comparison import comparison_answer
from backends.precision.compare.spec import CompareSpec, Sides
from backends.precision.compare.work import compare
from studio import run as runs
from studio import schema
from studio.errors import StudioError
from studio.exit_codes import NO
from studio.paths import ROOT
from tests.planted.plant import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.planted.plant import Pair

SECONDS = 120
# "Functional.linear.4.forward" of "Functional.linear.4.forward.output.0".
CALL = re.compile(r"(.+?\.(?:forward|backward)(?:\.\d+(?=\.(?:input|output|parameters)))?)(?:\..*)?")


@dataclass(frozen=True, kw_only=True)
class PairVerdict:
    """The verdict on a pair. `first`: as the command line's JSON has it, None where nothing differs; `failed`: why
    there is no answer; `is_whole`: it says that everything was compared."""

    pair: Pair
    first: dict[str, Any] | None = None
    failed: str = ""
    is_whole: bool = True

    @property
    def is_right(self) -> bool:
        if self.failed:
            return False
        return self.first is None if self.pair.plant is None else self.pair.plant.is_named_by(self.first)

    @property
    def is_silent(self) -> bool:
        """Whether a plant is passed over as success."""
        return self.pair.plant is not None and not self.failed and self.first is None and self.is_whole

    @property
    def row(self) -> dict[str, Any]:
        truth = None if self.pair.plant is None else [asdict(answer) for answer in self.pair.plant.answers]
        return {"pair": self.pair.name, "group": group_of(self.pair), "right": self.is_right, "said": self.first,
                "failed": self.failed, "true": truth}  # fmt: skip


def group_of(pair: Pair) -> str:
    if pair.plant is None:
        return "nothing planted"
    return "noisy" if pair.golden.noise else "clean"


def compare_pair(pair: Pair, folder: Path, home: Path) -> PairVerdict:
    """Compare a pair by the command that a person would type."""
    words = ("compare", str(folder / pair.target.folder), str(folder / pair.golden.folder), "--json")
    env = os.environ | {f"XDG_{name}_HOME": str(home / name.lower()) for name in ("CONFIG", "STATE", "CACHE")}
    done = subprocess.run(
        (sys.executable, "-m", "studio", "--no-project", "--language", "en", *words),
        cwd=ROOT, env=env, capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    try:
        first = json.loads(done.stdout.splitlines()[-1])["first_divergence"]
    except (IndexError, KeyError, ValueError):
        return PairVerdict(pair=pair, failed=f"{done.returncode}: {done.stderr[-400:]}")
    if done.returncode != (0 if first is None else 3):
        return PairVerdict(pair=pair, first=first, failed=f"exit code {done.returncode}")
    return PairVerdict(pair=pair, first=first)


def compare_in_process(pair: Pair, folder: Path, runs_folder: Path) -> PairVerdict:
    """Compare a pair by the command's work, in this process."""
    runs_folder.mkdir(parents=True, exist_ok=True)
    sides = Sides(target=folder / pair.target.folder, golden=folder / pair.golden.folder)
    spec = CompareSpec(sides=sides)
    run = runs.create(runs_folder, "compare", schema.to_json(spec))
    try:
        code = compare(spec, run).code
        first = json.loads(json.dumps(comparison_answer(run)["first_divergence"]))
    except StudioError as error:
        return PairVerdict(pair=pair, failed=str(error))
    finally:
        shutil.rmtree(run.folder)
    return PairVerdict(pair=pair, first=first, is_whole=code in (0, NO) and (code == 0) == (first is None))


def compare_with_msprobe(pairs: Sequence[Pair], folder: Path) -> list[PairVerdict]:
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


def _of_msprobe(pair: Pair, line: dict[str, Any]) -> PairVerdict:
    if "failed" in line:
        return PairVerdict(pair=pair, failed=line["failed"])
    row = line["first"]
    if row is None:
        return PairVerdict(pair=pair)
    name = row["name"] if row["name"] != "N/A" else row["golden"]
    match = CALL.fullmatch(name)
    call = match.group(1) if match else name
    first = {"name": call, "direction": "backward" if ".backward" in call else "forward", "place": _place(row, pair),
             "step": row["step"], "rank": row["rank"], "reason": f"{row['result']}: {row['message']}"}  # fmt: skip
    return PairVerdict(pair=pair, first=first)


def _place(row: dict[str, Any], pair: Pair) -> str:
    """It does not tell arguments from inputs, so whatever is true of the place counts as said by it."""
    if pair.plant is None:
        return "input"
    name = row["name"] if row["name"] != "N/A" else row["golden"]
    for answer in pair.plant.answers:
        match = CALL.fullmatch(name)
        if match and isinstance(answer, Answer) and re.fullmatch(answer.name, match.group(1)):
            return answer.places[0]
    return "input"


def tally(verdicts: Iterable[PairVerdict]) -> dict[str, list[int]]:
    """Of each group how many were right, of how many."""
    counts: dict[str, list[int]] = {}
    for verdict in verdicts:
        count = counts.setdefault(group_of(verdict.pair), [0, 0])
        count[0] += verdict.is_right
        count[1] += 1
    return counts


def silent(verdicts: Iterable[PairVerdict]) -> dict[str, int]:
    """Of each group how many plants were passed over as success."""
    counts: dict[str, int] = {}
    for verdict in verdicts:
        group = group_of(verdict.pair)
        counts[group] = counts.get(group, 0) + verdict.is_silent
    return counts


def table(ours: Sequence[PairVerdict], msprobe: Sequence[PairVerdict]) -> str:
    rows = [("kind", "pair", "ours", "msprobe")]
    for verdict, peer in zip(ours, msprobe, strict=True):
        kind = verdict.pair.plant.kind if verdict.pair.plant else "nothing planted"
        rows.append((kind, verdict.pair.name, _cell(verdict), _cell(peer)))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def _cell(verdict: PairVerdict) -> str:
    if verdict.failed:
        return f"FAILED {verdict.failed[:60]}"
    first = verdict.first
    what = "none" if first is None else f"{first['name']} {first['place']}"
    return what if verdict.is_right else f"WRONG {what}"
