from __future__ import annotations

import pytest

from backends.timeline.query.tensors import Tensor, tensors_of


def _described(some: tuple[Tensor, ...]) -> list[tuple[int, bool, str, str, str]]:
    return [(tensor.position, tensor.is_output, tensor.shape, tensor.dtype, tensor.format) for tensor in some]


def test_that_the_inputs_of_torch_npu_are_split_and_empty_places_are_kept() -> None:
    args = {"Input Dims": "32,3,224,224;\r\n;\r\n64,3", "Input type": "float;\r\nScalar;\r\nfloat"}
    assert _described(tensors_of(args)) == [
        (0, False, "32,3,224,224", "float", ""),
        (1, False, "", "Scalar", ""),
        (2, False, "64,3", "float", ""),
    ]


def test_that_the_lists_of_kineto_are_read_too() -> None:
    args = {"Input Dims": [[256, 3], [], [[2], [3]]], "Input type": ["float", "Scalar", "TensorList"]}
    assert _described(tensors_of(args)) == [
        (0, False, "256,3", "float", ""),
        (1, False, "", "Scalar", ""),
        (2, False, "[2],[3]", "TensorList", ""),
    ]


def test_that_a_row_of_kernel_details_has_outputs_and_formats() -> None:
    cells = {
        "Input Shapes": '"8,4;4,2"', "Input Data Types": "FLOAT;FLOAT", "Input Formats": "ND;ND",
        "Output Shapes": '"8,2"', "Output Data Types": "FLOAT", "Output Formats": "ND",
    }  # fmt: skip
    assert _described(tensors_of(cells)) == [
        (0, False, "8,4", "FLOAT", "ND"),
        (1, False, "4,2", "FLOAT", "ND"),
        (0, True, "8,2", "FLOAT", "ND"),
    ]


def test_that_the_columns_of_both_tables_of_a_database_are_known() -> None:
    assert _described(tensors_of({"inputShapes": "4;5", "inputDtypes": "float;int"}))[1] == (1, False, "5", "int", "")
    assert _described(tensors_of({"inputShapes": "4", "inputDataTypes": "FLOAT", "inputFormats": "ND"})) == [
        (0, False, "4", "FLOAT", "ND")
    ]


@pytest.mark.parametrize("value", [None, 5, {}, "", '""', ";\r\n;\r\n", [], [None], [[[[]]]]])
def test_that_what_says_nothing_is_no_tensor(value: object) -> None:
    assert len(tensors_of({"Input Dims": value})) <= 1
