"""Table of names: one number for each pair of text and family, since the family decides the colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.build.columns import write_column
from backends.timeline.families import family_of
from backends.timeline.kinds import FAMILIES, LANE_KINDS

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.timeline.build.lanes import Order

    Names = NDArray[np.int32]


def kind_of_lane(order: Order) -> NDArray[np.uint8]:
    """Return the number of the kind of each lane, by position."""
    return np.array([LANE_KINDS.index(order.kinds[lane]) for lane in order.lanes], np.uint8)


def write_names(folder: Path, texts: list[str], lane: Names, name: Names, kinds: NDArray[np.uint8]) -> Names:
    """Write the table of names in use; return the number of each slice's name in it."""
    pair = name + kinds[lane].astype(np.int64) * len(texts)
    is_used = np.zeros(len(LANE_KINDS) * len(texts), bool)
    is_used[pair] = True
    used = np.flatnonzero(is_used)
    of_text = used % max(1, len(texts))
    family = np.array(
        [
            FAMILIES.index(family_of(LANE_KINDS[kind], texts[text]))
            for kind, text in zip((used // max(1, len(texts))).tolist(), of_text.tolist(), strict=True)
        ],
        np.int64,
    )
    both, number = np.unique(family * len(texts) + of_text, return_inverse=True)
    _write(folder, texts, both)
    number_of = np.zeros(len(is_used), np.int32)
    number_of[used] = number
    numbers: Names = number_of[pair]
    return numbers


def _write(folder: Path, texts: list[str], both: NDArray[np.int64]) -> None:
    count = max(1, len(texts))
    written = [texts[text].encode("utf-8", "replace") for text in (both % count).tolist()]
    write_column(folder, "name_family", (both // count).astype(np.uint8))
    write_column(folder, "name_begin", np.cumsum([0, *map(len, written)], dtype=np.int64))
    (folder / "names.bin").write_bytes(b"".join(written))
