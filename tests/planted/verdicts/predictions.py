"""Predictions that nothing measured or counted supports: a split that cannot fit, a time that is unknown, a batch far
beyond what was run, a check that was cut short; and their healthy twins."""

from __future__ import annotations

import stat
from functools import partial
from typing import TYPE_CHECKING, Any

from backends import features
from backends.launch.check import figures
from backends.launch.check.largest import Largest, Point, summed_up
from backends.launch.check.messages import largest as largest_note
from backends.launch.check.spec import CheckSpec
from backends.launch.check.work import check_first
from backends.launch.preview.answer import preview_answer
from backends.launch.preview.spec import PreviewSpec
from backends.launch.preview.work import preview
from studio import command_line, schema
from studio import run as runs
from tests.planted.verdicts.case import Observation, VerdictCase

if TYPE_CHECKING:
    from pathlib import Path

MB = 10**6
UNKNOWN = {"preview.unknown_time", "preview.too_short", "preview.unknown_memory"}


def with_values(spec: Any, values: dict[str, Any]) -> Any:
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    return spec


def previewed(values: dict[str, Any], folder: Path) -> Observation:
    spec = with_values(PreviewSpec(), values)
    run = runs.create(folder, "preview", schema.to_json(spec))
    ended = preview(spec, run)
    unknown = UNKNOWN & {note.key for note in preview_answer(spec).after}
    state = "does not fit" if ended.code else "unranked" if unknown else "fits"
    return Observation(state=state, exit_code=ended.code, success=state == "fits")


def way_out(values: dict[str, Any], kind: str, folder: Path) -> Observation:
    """Whether a way out of this kind is named for a network that does not fit, and fits when it is taken."""
    spec = with_values(PreviewSpec(), values)
    ways = (str(note.args["options"]) for note in preview_answer(spec).after if note.key == "preview.way_out")
    words = next((way for way in ways if kind in way), "")
    if not words:
        return Observation(state="not named", success=False)
    arguments = command_line._parser(features()).parse_args(["preview", *words.split()])
    named, _ = schema.from_arguments(PreviewSpec, arguments)
    given = schema.given_fields(PreviewSpec, arguments)
    return previewed({**values, **{name: schema.value_of(named, name) for name in given}}, folder)


def largest_told(points: tuple[tuple[int, int], ...], limit: int, _folder: Path) -> Observation:
    """`points`: batches with their peaks in MB; a negative peak did not fit."""
    result: Largest = summed_up([Point(batch=b, peak=abs(p) * MB, fits=p > 0) for b, p in points], limit * MB, 65536)
    key = largest_note(result, limit * MB).key.rpartition(".")[2]
    states = {"largest_verified": "verified", "largest_between": "verified", "largest_most": "verified",
              "largest": "estimate", "largest_ran": "as far as run"}  # fmt: skip
    return Observation(state=states[key], success=states[key] == "verified")


def in_the_bar(steps: tuple[float, ...], came: float, _folder: Path) -> Observation:
    """Whether what came lies in the stated error of so many steps: a bar that is too narrow is told as certainty."""
    stated = figures.step_of(steps)
    if stated.error is None:
        return Observation(state="without an error", success=False)
    inside = abs(came - stated.value) <= stated.error
    is_vague = stated.error > 0.5 * stated.value
    state = "vague" if is_vague else "inside" if inside else "outside"
    return Observation(state=state, success=state == "inside")


def checked(script: str, folder: Path) -> Observation:
    """A check whose training is a shell script."""
    python = folder / "python"
    python.write_text(f"#!/bin/sh\n{script}\n")
    python.chmod(python.stat().st_mode | stat.S_IXUSR)
    spec = with_values(CheckSpec(), {"python": python, "time_limit": 0.5})
    run = runs.create(folder / "runs", "check-first", schema.to_json(spec))
    ended = check_first(spec, run)
    has_answer = (run.folder / "artifacts" / "check.json").exists()
    return Observation(state="answered" if has_answer else "cut short", exit_code=ended.code, success=has_answer)


TOO_LARGE = Observation(state="does not fit", exit_code=3, success=False)
UNRANKED = Observation(state="unranked", exit_code=0, success=False)
FITS = Observation(state="fits", exit_code=0, success=True)
LONG = {"sequence": 65536, "recomputation": "full"}
PREVIEWS = (
    (TOO_LARGE, LONG),
    (TOO_LARGE, {"sequence": 65536, "recomputation": "selective"}),
    (TOO_LARGE, {"sequence": 32768, "recomputation": "none"}),
    (TOO_LARGE, {"cards": 1}),
    (TOO_LARGE, {"cards": 1, "recomputation": "full"}),
    (TOO_LARGE, {"layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 8, "ffn": 28672, "cards": 8}),
    (TOO_LARGE, {"cards": 2, "precision": "fp32"}),
    (TOO_LARGE, {"cards": 8, "batch": 64, "recomputation": "none"}),
    (TOO_LARGE, {"cards": 3}),
    (TOO_LARGE, {"network": "digits", "cards": 3}),
    (UNRANKED, {"cards": 16, "part": "atlas-800-a2-32g-pcie"}),
    (UNRANKED, {"cards": 32, "part": "atlas-800-a2-32g-pcie"}),
    (UNRANKED, {"part": "atlas-300i-duo-chip", "cards": 16}),
    (UNRANKED, {"network": "linear"}),
    (UNRANKED, {"network": "digits"}),
    (UNRANKED, {"network": "text"}),
    (UNRANKED, {"network": "dense"}),
    (FITS, {**LONG, "flash": True}),
    (FITS, {"sequence": 32768, "flash": True, "recomputation": "full"}),
    (FITS, {"cards": 8}),
    (FITS, {"cards": 8, "recomputation": "full"}),
    (FITS, {"cards": 64, "layers": 80, "hidden": 8192, "heads": 64, "kv_heads": 8, "ffn": 28672}),
    (FITS, {"cards": 8, "zero": "2"}),
    (FITS, {"cards": 8, "zero": "3"}),
    (FITS, {"cards": 8, "gradients": "same"}),
    (FITS, {"cards": 8, "overlap": 0.5}),
    (FITS, {"cards": 16}),
    (FITS, {"cards": 8, "part": "atlas-800-a2-32g-pcie"}),
    (FITS, {"cards": 8, "part": "atlas-800-a3-die"}),
    (FITS, {"network": "gpt", "layers": 24, "hidden": 2048, "heads": 16, "cards": 8}),
)
NOT_NAMED = Observation(state="not named", success=False)
WAYS = (
    (FITS, LONG, "--flash"),
    (FITS, {"cards": 1}, "--cards"),
    (FITS, {"cards": 4, "batch": 4}, "--sequence-parallel"),
    (FITS, {"cards": 4, "recomputation": "none", "sequence": 8192}, "--flash"),
    (NOT_NAMED, {"cards": 4, "batch": 4}, "--flash"),
    (FITS, {"cards": 4, "batch": 4}, "--recomputation"),
    (FITS, {"cards": 4, "batch": 4}, "--batch"),
    (FITS, {"cards": 2, "batch": 16, "recomputation": "none"}, "--gradients"),
    (FITS, LONG, "--sequence"),
    (NOT_NAMED, {"cards": 1}, "--zero"),
    (NOT_NAMED, {"cards": 1}, "--recomputation"),
    (NOT_NAMED, {"cards": 1}, "--flash"),
    (NOT_NAMED, {"cards": 8}, "--flash"),
)
FAR = Observation(state="as far as run", success=False)
GUESS = Observation(state="estimate", success=False)
RUN = Observation(state="verified", success=True)
BATCHES = (
    (FAR, ((8, 520), (32, 560)), 20_000),
    (FAR, ((8, 520),), 20_000),
    (FAR, ((8, 520), (32, 521)), 20_000),
    (FAR, ((8, 520), (32, 544), (128, 640)), 60_000),
    (GUESS, ((8, 508), (128, 628), (512, 1012)), 1500),
    (GUESS, ((8, 508), (128, 628), (800, 1300)), 1500),
    (RUN, ((8, 508), (128, 628), (980, 1480)), 1500),
    (RUN, ((8, 508), (128, 628), (970, 1470)), 1500),
    (RUN, ((8, 508), (128, 628), (900, 1400), (950, -1600)), 1500),
    (RUN, ((8, 508), (65536, 900)), 1500),
)
INSIDE = Observation(state="inside", success=True)
VAGUE = Observation(state="vague", success=False)
STEPS = (
    (VAGUE, (2.0, 1.0, 1.5), 1.72),
    (VAGUE, (2.0, 0.9, 2.2), 1.2),
    (VAGUE, (2.0, 1.0, 3.0, 1.1), 1.4),
    (Observation(state="without an error", success=False), (2.0, 1.2), 1.7),
    (INSIDE, (2.0, *([1.0, 1.1, 0.95, 1.05] * 4)), 1.04),
    (INSIDE, (2.0, *([0.04] * 40), *([0.045] * 40)), 0.044),
    (INSIDE, (9.0, *([0.1, 0.12] * 20)), 0.105),
    (INSIDE, (1.0, *([0.5, 0.6, 0.55] * 8)), 0.56),
)
CUT = Observation(state="cut short", exit_code=1, success=False)
CHECKS = ((CUT, "sleep 60"), (CUT, "exit 1"), (CUT, "echo loss 1.0"), (CUT, "trap '' TERM; sleep 60"))

CASES = (
    *(
        VerdictCase(name=f"preview {values}", verdict="preview", expected=expected, observe=partial(previewed, values))
        for expected, values in PREVIEWS
    ),
    *(
        VerdictCase(
            name=f"a way out of {values} by {kind}", verdict="preview", expected=expected,
            observe=partial(way_out, values, kind),
        )
        for expected, values, kind in WAYS
    ),
    *(
        VerdictCase(
            name=f"largest batch of {points} under {limit} MB", verdict="check first", expected=expected,
            observe=partial(largest_told, points, limit),
        )
        for expected, points, limit in BATCHES
    ),
    *(
        VerdictCase(
            name=f"step of {steps[:4]} … {len(steps)}, came {came}", verdict="check first", expected=expected,
            observe=partial(in_the_bar, steps, came),
        )
        for expected, steps, came in STEPS
    ),
    *(
        VerdictCase(
            name=f"a check of {script!r}", verdict="check first", expected=expected, observe=partial(checked, script)
        )
        for expected, script in CHECKS
    ),
)  # fmt: skip
