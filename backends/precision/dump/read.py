"""Reads one step of one rank: dump.json with stack.json and construct.json beside it, into columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from backends.precision.dump import context
from backends.precision.dump.columns import columns
from backends.precision.dump.decode import Content, content
from backends.precision.dump.dump import Dump, Framework, Place, Task
from backends.precision.dump.layout import TENSORS
from backends.precision.dump.rows import Rows, add_call
from studio.errors import StudioError

FRAMEWORKS: dict[str, Framework] = {"pytorch": "torch", "mindspore": "mindspore"}
TASKS: dict[str, Task] = {
    "statistics": "statistics",
    "tensor": "tensor",
    "md5": "md5",
    "structure": "structure",
    "overflow_check": "overflow",
}


def read_dump(place: Place) -> Dump:
    """What is whole of it is read; `damage` and `skipped` tell what is not. Raises StudioError where the file is no
    dump, cannot be read, or is larger than the memory."""
    found = content(place.folder / place.file)
    known, damage = _parents(place)
    stacks, stack_lines, stack_damage = _stacks(place)
    names = list(found.data or known or stacks)
    rows = Rows()
    whole = [add_call(rows, number, name, found.data.get(name, {})) for number, name in enumerate(names)]
    column = columns(rows)
    return Dump(
        place=place,
        framework=_framework(found, rows),
        task=_task(found, column),
        level=found.head.level or "",
        calls=tuple(names),
        parents=context.parent_column(names, known),
        stacks=context.stack_column(names, stacks),
        stack_lines=stack_lines,
        untraced=context.untraced(names, known),
        data_folder=_data_folder(place, found),
        damage=found.damage or damage or stack_damage,
        skipped=found.skipped + rows.skipped + whole.count(False),
        **column,
    )


def _beside(place: Place, name: str) -> Path:
    """ "gpu_dump.json" has "gpu_stack.json" beside it."""
    return place.folder / place.file.replace("dump", name)


def _parents(place: Place) -> tuple[dict[str, str], str]:
    try:
        return context.parents(_beside(place, "construct")), ""
    except StudioError as error:
        return {}, error.key


def _stacks(place: Place) -> tuple[dict[str, int], tuple[tuple[str, ...], ...], str]:
    try:
        return *context.stacks(_beside(place, "stack")), ""
    except StudioError as error:
        return {}, (), error.key


def _framework(found: Content, rows: Rows) -> Framework:
    """msprobe 8 did not write it: then the types of the tensors tell."""
    if found.head.framework in FRAMEWORKS:
        return FRAMEWORKS[found.head.framework]
    for one in rows.one:
        if one is not None and isinstance(one.type, str):
            if one.type.startswith("torch."):
                return "torch"
            if one.type.startswith("mindspore."):
                return "mindspore"
    return ""


def _task(found: Content, column: dict[str, Any]) -> Task:
    task = TASKS.get(found.head.task or "", "")
    return "md5" if task == "statistics" and column["digest"] else task


def _data_folder(place: Place, found: Content) -> Path | None:
    """Beside the dump, also where it was brought from another machine."""
    told = Path(found.head.dump_data_dir or "")
    for folder in (place.folder / TENSORS, told):
        if folder.is_absolute() and folder.is_dir():
            return folder
    return None
