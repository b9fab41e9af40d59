"""The texts of rows and calls. Only what is painted is put into words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from backends.precision.compare.comparison import ERROR, EXTRA, MEASURES, MISSING, NO_RESULT, PASS, WARNING
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER
from studio.texts import t

if TYPE_CHECKING:
    from backends.precision.compare.comparison import Comparison

ROLE_KEYS = {
    INPUT: "precision.view.place_input", KWARG: "precision.view.place_kwarg", OUTPUT: "precision.view.place_output",
    PARAMETER: "precision.view.place_parameter", GRADIENT: "precision.view.place_gradient",
}  # fmt: skip
RESULT_WORDS = {PASS: "pass", WARNING: "warning", ERROR: "error"}
RESULT_TOKENS = {NO_RESULT: "dim", PASS: "good", WARNING: "warning", ERROR: "bad"}
NOTHING = "–"


def cell_text(comparison: Comparison, row: int, column: str) -> str:
    """Return the text of one of COLUMNS or of MEASURES."""
    if column == "number":
        return str(int(comparison.call[row]) + 1)
    if column == "name":
        return " ".join(comparison.names[comparison.call[row]].split("\n"))
    if column == "place":
        return item_text(comparison, row)
    if column == "dtype":
        return dtypes_text(comparison, row)
    if column == "shape":
        return shapes_text(comparison, row)
    if column == "msprobe":
        return RESULT_WORDS.get(int(comparison.msprobe[row]), "")
    if column in MEASURES:
        return format_figure(float(comparison.measures[row, MEASURES.index(column)]))
    return format_figure(float((comparison.error if column == "error" else comparison.allowed)[row]))


def item_text(comparison: Comparison, row: int) -> str:
    """Return 'input 0', 'dim', 'output 0.1' or 'gradient weight'."""
    key = ROLE_KEYS.get(int(comparison.role[row]), ROLE_KEYS[INPUT])
    return t(key, item=comparison.items[comparison.item[row]]).strip()


def dtypes_text(comparison: Comparison, row: int) -> str:
    """Return 'float32' or, where the sides differ, golden's first: 'float32 → bfloat16'."""
    sides = (comparison.golden_dtype[row], comparison.target_dtype[row])
    return _both_sides(*(short_dtype(comparison.dtypes[side]) if side >= 0 else "" for side in sides))


def shapes_text(comparison: Comparison, row: int) -> str:
    sides = (comparison.golden_shape[row], comparison.target_shape[row])
    return _both_sides(*(shape_text(comparison.shapes[side]) if side >= 0 else "" for side in sides))


def shape_text(sizes: tuple[int, ...]) -> str:
    """Return '4×6×8', '()' for a scalar."""
    return "×".join(map(str, sizes)) or "()"


def short_dtype(name: str) -> str:
    """Return 'bfloat16' for 'torch.bfloat16' and 'mindspore.bfloat16'."""
    return name.rpartition(".")[2]


def _both_sides(golden: str, target: str) -> str:
    return target if golden == target or not golden else f"{golden} → {target}" if target else golden


def format_figure(value: float, digits: int = 3) -> str:
    """Return an error or a measure: '2.4e-07', '0.0012', '–' for NaN."""
    if math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value == 0:
        return "0"
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
    return f"{value:.{digits - 2}e}"


def format_statistic(value: float) -> str:
    """Return a statistic with five digits, since small differences show only there; NaN is a value here."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    return f"{value:.5g}"


def format_count(count: int) -> str:
    """Return '1 200', with a thin space."""
    return f"{count:,}".replace(",", "\u2009")


def format_call_error(comparison: Comparison, call: int) -> str:
    """Return the error of a call, '–' where only one side made it."""
    is_alone = comparison.call_verdict[call] in (MISSING, EXTRA)
    return NOTHING if is_alone else format_figure(float(comparison.call_error[call]))


def has_target(comparison: Comparison, call: int) -> bool:
    return bool(comparison.call_verdict[call] != MISSING)


def has_golden(comparison: Comparison, call: int) -> bool:
    return bool(comparison.call_verdict[call] != EXTRA)


def golden_name(comparison: Comparison, call: int) -> str:
    """Return the golden side's name of a call, whose number differs where a call is missing before it."""
    column = comparison.columns.get("golden_name")
    other = -1 if column is None else int(column[call])
    return comparison.texts[other] if other >= 0 else comparison.names[call]
