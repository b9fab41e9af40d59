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
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.db.base import Base
    from backends.timeline.db.names import Names
    from backends.timeline.gather import Gather

    Numbers = NDArray[np.int64]


def add_flows(gather: Gather, source: Calls, target: Calls, kind: str) -> None:
    """From the rows of `source` to all rows of `target` with the same connection; startNs and connectionId of both."""
    _add(gather, kind, source, source["connectionId"], target, target["connectionId"])


def add_framework_flows(gather: Gather, base: Base, names: Names, calls: Calls, targets: Sequence[Calls]) -> None:
    """Of PYTORCH_API, whose connections are lists in CONNECTION_IDS: to the card, between queues, to the backward."""
    _, key, connection = column_of(base, "CONNECTION_IDS", "id", "connectionId")
    for queue in (False, True):
        own = calls.where(((calls["type"] == QUEUE) == queue) & (calls["connectionId"] != ABSENT))
        at, ends = _listed(own, key, connection)
        if queue:
            taken = _begins(names, ends["name"], "Dequeue")
            _add(gather, "async_task_queue", ends.where(~taken), at[~taken], ends.where(taken), at[taken])
        else:
            for target in targets:
                _add(gather, "async_npu", ends, at, target, target["connectionId"])
    _add_backward(gather, calls)


def _listed(calls: Calls, key: Numbers, connection: Numbers) -> tuple[Numbers, Calls]:
    """For each connection of each call: the connection, and the call."""
    order = np.argsort(key, kind="stable")
    first = np.searchsorted(key[order], calls["connectionId"], "left")
    count = np.searchsorted(key[order], calls["connectionId"], "right") - first
    call = np.repeat(np.arange(len(calls)), count)
    place = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(call))
    return connection[order][place], Calls(
        lane=calls.lane[call], columns={name: column[call] for name, column in calls.columns.items()}
    )


def _begins(names: Names, ids: Numbers, word: str) -> NDArray[np.bool_]:
    known, codes = coded(ids)
    return np.array([names.text(number).startswith(word) for number in known.tolist()], bool)[codes]


def _add_backward(gather: Gather, calls: Calls) -> None:
    """From the last forward call of a sequence number to its last backward call, as torch_npu draws it."""
    known = calls.where(calls["sequenceNumber"] >= 0)
    forward = known["fwdThreadId"] == 0
    backward = (known["fwdThreadId"] != 0) & (known["fwdThreadId"] != ABSENT)
    source, target = (_last(known.where(side)) for side in (forward, backward))
    _add(gather, "fwdbwd", source, source["sequenceNumber"], target, target["sequenceNumber"])


def _last(calls: Calls) -> Calls:
    """The latest call of each sequence number."""
    order = np.lexsort((calls["startNs"], calls["sequenceNumber"]))
    number = calls["sequenceNumber"][order]
    latest = order[np.append(number[1:] != number[:-1], True)] if len(order) else order
    return Calls(lane=calls.lane[latest], columns={name: column[latest] for name, column in calls.columns.items()})


def _add(gather: Gather, kind: str, source: Calls, left: Numbers, target: Calls, right: Numbers) -> None:
    """Ends of the keys that both sides have."""
    keys, place = coded(left)
    at = Lookup.of(keys).find(right)
    both = (at >= 0) & (right != ABSENT)
    if not both.any():
        return
    used = np.zeros(len(keys), bool)
    used[at[both]] = True
    number, base = gather.flow_kinds[kind], gather.next_key
    gather.next_key += len(keys)
    begins = used[place]
    _ends(gather, source.where(begins), base + place[begins], number, BEGIN)
    _ends(gather, target.where(both), base + at[both], number, END)


def _ends(gather: Gather, calls: Calls, keys: Numbers, kind: int, phase: int) -> None:
    count = len(calls)
    kinds, phases = np.full(count, kind, np.int32), np.full(count, phase, np.uint8)
    gather.ends.append((calls.lane, calls["startNs"], keys, kinds, phases))  # type: ignore[arg-type]
