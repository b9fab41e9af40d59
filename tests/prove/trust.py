"""Hostile run folders, files and projects, met by all commands and pages: nothing of them is executed, unpickled,
signalled or written through.

With a name behind it (`python -m tests.prove.trust watch`), only the cases whose name has it. $PROVE_TRUST_CODE names
another checkout to look at, such as an older one.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from studio.paths import ROOT
from tests.prove.support.hostile.cases import cases
from tests.prove.support.hostile.trial import COUNTS, Case, Outcome, run_case
from tests.prove.support.hostile.window import window_outcomes

INIT = Path(__file__).parent / "support" / "hostile" / "init.py"
TRACED = (
    "watch · run: dead worker", "stop · run: worker is a living process", "watch · run: own, run.json rewritten",
    "watch --take-over · run: training is a living process", "launch -- true · project: modules of our names",
)  # fmt: skip
WINDOW = "window"


def prove() -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="prove-trust-", dir="/tmp") as folder:
        Path(folder).chmod(0o755)
        answer, signals = Path(folder) / "answer.json", Path(folder) / "signals"
        line = (sys.executable, "-m", "tests.prove.trust", "--into", str(answer), *sys.argv[2:])
        subprocess.run((*_namespace(signals), *line), cwd=ROOT, check=True)
        figures: dict[str, Any] = json.loads(answer.read_text(encoding="utf-8"))
        figures["signals_to_first_process"] = len(signals.read_text().split()) if signals.exists() else 0
    print(table(figures), file=sys.stderr)
    clean = not any(figures["total"][name] for name in COUNTS) and not figures["signals_to_first_process"]
    return {"passed": clean and figures["unarmed"] == [], **figures}


def _namespace(signals: Path) -> tuple[str, ...]:
    """Return a command in front of which process 1 is ours, where this user may have that."""
    line = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
    if os.geteuid() or shutil.which(line[0]) is None or subprocess.run((*line, "true"), check=False).returncode:
        return ()
    return (*line, sys.executable, str(INIT), str(signals))


def run_all(root: Path, name: str = "") -> dict[str, Any]:
    code = Path(os.environ.get("PROVE_TRUST_CODE", ROOT))
    chosen = [case for case in cases() if name in case.name]

    def try_case(numbered: tuple[int, Case]) -> Outcome:
        number, case = numbered
        outcome = run_case(case, root / str(number), code)
        report(outcome)
        shutil.rmtree(root / str(number))
        return outcome

    with ThreadPoolExecutor(2) as pool:
        outcomes = list(pool.map(try_case, enumerate(chosen)))
    outcomes += traced(chosen, root, code)
    if name in WINDOW:
        for outcome in window_outcomes(root, code):
            outcomes.append(outcome)
            report(outcome)
    return figures_of(outcomes)


def traced(chosen: list[Case], root: Path, code: Path) -> list[Outcome]:
    """Run the first case of each command, and what worked against older versions, under strace."""
    if shutil.which("strace") is None:
        print("strace is not installed: no command is looked at from outside of Python.", file=sys.stderr)
        return []
    sample = {case.command: case for case in reversed(chosen) if "launch --" not in case.command}
    outcomes = []
    for number, case in enumerate([*sample.values(), *(case for case in chosen if case.name in TRACED)]):
        outcome = run_case(case, root / f"traced-{number}", code, is_traced=True)
        outcomes.append(replace(outcome, command=f"strace: {case.command}"))
        report(outcomes[-1])
        shutil.rmtree(root / f"traced-{number}")
    return outcomes


def report(outcome: Outcome) -> None:
    if not outcome.is_clean or outcome.is_armed is False:
        print(f"{outcome.command} · {outcome.material}:", file=sys.stderr, flush=True)
        for count in COUNTS:
            for detail in getattr(outcome, count):
                print(f"    {count}: {detail}", file=sys.stderr)
        if outcome.is_armed is False:
            print("    the trap does not work", file=sys.stderr)


def figures_of(outcomes: list[Outcome]) -> dict[str, Any]:
    rows: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        row = rows.setdefault(outcome.command, Counter({"cases": 0} | dict.fromkeys(COUNTS, 0)))
        row.update({"cases": 1} | {name: len(getattr(outcome, name)) for name in COUNTS})
    fired = [f"{outcome.command} · {outcome.material}" for outcome in outcomes if not outcome.is_clean]
    controls = [outcome for outcome in outcomes if outcome.is_armed is not None]
    return {
        "total": {name: sum(row[name] for row in rows.values()) for name in ("cases", *COUNTS)},
        "rows": {name: dict(row) for name, row in rows.items()}, "fired": fired, "armed": len(controls),
        "unarmed": [f"{each.command} · {each.material}" for each in controls if not each.is_armed],
    }  # fmt: skip


def table(figures: dict[str, Any]) -> str:
    columns = ("cases", *COUNTS)
    lines = ["".join((f"{'':28}", *(f"{column:>11}" for column in columns)))]
    for name, row in (*figures["rows"].items(), ("total", figures["total"])):
        lines.append("".join((f"{name:28}", *(f"{row.get(column, 0):>11}" for column in columns))))
    return "\n".join(lines)


if __name__ == "__main__":
    target = Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="trust-", dir=target.parent) as folder:
        Path(folder).chmod(0o755)
        target.write_text(json.dumps(run_all(Path(folder), " ".join(sys.argv[3:]))), encoding="utf-8")
