"""Which readers see which file, and what is made of what they see."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate.prelude import prelude_places
from backends.migration.scan.advice import advice, tutorial_lines
from backends.migration.scan.files import (
    config,
    cpp,
    dockerfile,
    makefile,
    notebook,
    requirements,
    setup_script,
    shell,
)
from backends.migration.scan.judge import judge
from backends.migration.scan.kinds import LARGEST_TREE
from backends.migration.scan.libraries import imported, required
from backends.migration.scan.python import unparsed
from backends.migration.scan.python.module import Unparsable
from backends.migration.scan.python.module import read as read_module
from backends.migration.scan.python.places import places as python_places
from backends.migration.scan.reading import Note, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backends.migration.found import Found, Place
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.kinds import Kind
    from backends.migration.scan.python.module import Exports, Module

_BY_TEXT: dict[Kind, tuple[Callable[[str, str], Iterator[Place]], ...]] = {
    "shell": (shell.places, tutorial_lines),
    "makefile": (makefile.places, tutorial_lines),
    "dockerfile": (dockerfile.places, tutorial_lines),
    "config": (config.places,),
    "requirements": (requirements.places,),
    "cpp": (cpp.places,),
}
_UNREADABLE = {"not_json": "migration.note.not_json", "no_cells": "migration.note.no_cells"}
_LINE = re.compile(r"\r\n|\r|\n")


def reading_of(path: str, kind: Kind, text: str, exports: Exports, facts: Facts) -> Reading:
    """What one file says, judged."""
    if kind == "python":
        return _of_python(path, text, exports, facts)
    if kind == "notebook":
        return _of_notebook(path, text, exports, facts)
    seen = [place for places in _BY_TEXT[kind] for place in places(path, text)]
    names = required(text) if kind == "requirements" else {}
    return Reading(
        found=_judged(seen, facts),
        libraries={name: line for name, (line, _) in names.items()},
        pinned={name: asked for name, (_, asked) in names.items()},
        lines=lines_of(text),
    )


def _of_python(path: str, text: str, exports: Exports, facts: Facts) -> Reading:
    if len(text) > LARGEST_TREE:
        return _without_tree(path, text, facts, Note(path=path, key="migration.note.long"))
    seen = list(setup_script.places(path, text)) if path.rpartition("/")[2] == "setup.py" else []
    try:
        module = read_module(path, text, exports)
    except Unparsable as error:
        note = Note(path=path, key="migration.note.unparsed", args={"reason": error.reason}, line=error.line)
        return _without_tree(path, text, facts, note)
    seen += _of_module(module)
    return Reading(found=_judged(seen, facts), libraries=imported(module), apis=_apis(module), lines=lines_of(text))


def _without_tree(path: str, text: str, facts: Facts, note: Note) -> Reading:
    return Reading(found=_judged(list(unparsed.places(path, text)), facts), lines=lines_of(text), notes=(note,))


def _of_notebook(path: str, text: str, exports: Exports, facts: Facts) -> Reading:
    """Its cells as one module: an import in one is known in the next."""
    modules: list[Module] = []

    def seen_in(module: Module) -> Iterator[Place]:
        modules.append(module)
        yield from _of_module(module)

    try:
        seen = list(notebook.places(path, text, exports, seen_in))
        seen += _tutorial_cells(path, text)
    except notebook.Unreadable as unreadable:
        return Reading(notes=(Note(path=path, key=_UNREADABLE[unreadable.reason]),), lines=lines_of(text))
    return Reading(
        found=_judged(seen, facts),
        libraries={name: line for module in modules for name, line in imported(module).items()},
        apis=dict(sum((Counter(_apis(module)) for module in modules), Counter())),
        lines=sum(lines_of(cell.text) for cell in notebook.cells(text)),
    )


def _tutorial_cells(path: str, text: str) -> Iterator[Place]:
    for cell in notebook.cells(text):
        for place in tutorial_lines(path, cell.text):
            yield msgspec.structs.replace(place, cell=cell.index)


def _of_module(module: Module) -> Iterator[Place]:
    places = list(python_places(module))
    yield from places
    yield from prelude_places(module, places)
    yield from advice(module)


def _apis(module: Module) -> dict[str, int]:
    return Counter(name for _, name in module.calls if name and name.startswith("torch."))


def _judged(places: list[Place], facts: Facts) -> tuple[Found, ...]:
    once = {(place.kind, place.rule, place.category, _where(place)): place for place in reversed(places)}
    found = [one for place in once.values() if (one := judge(place, facts)) is not None]
    return tuple(sorted(found, key=lambda one: (-1 if one.cell is None else one.cell, one.line, one.column, one.rule)))


def _where(place: Place) -> tuple[int | None, int, int, int, int]:
    return place.cell, place.line, place.column, place.end, place.end_column


def lines_of(text: str) -> int:
    return len(_LINE.findall(text)) + (not text.endswith(("\n", "\r")) and bool(text))
