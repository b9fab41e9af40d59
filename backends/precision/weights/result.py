"""artifacts/weights.json: every pair of tensors and how far apart it is."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from backends.precision.measure.formats import number
from backends.precision.weights.names import How, canonical, is_note, training_state
from backends.precision.weights.plain_values import NONE
from studio import files
from studio.events import Number  # noqa: TC001 - msgspec reads it

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from backends.precision.measure.measures import Measures, Tensor
    from backends.precision.weights.elements import Outliers
    from backends.precision.weights.names import WeightPair
    from backends.precision.weights.plain_values import PlainValue
    from studio.run import Run

WEIGHTS_FILE = "artifacts/weights.json"
WeightState = Literal["equal", "close", "differs"]
WeightsVerdict = Literal["equal", "close", "dtypes", "differs", "incomplete"]
PASSING: tuple[WeightsVerdict, ...] = ("equal", "close")
DTYPE = "precision.weights.reason_dtype"
NONFINITE = "precision.weights.reason_nonfinite"
TURNED = "precision.weights.reason_turned"
ELEMENTS = "precision.weights.reason_elements"
DISTANCE = "precision.weights.reason_distance"
EXACT = frozenset(("bool", "uint8", "int16", "int32", "int64", "uint16", "uint32", "uint64"))
"""Dtypes of which --allow accepts no difference: indices, counters, masks, and weights of 4 bits packed in uint8."""


MAX_ANSWER_VALUES = 200
COUNTER = "num_batches_tracked"
"""The buffer of a normalisation that is no weight."""


class WeightRow(msgspec.Struct, frozen=True, kw_only=True):
    """A pair, named as the golden side does. `how`: order is a suggestion. `state`: equal in every value and in dtype;
    close: not, but within what is allowed. The measures are those of measure/measures.py, NaN where shapes differ;
    `nan`: of `nonfinite`, those that are NaN on both sides;
    `outliers` and `turned` those of elements.py. `reason`: why it differs, the key of a sentence."""

    name: str
    target: str
    how: How
    state: WeightState
    dtype: str
    golden_dtype: str
    shape: tuple[int, ...]
    golden_shape: tuple[int, ...]
    max_abs: Number
    max_rel: Number
    mean_abs: Number
    l2_rel: Number
    cosine: Number
    ulp: Number
    nonfinite: int = 0
    nan: int = 0
    nonfinite_differs: int = 0
    outliers: int = 0
    turned: int = 0
    reason: str = ""


class ValueRow(msgspec.Struct, frozen=True, kw_only=True):
    """A number or text that differs, "" on a side that has none. `is_weight`: a number, or bytes, beside tensors, of
    one side alone too, and no result or counter of the training."""

    name: str
    target: str
    golden: str
    is_weight: bool = False


class Weights(msgspec.Struct, frozen=True, kw_only=True):
    """`rows` in the order of the golden checkpoint; `missing`: what the target lacks; `extra`: what only it has;
    `training_state`: what one side alone has and is no weight; `unread`: hash tables and files that were not read;
    `values`: what differs and is no tensor."""

    target: str
    golden: str
    allow: float
    rows: tuple[WeightRow, ...]
    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    training_state: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    values: tuple[ValueRow, ...] = ()

    def first_different(self) -> WeightRow | None:
        return next((row for row in self.rows if row.state == "differs"), None)

    def largest(self) -> WeightRow | None:
        """The pair that is furthest apart; shapes that differ are further than any number."""
        apart = [row for row in self.rows if row.state != "equal"]
        return max(apart, key=_distance, default=None)

    def count(self, state: WeightState) -> int:
        return sum(row.state == state for row in self.rows)

    def verdict(self) -> WeightsVerdict:
        """Return what the comparison says; "dtypes": all values are equal, and some dtypes are not."""
        reasons = {row.reason for row in self.rows if row.state == "differs"}
        if reasons - {DTYPE} or self.numbers():
            return "differs"
        if self.missing or self.extra or self.unread or self.nan_tensors() or not self.compared_weights():
            return "incomplete"
        if reasons:
            return "dtypes"
        return "close" if self.count("close") else "equal"

    def numbers(self) -> tuple[ValueRow, ...]:
        """Return the numbers that differ and are part of the model."""
        return tuple(row for row in self.values if row.is_weight)

    def nan_tensors(self) -> int:
        """Return how many pairs are NaN at the same place on both sides, where nothing says whether they agree."""
        return sum(bool(row.nan) for row in self.rows)

    def compared_weights(self) -> int:
        """Return how many pairs are weights with elements, and no counters, nor state of an optimizer or a training."""
        state = training_state(row.name for row in self.rows)
        return sum(
            row.name not in state and 0 not in row.golden_shape and not row.name.endswith(COUNTER) for row in self.rows
        )

    def passes(self) -> bool:
        return self.verdict() in PASSING

    def dtypes(self) -> dict[str, int]:
        """Return the changes of dtype, such as "float32 → bfloat16" from golden to target, each with its count."""
        changes = (f"{row.golden_dtype} → {row.dtype}" for row in self.rows if row.dtype != row.golden_dtype)
        return dict(Counter(changes))

    def pairing(self) -> dict[How, int]:
        """Return how many pairs were matched by name, without prefixes, and by order alone."""
        counts = Counter(row.how for row in self.rows)
        return {how: counts[how] for how in ("name", "prefix", "order")}


def differing_values(
    target: Mapping[str, PlainValue], golden: Mapping[str, PlainValue]
) -> Iterator[ValueRow]:  # fmt: skip
    """Yield the plain values that differ, in the order of the golden side; None is as what is not there."""
    names = _golden_names(target, golden)
    renamed = {names.get(name, name): value for name, value in target.items()}
    for name in dict.fromkeys((*golden, *renamed)):
        ours, other = renamed.get(name), golden.get(name)
        present = [value for value in (ours, other) if value is not None and value.text != NONE]
        if ours != other and present:
            yield ValueRow(
                name=name, target=ours.text if ours else "", golden=other.text if other else "",
                is_weight=any(value.is_number for value in present) and not is_note(name)
                and not ((ours is None or other is None) and _is_in_list(name)),
            )  # fmt: skip


def _is_in_list(name: str) -> bool:
    """Return whether a value is an entry of a list, which of one side alone is a part of its configuration."""
    return name.rpartition(".")[2].isdecimal()


def _golden_names(target: Mapping[str, PlainValue], golden: Mapping[str, PlainValue]) -> dict[str, str]:
    """Return the name that the golden side has for values of the target under other prefixes, by that of the target,
    where only one value on either side can be meant."""
    sides: list[dict[str, list[str]]] = [{}, {}]
    for groups, values, others in zip(sides, (target, golden), (golden, target), strict=True):
        for name in values:
            if name not in others:
                groups.setdefault(canonical(name), []).append(name)
    pairs = ((names, sides[1].get(name, [])) for name, names in sides[0].items())
    return {names[0]: peers[0] for names, peers in pairs if len(names) == len(peers) == 1}


def row_of(
    pair: WeightPair, target: Tensor, golden: Tensor, weights: Measures, allow: float, outliers: Outliers
) -> WeightRow:
    reason = _reason(weights, (target.dtype, golden.dtype), allow, outliers)
    is_equal = weights.equal and target.dtype == golden.dtype
    numbers = ("max_abs", "max_rel", "mean_abs", "l2_rel", "cosine", "ulp")
    return WeightRow(
        name=pair.golden, target=pair.target, how=pair.how,
        state="differs" if reason else "equal" if is_equal else "close",
        dtype=target.dtype, golden_dtype=golden.dtype, shape=tuple(target.shape), golden_shape=tuple(golden.shape),
        nonfinite=weights.nonfinite, nan=weights.nan, nonfinite_differs=weights.nonfinite_differs,
        outliers=outliers.count, turned=outliers.turned, reason=reason,
        **{name: number(getattr(weights, name)) for name in numbers},
    )  # fmt: skip


def is_within(weights: Measures, allow: float, dtypes: tuple[str, str]) -> bool:
    """Return whether a tensor as a whole is as close as is allowed. Indices, counters and masks are equal or not;
    integers of 8 bits may be weights that were quantised."""
    if any(name in EXACT for name in dtypes):
        return weights.equal
    return allow > 0 and not weights.nonfinite_differs and weights.l2_rel <= allow


def _reason(weights: Measures, dtypes: tuple[str, str], allow: float, outliers: Outliers) -> str:
    """Return the key of why a pair differs, "" where it is equal or within what is allowed."""
    if weights.reason:
        return weights.reason
    if weights.nonfinite_differs:
        return NONFINITE
    if weights.equal:
        return "" if dtypes[0] == dtypes[1] or allow > 0 else DTYPE
    if not is_within(weights, allow, dtypes):
        return DISTANCE
    return TURNED if outliers.turned else ELEMENTS if outliers.count else ""


def _distance(row: WeightRow) -> float:
    distance = float(row.l2_rel)
    return math.inf if math.isnan(distance) else distance


def write_weights(run: Run, weights: Weights) -> None:
    """Raises OSError."""
    files.write_json(run.folder / WEIGHTS_FILE, weights)


def read_weights(folder: Path) -> Weights | None:
    """None where the file is missing, damaged, or of another studio."""
    return files.read_as(folder / WEIGHTS_FILE, Weights)


def weights_answer(run: Run) -> dict[str, Any]:
    """What `--json` adds."""
    weights = read_weights(run.folder)
    if weights is None:
        return {}
    first, largest = weights.first_different(), weights.largest()
    return {
        "verdict": weights.verdict(),
        "first_different": first.name if first else None,
        "tensors": len(weights.rows),
        "differs": weights.count("differs"),
        "close": weights.count("close"),
        "equal": weights.count("equal"),
        "missing": list(weights.missing),
        "extra": list(weights.extra),
        "training_state": list(weights.training_state),
        "unread": list(weights.unread),
        "values": [msgspec.to_builtins(row) for row in weights.values[:MAX_ANSWER_VALUES]],
        "pairing": weights.pairing(),
        "dtypes": weights.dtypes(),
        "nonfinite": sum(bool(row.nonfinite) for row in weights.rows),
        "suggested": [{"golden": row.name, "target": row.target} for row in weights.rows if row.how == "order"],
        "largest": None if largest is None else _row_json(largest),
    }


def _row_json(row: WeightRow) -> dict[str, Any]:
    names = ("name", "l2_rel", "max_abs", "max_rel", "cosine", "ulp", "outliers", "turned", "reason")
    return {name: getattr(row, name) for name in names}
