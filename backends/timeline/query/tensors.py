"""Inputs and outputs of an operator or kernel, from the arguments of its slice or from a table next to the trace."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

# shape, type, format: of trace_view and Kineto arguments, of PYTORCH_API and COMPUTE_TASK_INFO, of kernel_details.csv
_INPUTS = (
    ("Input Dims", "Input type", ""),
    ("inputShapes", "inputDtypes", "inputFormats"),
    ("inputShapes", "inputDataTypes", "inputFormats"),
    ("Input Shapes", "Input Data Types", "Input Formats"),
)
_OUTPUTS = (
    ("outputShapes", "outputDataTypes", "outputFormats"),
    ("Output Shapes", "Output Data Types", "Output Formats"),
)
MAX_TENSORS = 1000


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """A tensor as the source describes it; empty where it does not. `position`: 0, 1, … among the inputs or outputs."""

    position: int
    is_output: bool
    shape: str
    dtype: str
    format: str


def tensors_of(facts: Mapping[str, Any]) -> tuple[Tensor, ...]:
    return (*_some(facts, _INPUTS, is_output=False), *_some(facts, _OUTPUTS, is_output=True))


def _some(facts: Mapping[str, Any], spellings: tuple[tuple[str, ...], ...], *, is_output: bool) -> Iterator[Tensor]:
    columns = max(([_items(facts.get(key)) for key in keys] for keys in spellings), key=_filled)
    for position, (shape, dtype, layout) in enumerate(zip_longest(*columns, fillvalue="")):
        if position < MAX_TENSORS and (shape or dtype or layout):
            yield Tensor(position=position, is_output=is_output, shape=shape, dtype=dtype, format=layout)


def _filled(columns: list[list[str]]) -> int:
    return sum(1 for column in columns if any(column))


def _items(value: Any) -> list[str]:
    """Split a list of values: texts are joined by ";" (torch_npu adds a line break), a table puts quotes around them;
    Kineto has lists."""
    if isinstance(value, str):
        return [item.strip().strip('"') for item in value.strip('"').split(";")] if value.strip(' ";\r\n') else []
    if isinstance(value, list):
        return [_shape(item) for item in value]
    return []


def _shape(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_shape(item) if not isinstance(item, list) else f"[{_shape(item)}]" for item in value)
    return str(value)
