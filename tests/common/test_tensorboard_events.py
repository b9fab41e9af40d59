"""Scalars in TensorBoard's event files: a recorded one, a growing one, and damaged ones."""

from __future__ import annotations

import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.common.tensorboard_events import scalars
from studio.paths import ROOT

RECORDED = (ROOT / "tests" / "recorded" / "tensorboard" / "torch.tfevents").read_bytes()


def test_that_the_scalars_of_a_real_file_are_read() -> None:
    points, size = scalars(RECORDED)
    assert size == len(RECORDED)
    of_tag = {
        tag: [(point.step, point.value) for point in points if point.tag == tag] for tag in ("Loss/train", "loss")
    }
    assert of_tag["Loss/train"] == [(step, pytest.approx(1 / step)) for step in range(1, 6)]
    assert of_tag["loss"] == [(step, pytest.approx(2 / step)) for step in range(1, 6)]
    others = {point.tag: (point.step, point.value) for point in points if point.tag not in of_tag}
    assert others["new_style"] == (7, 0.25)
    assert math.isnan(others["nan"][1])
    assert set(others) == {"new_style", "nan"}, "texts, histograms and pictures are no curves"


@given(st.integers(0, len(RECORDED)))
def test_that_a_file_that_grows_is_read_to_its_last_whole_record(cut: int) -> None:
    points, size = scalars(RECORDED[:cut])
    rest, rest_size = scalars(RECORDED[size:])
    whole, _ = scalars(RECORDED)
    assert size + rest_size == len(RECORDED)
    assert [repr(point) for point in (*points, *rest)] == [repr(point) for point in whole]


@given(st.binary(max_size=400), st.integers(0, 200))
def test_that_damaged_records_do_no_harm(junk: bytes, at: int) -> None:
    damaged = RECORDED[:at] + junk + RECORDED[at + len(junk) :]
    for data in (junk, damaged, struct.pack("<QI", len(junk), 0) + junk + b"\0" * 4):
        try:
            points, size = scalars(data)
        except ValueError:
            continue
        assert size <= len(data)
        assert all(isinstance(point.value, float) for point in points)
