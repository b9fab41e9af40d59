"""Whether a scan's answer is no."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.fingerprint import fingerprints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.found import Found
    from backends.migration.scan.overview import Overview

FROM_EASY_TO_HARD = ("auto", "edit", "unverified", "manual", "none")


def refused(fail_on: str, found: Sequence[Found], overview: Overview) -> bool:
    """Whether a place is in this state or a harder one; what is suppressed or in the baseline does not count."""
    if fail_on == "never":
        return False
    states = FROM_EASY_TO_HARD[FROM_EASY_TO_HARD.index(fail_on) :]
    new = None if overview.since is None else set(overview.since.new)
    return any(
        one.kind == "place" and one.state in states and mark not in overview.suppressed and (new is None or mark in new)
        for one, mark in zip(found, fingerprints(found), strict=True)
    )
