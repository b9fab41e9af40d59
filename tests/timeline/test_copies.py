"""A folder that holds one recording under several names: it counts once, and that is told."""

from __future__ import annotations

import gzip
import shutil
from typing import TYPE_CHECKING

import pytest

from backends.timeline.profile_reader import read_profile
from tests.timeline.other_traces import kineto
from tests.timeline.profile_folders import rank_folder, ranks
from tests.timeline.torch_npu_trace import write_object

if TYPE_CHECKING:
    from pathlib import Path

    from backends.timeline.profile_reader import Opened

pytestmark = pytest.mark.usefixtures("homes")


def opened(path: Path) -> Opened:
    return read_profile(path, lambda _done, _total: None)


@pytest.mark.parametrize("is_zipped", [False, True])
def test_that_a_copy_of_a_trace_counts_once_and_is_named(tmp_path: Path, is_zipped: bool) -> None:
    trace = write_object(tmp_path / "a.pt.trace.json", kineto())
    single = opened(trace).trace
    if is_zipped:
        (tmp_path / "b.pt.trace.json.gz").write_bytes(gzip.compress(trace.read_bytes()))
    else:
        shutil.copy(trace, tmp_path / "b.pt.trace.json")
    profile = opened(tmp_path)
    meta = profile.trace.meta
    assert (meta.slices, meta.events, meta.flows, meta.counters, len(meta.lanes), len(meta.steps)) == (
        single.meta.slices, single.meta.events, single.meta.flows, single.meta.counters, len(single.meta.lanes),
        len(single.meta.steps),
    )  # fmt: skip
    assert [source.problem.key for source in meta.sources if source.problem] == ["timeline.error.copy"]
    assert not profile.is_whole


def test_that_a_rank_that_is_a_copy_of_another_is_named(tmp_path: Path) -> None:
    first = rank_folder(tmp_path / "rank0_ascend_pt")
    shutil.copytree(first, tmp_path / "rank1_ascend_pt")
    profile = opened(tmp_path)
    assert not profile.is_whole
    assert "timeline.error.copy" in [source.problem.key for source in profile.trace.meta.sources if source.problem]


def test_that_ranks_of_one_training_are_no_copies(tmp_path: Path) -> None:
    assert opened(ranks(tmp_path, 3)).is_whole
