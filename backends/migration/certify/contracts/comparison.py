"""Two contracts side by side, topic by topic: the first thing that differs, with its line. Pure functions."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Literal, TypeAlias

from backends.migration.certify.certificate import Check, Reason
from backends.migration.certify.contracts.topics import DEVICE_TOPICS, TOPICS, UNSEEN, comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from backends.migration.certify.certificate import CheckName
    from backends.migration.certify.contracts.record import Contract, Entry
    from backends.migration.certify.contracts.topics import Order

    Locate: TypeAlias = Callable[[str, int], tuple[str, int]]
    """From a line of the original to the one that stands there in the migrated project."""

Kind = Literal["missing", "added", "differs", "count"]
DIFFERENCES: dict[Kind, str] = {
    "missing": "migration.certify.contract.missing",
    "added": "migration.certify.contract.added",
    "differs": "migration.certify.contract.differs",
    "count": "migration.certify.contract.count",
}
_PLACE = re.compile(r"(.*): (\d+) tensors on (.*)")
_SEED = re.compile(r"(\w+) (.*)")
_MAX_TEXT = 240


def compare_contracts(
    original: Sequence[Contract], migrated: Sequence[Contract], on_device: Sequence[Contract], locate: Locate
) -> tuple[Check, ...]:
    """Return a check for each group of topics. `migrated`: of the rehearsal whose numbers are compared to the bit;
    `on_device`: of the one whose tensors are on a device of their own, which may be the same."""
    if not original or not migrated or not on_device:
        reason = Reason(key="migration.certify.contract.no_contract")
        return tuple(Check(name=name, state="not_run", reason=reason) for name in TOPICS)
    if (ranks := _differing_ranks(original, migrated)) is not None:
        return tuple(_without_ranks(name, ranks) for name in TOPICS)
    return tuple(_check(name, original, migrated, on_device, locate) for name in TOPICS)


def _differing_ranks(original: Sequence[Contract], migrated: Sequence[Contract]) -> Reason | None:
    before, after = ([contract.rank for contract in contracts] for contracts in (original, migrated))
    if before == after:
        return None
    return Reason(key="migration.certify.contract.ranks", args={"original": len(before), "migrated": len(after)})


def _without_ranks(name: CheckName, reason: Reason) -> Check:
    return Check(name=name, state="fail" if name == "groups" else "not_run", reason=reason)


def _check(
    name: CheckName,
    original: Sequence[Contract],
    migrated: Sequence[Contract],
    on_device: Sequence[Contract],
    locate: Locate,
) -> Check:
    total = 0
    for before, numbers, device in zip(original, migrated, on_device, strict=False):
        for topic, order in TOPICS[name].items():
            after = device if topic in DEVICE_TOPICS else numbers
            first, second = _entries(before, topic), _entries(after, topic)
            total += len(first) + len(second)
            difference = compare_topic(first, second, order, is_first=before.rank == 0)
            if difference is None and before.rests.get(topic) != after.rests.get(topic) and before.rank == 0:
                difference = ("differs", first[-1], second[-1])
            if difference is not None:
                return _failed(name, *difference, locate)
        if name == "devices" and (lost := _lost_place(before, device)) is not None:
            return _failed(name, "differs" if lost[1] else "missing", *lost, locate)
    if not total:
        return Check(name=name, state="not_run", reason=Reason(key=UNSEEN[name]))
    return Check(name=name, state="pass", reason=Reason(key="migration.certify.contract.equal", args={"count": total}))


def _entries(contract: Contract, topic: str) -> tuple[Entry, ...]:
    entries = contract.entries(topic)
    return _independent_seeds(entries) if topic == "seeds" else entries


def _independent_seeds(entries: tuple[Entry, ...]) -> tuple[Entry, ...]:
    """Leave out seeds of cards that torch.manual_seed gives them anyway."""
    seeds = [(match[1], match[2]) if (match := _SEED.match(entry.text)) else ("", "") for entry in entries]
    of_host = {value for generator, value in seeds if generator == "torch"}
    return tuple(
        entry
        for entry, (generator, value) in zip(entries, seeds, strict=True)
        if generator not in ("cuda", "npu") or value not in of_host
    )


def compare_topic(
    first: Sequence[Entry], second: Sequence[Entry], order: Order, *, is_first: bool = True
) -> tuple[Kind, Entry | None, Entry | None] | None:
    """Return what differs first. `is_first`: of the first process all counts; when that is done the others are
    stopped, perhaps a step earlier or later, so of those only what both did counts."""
    if order == "sequence":
        return _compare_sequences(_flat(first), _flat(second), is_first=is_first)
    before = {comparable(entry.text): entry for entry in first}
    after = {comparable(entry.text): entry for entry in second}
    lost = next((entry for text, entry in before.items() if text not in after), None)
    new = next((entry for text, entry in after.items() if text not in before), None)
    if lost is not None or new is not None:
        return "differs" if lost and new else "missing" if lost else "added", lost, new
    if order == "counted" and is_first:
        unequal = next((text for text, entry in before.items() if entry.count != after[text].count), None)
        if unequal is not None:
            return "count", before[unequal], after[unequal]
    return None


def _flat(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries for _ in range(min(entry.count, 10_000))]


def _compare_sequences(
    first: Sequence[Entry], second: Sequence[Entry], *, is_first: bool
) -> tuple[Kind, Entry | None, Entry | None] | None:
    for index, (before, after) in enumerate(zip(first, second, strict=False)):
        if comparable(before.text) != comparable(after.text):
            return _kind_of_difference(first[index:], second[index:]), before, after
    if len(first) == len(second) or not is_first:
        return None
    if len(first) > len(second):
        return "missing", first[len(second)], None
    return "added", None, second[len(first)]


def _kind_of_difference(first: Sequence[Entry], second: Sequence[Entry]) -> Kind:
    """A text that one side has more often was left out or put in; where both have such, one took the other's place."""
    before, after = (Counter(comparable(entry.text) for entry in entries) for entries in (first, second))
    lost, new = comparable(first[0].text), comparable(second[0].text)
    is_lost, is_new = before[lost] > after[lost], after[new] > before[new]
    return "missing" if is_lost and not is_new else "added" if is_new and not is_lost else "differs"


def _lost_place(before: Contract, after: Contract) -> tuple[Entry, Entry | None] | None:
    """Return parameters that the original puts on a card, and that are elsewhere in the migrated project. Where the
    original's place is not known, nothing is said."""
    actual = {_place(entry): int(match[2]) for entry in after.entries("places") if (match := _PLACE.match(entry.text))}
    for entry in before.entries("places"):
        match = _PLACE.match(entry.text)
        if match and actual and actual.get(_place(entry), 0) < int(match[2]):
            head = match[1]
            other = (
                one for one in after.entries("places") if one.text.startswith(head) and _place(one) != _place(entry)
            )
            return entry, next(other, None)
    return None


def _place(entry: Entry) -> tuple[str, str]:
    match = _PLACE.match(comparable(entry.text))
    return (match[1], match[3]) if match else ("", "")


def _failed(name: CheckName, kind: Kind, before: Entry | None, after: Entry | None, locate: Locate) -> Check:
    args: dict[str, object] = {}
    if before is not None and kind != "added":
        args["original"] = before.text[:_MAX_TEXT]
        args["origin"] = f"{before.path}:{before.line}" if before.path else ""
    if after is not None and kind != "missing":
        args["migrated"] = after.text[:_MAX_TEXT]
    if kind == "count" and before is not None and after is not None:
        args |= {"times": before.count, "migrated_times": after.count}
    cause = after if kind != "missing" or before is None else None
    path, line = (cause.path, cause.line) if cause else locate(before.path, before.line) if before else ("", 0)
    return Check(
        name=name,
        state="fail",
        reason=Reason(key=DIFFERENCES[kind], args=args),
        path=path,
        line=line,
    )
