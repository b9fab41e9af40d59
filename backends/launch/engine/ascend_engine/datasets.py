"""The data of an own recipe: made a Dataset, and looked at before anything is trained on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ascend_engine.data import Arrays
from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from ascend_engine.recipe_data.defaults import Dataset

# What numpy makes of plain numbers, and MindSpore's layers do not take.
NARROWED = {"float64": np.float32, "int64": np.int32}


def dataset(which: str, source: Any) -> Dataset:
    """`source`: a pair (inputs, labels) of arrays, or an object with len(data) and data[numbers]. `which`: the
    field of the recipe that it is in. Raises Failure where it is neither, or empty."""
    if isinstance(source, (tuple, list)) and len(source) == 2:
        data = _arrays(which, *source)
    elif isinstance(source, (tuple, list, np.ndarray)) or not hasattr(source, "__len__"):
        raise Failure("launch.data_type", which=which, type=type(source).__name__)
    else:
        data = source
    size = len(data)
    if size == 0:
        raise Failure("launch.data_empty", which=which)
    _check_sample(which, data[np.array([0])])
    return data


def _arrays(which: str, *arrays: Any) -> Arrays:
    """A pair as arrays of one length. float64 becomes float32 and int64 int32."""
    inputs, labels = (narrow(np.asarray(array)) for array in arrays)
    if inputs.ndim == 0 or labels.ndim == 0 or len(inputs) != len(labels):
        shapes = {"inputs": str(inputs.shape), "labels": str(labels.shape)}
        raise Failure("launch.data_lengths", which=which, **shapes)
    return Arrays(inputs, labels)


def narrow(array: np.ndarray) -> np.ndarray:
    return array.astype(NARROWED.get(array.dtype.name, array.dtype), copy=False)


def _check_sample(which: str, sample: Any) -> None:
    """`sample`: what data[numbers] gave for one number."""
    pair = sample if isinstance(sample, (tuple, list)) and len(sample) == 2 else ()
    if not pair or not all(_is_single_batch(array) for array in pair):
        raise Failure("launch.data_shape", which=which, got=_named(sample))


def _is_single_batch(array: Any) -> bool:
    return isinstance(array, np.ndarray) and array.shape[:1] == (1,) and array.dtype.kind in "fiub"


def _named(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}"
    if isinstance(value, (tuple, list)):
        return "(" + ", ".join(_named(part) for part in value) + ")"
    return type(value).__name__
