"""A pause of Python's garbage collector, for work that makes millions of objects and few reference cycles: searching
for cycles would double its time.
"""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def gc_paused() -> Iterator[None]:
    """Pause the collector; afterwards it works again only where it did before, since the window keeps it off
    (`ui.shell.garbage`).
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
