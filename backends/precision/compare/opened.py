"""The dumps of a pass, opened: what is wrong with them is told, and what cannot be compared is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.precision.dump.read import read_dump
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.precision.dump.dump import Dump, Place
    from backends.precision.dump.pairs import Pair

    Told = Callable[..., None]

CUT_OFF = "precision.dump.damaged"


def opened(pair: Pair, note: Told) -> tuple[Dump, Dump]:
    """The target's and the golden side's dump. `note` takes the key and the arguments of what is to be told. Raises
    StudioError where the two cannot be compared."""
    assert pair.target is not None
    assert pair.golden is not None
    target, golden = (_read(place, note) for place in (pair.target, pair.golden))
    if target.framework and golden.framework and target.framework != golden.framework:
        raise StudioError("precision.compare.frameworks", target=target.framework, golden=golden.framework)
    for one, other in ((target, golden), (golden, target)):
        if one.task == "structure" != other.task:
            raise StudioError("precision.compare.structure_only", place=str(one.place.folder))
    return target, golden


def _read(place: Place, note: Told) -> Dump:
    dump = read_dump(place)
    if dump.damage:
        _tell_damage(dump, note)
    if not dump.calls or (not len(dump.call) and dump.task != "structure"):
        raise StudioError("precision.compare.empty", place=str(place.folder))
    return _writable(dump)


def _tell_damage(dump: Dump, note: Told) -> None:
    """Where only stack.json or construct.json is damaged, every call is there."""
    place = str(dump.place.folder)
    if dump.damage != CUT_OFF:
        note(dump.damage, place=place)
    elif dump.skipped:
        note("precision.compare.damaged_dump", place=place, skipped=dump.skipped)
    else:
        note("precision.compare.unclean_dump", place=place)


def _writable(dump: Dump) -> Dump:
    """Names of files and modules may hold half a character, which json escapes and no file can hold."""
    texts = (*dump.calls, *dump.item, *dump.value.values(), *(line for lines in dump.stack_lines for line in lines))
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return replace(
            dump, calls=tuple(map(_whole, dump.calls)), item=tuple(map(_whole, dump.item)),
            value={row: _whole(text) for row, text in dump.value.items()},
            stack_lines=tuple(tuple(map(_whole, lines)) for lines in dump.stack_lines),
        )  # fmt: skip
    return dump


def _whole(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
