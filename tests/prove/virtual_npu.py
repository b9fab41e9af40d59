"""Other people's trainings, migrated, on the virtual NPU: their losses, gradients and weights are the CPU's, bit for
bit.

Projects and requirements are found as in `prove scripts`; a training whose project is not there stands in the table as
missing. Each is copied, given small data that is made here, migrated in both styles and rehearsed for a few steps as
npu. The other side is the original on this host's CPU with the same command line, or the one of its own CPU path.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.common.rehearsal import Step
from backends.launch.rehearse.report import losses_of, read_parts
from studio import run as runs
from studio.paths import GUEST
from tests.prove.scripts import FOLDER, NOT_THERE, ONLY, SITE, prepare_sites
from tests.prove.support.trainings import TRAININGS, Training

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.prove.support.trainings import Edit

PROGRAM = Path(__file__).parents[2] / "studio" / "__main__.py"
STYLES = ("minimal", "explicit")
ONLY_STYLE = "ASCEND_STUDIO_PROJECTS_STYLE"
SECONDS = 600.0
SEED = "1"
MISSING = "not in the folder of projects"


def prove() -> dict[str, Any]:
    projects = Path(os.environ.get(FOLDER, "")).absolute()
    if not os.environ.get(FOLDER) or not projects.is_dir():
        print(NOT_THERE, file=sys.stderr)
        return {"passed": False, "error": "no projects"}
    chosen = [training for training in TRAININGS if re.search(os.environ.get(ONLY, ""), training.name)]
    with tempfile.TemporaryDirectory() as name:
        site, _ = prepare_sites(Path(name))
        table = [row for training in chosen for row in rows_of(training, projects, site)]
    print(format_table(table), file=sys.stderr)
    missing = sorted({row["project"] for row in table if row["equal"] == MISSING})
    return {"passed": bool(table) and all(row["right"] for row in table), "missing": missing, "trainings": table}


def rows_of(training: Training, projects: Path, site: str) -> list[dict[str, Any]]:
    """Return a row for each style; `site`: packages of a run on the CPU."""
    if not (projects / training.folder).is_dir():
        return [_row(training, "", equal=MISSING, right=False)]
    with tempfile.TemporaryDirectory() as name:
        trial = Trial(training, projects, site, Path(name))
        rows = [trial.row(style) for style in STYLES if style == os.environ.get(ONLY_STYLE, style)]
    for row in rows:
        print(json.dumps(row, ensure_ascii=False), file=sys.stderr, flush=True)
    return rows


def _row(training: Training, style: str, **cells: Any) -> dict[str, Any]:
    return {"project": training.name, "style": style, "steps": 0, "note": training.note, **cells}


class Side:
    """What one run of a training computed: losses of the first process, digests of each rank's gradients and
    weights, and how it ended."""

    def __init__(self, code: int, losses: Sequence[float | str], traces: Sequence[Sequence[Step]], text: str) -> None:
        self.code, self.losses, self.text = code, [float(loss).hex() for loss in losses], text
        self.is_finite = all(math.isfinite(float(loss)) for loss in losses)
        self.gradients = [[step.gradients for step in trace] for trace in traces]
        self.weights = [[step.weights for step in trace] for trace in traces]

    def differences(self, other: Side) -> list[str]:
        """Return what is not equal."""
        return [name for name in ("losses", "gradients", "weights") if getattr(self, name) != getattr(other, name)]


class Trial:
    """One training: on the CPU, and migrated on the virtual NPU."""

    def __init__(self, training: Training, projects: Path, site: str, folder: Path) -> None:
        self.training = training
        self._projects, self._site, self._folder = projects, site, folder
        self._original = self._copy("original", training.edits)
        self._golden: Side | None = None

    def row(self, style: str) -> dict[str, Any]:
        begun = time.monotonic()
        migrated = self._folder / style / self._original.name
        failure = self._migrate(style, migrated)
        if failure:
            return _row(self.training, style, equal="no", why=failure, right=False)
        report, side = self._rehearsed(style, migrated)
        cells = self._verdict(report, side, self.training.minimal_refusal if style == "minimal" else "")
        cells |= {"steps": report.get("steps", 0), "operators": report.get("device_operators", 0)}
        cells["seconds"] = round(time.monotonic() - begun, 1)
        return _row(self.training, style, **cells)

    def _verdict(self, report: dict[str, Any], side: Side, refusal: str) -> dict[str, Any]:
        """`refusal`: of this style alone."""
        training = self.training
        if refusal := training.refusal or refusal:
            is_refused = bool(side.code) and refusal in side.text
            why = refusal if is_refused else f"{refusal} was expected: {side.code}: {side.text[-1500:]}"
            return {"equal": "refused" if is_refused else "no", "why": why, "right": is_refused}
        if side.code or report.get("steps") != training.steps or not report.get("device_operators"):
            return {"equal": "no", "why": f"ended with {side.code}: {side.text[-1500:]}", "right": False}
        golden = self._on_cpu()
        if not training.is_repeatable and side.is_finite and side.losses:
            return {
                "equal": "not comparable",
                "losses": len(side.losses),
                "why": training.note,
                "right": not golden.code,
            }
        if golden.code or not (golden.losses or golden.weights):
            return {"equal": "no", "why": f"the CPU: {golden.code}: {golden.text[-1500:]}", "right": False}
        different = side.differences(golden)
        if not side.is_finite:
            different.append("not finite")
        why = f"{', '.join(different)}: {side.losses[:4]} {golden.losses[:4]}" if different else ""
        return {"equal": "no" if different else "bits", "losses": len(side.losses), "why": why, "right": not different}

    def _copy(self, name: str, edits: tuple[Edit, ...]) -> Path:
        place = self._folder / name / self.training.folder if self.training.folder else self._folder / name / "training"
        if self.training.folder:
            ignored = shutil.ignore_patterns(".git", "*.bin", "*.pkl")
            shutil.copytree(self._projects / self.training.folder, place, ignore=ignored)
        else:
            place.mkdir(parents=True)
        self.training.make_data(place)
        for path, old, new in edits:
            script = place / path
            text = script.read_text("utf-8")
            if old not in text:
                raise ValueError(f"{self.training.name}: {path} has no {old!r}")
            script.write_text(text.replace(old, new), "utf-8")
        return place

    def _migrate(self, style: str, out: Path) -> str:
        """Return why it failed, "" where it did not."""
        done = self._studio(self._folder, "migrate", str(self._original), "--style", style, "--out", str(out), "--json")
        shared = self._original.parent / "data"
        if shared.exists():
            (out.parent / "data").symlink_to(shared)
        return "" if done.returncode == 0 else f"migrate: {done.returncode}: {done.stderr[-1000:]}"

    def _rehearsed(self, style: str, place: Path) -> tuple[dict[str, Any], Side]:
        chosen = ("--as", "npu", "--npu-device", "virtual", "--seed", SEED, "--minutes", "8")
        chosen = (*chosen, "--cards", str(self.training.cards), "--steps", str(self.training.steps))
        path = f"PYTHONPATH={os.environ.get(SITE, '')}"
        training = self.training
        line = shlex.split(training.npu_line if style == "explicit" and training.npu_line else training.line)
        done = self._studio(place / self.training.start, "rehearse", *chosen, "--env", path, "--json", "--", *line)
        report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else {}
        log = runs.open_run(Path(report["run"])).log if "run" in report else None
        text = (log.read_text(errors="replace") if log is not None and log.exists() else "") + done.stderr
        traces = msgspec.convert(report.get("traces", ()), tuple[tuple[Step, ...], ...])
        return report, Side(done.returncode, report.get("losses", ()), traces, text)

    def _on_cpu(self) -> Side:
        """Return the original on this host's CPU: nothing of it is redirected, but where only that takes the CPU."""
        if self._golden is None:
            on_cpu = self.training.on_cpu
            place = self._copy("cpu", (*self.training.edits, *(on_cpu or ())))
            line = shlex.split(self.training.cpu_line or self.training.line)
            self._golden = self._child(place / self.training.start, line, "cuda" if on_cpu is None else "here")
        return self._golden

    def _child(self, place: Path, line: list[str], stance: str) -> Side:
        run = self._folder / "golden"
        run.mkdir()
        env = {
            **_environ(), "PYTHONPATH": f"{GUEST}{os.pathsep}{self._site}", "ASCEND_STUDIO_RUN": str(run),
            "ASCEND_STUDIO_HOOKS": f"curves,rehearse={stance}", "ASCEND_STUDIO_REHEARSAL_SEED": SEED,
            "ASCEND_STUDIO_REHEARSAL_STEPS": str(self.training.steps), "PYTHONHASHSEED": "0",
            "ASCEND_STUDIO_REHEARSAL_DEVICES": str(self.training.cards),
        }  # fmt: skip
        done = subprocess.run(
            line, cwd=place, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS,
            check=False,
        )  # fmt: skip
        traces = [part.trace for part in read_parts(run) if part.trace]
        return Side(done.returncode, losses_of(run), traces, done.stdout[-500:] + done.stderr)

    def _studio(self, place: Path, *words: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-I", str(PROGRAM), "--no-project", "--language", "en", *words)
        env = {**_environ(), "XDG_STATE_HOME": str(self._folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)


def _environ() -> dict[str, str]:
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


def format_table(table: list[dict[str, Any]]) -> str:
    head = ("project", "style", "steps", "operators", "equal", "note")
    rows = [head, *(tuple(str(row.get(name, "")) for name in head) for row in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
