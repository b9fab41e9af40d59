"""Preview, in the worker: search, keep the answer, tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.preview.answer import FILE, GB, Answer, Said, answer, rows, seconds, sent, size
from backends.launch.preview.parts import GIB
from studio import files
from studio.events import Artifact, Ended, Event, Finding, Journal, Metric, Note, Number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.preview.search import Estimate
    from backends.launch.preview.spec import PreviewSpec
    from studio.run import Run

NOTHING = 3  # done, and the answer is no


def preview(spec: PreviewSpec, run: Run) -> Ended:
    """Leaves artifacts/preview.json, and the same as a table in output.log."""
    found = answer(spec)
    files.write_json(run.folder / FILE, found)
    files.write_whole(run.log, "\n".join((*table(found), "")).encode())
    Journal(run.folder, 1).write(*_events(found))
    return Ended(code=0) if found.splits else Ended(code=NOTHING, reason="no")


def _events(found: Answer) -> Iterator[Event]:
    yield Artifact(kind="preview", path=FILE)
    for said in (*found.before, *rows(found), *found.after):
        yield _event(said)
    if found.splits:
        yield Metric(step=0, values=_values(found.splits[0]))


def _event(said: Said) -> Event:
    if said.is_warning:
        return Finding(rule=said.key, severity="warning", args=dict(said.args))
    return Note(key=said.key, args=dict(said.args))


def _values(best: Estimate) -> dict[str, Number]:
    """What --json tells of the best split; the time only where it is known."""
    split = best.split
    values: dict[str, Number] = {
        "data": split.data, "tensor": split.tensor, "pipeline": split.pipeline, "sharded": int(split.sharded),
        "memory_gib": best.octets / GIB, "sent_gb": best.traffic.total / GB, "bubble": best.bubble,
    }  # fmt: skip
    return values if best.seconds is None else {**values, "seconds": best.seconds}


HEADS = (
    "data", "tensor", "pipeline", "sharded", "time", "memory", "weights", "gradients", "optimizer", "activations",
    "sent", "by data", "by tensor", "by pipeline", "bubble",
)  # fmt: skip


def table(found: Answer) -> list[str]:
    """The splits for a log, which has no language: its words are those of --json."""
    lines = [HEADS, *(_cells(one) for one in found.splits)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADS))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]


def _cells(one: Estimate) -> tuple[str, ...]:
    split, memory, traffic = one.split, one.memory, one.traffic
    sizes = (one.octets, memory.parameters, memory.gradients, memory.optimizer, memory.activations)
    sends = (traffic.total, traffic.data, traffic.tensor, traffic.pipeline)
    return (
        *(str(number) for number in (split.data, split.tensor, split.pipeline)),
        "yes" if split.sharded else "no",
        seconds(one.seconds),
        *map(size, sizes),
        *map(sent, sends),
        f"{100 * one.bubble:.1f} %",
    )
