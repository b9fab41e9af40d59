"""What is said of two checkpoints: the verdict, then what it covers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from backends.precision.measure.measures import LENGTH, SHAPES
from backends.precision.weights import result
from studio.events import Finding, Note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.weights.result import ValueRow, WeightRow, Weights, WeightsVerdict
    from studio.events import Number

MAX_NAMES = 6
MAX_VALUE = 40
VERDICT_KEYS: dict[WeightsVerdict, str] = {
    "equal": "precision.weights.pass_equal", "close": "precision.weights.pass_close",
    "dtypes": "precision.weights.only_dtypes", "differs": "precision.weights.differ",
    "incomplete": "precision.weights.unpaired",
}  # fmt: skip
FIRST_KEYS = {
    SHAPES: "precision.weights.first_shape", LENGTH: "precision.weights.first_length",
    result.DTYPE: "precision.weights.first_dtype", result.NONFINITE: "precision.weights.first_nonfinite",
    result.TURNED: "precision.weights.first_turned", result.ELEMENTS: "precision.weights.first_elements",
    result.DISTANCE: "precision.weights.first_distance",
}  # fmt: skip


def weights_notes(weights: Weights) -> Iterator[Note | Finding]:
    """Yield the verdict first, a Finding where it is no success; keys of the catalogue with their arguments."""
    counts: dict[str, Any] = {
        "tensors": len(weights.rows), "differs": weights.count("differs"), "close": weights.count("close"),
        "missing": len(weights.missing), "extra": len(weights.extra), "nan": weights.nan_tensors(),
        "allow": f"{weights.allow:g}", "unread": _names(weights.unread),
        "numbers": _names(tuple(_change(row) for row in weights.numbers())),
    }  # fmt: skip
    key = _verdict_key(weights)
    yield Note(key=key, args=counts) if weights.passes() else Finding(rule=key, severity="warning", args=counts)
    first = weights.first_different()
    if first is not None and weights.verdict() != "dtypes":
        yield Note(key=FIRST_KEYS.get(first.reason, "precision.weights.first_distance"), args=_first_args(first))
    yield from _coverage(weights)


def _verdict_key(weights: Weights) -> str:
    if weights.verdict() == "differs" and not weights.count("differs"):
        return "precision.weights.differ_numbers"
    if weights.verdict() != "incomplete" or weights.missing or weights.extra:
        return VERDICT_KEYS[weights.verdict()]
    if weights.unread:
        return "precision.weights.unread"
    return "precision.weights.both_nan" if weights.compared_weights() else "precision.weights.no_weight"


def _coverage(weights: Weights) -> Iterator[Note]:
    """Yield what the verdict does not show: pairs, dtypes, and what was left out."""
    args: dict[str, Any]
    if (weights.missing or weights.extra) and weights.verdict() == "differs":
        args = {"missing": len(weights.missing), "extra": len(weights.extra)}
        yield Note(key="precision.weights.alone", args=args)
    pairing = weights.pairing()
    if pairing["order"]:
        yield Note(key="precision.weights.by_order", args={"count": pairing["order"], "tensors": len(weights.rows)})
    if pairing["prefix"]:
        yield Note(key="precision.weights.by_prefix", args={"count": pairing["prefix"], "tensors": len(weights.rows)})
    if weights.dtypes():
        changes = ", ".join(f"{change} ({count})" for change, count in weights.dtypes().items())
        yield Note(key="precision.weights.dtypes", args={"changes": changes})
    if nonfinite := sum(bool(row.nonfinite) for row in weights.rows):
        yield Note(key="precision.weights.nonfinite", args={"count": nonfinite})
    if weights.unread and _verdict_key(weights) != "precision.weights.unread":
        args = {"names": _names(weights.unread), "count": len(weights.unread)}
        yield Note(key="precision.weights.not_read", args=args)
    if weights.values and _verdict_key(weights) != "precision.weights.differ_numbers":
        names = _names(tuple(map(_change, weights.values)))
        yield Note(key="precision.weights.values", args={"names": names, "count": len(weights.values)})
    if weights.training_state:
        names = _names(weights.training_state)
        count = len(weights.training_state)
        yield Note(key="precision.weights.training_state", args={"names": names, "count": count})


def _first_args(row: WeightRow) -> dict[str, Any]:
    return {
        "name": row.name, "error": _percent(row.l2_rel), "max_abs": _figure(row.max_abs), "outliers": row.outliers,
        "turned": row.turned, "count": row.nonfinite_differs, "shape": _shape(row.shape),
        "golden_shape": _shape(row.golden_shape), "dtype": row.dtype, "golden_dtype": row.golden_dtype,
    }  # fmt: skip


def _names(names: tuple[str, ...]) -> str:
    """Return the first names, and an ellipsis for the rest."""
    return ", ".join(names[:MAX_NAMES]) + (" …" if len(names) > MAX_NAMES else "")


def _change(row: ValueRow) -> str:
    """Return what differs as a sentence has it, golden value first."""
    golden, target = (text[:MAX_VALUE] or "–" for text in (row.golden, row.target))
    return f"{row.name} ({golden} → {target})"


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(map(str, shape)) or "1"


def _percent(value: Number) -> str:
    """Return a relative distance as a person reads it."""
    number = float(value)
    return f"{number:.3g}" if not math.isfinite(number) or number >= 10 else f"{number:.3%}"


def _figure(value: Number) -> str:
    return f"{float(value):.4g}"
