"""What the virtual NPU says where a card refuses, against the library in the wheel."""

from __future__ import annotations

import mmap
import zipfile
from pathlib import Path

import pytest
from ascend_studio.virtual_npu import dtype_rules, memory

LIBRARY = "torch_npu/lib/libtorch_npu.so"


@pytest.fixture(scope="module")
def library(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    with zipfile.ZipFile(wheel) as opened:
        return Path(opened.extract(LIBRARY, folder))


def holds(path: Path, words: str) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(words.encode()) >= 0


PADDED = "The current CANN and Soc versions require processing for 32 padding size, with memory allocation."


@pytest.mark.parametrize("words", [*dtype_rules.REFUSED.values(), dtype_rules.REPLACED, PADDED])
def test_that_each_sentence_stands_in_the_library(library: Path, words: str) -> None:
    assert holds(library, words)


def test_that_a_full_card_says_what_the_library_says(library: Path) -> None:
    """The library has the sentence in pieces, between which it puts sizes."""
    pieces = [piece.strip(" ;") for piece in memory.OUT_OF_MEMORY.replace("%d", "%s").split("%s")]
    last = [word.strip() for word in pieces.pop().partition("If reserved")]
    pieces += [last[0], last[1] + " " + last[2]]
    assert [piece for piece in pieces if piece and not holds(library, piece)] == []
