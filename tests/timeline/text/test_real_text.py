"""The real files, each counted on its own."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from backends.timeline.text.event_lookup import event_of
from tests.timeline.profile_data import TEXTS, profile
from tests.timeline.text.readings import read
from tests.timeline.text_counts import count


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("piece", [5_000, 1 << 18])
def test_that_every_slice_of_a_real_file_is_there_to_the_nanosecond(name: str, piece: int) -> None:
    path = profile(name)
    gathered, raw = read(path, piece), count(path)
    counts = Counter(
        (*lane.removesuffix("\x00python").split("/", 1), name, start, end) for lane, name, start, end in gathered.slices
    )
    assert counts == raw.slices
    assert (gathered.gather.events, gathered.gather.metadata, gathered.aside) == (raw.events, raw.metadata, {})


@pytest.mark.parametrize("name", TEXTS)
def test_that_each_event_is_found_again_with_its_arguments(name: str) -> None:
    path = profile(name)
    content = json.loads(path.read_bytes())
    events = content["traceEvents"] if isinstance(content, dict) else content
    chunks = read(path, 50_000).chunks
    for number in range(0, len(events), max(1, len(events) // 60)):
        assert event_of(path, chunks, number) == events[number]
    assert event_of(path, chunks, len(events)) is None
    assert event_of(path, np.empty((0, 3), np.int64), 0) is None
