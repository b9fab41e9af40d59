"""Which hunks are applied, given a person's decisions and what hunks require of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate.changes import Decisions

if TYPE_CHECKING:
    from backends.migration.migrate.changes import Changes, Hunk

NO_DECISIONS = Decisions()


def accepted_hunks(changes: Changes, decisions: Decisions = NO_DECISIONS) -> tuple[Hunk, ...]:
    """Return the hunks to apply, by file and line. A group is applied as a whole or not at all; a prelude, and the
    module that it imports, is applied only where another hunk needs it."""
    hunks = {hunk.id: hunk for hunk in changes.hunks()}
    chosen = {hunk.id for hunk in hunks.values() if _is_accepted(hunk, decisions)}
    refused = {hunk.group for hunk in hunks.values() if hunk.group and hunk.id not in chosen and hunk.state == "ready"}
    chosen = {id for id in chosen if hunks[id].group not in refused}
    while missing := {id for id in chosen if not chosen.issuperset(hunks[id].needs)}:
        chosen -= missing
    if changes.style == "explicit":
        all_needs = {need for hunk in hunks.values() for need in hunk.needs}
        while unneeded := chosen & (all_needs - {need for id in chosen for need in hunks[id].needs}):
            chosen -= unneeded
    return tuple(hunk for hunk in hunks.values() if hunk.id in chosen)


def reject_unlisted(changes: Changes, decisions: Decisions) -> Decisions:
    """Reject what nobody accepted by name: a file may have changed since somebody read its hunks."""
    listed = {*decisions.accept, *decisions.edited}
    unread = (hunk.id for hunk in changes.hunks() if hunk.id not in listed)
    return msgspec.structs.replace(decisions, reject=(*decisions.reject, *unread))


def files_changed_since(changes: Changes, decisions: Decisions) -> tuple[str, ...]:
    """Return the files that differ from those decided on, and those that have an edit only now."""
    now = {file.path: file.digest for file in changes.files if any(hunk.state != "yours" for hunk in file.hunks)}
    if not decisions.digests:
        return ()
    return tuple(
        sorted(path for path in now.keys() | decisions.digests.keys() if now.get(path) != decisions.digests.get(path))
    )


def _is_accepted(hunk: Hunk, decisions: Decisions) -> bool:
    if hunk.id in decisions.reject:
        return False
    if hunk.id in decisions.edited:
        return True
    return hunk.state == "ready" or (hunk.state == "offered" and hunk.id in decisions.accept)
