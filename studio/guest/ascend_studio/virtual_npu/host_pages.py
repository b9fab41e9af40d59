"""Pages of the host's memory that nothing of a card lies in any more."""

from __future__ import annotations

import ctypes
import mmap

DONT_NEED = 4  # MADV_DONTNEED of Linux
LEAST = 1 << 20  # bytes that are worth a call


def give_back(address: int, size: int) -> None:
    """Give the whole pages of a range back to the system; they are there again, as zeros, when they are next used."""
    first = -(-address // mmap.PAGESIZE) * mmap.PAGESIZE
    length = (address + size - first) // mmap.PAGESIZE * mmap.PAGESIZE
    if length >= LEAST:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(length), DONT_NEED)
