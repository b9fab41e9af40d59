"""The caching allocator of a virtual card, against cases that are computed by hand from torch_npu's rules."""

from __future__ import annotations

import pytest
from ascend_studio.virtual_npu.allocator import Allocator, Piece, rounded, segment_size
from ascend_studio.virtual_npu.ledger import Entry, Ledger

MIB = 1 << 20


def taken(allocator: Allocator, size: int, limit: int | None = None) -> Piece:
    piece = allocator.take(size, limit)
    assert piece is not None
    return piece


@pytest.mark.parametrize(
    ("size", "block"), [(0, 0), (1, 512), (480, 512), (481, 1024), (4064, 4096), (4096, 4608), (4 * MIB, 4 * MIB + 512)]
)
def test_that_a_block_has_32_bytes_more_in_steps_of_512(size: int, block: int) -> None:
    assert rounded(size) == block


@pytest.mark.parametrize(
    ("block", "segment"),
    [(512, 2 * MIB), (MIB, 2 * MIB), (MIB + 512, 20 * MIB), (10 * MIB - 512, 20 * MIB), (10 * MIB, 10 * MIB),
     (11 * MIB + 512, 12 * MIB)],
)  # fmt: skip
def test_that_a_segment_is_of_2_or_20_mib_or_of_its_own_size(block: int, segment: int) -> None:
    assert segment_size(block) == segment


def test_that_small_blocks_share_a_segment_and_a_free_one_is_used_again() -> None:
    allocator = Allocator()
    first, second = taken(allocator, 1000), taken(allocator, 1000)
    assert (allocator.allocated, allocator.reserved, allocator.segments) == (3072, 2 * MIB, 1)
    allocator.give(first)
    assert taken(allocator, 1000) is first
    allocator.give(first)
    allocator.give(second)
    assert (allocator.allocated, allocator.reserved) == (0, 2 * MIB)
    allocator.empty()
    assert (allocator.reserved, allocator.segments) == (0, 0)


def test_that_a_large_block_is_cut_only_where_more_than_a_mebibyte_is_left() -> None:
    allocator = Allocator()
    piece = taken(allocator, 11 * MIB)  # a segment of 12 MiB, of which 1 MiB less 512 bytes are left: not cut
    assert (piece.size, allocator.reserved) == (12 * MIB, 12 * MIB)
    other = taken(allocator, 3 * MIB)
    assert (other.size, allocator.reserved) == (3 * MIB + 512, 32 * MIB)
    assert taken(allocator, 5 * MIB).before is other


def test_that_neighbours_that_are_free_become_one_block_again() -> None:
    allocator = Allocator()
    pieces = [taken(allocator, 4 * MIB) for _ in range(4)]
    assert allocator.reserved == 20 * MIB
    for piece in (pieces[0], pieces[2], pieces[1]):
        allocator.give(piece)
    assert taken(allocator, 9 * MIB).size == 9 * MIB + 512
    assert allocator.reserved == 20 * MIB


def test_that_free_segments_are_returned_before_a_request_is_refused() -> None:
    allocator = Allocator()
    for _ in range(2):
        allocator.give(taken(allocator, 12 * MIB, 30 * MIB))
    assert (allocator.reserved, allocator.returns) == (14 * MIB, 0)
    piece = taken(allocator, 25 * MIB, 30 * MIB)
    assert (allocator.reserved, allocator.returns) == (26 * MIB, 1)
    assert allocator.take(6 * MIB, 30 * MIB) is None
    assert (allocator.reserved, allocator.allocated) == (26 * MIB, piece.size)


def test_that_the_sums_at_the_peak_have_the_labels_that_blocks_get_later() -> None:
    now = [0]
    ledger = Ledger(lambda: None, lambda: now[0])
    weights, gradient, scratch = (Entry(("other", "")) for _ in range(3))
    ledger.change(weights, 100)
    ledger.change(gradient, 60)
    ledger.change(scratch, 40)
    ledger.change(gradient, 0)
    ledger.change(scratch, 10)
    now[0] = 1
    ledger.change(Entry(("other", "")), 50)
    weights.label, gradient.label = ("parameters", "net"), ("gradients", "net")
    assert ledger.sums() == {("parameters", "net"): 100, ("gradients", "net"): 60, ("other", ""): 40}
    assert (ledger.peak, ledger.peak_step) == (200, 0)


def test_that_sums_are_kept_where_much_happens_after_the_peak(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ascend_studio.virtual_npu.ledger.MAX_CHANGES", 100)
    now = [0]
    ledger = Ledger(lambda: None, lambda: now[0])
    high = Entry(("activations", "net"))
    ledger.change(high, 1000)
    ledger.change(high, 0)
    for _ in range(500):
        entry = Entry(("temporary", ""))
        ledger.change(entry, 10)
        ledger.change(entry, 0)
    assert ledger.sums() == {("activations", "net"): 1000}
    assert ledger.taken == 0
