"""The checks of a certificate by their state: what refuses it first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.certify.certificate import Check, CheckState

GROUP_TEXTS: dict[CheckState, str] = {
    "fail": "migration.proof.group_fail",
    "pass": "migration.proof.group_pass",
    "not_run": "migration.proof.group_not_run",
    "no_card": "migration.proof.group_no_card",
}


def grouped_checks(checks: Sequence[Check]) -> Iterator[tuple[CheckState, list[Check]]]:
    """Yield each state that any check has, with its checks."""
    for state in GROUP_TEXTS:
        listed = [check for check in checks if check.state == state]
        if listed:
            yield state, listed
