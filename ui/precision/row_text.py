"""What the cells of a row say. Only rows that are painted are put into words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.precision.compare.comparison import ERROR, EXTRA, MEASURES, MISSING, NO_RESULT, PASS, WARNING
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER
from studio.texts import t

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

PLACES = {
    INPUT: "precision.view.place_input", KWARG: "precision.view.place_kwarg", OUTPUT: "precision.view.place_output",
    PARAMETER: "precision.view.place_parameter", GRADIENT: "precision.view.place_gradient",
}  # fmt: skip
RESULTS = {PASS: "pass", WARNING: "warning", ERROR: "error"}
RESULT_TOKENS = {NO_RESULT: "dim", PASS: "good", WARNING: "warning", ERROR: "bad"}
NOTHING = "–"


def cell(comparison: Comparison, row: int, column: str) -> str:
    """One of COLUMNS or of MEASURES."""
    if column == "number":
        return str(int(comparison.call[row]) + 1)
    if column == "name":
        return " ".join(comparison.names[comparison.call[row]].split("\n"))
    if column == "place":
        return place(comparison, row)
    if column == "dtype":
        return dtype(comparison, row)
    if column == "shape":
        return shape(comparison, row)
    if column == "msprobe":
        return RESULTS.get(int(comparison.msprobe[row]), "")
    if column in MEASURES:
        return figure(float(comparison.measures[row, MEASURES.index(column)]))
    return figure(float((comparison.error if column == "error" else comparison.allowed)[row]))


def place(comparison: Comparison, row: int) -> str:
    """'input 0', 'dim', 'output 0.1', 'gradient weight'."""
    key = PLACES.get(int(comparison.role[row]), PLACES[INPUT])
    return t(key, item=comparison.items[comparison.item[row]]).strip()


def dtype(comparison: Comparison, row: int) -> str:
    """'float32', where they differ golden's first: 'float32 → bfloat16'."""
    sides = (comparison.golden_dtype[row], comparison.target_dtype[row])
    return _of_both(*(short_dtype(comparison.dtypes[side]) if side >= 0 else "" for side in sides))


def shape(comparison: Comparison, row: int) -> str:
    sides = (comparison.golden_shape[row], comparison.target_shape[row])
    return _of_both(*(shape_text(comparison.shapes[side]) if side >= 0 else "" for side in sides))


def shape_text(sizes: tuple[int, ...]) -> str:
    """'4×6×8'; '()' of a tensor that is one number."""
    return "×".join(map(str, sizes)) or "()"


def short_dtype(name: str) -> str:
    """'bfloat16' of 'torch.bfloat16' and 'mindspore.bfloat16'."""
    return name.rpartition(".")[2]


def _of_both(golden: str, target: str) -> str:
    return target if golden == target or not golden else f"{golden} → {target}" if target else golden


def figure(value: float, digits: int = 3) -> str:
    """An error or a measure: '2.4e-07', '0.0012', '–' where there is none."""
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return f"{value:.{digits - 2}e}"


def stat(value: float) -> str:
    """A maximum, a mean: five digits, since what differs shows only there; NaN is one of them."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.5g}"


def grouped(count: int) -> str:
    """'1 200', with a thin space."""
    return f"{count:,}".replace(",", "\u2009")


def call_error(comparison: Comparison, call: int) -> str:
    """Of one side alone there is none."""
    is_alone = comparison.call_verdict[call] in (MISSING, EXTRA)
    return NOTHING if is_alone else figure(float(comparison.call_error[call]))


def has_target(comparison: Comparison, call: int) -> bool:
    return comparison.call_verdict[call] != MISSING


def has_golden(comparison: Comparison, call: int) -> bool:
    return comparison.call_verdict[call] != EXTRA


def golden_name(comparison: Comparison, call: int) -> str:
    """What the golden side calls it: another number where a call is missing before it."""
    column = comparison.columns.get("golden_name")
    other = -1 if column is None else int(column[call])
    return comparison.texts[other] if other >= 0 else comparison.names[call]
