"""How a run is called on the page."""

from __future__ import annotations

import time
from pathlib import PurePath
from typing import TYPE_CHECKING

from backends.curves.asked import asked, mode_of, recipe_of
from backends.launch.own import program
from studio.run import outcome_of
from studio.texts import has, t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.run import Glance, Run
    from ui.widgets import Tone

MODES = {"jit": "@jit", "graph": "Graph", "pynative": "PyNative"}
TONES: dict[str, Tone] = {
    "running": "accent", "unattended": "warning", "queued": "neutral", "elsewhere": "neutral", "lost": "bad",
    "done": "good", "no": "bad", "failed": "bad", "stopped": "warning",
}  # fmt: skip
# What is no training, in words.
COMMANDS = {
    "shapes": "curves.did.shapes", "check-first": "curves.did.check-first", "preview": "curves.did.preview",
    "export": "curves.did.export", "as-script": "curves.did.as-script", "template": "curves.did.template",
    "capture": "curves.did.capture",
    "scan": "curves.did.scan", "migrate": "curves.did.migrate", "certify": "curves.did.certify",
    "second-opinion": "curves.did.second-opinion",
    "nodes": "curves.did.nodes", "script": "curves.did.script", "rehearse": "curves.did.rehearse",
    "compare": "curves.did.compare", "config-check": "curves.did.config-check",
    "compare-losses": "curves.did.compare-losses", "compare-weights": "curves.did.compare-weights",
    "determinism": "curves.did.determinism",
    "deeper": "curves.did.deeper", "reproduce": "curves.did.reproduce",
    "precision-report": "curves.did.precision-report", "overflow-check": "curves.did.overflow-check",
    "acc-check": "curves.did.acc-check",
}  # fmt: skip
# What has a page of its own to show it.
MIGRATION = ("scan", "migrate", "certify", "second-opinion")
PRECISION = (
    "compare", "config-check", "compare-losses", "compare-weights", "determinism", "deeper", "reproduce",
    "precision-report", "overflow-check", "acc-check",
)  # fmt: skip


def page_of(run: Run) -> str:
    """The id of the page that shows a run."""
    if run.asked.command in PRECISION:
        return "precision"
    return "migration" if run.asked.command in MIGRATION else "curves"


def recipe_name(run: Run) -> str:
    """An own recipe by its file, and so a script of the user's own."""
    recipe = recipe_of(run) or script_name(run) or command_name(run)
    return PurePath(asked(run, "what", "recipe_file")).name or recipe if recipe == "own" else recipe


def script_name(run: Run) -> str:
    """What an own line runs: 'train.py', 'run.sh', a module; '' for a run without a line."""
    cards = [card for card in run.asked.values.values() if isinstance(card, dict)]
    line: list[object] = next((card["line"] for card in cards if isinstance(card.get("line"), list)), [])
    return name_of_line(tuple(map(str, line)))


def name_of_line(line: tuple[str, ...]) -> str:
    found = program.read(line)
    return PurePath(found.script or next(iter(found.words), "")).name


def command_name(run: Run) -> str:
    """A command of a newer studio is called by its id."""
    command = run.asked.command
    return t(COMMANDS[command]) if command in COMMANDS else command


def mode_name(run: Run) -> str:
    return MODES.get(mode_of(run), mode_of(run))


def title_of(run: Run) -> str:
    """'digits · @jit'; what is no training is named first: 'Shapes · digits'."""
    if run.asked.command not in ("launch", "script"):
        return " · ".join(dict.fromkeys((command_name(run), recipe_name(run))))
    return " · ".join(filter(None, (recipe_name(run), mode_name(run))))


def when(run: Run, with_seconds: bool = False) -> str:
    """The time of day for a run of today, else the date with it."""
    begun, now = time.localtime(run.asked.time / 1e9), time.localtime()
    clock = time.strftime("%H:%M:%S" if with_seconds else "%H:%M", begun)
    return clock if begun[:3] == now[:3] else time.strftime("%m-%d ", begun) + clock


def short_names(runs: Sequence[Run]) -> list[str]:
    """The shortest names that tell these runs apart."""
    ways = (mode_name, title_of, lambda run: f"{mode_name(run)} {when(run)}".strip())
    for way in ways:
        names = [way(run) for run in runs]
        if all(names) and len(set(names)) == len(names):
            return names
    return [f"{mode_name(run)} {when(run, with_seconds=True)}".strip() for run in runs]


def state_name(glance: Glance) -> str:
    """One word in the current language."""
    key = f"state.{outcome_of(glance)}"
    return t(key) if has(key) else glance.state


def tone_of(glance: Glance) -> Tone:
    return TONES.get(outcome_of(glance), "neutral")
