"""The header of a .npy file, read as text: it is written like a dict of Python, which is not run.

Format: numpy/lib/_format_impl.py, versions 1 to 3.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.common.torch_container import Damaged

if TYPE_CHECKING:
    from typing import BinaryIO

MAGIC = b"\x93NUMPY"
MAX_HEADER_LENGTH = 1 << 16
FORM = re.compile(r"'descr': *'([<|>](?:[iu][1248]|f[248]|c(?:8|16)|b1))'")
ORDER = re.compile(r"'fortran_order': *(True|False)")
SHAPE = re.compile(r"'shape': *\(([\d, ]{0,2000})\)")


@dataclass(frozen=True, kw_only=True)
class Header:
    """`form`: such as "<f4", empty where the elements are no numbers; `begin`: where they begin in the file."""

    form: str
    shape: tuple[int, ...]
    is_fortran: bool
    begin: int


def read_header(file: BinaryIO) -> Header:
    """Raises Damaged."""
    text, begin = _text(file)
    form, order, shape = FORM.search(text), ORDER.search(text), SHAPE.search(text)
    if not order or not shape:
        raise Damaged
    lengths = tuple(int(length) for length in shape[1].replace(",", " ").split())
    return Header(form=form[1] if form else "", shape=lengths, is_fortran=order[1] == "True", begin=begin)


def _text(file: BinaryIO) -> tuple[str, int]:
    """The header, and where it ends."""
    file.seek(len(MAGIC))
    start = file.read(6)
    if len(start) < 6 or start[0] not in (1, 2, 3):
        raise Damaged
    length_size = 2 if start[0] == 1 else 4
    length = int.from_bytes(start[2 : 2 + length_size], "little")
    file.seek(len(MAGIC) + 2 + length_size)
    text = file.read(min(length, MAX_HEADER_LENGTH))
    if len(text) != length:
        raise Damaged
    return text.decode("latin-1"), file.tell()
