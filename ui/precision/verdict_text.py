"""The first divergence, or that there is none, in sentences."""

from __future__ import annotations

import math
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

from backends.precision.compare.comparison import EXTRA, MISSING, UNKNOWN
from backends.precision.compare.verdict.notes import covered_args, noise_sentences, suspect_key
from backends.precision.dump.optimizer import OPTIMIZER
from studio.texts import has, t
from ui.precision.row_text import format_count, format_figure
from ui.widgets.localized import joined

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison, First

OPERAND_KEYS = {
    "input": "precision.verdict.at_input", "output": "precision.verdict.at_output",
    "argument": "precision.verdict.at_argument", "missing": "precision.verdict.at_missing",
    "extra": "precision.verdict.at_extra",
}  # fmt: skip
OPTIMIZER_CALL = f"{OPTIMIZER}."
DIRECTIONS = {"forward": "precision.verdict.forward", "backward": "precision.verdict.backward"}


def divergence_headline(comparison: Comparison) -> str:
    """Return 'First difference: Functional.linear.6 forward, input 0', 'No divergence: …' or 'Incomplete: …'."""
    first = comparison.first
    if comparison.outcome == "incomplete":
        return _incomplete(comparison)
    if first is None:
        return _no_divergence(comparison)
    if first.name.startswith(OPTIMIZER_CALL):
        return _optimizer_headline(comparison, first)
    direction = t(DIRECTIONS.get(first.direction, "precision.verdict.forward"))
    name = plain_name(first.name)
    key = "precision.verdict.found" if len(comparison.passes) < 2 else "precision.verdict.found_at"
    return t(key, name=name, direction=direction, place=operand_text(first), step=first.step, rank=first.rank)


def _incomplete(comparison: Comparison) -> str:
    coverage = comparison.coverage
    if coverage is None:
        return t("precision.verdict.unsure")
    return t("precision.verdict.incomplete", **covered_args(coverage))


def _optimizer_headline(comparison: Comparison, first: First) -> str:
    key = "precision.verdict.found_optimizer" if len(comparison.passes) < 2 else "precision.verdict.found_optimizer_at"
    name = plain_name(first.name).removeprefix(OPTIMIZER_CALL)
    return t(key, name=name, item=first.args.get("item", ""), step=first.step, rank=first.rank)


def divergence_explanation(comparison: Comparison) -> str:
    """Return what precedes the first divergence, why it is named, and where it is in the source."""
    first = comparison.first
    if first is None:
        explained = t("precision.verdict.none_next") if len(comparison.call_verdict) else ""
        parts = [*gap_texts(comparison)] if comparison.gaps else [coverage_text(comparison), explained]
        parts.append(noise_text(comparison))
        return joined([part for part in parts if part])
    parts = [preceding_text(comparison, first), reason_text(first), suspect_text(first)]
    if first.source:
        parts.append(t("precision.verdict.source", source=short_source(first.source)))
    return joined([part for part in (*parts, *gap_texts(comparison), noise_text(comparison)) if part])


def coverage_text(comparison: Comparison) -> str:
    """Return what was compared of what was there, '' of a comparison that an older studio wrote."""
    coverage = comparison.coverage
    return "" if coverage is None else t("precision.compare.covered", **covered_args(coverage))


def noise_text(comparison: Comparison) -> str:
    """Return what noise the second golden run allowed, '' without one."""
    sentences = [] if comparison.noise is None else noise_sentences(comparison.noise)
    return joined([t(key, **args) for key, args in sentences])


def gap_texts(comparison: Comparison) -> list[str]:
    """Return a sentence for each thing that was there and was not compared."""
    return [t(note["key"], **note["args"]) for note in comparison.gaps if has(note["key"])]


def suspect_text(first: First) -> str:
    """Return whether the operator is the suspect, or what feeds it untraced."""
    return t(suspect_key(first), name=plain_name(first.name), producer=plain_name(first.args.get("producer", "")))


def plain_name(name: str) -> str:
    """Return a call's name without its direction, which is shown apart; a module keeps its number:
    'Module.1.norm1.LayerNorm.0'."""
    return " ".join(name.replace(".forward", "").replace(".backward", "").split("\n"))


def operand_text(first: First) -> str:
    return t(OPERAND_KEYS.get(first.place, "precision.verdict.at_output"), index=first.index)


def preceding_text(comparison: Comparison, first: First) -> str:
    if first.call <= 0:
        return t("precision.verdict.before_none")
    errors = comparison.call_error[: first.call]
    is_equal = not bool(np.any(errors[np.isfinite(errors)] > 0))
    key = "precision.verdict.before_equal" if is_equal else "precision.verdict.before_explained"
    return t(key, n=format_count(first.before))


def reason_text(first: First) -> str:
    """Return why the first divergence is named, '' where this version has no such sentence."""
    key = f"precision.first.{first.reason}"
    args = {
        "name": first.name,
        "place": first.place,
        "index": first.index,
        "step": first.step,
        "rank": first.rank,
        "source": short_source(first.source),
        "before": first.before,
        "direction": first.direction,
    }
    return t(key, **{**args, **first.args}) if has(key) else ""


def short_source(source: str) -> str:
    """Return 'model.py:88', without the folders."""
    path, colon, line = source.rpartition(":")
    return f"{PurePath(path).name}:{line}" if colon else PurePath(source).name


def _no_divergence(comparison: Comparison) -> str:
    errors = comparison.call_error
    compared = ~np.isin(comparison.call_verdict, (MISSING, EXTRA, UNKNOWN))
    finite = np.where(np.isfinite(errors) & compared, errors, -1)
    n = int(np.count_nonzero(compared))
    if not n:
        return t("precision.verdict.nothing")
    at = int(finite.argmax())
    largest = float(finite[at])
    if largest <= 0 or math.isnan(largest):
        return t("precision.verdict.none_equal", n=format_count(n))
    return t(
        "precision.verdict.none", n=format_count(n), error=format_figure(largest), name=plain_name(comparison.names[at])
    )
