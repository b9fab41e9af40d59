"""Flows, matched by the connections that rows share; kinds are named as in the text export. A connection with a single
end in the database is not a flow: most rows have such a connection."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from backends.timeline.db.cells import ABSENT
from backends.timeline.db.host import QUEUE, Calls
from backends.timeline.db.lookup import Lookup, coded
from backends.timeline.db.row_blocks import read_columns
from backends.timeline.gathering import BEGIN, END

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from backends.timeline.db.database import Database
    from backends.timeline.db.names import Names
    from backends.timeline.gathering import Gathering

    Numbers = NDArray[np.int64]


class ConnectionFlow:
    """Flows of one kind, from calls to everything with the same key. Nothing is added before both ends are known."""

    def __init__(self, gather: Gathering, kind: str, source: Calls, keys: Numbers) -> None:
        has_key = keys != ABSENT
        self._gather, self._kind = gather, kind
        self._source = source if has_key.all() else source.where(has_key)
        self._keys, self._key_at = coded(keys[has_key])
        self._lookup = Lookup.of(self._keys)
        self._used = np.zeros(len(self._keys), bool)
        self._base = gather.next_key
        gather.next_key += len(self._keys)

    def to(self, lane: NDArray[np.int32], start: Numbers, keys: Numbers) -> None:
        """Add the ends at these times in these lanes."""
        if not len(self._keys):
            return
        at = self._lookup.find(keys)
        both = np.flatnonzero(at >= 0)
        if len(both):
            self._used[at[both]] = True
            self._add(lane[both], start[both], at[both], END)

    def close(self) -> None:
        """Add the begins, once all ends are known."""
        begins = np.flatnonzero(self._used[self._key_at])
        if len(begins):
            source = self._source
            self._add(source.lane[begins], source["startNs"][begins], self._key_at[begins], BEGIN)

    def _add(self, lane: NDArray[np.int32], time: Numbers, key_at: Numbers, phase: int) -> None:
        kinds = np.full(len(lane), self._gather.flow_kinds[self._kind], np.int32)
        phases = np.full(len(lane), phase, np.uint8)
        self._gather.ends.append((lane, time, key_at + self._base, kinds, phases))  # type: ignore[arg-type]


def flows_to_devices(
    base: Database, gather: Gathering, cann: Calls, marks: Calls, framework: Calls
) -> tuple[ConnectionFlow, ...]:
    """Return the flows that end at tasks and communication operators: from CANN, from marks, and from PyTorch, whose
    connections are listed in CONNECTION_IDS."""
    listed = framework.where(framework["type"] != QUEUE)
    connection, ends = _listed(base, listed)
    return (
        ConnectionFlow(gather, "HostToDevice", cann, cann["connectionId"]),
        ConnectionFlow(gather, "MsTx", marks, marks["connectionId"]),
        ConnectionFlow(gather, "async_npu", ends, connection),
    )


def add_host_flows(base: Database, gather: Gathering, names: Names, framework: Calls) -> None:
    """Add the flows from enqueue to dequeue, and from forward to backward."""
    connection, ends = _listed(base, framework.where(framework["type"] == QUEUE))
    is_dequeue = _begins(names, ends["name"], "Dequeue")
    _join(
        gather,
        "async_task_queue",
        ends.where(~is_dequeue),
        connection[~is_dequeue],
        ends.where(is_dequeue),
        connection[is_dequeue],
    )
    sequenced = framework.where(framework["sequenceNumber"] >= 0)
    forward = sequenced["fwdThreadId"] == 0
    backward = (sequenced["fwdThreadId"] != 0) & (sequenced["fwdThreadId"] != ABSENT)
    source, target = (_last(sequenced.where(side)) for side in (forward, backward))
    _join(gather, "fwdbwd", source, source["sequenceNumber"], target, target["sequenceNumber"])


def _join(gather: Gathering, kind: str, source: Calls, left: Numbers, target: Calls, right: Numbers) -> None:
    flow = ConnectionFlow(gather, kind, source, left)
    flow.to(target.lane, target["startNs"], right)
    flow.close()


def _listed(base: Database, calls: Calls) -> tuple[Numbers, Calls]:
    """Return each connection of each call, with its call."""
    calls = calls.where(calls["connectionId"] != ABSENT)
    _, key, connection = read_columns(base, "CONNECTION_IDS", "id", "connectionId")
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], calls["connectionId"], "left")
    count = np.searchsorted(key[order], calls["connectionId"], "right") - first
    call = np.repeat(np.arange(len(calls)), count)
    position = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(call))
    return connection[order][position], calls.where(call)


def _begins(names: Names, ids: Numbers, word: str) -> NDArray[np.bool_]:
    name_ids, codes = coded(ids)
    return np.array([names.text(number).startswith(word) for number in name_ids.tolist()], bool)[codes]


def _last(calls: Calls) -> Calls:
    """Return the latest call of each sequence number, as torch_npu draws it."""
    order = np.lexsort((calls["startNs"], calls["sequenceNumber"]))
    number = calls["sequenceNumber"][order]
    return calls.where(order[np.append(number[1:] != number[:-1], True)] if len(order) else order)
