"""Two tensors measured: every figure against numpy in float64."""

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from backends.precision.compare.comparison import MEASURES
from backends.precision.measure.formats import widened
from backends.precision.measure.measures import CHUNK_ELEMENTS, LENGTH, SHAPES, measure
from studio.paths import ROOT
from tests.precision.measure.held import Held, held, in_file

if TYPE_CHECKING:
    from pathlib import Path

ANY_FLOAT = st.floats(width=32, allow_subnormal=True)
COMMON = st.sampled_from([0.0, -0.0, 1.0, -1.0, 1.5, 3.0, 2.0**-100, 2.0**100, math.inf, -math.inf, math.nan])
LENGTHS = st.integers(0, 40)


def reference(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> dict[str, float]:
    """Of float32 arrays, over elements where both are finite; see the docstring of measures.py."""
    epsilon = float(np.finfo(np.float32).eps)
    one, other = a.astype(np.float64), b.astype(np.float64)
    keep = np.isfinite(one) & np.isfinite(other)
    same = (one == other) | (np.isnan(one) & np.isnan(other))
    differing = int(np.count_nonzero(~keep & ~same))
    one, other = one[keep], other[keep]
    distance = np.abs(one - other)
    relative = distance / np.where(other == 0, epsilon, np.abs(other))
    exponents = np.maximum(np.frexp(np.where(other == 0, one, other))[1] - 1, -126)
    units = distance / 2.0 ** (exponents - 23.0)
    dd, aa, bb = (float(x @ x) for x in (distance, one, other))
    cosine = float(one @ other) / math.sqrt(aa) / math.sqrt(bb) if aa and bb else 1.0 if not dd else math.nan
    counted = len(distance) + differing
    worst = math.inf if differing else 0.0
    return {
        "max_abs": max(distance.max(initial=0), worst),
        "max_rel": max(relative.max(initial=0), worst),
        "mean_abs": distance.mean() if len(distance) else 0.0,
        "mean_rel": relative.mean() if len(distance) else 0.0,
        "l2_rel": math.sqrt(dd / bb) if bb else math.inf if dd else 0.0,
        "cosine": cosine,
        "ulp": max(units.max(initial=0), worst),
        "under_1e3": np.count_nonzero(relative < 1e-3) / counted if counted else 1.0,
        "under_5e3": np.count_nonzero(relative < 5e-3) / counted if counted else 1.0,
    }


def assert_as_reference(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> None:
    found, wanted = measure(held(a), held(b)), reference(a, b)
    assert tuple(wanted) == MEASURES
    got = {name: getattr(found, name) for name in MEASURES}
    for name, value in wanted.items():
        tolerance = 1e-5 if name == "cosine" else 1e-37
        relative = 1 / 16 if name == "ulp" and value > 4 else 2e-5
        assert got[name] == pytest.approx(value, rel=relative, abs=tolerance, nan_ok=True), name


@given(pair=LENGTHS.flatmap(lambda n: st.tuples(*(hnp.arrays(np.float32, n, elements=ANY_FLOAT | COMMON),) * 2)))
def test_that_any_two_float32_tensors_are_measured_as_numpy_measures_them_in_float64(pair: Any) -> None:
    assert_as_reference(*pair)


@given(base=hnp.arrays(np.float32, LENGTHS, elements=ANY_FLOAT | COMMON), scale=st.sampled_from([1e-7, 1e-3, 1.0]))
def test_that_close_tensors_are_measured_as_in_float64(base: Any, scale: float) -> None:
    with np.errstate(all="ignore"):
        assert_as_reference(base * np.float32(1 + scale), base)


@pytest.mark.parametrize("magnitude", [1e-25, 1e-14, 1.0, 1e10, 1e20])
def test_that_many_pieces_of_any_magnitude_add_up(magnitude: float) -> None:
    rng = np.random.default_rng(1)
    golden = (rng.standard_normal(2 * CHUNK_ELEMENTS + 3) * magnitude).astype(np.float32)
    target = golden * (1 + rng.standard_normal(golden.size) * 1e-4).astype(np.float32)
    target[::7] = golden[::7] = 0
    assert_as_reference(target, golden)


def test_that_a_cosine_near_one_keeps_its_digits() -> None:
    rng = np.random.default_rng(2)
    golden = rng.standard_normal(100_000).astype(np.float32)
    target = golden + np.float32(1e-5) * rng.standard_normal(golden.size).astype(np.float32)
    one, other = target.astype(np.longdouble), golden.astype(np.longdouble)
    missing = 1 - (one @ other) / np.sqrt(one @ one) / np.sqrt(other @ other)
    assert 1 - measure(held(target), held(golden)).cosine == pytest.approx(float(missing), rel=0.01)


def test_that_a_tensor_against_itself_is_equal_whatever_it_holds() -> None:
    values = np.array([0.0, -0.0, 1.0, math.nan, math.inf, -math.inf], np.float32)
    found = measure(held(values), held(values))
    assert found.equal
    assert (found.max_abs, found.ulp, found.l2_rel, found.cosine, found.under_1e3) == (0, 0, 0, 1, 1)
    assert (found.elements, found.nonfinite, found.nonfinite_differs) == (6, 3, 0)


def test_that_a_nan_on_one_side_only_makes_the_maxima_infinite_and_leaves_the_means() -> None:
    found = measure(held(np.array([1.0, math.nan, 2.5], np.float32)), held(np.array([1.0, 7.0, 2.0], np.float32)))
    assert found.max_abs == found.max_rel == found.ulp == math.inf
    assert (found.nonfinite_differs, found.mean_abs, found.equal) == (1, 0.25, False)
    assert found.under_1e3 == pytest.approx(1 / 3)


def test_that_different_shapes_are_not_broadcast() -> None:
    found = measure(held(np.zeros((3, 1), np.float32)), held(np.zeros((1, 3), np.float32)))
    assert found.reason == SHAPES
    assert math.isnan(found.max_abs)
    assert not found.equal


def test_that_a_file_that_ends_early_is_no_comparison(tmp_path: Path) -> None:
    whole, short = (in_file(tmp_path / name, np.zeros(n, np.float32)) for name, n in (("a", 9), ("b", 8)))
    longer = replace(short, shape=(9,))
    assert measure(whole, longer).reason == LENGTH


def test_that_units_in_the_last_place_are_those_of_the_coarser_dtype() -> None:
    golden = np.array([1.0, 2.0, -4.0], np.float32)
    target = np.nextafter(golden, np.float32(9))
    assert measure(held(target), held(golden)).ulp == 1
    assert measure(held(golden.astype(np.float64) + 2.0**-8), held(golden, "bfloat16")).ulp == 0.5
    assert measure(held((golden * 1.0009765625).astype(np.float16)), held(golden)).ulp == 1


def test_that_a_golden_zero_has_the_unit_of_the_target() -> None:
    found = measure(held(np.array([2.0**-60, 5.0], np.float32)), held(np.array([0.0, 4.0], np.float32)))
    assert found.ulp == 2.0**23
    assert found.max_rel == 0.25


def test_that_integers_are_exact_beyond_what_a_float_holds() -> None:
    golden = np.array([2**62, -(2**62), 5], np.int64)
    found = measure(held(golden + np.array([1, 0, 0])), held(golden))
    assert (found.max_abs, found.ulp, found.equal) == (1, 1, False)
    assert measure(held(golden), held(golden)).equal
    far = measure(held(np.array([2**63 - 1])), held(np.array([-(2**63)])))
    assert far.max_abs == pytest.approx(2.0**64)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.uint64, np.bool_])
def test_that_small_integers_and_bools_are_measured(dtype: Any) -> None:
    found = measure(held(np.array([1, 0, 1, 1], dtype)), held(np.array([1, 1, 1, 1], dtype)))
    assert (found.max_abs, found.mean_abs, found.ulp, found.under_1e3) == (1, 0.25, 1, 0.75)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_that_complex_numbers_count_as_their_two_parts(dtype: Any) -> None:
    golden = np.full(CHUNK_ELEMENTS + 1, 1 + 1j, dtype)
    target = golden.copy()
    target[-1] = 1 + 3j
    found = measure(held(target), held(golden))
    assert (found.max_abs, found.max_rel, found.elements) == (2, 2, 2 * CHUNK_ELEMENTS + 2)


def test_that_half_precision_is_widened_without_an_error() -> None:
    every = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    finite = every[np.isfinite(every)]
    assert (widened(finite, "float16").view(np.uint32) == finite.astype(np.float32).view(np.uint32)).all()
    assert np.array_equal(widened(every, "float16"), every.astype(np.float32), equal_nan=True)


CODES = {
    "bfloat16": (np.uint16, {0x3F80: 1.0, 0xC000: -2.0, 0x0001: 2.0**-133, 0x7F80: math.inf}),
    "float8_e4m3fn": (np.uint8, {0x38: 1.0, 0xC0: -2.0, 0x01: 2.0**-9, 0x7E: 448.0, 0x80: -0.0}),
    "float8_e5m2": (np.uint8, {0x3C: 1.0, 0xC0: -2.0, 0x01: 2.0**-16, 0x7B: 57344.0, 0xFC: -math.inf}),
}
"""Values at the corners of each format, from the tables of the OCP 8-bit floating point specification."""


@pytest.mark.parametrize("dtype", CODES)
def test_that_formats_unknown_to_numpy_are_read_from_files(tmp_path: Path, dtype: str) -> None:
    stored, values = CODES[dtype]
    found = in_file(tmp_path / "a", np.array(list(values), stored), dtype)
    assert found.whole().tolist() == list(values.values())
    assert measure(found, held(np.array(list(values.values()), np.float32))).equal


STREAMED = """
import resource, sys
from pathlib import Path
from backends.precision.measure.measures import measure
from backends.precision.dump.tensor_file import TensorFile
one, other = (TensorFile(path=Path(p), dtype="float32", shape=(150_000_000,), strides=(1,),
                         segments=((0, 600_000_000),)) for p in sys.argv[1:])
mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + (64 << 20),) * 2)
found = measure(one, other)
print(found.elements, found.max_abs)
"""


def test_that_tensors_larger_than_the_memory_there_is_are_streamed(tmp_path: Path) -> None:
    for name in "ab":
        with (tmp_path / name).open("wb") as file:
            file.truncate(600_000_000)
    with (tmp_path / "a").open("r+b") as file:
        file.seek(599_999_996)
        file.write(np.float32(0.5).tobytes())
    argv = [sys.executable, "-c", STREAMED, str(tmp_path / "a"), str(tmp_path / "b")]
    ended = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.stdout.split() == ["150000000", "0.5"], ended.stderr


class Asked(Exception):
    pass


def test_that_a_long_comparison_can_be_ended_between_two_pieces() -> None:
    heard: list[int] = []

    def told() -> None:
        heard.append(1)
        if len(heard) == 2:
            raise Asked

    tensor = held(np.zeros(5 * CHUNK_ELEMENTS, np.float32))
    with pytest.raises(Asked):
        measure(tensor, tensor, told)
    assert len(heard) == 2


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "int64", "int8", "bool", "complex64"])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.5])
def test_that_a_tensor_of_which_some_elements_differ_is_measured_whole(dtype: str, share: float) -> None:
    """Where few differ only these are looked at."""
    some = np.random.default_rng(3)
    golden = some.integers(0, 2 if dtype == "bool" else 100, 3 * CHUNK_ELEMENTS + 5).astype(np.float32)
    target = np.where(some.random(golden.size) < share, 1 - golden if dtype == "bool" else golden + 1, golden)
    target[0] += share > 0 and dtype != "bool"
    sides = [_as(values.astype(np.float32), dtype) for values in (target, golden)]
    found, wanted = measure(*sides), reference(target.astype(np.float32), golden)
    assert found.elements == golden.size * (2 if dtype == "complex64" else 1)
    assert found.equal == (not share)
    for name in ("max_abs", "l2_rel", *(() if dtype == "complex64" else ("mean_abs", "under_1e3"))):
        assert getattr(found, name) == pytest.approx(wanted[name], rel=1e-5), name
    assert found.cosine == pytest.approx(wanted["cosine"], abs=1e-5)


def _as(values: np.ndarray[Any, Any], dtype: str) -> Held:
    if dtype == "bfloat16":
        return held((values.view(np.uint32) >> 16).astype(np.uint16), dtype)
    return held(values.astype(dtype))


def test_that_a_real_tensor_is_held_against_a_complex_one() -> None:
    real = np.arange(5, dtype=np.float32)
    found = measure(held(real), held((real + 2j).astype(np.complex64)))
    assert (found.max_abs, found.elements, found.reason) == (2, 10, "")
