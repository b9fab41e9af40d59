"""How each metric is shown: its name, its unit, and by what its values are multiplied for it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from studio import texts
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
class Look:
    """`places`: decimals that are always shown; None leaves them to the size of the value."""

    unit: str = ""
    times: float = 1.0
    places: int | None = None


LOOKS = {
    "accuracy": Look(unit="%", times=100.0, places=1),
    "step_time": Look(unit="ms", times=1000.0),
    "throughput": Look(unit="metric.samples_per_second"),
    "tokens_per_second": Look(unit="metric.tokens_per_second"),
    **{f"time_{part}": Look(unit="ms", times=1000.0) for part in ("data", "forward", "backward", "optimizer")},
}


def look_of(name: str) -> Look:
    return LOOKS.get(name, Look())


def title_of(name: str) -> str:
    """A metric of the user's own script keeps the name it was given there; that of a further optimizer says which, and
    so does that of a further group of its parameters."""
    base, _, number = name.rpartition(".")
    if number.isdigit() and texts.has(f"metric.{base}"):
        return t("metric.of_optimizer", name=title_of(base), n=int(number) + 1)
    if number.startswith("group") and number[5:].isdigit():
        return t("metric.of_group", name=title_of(base), n=int(number[5:]) + 1)
    name = TITLES.get(name, name)
    return t(f"metric.{name}") if texts.has(f"metric.{name}") else name


def unit_of(name: str) -> str:
    unit = look_of(name).unit
    return t(unit) if "." in unit else unit


def number_of(name: str, value: float) -> str:
    """Without the unit. Percents keep one decimal, so that they do not jump."""
    look = look_of(name)
    if name in RATES:
        return count(value)
    if name == "lr":
        return f"{value:.4g}"
    if look.places is not None and math.isfinite(value):
        return f"{value * look.times:.{look.places}f}"
    return number(value * look.times)


def value_of(name: str, value: float) -> str:
    """With the unit where it is short: '97.8 %', '25.8 ms', '1 240'."""
    unit = look_of(name).unit
    text = number_of(name, value)
    return f"{text} {unit}" if unit in ("%", "ms") and math.isfinite(value) else text


def ordered(names: list[str]) -> list[str]:
    """The usual ones first, evaluations beside the loss, then the others as they came."""
    return sorted((name for name in names if name not in HIDDEN), key=_place)


def _place(name: str) -> float:
    if name in FIRST:
        return FIRST.index(name)
    if name.startswith(EVALUATIONS):
        return FIRST.index("eval_loss") + 0.5
    return len(FIRST) + (name in LAST)
