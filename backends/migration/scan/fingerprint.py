"""What makes a finding the same one in another scan, whatever moved around it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.found import Found


def fingerprints(found: Iterable[Found]) -> tuple[str, ...]:
    """One for each, in their order: of rule, file, text without its spaces, and which one of several equal ones it is.
    Neither line nor cell is part of it. The findings must be all of a scan, in its order."""
    met: Counter[str] = Counter()
    made = []
    for one in found:
        whole = "\0".join((one.kind, one.rule, one.path, "".join(one.text.split()), one.name))
        met[whole] += 1
        octets = f"{whole}\0{met[whole]}".encode("utf-8", "surrogatepass")
        made.append(hashlib.blake2b(octets, digest_size=10).hexdigest())
    return tuple(made)
