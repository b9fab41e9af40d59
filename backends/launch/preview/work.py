"""Preview, in the worker: search, keep the answer, tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.preview.answer import (
    FILE,
    GB,
    Answer,
    Message,
    preview_answer,
    seconds_text,
    sent_text,
    size_text,
    split_messages,
)
from backends.launch.preview.ascend_parts import GIB
from studio import files
from studio.events import Artifact, Ended, Event, Finding, Journal, Metric, Note, Number
from studio.exit_codes import NO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.preview.search import Estimate
    from backends.launch.preview.spec import PreviewSpec
    from studio.run import Run


def preview(spec: PreviewSpec, run: Run) -> Ended:
    """Leaves artifacts/preview.json, and the same as a table in output.log."""
    result = preview_answer(spec)
    files.write_json(run.folder / FILE, result)
    files.write_whole(run.log, "\n".join((*table_lines(result), "")).encode())
    Journal(run.folder, 1).write(*_events(result))
    return Ended(code=0) if result.splits else Ended(code=NO, reason="no")


def _events(answer: Answer) -> Iterator[Event]:
    yield Artifact(kind="preview", path=FILE)
    for message in (*answer.before, *split_messages(answer), *answer.after):
        yield _event(message)
    if answer.splits:
        yield Metric(step=0, values=_values(answer.splits[0]))


def _event(message: Message) -> Event:
    if message.is_warning:
        return Finding(rule=message.key, severity="warning", args=dict(message.args))
    return Note(key=message.key, args=dict(message.args))


def _values(best: Estimate) -> dict[str, Number]:
    """What --json tells of the best split; the time only where it is known."""
    split = best.split
    values: dict[str, Number] = {
        "data": split.data, "tensor": split.tensor, "pipeline": split.pipeline, "sharded": int(split.sharded),
        "memory_gib": best.memory.total / GIB, "sent_gb": best.traffic.total / GB, "bubble": best.bubble,
    }  # fmt: skip
    return values if best.seconds is None else {**values, "seconds": best.seconds}


HEADS = (
    "data", "tensor", "pipeline", "sharded", "time", "memory", "weights", "gradients", "optimizer", "activations",
    "sent", "by data", "by tensor", "by pipeline", "bubble",
)  # fmt: skip


def table_lines(answer: Answer) -> list[str]:
    """The splits for a log, which has no language: its words are those of --json."""
    lines = [HEADS, *(_cells(estimate) for estimate in answer.splits)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADS))]
    return ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]


def _cells(estimate: Estimate) -> tuple[str, ...]:
    split, memory, traffic = estimate.split, estimate.memory, estimate.traffic
    sizes = (memory.total, memory.parameters, memory.gradients, memory.optimizer, memory.activations)
    sends = (traffic.total, traffic.data, traffic.tensor, traffic.pipeline)
    return (
        *(str(number) for number in (split.data, split.tensor, split.pipeline)),
        "yes" if split.sharded else "no",
        seconds_text(estimate.seconds),
        *map(size_text, sizes),
        *map(sent_text, sends),
        f"{100 * estimate.bubble:.1f} %",
    )
