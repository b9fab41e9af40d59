"""The dumps that are compared: which steps and ranks, and the two dumps of each, read and fit to be compared."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.precision.compare.comparison import CHOSEN
from backends.precision.compare.spec import numbers_of, pairs_of
from backends.precision.dump.dump import CUT_OFF, STACK_DAMAGED
from backends.precision.dump.gaps import gaps, lacking_records
from backends.precision.dump.layout import find_dumps, refuse_several_captures
from backends.precision.dump.optimizer import OPTIMIZER, RecordPair
from backends.precision.dump.pairs import pair_dumps
from backends.precision.dump.read import read_dump
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from backends.precision.compare.spec import CompareSpec, Sides
    from backends.precision.dump.dump import Dump, DumpLocation
    from backends.precision.dump.pairs import DumpPair

    Notify = Callable[..., None]

MAX_NAMED = 20


def select_passes(spec: CompareSpec, notify: Notify) -> list[DumpPair]:
    """Return the steps and ranks that were chosen, also those that one side lacks. `notify` takes the key and the
    arguments of how they were paired. Raises StudioError where both sides have none of them, or where a side holds
    several captures."""
    choices = spec.compared
    steps, ranks = numbers_of(choices.step_numbers), numbers_of(choices.rank_numbers)
    sides = (find_dumps(spec.sides.target), find_dumps(spec.sides.golden))
    for side in sides:
        refuse_several_captures(side)
    pairs = pair_dumps(*sides, pairs_of(choices.pairs))
    candidates = [
        pair for pair in pairs if (not steps or pair.step in steps) and (not ranks or pair.rank in ranks)
    ]  # fmt: skip
    if not any(pair.target and pair.golden for pair in candidates):
        raise StudioError("precision.compare.nothing_common")
    _refuse_absent("precision.compare.no_such_steps", steps, {pair.step for pair in pairs})
    _refuse_absent("precision.compare.no_such_ranks", ranks, {pair.rank for pair in pairs})
    if any(_is_one_dump(pair) for pair in candidates):
        raise StudioError("precision.rule.same_dump")
    if not (ranks or choices.pairs):
        _notify_absent(zip((spec.sides.target, spec.sides.golden), sides, strict=True), steps, notify)
    if len(candidates) < len(pairs):
        notify(
            CHOSEN, count=len(candidates), total=len(pairs), steps=_named({pair.step for pair in candidates}),
            ranks=_named({pair.rank for pair in candidates}),
        )  # fmt: skip
    _notify_records(candidates, notify)
    for key in dict.fromkeys(pair.note for pair in candidates if pair.note):
        passes = [f"{pair.step}.{pair.rank}" for pair in candidates if pair.note == key]
        notify(key, count=len(passes), passes=", ".join(passes[:8]))
    return candidates


def _named(numbers: set[int]) -> str:
    return ", ".join(map(str, sorted(numbers)[:MAX_NAMED])) + (" …" if len(numbers) > MAX_NAMED else "")


def _refuse_absent(key: str, asked: frozenset[int], available: set[int]) -> None:
    """Raise StudioError where a number was asked for that neither side has: a comparison of the others would pass."""
    if absent := asked - available:
        raise StudioError(key, absent=_named(set(absent)), available=_named(available))


def _is_one_dump(pair: DumpPair) -> bool:
    """Return whether both sides of a pass are one file, also by another path."""
    target, golden = pair.target, pair.golden
    if target is None or golden is None:
        return False
    return (target.folder / target.file).resolve() == (golden.folder / golden.file).resolve()


def _notify_absent(sides: Iterable[tuple[Path, Sequence[DumpLocation]]], steps: frozenset[int], notify: Notify) -> None:
    """Name the steps and ranks that a side should hold and does not."""
    for top, locations in sides:
        chosen = [location for location in locations if not steps or (location.step or 0) in steps]
        if names := gaps(chosen, top, steps):
            notify("precision.compare.absent_dumps", place=str(top), names=", ".join(names[:8]))


def _notify_records(candidates: Sequence[DumpPair], notify: Notify) -> None:
    """Name the steps and ranks in which a side lacks the record of the optimizer that it has in others."""
    for side in ("target", "golden"):
        locations = [location for pair in candidates if (location := getattr(pair, side)) is not None]
        if without := lacking_records(locations):
            names = [f"{location.step}.{location.rank}" for location in without]
            notify("precision.compare.absent_records", place=str(without[0].folder), names=", ".join(names[:8]))


def second_golden_dumps(sides: Sides) -> dict[Path, DumpLocation]:
    """Return where the second golden run has the step and rank of each folder of the golden side."""
    if sides.golden_again == Path():
        return {}
    matched = pair_dumps(find_dumps(sides.golden), find_dumps(sides.golden_again))
    return {pair.target.folder: pair.golden for pair in matched if pair.target and pair.golden}


def open_dumps(pair: DumpPair, notify: Notify) -> tuple[Dump, Dump]:
    """Read the target's and the golden side's dump. `notify` takes the key and the arguments of what is wrong with
    them. Raises StudioError where the two cannot be compared."""
    assert pair.target is not None
    assert pair.golden is not None
    records = RecordPair(target=pair.target.folder, golden=pair.golden.folder)
    target, golden = (_open(location, records, notify) for location in (pair.target, pair.golden))
    if target.framework and golden.framework and target.framework != golden.framework:
        raise StudioError("precision.compare.frameworks", target=target.framework, golden=golden.framework)
    for dump, other in ((target, golden), (golden, target)):
        if dump.task == "structure" != other.task:
            raise StudioError("precision.compare.structure_only", place=str(dump.place.folder))
    _notify_stacks(target, golden, notify)
    return target, golden


def _notify_stacks(target: Dump, golden: Dump, notify: Notify) -> None:
    """Say where one side alone has call stacks; a damaged file of them was named already."""
    for dump, other in ((target, golden), (golden, target)):
        if other.stack_lines and not dump.stack_lines and dump.damage != STACK_DAMAGED:
            notify("precision.compare.no_stacks", place=str(dump.place.folder))


def _open(location: DumpLocation, records: RecordPair, notify: Notify) -> Dump:
    dump = read_dump(location, records)
    if dump.damage:
        _notify_damage(dump, notify)
    elif dump.skipped:
        notify("precision.compare.unread_values", place=str(location.folder), count=dump.skipped)
    _notify_updates(dump, notify)
    if not _has_calls(dump):
        raise StudioError("precision.compare.empty", place=str(location.folder))
    return _writable(dump)


def _has_calls(dump: Dump) -> bool:
    """Return whether there is anything but the record of the optimizer."""
    if dump.task == "structure":
        return bool(dump.calls)
    # Rows are in the order of the calls, and those of the optimizers come last.
    return len(dump.call) > 0 and not dump.calls[dump.call[0]].startswith(f"{OPTIMIZER}.")


def _notify_updates(dump: Dump, notify: Notify) -> None:
    """Say of which parameters the record of the optimizer has nothing, or does not say of how much it has."""
    updates, place = dump.updates, str(dump.place.folder)
    if updates.left_out:
        notify("precision.dump.optimizer_partial", place=place, count=updates.left_out, total=updates.parameters)
    if updates.unclear:
        notify("precision.dump.optimizer_unclear", place=place, count=updates.unclear, total=updates.parameters)


def _notify_damage(dump: Dump, notify: Notify) -> None:
    """Where only stack.json or construct.json is damaged, every call is there."""
    folder = str(dump.place.folder)
    if dump.damage != CUT_OFF:
        notify(dump.damage, place=folder)
    elif dump.skipped:
        notify("precision.compare.damaged_dump", place=folder, skipped=dump.skipped)
    elif dump.is_cut:
        notify("precision.compare.cut_dump", place=folder)
    else:
        notify("precision.compare.unclean_dump", place=folder)


def _writable(dump: Dump) -> Dump:
    """Names of files and modules may hold half a character, which json escapes and no file can hold."""
    texts = (*dump.calls, *dump.item, *dump.value.values(), *(line for lines in dump.stack_lines for line in lines))
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return replace(
            dump, calls=tuple(map(_encodable, dump.calls)), item=tuple(map(_encodable, dump.item)),
            value={row: _encodable(text) for row, text in dump.value.items()},
            stack_lines=tuple(tuple(map(_encodable, lines)) for lines in dump.stack_lines),
        )  # fmt: skip
    return dump


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
