"""How each metric is shown: its name, its unit, and by what its values are multiplied for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from studio import texts
from studio.output.terminal import printable_line
from studio.texts import t
from studio.units import count, number

FIRST = (
    "loss", "accuracy", "eval_loss", "lr", "step_time", "throughput", "tokens_per_second", "weight",
    "bias", "grad_norm", "loss_scale", "time_data", "time_forward", "time_backward", "time_optimizer",
)  # fmt: skip
RATES = ("throughput", "tokens_per_second")
LAST = ("epoch",)
EVALUATIONS = ("eval_", "val_", "test_")  # as the trainers of Hugging Face and Lightning, and their users, begin them
LOGARITHMIC = (
    "loss", "eval_loss", "val_loss", "test_loss", "train_loss", "grad_norm", "loss_scale", "relative_difference",
)  # fmt: skip
TITLES = {"tokens_per_second": "token_throughput"}
HIDDEN = ("overflows",)


@dataclass(frozen=True, kw_only=True)
class MetricFormat:
    """`places`: decimals that are always shown; None leaves them to the size of the value."""

    unit: str = ""
    times: float = 1.0
    places: int | None = None


FORMATS = {
    "accuracy": MetricFormat(unit="%", times=100.0, places=1),
    "step_time": MetricFormat(unit="ms", times=1000.0),
    "throughput": MetricFormat(unit="metric.samples_per_second"),
    "tokens_per_second": MetricFormat(unit="metric.tokens_per_second"),
    **{f"time_{part}": MetricFormat(unit="ms", times=1000.0) for part in ("data", "forward", "backward", "optimizer")},
}


def format_of(name: str) -> MetricFormat:
    return FORMATS.get(name, MetricFormat())


def title_of(name: str) -> str:
    """A metric of the user's own script keeps the name it was given there; that of a further optimizer says which, and
    so does that of a further group of its parameters."""
    base, _, number = name.rpartition(".")
    if number.isdigit() and texts.has(f"metric.{base}"):
        return t("metric.of_optimizer", name=title_of(base), n=int(number) + 1)
    if number.startswith("group") and number[5:].isdigit():
        return t("metric.of_group", name=title_of(base), n=int(number[5:]) + 1)
    name = TITLES.get(name, name)
    return t(f"metric.{name}") if texts.has(f"metric.{name}") else printable_line(name)


def unit_of(name: str) -> str:
    unit = format_of(name).unit
    return t(unit) if "." in unit else unit


def number_of(name: str, value: float) -> str:
    """Without the unit. Percents keep one decimal, so that they do not jump."""
    style = format_of(name)
    if name in RATES:
        return count(value)
    if name == "lr":
        return f"{value:.4g}"
    if style.places is not None and math.isfinite(value):
        return f"{value * style.times:.{style.places}f}"
    return number(value * style.times)


def value_of(name: str, value: float) -> str:
    """With the unit where it is short: '97.8 %', '25.8 ms', '1 240'."""
    unit = format_of(name).unit
    text = number_of(name, value)
    return f"{text} {unit}" if unit in ("%", "ms") and math.isfinite(value) else text


def ordered(names: list[str]) -> list[str]:
    """Return the usual metrics first, evaluations next to the loss, then the others in their order."""
    return sorted((name for name in names if name not in HIDDEN), key=_sort_position)


def _sort_position(name: str) -> float:
    if name in FIRST:
        return FIRST.index(name)
    if name.startswith(EVALUATIONS):
        return FIRST.index("eval_loss") + 0.5
    return len(FIRST) + (name in LAST)
