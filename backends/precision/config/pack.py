"""A pack: the zip that says what one rank of a training began with. It may have come by mail: names, sizes and
contents are checked before anything of it is used, and nothing of it is unpacked."""

from __future__ import annotations

import re
import zipfile
import zlib
from typing import TYPE_CHECKING, Any

import msgspec

from studio import environment
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from pathlib import Path

MAX_MEMBERS = 20_000
LARGEST_MEMBER = 256_000_000
MAX_UNPACKED_BYTES = 1_000_000_000
SMALL = 1_000_000
MAX_COMPRESSION = 300
"""Bytes that may come out of one, in members that are not small: such tables of numbers give 5 to 20."""

ENV, PIP, OWN = "env", "pip", "studio.json"
_MEMBERS = re.compile(
    r"env|pip|studio\.json|hyperparameters/[\w.-]{1,100}\.json|random/rank\d{1,6}\.json"
    r"|(dataset/step\d{1,9}/rank\d{1,6}/dataset|weights/step\d{1,9}/rank\d{1,6}/weight"
    r"|buffers/step\d{1,9}/rank\d{1,6}/buffer)\.json"
)
_RANK = re.compile(r"rank(\d{1,6})")


class Own(msgspec.Struct, frozen=True, kw_only=True):
    """studio.json, as ascend_studio.config_facts writes it."""

    framework: str = ""
    reason: str = ""
    rank: int = 0
    world: int = 1
    python: str = ""
    seeds: dict[str, Any] = {}
    determinism: dict[str, Any] = {}
    versions: dict[str, Any] = {}
    devices: tuple[str, ...] = ()
    threads: dict[str, Any] = {}


class Pack(msgspec.Struct, frozen=True, kw_only=True):
    """`own`: None in a pack that msprobe made alone. `packages`: name to version. `members`: of msprobe's part,
    and our buffers."""

    path: str
    rank: int
    own: Own | None
    env: dict[str, str] | None
    packages: dict[str, str] | None
    members: dict[str, bytes]


def read_pack(path: Path) -> Pack:
    """Raises StudioError where it is no pack, is damaged or too large, or names a place outside of itself."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive, path)
    except OSError as error:
        raise from_os(error, path) from error
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, EOFError, ValueError) as error:
        raise StudioError("precision.config.no_pack", path=str(path), reason=str(error)[:200]) from error
    return _pack(path, members)


def _members(archive: zipfile.ZipFile, path: Path) -> dict[str, bytes]:
    listed = archive.infolist()
    if len(listed) > MAX_MEMBERS:
        raise StudioError("precision.config.too_many_members", path=str(path), count=len(listed))
    for member in listed:
        if member.filename.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", member.filename):
            raise StudioError("precision.config.outside", path=str(path), member=ascii(member.filename[:200]))
    usable = [member for member in listed if _MEMBERS.fullmatch(member.filename)]
    for member in usable:
        if member.file_size > LARGEST_MEMBER or member.file_size > max(SMALL, MAX_COMPRESSION * member.compress_size):
            raise StudioError("precision.config.bomb", path=str(path), member=ascii(member.filename[:200]))
    if sum(member.file_size for member in usable) > MAX_UNPACKED_BYTES:
        raise StudioError("precision.config.bomb", path=str(path), member="*")
    return {member.filename: archive.read(member) for member in usable}


def _pack(path: Path, members: dict[str, bytes]) -> Pack:
    if not members:
        raise StudioError("precision.config.no_pack", path=str(path), reason="–")
    own = _json(members.pop(OWN, None), Own, path)
    env = _json(members.pop(ENV, None), dict[str, str], path)
    pip = members.pop(PIP, None)
    named = _RANK.search(path.name)
    return Pack(
        path=str(path), own=own, members=members, packages=None if pip is None else _packages(pip),
        rank=own.rank if own is not None else int(named[1]) if named else 0,
        env=None if env is None else {name: value for name, value in env.items() if not environment.is_secret(name)},
    )  # fmt: skip


def _json(data: bytes | None, kind: Any, path: Path) -> Any:
    if data is None:
        return None
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StudioError("precision.config.no_pack", path=str(path), reason=str(error)[:200]) from error


def _packages(data: bytes) -> dict[str, str]:
    """Lines "name=version", as msprobe writes them."""
    pairs = (line.partition("=") for line in data.decode("utf-8", "replace").splitlines())
    return {name.strip(): version.strip() for name, _, version in pairs if name.strip()}
