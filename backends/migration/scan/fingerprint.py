"""Fingerprints: the identity of a finding across scans, whatever moved around it."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.migration.finding import ScanFinding


def fingerprints(findings: Iterable[ScanFinding]) -> tuple[str, ...]:
    """One for each, in their order: of rule, file, text without its spaces, and which one of several equal ones it is.
    Neither line nor cell is part of it. The findings must be all of a scan, in its order."""
    occurrences: Counter[str] = Counter()
    prints = []
    for finding in findings:
        content = "\0".join((finding.kind, finding.rule, finding.path, "".join(finding.text.split()), finding.name))
        occurrences[content] += 1
        identity = f"{content}\0{occurrences[content]}".encode("utf-8", "surrogatepass")
        prints.append(hashlib.blake2b(identity, digest_size=10).hexdigest())
    return tuple(prints)
