"""Flows, by the connections that rows share; kinds are named as in the text export. A connection of which only one end
is in the database is no flow: most rows have a connection that nothing else has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.host import QUEUE, Calls
from backends.timeline.db.lookup import Lookup, coded
from backends.timeline.db.rows import column_of
from backends.timeline.gather import BEGIN, END

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.db.base import Base
    from backends.timeline.db.names import Names
    from backends.timeline.gather import Gather

    Numbers = NDArray[np.int64]


class Flow:
    """Flows of one kind, from calls to all that have the same key. Nothing is added before it has both ends."""

    def __init__(self, gather: Gather, kind: str, source: Calls, keys: Numbers) -> None:
        known = keys != ABSENT
        self._gather, self._kind = gather, kind
        self._source = source if known.all() else source.where(known)
        self._keys, self._place = coded(keys[known])
        self._lookup = Lookup.of(self._keys)
        self._used = np.zeros(len(self._keys), bool)
        self._base = gather.next_key
        gather.next_key += len(self._keys)

    def to(self, lane: NDArray[np.int32], start: Numbers, keys: Numbers) -> None:
        """Adds the ends at these times in these lanes."""
        if not len(self._keys):
            return
        at = self._lookup.find(keys)
        both = np.flatnonzero(at >= 0)
        if len(both):
            self._used[at[both]] = True
            self._add(lane[both], start[both], at[both], END)

    def close(self) -> None:
        """Adds the begins, when all ends are known."""
        begins = np.flatnonzero(self._used[self._place])
        if len(begins):
            source = self._source
            self._add(source.lane[begins], source["startNs"][begins], self._place[begins], BEGIN)

    def _add(self, lane: NDArray[np.int32], time: Numbers, place: Numbers, phase: int) -> None:
        kinds = np.full(len(lane), self._gather.flow_kinds[self._kind], np.int32)
        phases = np.full(len(lane), phase, np.uint8)
        self._gather.ends.append((lane, time, place + self._base, kinds, phases))  # type: ignore[arg-type]


def flows_to_cards(base: Base, gather: Gather, cann: Calls, marks: Calls, framework: Calls) -> tuple[Flow, ...]:
    """Those that end at tasks and communications: from CANN, from marks, and from PyTorch, whose connections are lists
    in CONNECTION_IDS."""
    listed = framework.where(framework["type"] != QUEUE)
    connection, ends = _listed(base, listed)
    return (
        Flow(gather, "HostToDevice", cann, cann["connectionId"]),
        Flow(gather, "MsTx", marks, marks["connectionId"]),
        Flow(gather, "async_npu", ends, connection),
    )


def add_host_flows(base: Base, gather: Gather, names: Names, framework: Calls) -> None:
    """From enqueue to dequeue, and from forward to backward."""
    connection, ends = _listed(base, framework.where(framework["type"] == QUEUE))
    taken = _begins(names, ends["name"], "Dequeue")
    _join(gather, "async_task_queue", ends.where(~taken), connection[~taken], ends.where(taken), connection[taken])
    known = framework.where(framework["sequenceNumber"] >= 0)
    forward = known["fwdThreadId"] == 0
    backward = (known["fwdThreadId"] != 0) & (known["fwdThreadId"] != ABSENT)
    source, target = (_last(known.where(side)) for side in (forward, backward))
    _join(gather, "fwdbwd", source, source["sequenceNumber"], target, target["sequenceNumber"])


def _join(gather: Gather, kind: str, source: Calls, left: Numbers, target: Calls, right: Numbers) -> None:
    flow = Flow(gather, kind, source, left)
    flow.to(target.lane, target["startNs"], right)
    flow.close()


def _listed(base: Base, calls: Calls) -> tuple[Numbers, Calls]:
    """For each connection of each call: the connection, and the call."""
    calls = calls.where(calls["connectionId"] != ABSENT)
    _, key, connection = column_of(base, "CONNECTION_IDS", "id", "connectionId")
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], calls["connectionId"], "left")
    count = np.searchsorted(key[order], calls["connectionId"], "right") - first
    call = np.repeat(np.arange(len(calls)), count)
    place = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(call))
    return connection[order][place], calls.where(call)


def _begins(names: Names, ids: Numbers, word: str) -> NDArray[np.bool_]:
    known, codes = coded(ids)
    return np.array([names.text(number).startswith(word) for number in known.tolist()], bool)[codes]


def _last(calls: Calls) -> Calls:
    """The latest call of each sequence number, as torch_npu draws it."""
    order = np.lexsort((calls["startNs"], calls["sequenceNumber"]))
    number = calls["sequenceNumber"][order]
    return calls.where(order[np.append(number[1:] != number[:-1], True)] if len(order) else order)
