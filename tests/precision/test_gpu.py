"""Real dumps of a GPU against those of a CPU: see tests/recorded/precision/gpu/README.md."""

from __future__ import annotations

import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from backends.precision.compare.comparison import comparison_answer
from backends.precision.compare.spec import CompareSpec
from backends.precision.compare.work import compare
from studio import run as runs
from studio import schema
from studio.paths import ROOT
from tests.planted.networks import NAMES

if TYPE_CHECKING:
    from pathlib import Path

DUMPS = ROOT / "tests" / "recorded" / "precision" / "gpu" / "dumps.tar.xz"
UNTRACED = ("recurrent",)
"""Its LSTM is not traced at level L1, and rounds at each of its steps."""
FEW_PRODUCTS = ("gan", "resnet", "unet")
"""One or two of their products were rounded to ten bits, the others not."""


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpu")
    with tarfile.open(DUMPS) as archive:
        archive.extractall(folder, filter="data")
    return folder


def compared(dumps: Path, folder: Path, network: str, golden: str) -> tuple[int, dict[str, Any]]:
    name = f"{network}-healthy-clean-L1-statistics-1x1"
    spec = schema.with_value(
        schema.with_value(CompareSpec(), "target", dumps / "cpu" / name), "golden", dumps / golden / name
    )
    run = runs.create(folder, "compare", schema.to_json(spec))
    return compare(spec, run).code, comparison_answer(run)


@pytest.mark.parametrize("network", [name for name in NAMES if name not in UNTRACED])
def test_that_a_gpu_without_tf32_is_no_divergence_from_a_cpu(dumps: Path, tmp_path: Path, network: str) -> None:
    code, answer = compared(dumps, tmp_path, network, "fp32")
    assert (code, answer["verdict"]) == (0, "pass")


@pytest.mark.parametrize("network", [name for name in NAMES if name not in (*UNTRACED, *FEW_PRODUCTS)])
def test_that_tf32_of_a_gpu_is_noise_where_most_products_of_a_kind_have_it(
    dumps: Path, tmp_path: Path, network: str
) -> None:
    code, answer = compared(dumps, tmp_path, network, "tf32")
    assert (code, answer["verdict"]) == (0, "pass")


@pytest.mark.parametrize("network", FEW_PRODUCTS)
def test_that_a_lone_product_in_tf32_is_named_with_a_word_on_tf32(dumps: Path, tmp_path: Path, network: str) -> None:
    code, answer = compared(dumps, tmp_path, network, "tf32")
    assert code == 3
    assert "precision.compare.like_ten_bits" in answer["notes"]
