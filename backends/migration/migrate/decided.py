"""Which hunks are in, after what a person said and what the hunks need of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate.changes import Decisions

if TYPE_CHECKING:
    from backends.migration.migrate.changes import Changes, Hunk

NOTHING_SAID = Decisions()


def decided(changes: Changes, decisions: Decisions = NOTHING_SAID) -> tuple[Hunk, ...]:
    """The hunks that are in, by file and line. Of a group all are, or none; a prelude is where something needs it."""
    hunks = {hunk.id: hunk for hunk in changes.hunks()}
    chosen = {one.id for one in hunks.values() if _is_in(one, decisions)}
    refused = {one.group for one in hunks.values() if one.group and one.id not in chosen and one.state == "ready"}
    chosen = {one for one in chosen if hunks[one].group not in refused}
    while missing := {one for one in chosen if not chosen.issuperset(hunks[one].needs)}:
        chosen -= missing
    if changes.style == "explicit":
        needed = {need for one in chosen for need in hunks[one].needs}
        chosen -= {need for one in hunks.values() for need in one.needs} - needed
    return tuple(one for one in hunks.values() if one.id in chosen)


def only_listed(changes: Changes, said: Decisions) -> Decisions:
    """Refuses what nobody accepted by name: a file may have changed since somebody read its hunks."""
    listed = {*said.accept, *said.edited}
    unread = (hunk.id for hunk in changes.hunks() if hunk.id not in listed)
    return msgspec.structs.replace(said, reject=(*said.reject, *unread))


def changed_since(changes: Changes, said: Decisions) -> tuple[str, ...]:
    """The files that are others than those that were decided on, and those that have an edit only now."""
    now = {file.path: file.digest for file in changes.files if any(hunk.state != "yours" for hunk in file.hunks)}
    if not said.digests:
        return ()
    return tuple(sorted(path for path in now.keys() | said.digests.keys() if now.get(path) != said.digests.get(path)))


def _is_in(hunk: Hunk, decisions: Decisions) -> bool:
    if hunk.id in decisions.reject:
        return False
    if hunk.id in decisions.edited:
        return True
    return hunk.state == "ready" or (hunk.state == "offered" and hunk.id in decisions.accept)
