"""Lanes for hypothesis: short times, so that slices meet, nest, overlap and have no length; and times near 2^53."""

from __future__ import annotations

from hypothesis import strategies as st

from tests.timeline.memory_traces import LaneSpec

NAMES = ("MatMul", "Add", "hcom_allReduce_", "动", "aten::add")
_FAR = (1 << 53) + 1


@st.composite
def _slices(draw: st.DrawFn) -> list[tuple[int, int, str]]:
    origin = draw(st.sampled_from((0, _FAR)))
    several = st.tuples(st.integers(0, 30), st.integers(0, 12), st.sampled_from(NAMES))
    return [(origin + a, origin + a + length, name) for a, length, name in draw(st.lists(several, max_size=14))]


@st.composite
def lanes(draw: st.DrawFn) -> list[LaneSpec]:
    kinds = st.sampled_from(("host", "device", "api", "communication", "other"))
    return [
        LaneSpec(name=f"lane {i}", kind=draw(kinds), slices=draw(_slices())) for i in range(draw(st.integers(0, 4)))
    ]


def ranges() -> st.SearchStrategy[tuple[int, int]]:
    edge = st.one_of(st.integers(-2, 45), st.integers(_FAR - 2, _FAR + 45))
    return st.tuples(edge, edge).map(lambda two: (min(two), max(two)))
