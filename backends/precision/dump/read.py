"""Reads one step of one rank: dump.json with stack.json and construct.json beside it, into columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.precision.dump import context
from backends.precision.dump.columns import dump_columns
from backends.precision.dump.decode import Content, read_content
from backends.precision.dump.dump import OPTIMIZER_DAMAGED, Dump, DumpLocation, Framework, RecordedUpdates, Task
from backends.precision.dump.layout import TENSOR_FOLDER
from backends.precision.dump.optimizer import RecordPair, add_updates
from backends.precision.dump.rows import DumpRows, add_call
from studio.errors import StudioError

FRAMEWORKS: dict[str, Framework] = {"pytorch": "torch", "mindspore": "mindspore"}
TASKS: dict[str, Task] = {
    "statistics": "statistics",
    "tensor": "tensor",
    "md5": "md5",
    "structure": "structure",
    "overflow_check": "overflow",
}


def read_dump(location: DumpLocation, pair: RecordPair | None = None) -> Dump:
    """What is whole of it is read; `damage` and `skipped` tell what is not. `pair`: it is compared with another, which
    decides what the calls of the optimizer stand for. Raises StudioError where the file is no
    dump, cannot be read, or is larger than the memory."""
    content = read_content(location.folder / location.file)
    parents, damage = _parents(location)
    stacks, stack_lines, stack_damage = _stacks(location)
    names = list(content.data or parents or stacks)
    rows = DumpRows()
    whole = [add_call(rows, number, name, content.data.get(name, {})) for number, name in enumerate(names)]
    updates = add_updates(rows, names, location.folder, pair)
    column = dump_columns(rows)
    return Dump(
        place=location,
        framework=_framework(content, rows),
        task=_task(content, column),
        level=content.head.level or "",
        calls=tuple(names),
        parents=context.parent_column(names, parents),
        stacks=context.stack_column(names, stacks),
        stack_lines=stack_lines,
        untraced=context.untraced_calls(names, parents),
        data_folder=_data_folder(location, content),
        damage=content.damage or damage or stack_damage or (OPTIMIZER_DAMAGED if updates is None else ""),
        skipped=content.skipped + rows.skipped + whole.count(False),
        is_cut=content.is_cut,
        updates=updates or RecordedUpdates(),
        **column,
    )


def _companion_file(location: DumpLocation, name: str) -> Path:
    """ "gpu_dump.json" has "gpu_stack.json" beside it."""
    return location.folder / location.file.replace("dump", name)


def _parents(location: DumpLocation) -> tuple[dict[str, str], str]:
    try:
        return context.read_parents(_companion_file(location, "construct")), ""
    except StudioError as error:
        return {}, error.key


def _stacks(location: DumpLocation) -> tuple[dict[str, int], tuple[tuple[str, ...], ...], str]:
    try:
        return *context.read_stacks(_companion_file(location, "stack")), ""
    except StudioError as error:
        return {}, (), error.key


def _framework(content: Content, rows: DumpRows) -> Framework:
    """msprobe 8 did not write it: then the types of the tensors tell."""
    if content.head.framework in FRAMEWORKS:
        return FRAMEWORKS[content.head.framework]
    for item in rows.entries:
        if item is not None and isinstance(item.type, str):
            if item.type.startswith("torch."):
                return "torch"
            if item.type.startswith("mindspore."):
                return "mindspore"
    return ""


def _task(content: Content, column: dict[str, Any]) -> Task:
    task = TASKS.get(content.head.task or "", "")
    return "md5" if task == "statistics" and column["digest"] else task


def _data_folder(location: DumpLocation, content: Content) -> Path | None:
    """Beside the dump, also where it was brought from another machine."""
    recorded = Path(content.head.dump_data_dir or "")
    for folder in (location.folder / TENSOR_FOLDER, recorded):
        if folder.is_absolute() and folder.is_dir():
            return folder
    return None
