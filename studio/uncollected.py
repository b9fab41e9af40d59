"""Work that makes millions of objects and hardly a ring of them: looking for rings would double its time."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def uncollected() -> Iterator[None]:
    """Python's collector rests meanwhile, and works on afterwards only where it did before: in a window it never may
    (`ui.garbage`)."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
