"""Which projects may run their code. Kept under XDG_CONFIG_HOME: a project cannot trust itself.

Trust is of a folder as it was: its path, its device and inode, its owner. Another folder at the path is asked about
again, and so is the same folder at another path.
"""

from __future__ import annotations

import grp
import os
import stat
from typing import TYPE_CHECKING

import msgspec

from studio import files, paths

if TYPE_CHECKING:
    from pathlib import Path


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder was when the user answered."""

    path: str
    device: int
    inode: int
    owner: int


class _Answers(msgspec.Struct, frozen=True, kw_only=True):
    """The content of trust.json. `trusted` and `shared` hold folders to which the user said yes, `private` those that
    others may read, to which the user said no: see `is_sharing_open`."""

    trusted: tuple[Identity, ...] = ()
    shared: tuple[Identity, ...] = ()
    private: tuple[Identity, ...] = ()


def identity_of(folder: Path) -> Identity | None:
    """Return what a folder is now; None where there is none. Symbolic links are followed: no link borrows trust."""
    real = os.path.realpath(folder)
    try:
        state = os.stat(real)  # noqa: PTH116 - as often as the project is drawn
    except OSError:
        return None
    return Identity(path=real, device=state.st_dev, inode=state.st_ino, owner=state.st_uid)


def is_trusted(folder: Path) -> bool:
    """Return whether the user trusted exactly this folder."""
    return identity_of(folder) in _answers().trusted


def set_trust(folder: Path, trusted: bool) -> None:
    """Save the user's answer. Raises OSError."""
    answers = _answers()
    _save(msgspec.structs.replace(answers, trusted=_with(answers.trusted, folder, trusted)))


def is_shared(folder: Path) -> bool:
    """Return whether the user agreed that the group of a project reads its runs."""
    return identity_of(folder) in _answers().shared


def is_sharing_open(folder: Path) -> bool:
    """Return whether a project's mode lets its group write, so that the user is to be asked once whether the group may
    read its runs, too."""
    answers, identity = _answers(), identity_of(folder)
    return not (identity in answers.shared or identity in answers.private) and is_writable_by_group(folder)


def is_writable_by_group(folder: Path) -> bool:
    """Return whether a folder's mode lets its group write; False where there is no folder."""
    try:
        return bool(folder.stat().st_mode & stat.S_IWGRP)
    except OSError:
        return False


def group_of(folder: Path) -> str:
    """Return the name of a folder's group, its number where it has none, and "" where there is no folder."""
    try:
        number = folder.stat().st_gid
    except OSError:
        return ""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def set_sharing(folder: Path, shared: bool) -> None:
    """Save the user's answer. Raises OSError."""
    answers = _answers()
    _save(
        msgspec.structs.replace(
            answers,
            shared=_with(answers.shared, folder, shared),
            private=_with(answers.private, folder, not shared),
        )
    )


def _with(identities: tuple[Identity, ...], folder: Path, is_in: bool) -> tuple[Identity, ...]:
    identity = identity_of(folder)
    others = tuple(entry for entry in identities if entry.path != os.path.realpath(folder))
    return (*others, identity) if is_in and identity else others


def _file() -> Path:
    return paths.config_home() / "trust.json"


def _answers() -> _Answers:
    """Return the answers; those of an earlier studio, which knew only paths, are asked for again."""
    return files.read_as(_file(), _Answers) or _Answers()


def _save(answers: _Answers) -> None:
    _file().parent.mkdir(parents=True, exist_ok=True)
    files.write_json(_file(), answers, files.OWN)
