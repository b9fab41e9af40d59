"""How a run is called on every page, and which page shows it."""

from __future__ import annotations

import time
from pathlib import PurePath
from typing import TYPE_CHECKING

from backends import feature_of, features
from backends.common.program_line import parse_program_line
from backends.common.run_values import mode_of, recipe_of, text_value
from studio.feature import action_of
from studio.output.terminal import printable_line
from studio.run import outcome_of
from studio.texts import has, t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.run import Glance, Run
    from ui.widgets.basic import Tone

MODES = {
    "jit": "@jit", "graph": "Graph", "pynative": "PyNative", "eager": "PyTorch", "compile": "torch.compile",
}  # fmt: skip
TONES: dict[str, Tone] = {
    "running": "accent", "unattended": "warning", "interrupted": "warning", "queued": "neutral",
    "elsewhere": "neutral", "gone": "neutral", "lost": "bad", "done": "good", "no": "bad", "failed": "bad",
    "incomplete": "warning", "stopped": "warning", "nonfinite": "warning",
}  # fmt: skip


def watching_page() -> str:
    """The id of the page that shows any run."""
    return next(feature.id for feature in features() if feature.shows_runs == "any")


def page_of(run: Run) -> str:
    """The id of the page that shows a run: that of its feature, if it shows its own runs."""
    feature = feature_of(run.request.command)
    return feature.id if feature and feature.shows_runs == "own" else watching_page()


def recipe_name(run: Run) -> str:
    """An own recipe by its file, and so a script of the user's own."""
    recipe = recipe_of(run) or script_name(run) or command_name(run)
    return PurePath(text_value(run, "what", "recipe_file")).name or recipe if recipe == "own" else recipe


def script_name(run: Run) -> str:
    """What the command line of a run starts: 'train.py', 'run.sh', a module; '' for a run without a line."""
    sections = [section for section in run.request.values.values() if isinstance(section, dict)]
    lines = [section["line"] for section in sections if isinstance(section.get("line"), list)]
    return name_of_line(tuple(map(str, lines[0]))) if lines else ""


def name_of_line(line: tuple[str, ...]) -> str:
    program = parse_program_line(line)
    return PurePath(program.script or next(iter(program.words), "")).name


def command_name(run: Run) -> str:
    """A command of a newer studio is called by its id."""
    command = run.request.command
    feature = feature_of(command)
    return t(feature.title_key(command)) if feature else command


def mode_name(run: Run) -> str:
    return MODES.get(mode_of(run), mode_of(run))


def title_of(run: Run) -> str:
    """'digits · @jit'; for anything but a training the command comes first: 'Shapes · digits'."""
    action = action_of(features(), run.request.command)
    if action is None or not action.is_training:
        return printable_line(" · ".join(dict.fromkeys((command_name(run), recipe_name(run)))))
    return printable_line(" · ".join(filter(None, (recipe_name(run), mode_name(run)))))


def when(run: Run, with_seconds: bool = False) -> str:
    """The time of day for a run of today, else the date with it."""
    begun, now = time.localtime(run.request.time / 1e9), time.localtime()
    clock = time.strftime("%H:%M:%S" if with_seconds else "%H:%M", begun)
    return clock if begun[:3] == now[:3] else time.strftime("%m-%d ", begun) + clock


def short_names(runs: Sequence[Run]) -> list[str]:
    """The shortest names that tell these runs apart."""
    namings = (mode_name, title_of, lambda run: f"{mode_name(run)} {when(run)}".strip())
    for name in namings:
        names = [name(run) for run in runs]
        if all(names) and len(set(names)) == len(names):
            return names
    return [f"{mode_name(run)} {when(run, with_seconds=True)}".strip() for run in runs]


def state_name(glance: Glance) -> str:
    """One word in the current language."""
    key = f"state.{outcome_of(glance)}"
    return t(key) if has(key) else glance.state


def tone_of(glance: Glance) -> Tone:
    return TONES.get(outcome_of(glance), "neutral")
