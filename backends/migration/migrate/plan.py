"""From findings to changes. Reads the files that have findings, writes nothing."""

from __future__ import annotations

import ast
import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate import hunks, notebook, planned, prelude
from backends.migration.migrate.changes import Changes, FileChanges, Hunk
from backends.migration.migrate.planned import Planned
from backends.migration.migrate.reach import need_lines
from backends.migration.migrate.render import rendered
from backends.migration.migrate.source import Source
from backends.migration.scan.read import Unread, decode, read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.reach import Lines

LARGEST = 1 << 25
NOT_PARSED = "migration.migrate.not_parsed"
NOT_WRITTEN_BACK = "migration.migrate.not_written_back"
NATIVE = "advice.native_trainer"
_PYTHON = (".py", ".pyw")


def changes(folder: Path, findings: Iterable[Found], style: Style) -> Changes:
    """What the findings of a project ask for. A file that is gone or cannot be read any more is left out."""
    by_path: dict[str, list[Found]] = defaultdict(list)
    for found in findings:
        by_path[found.path].append(found)
    lines = _with_lines(folder, by_path) if style == "minimal" else {}
    files = [_of_file(folder, path, ones, style, lines.get(path, "")) for path, ones in sorted(by_path.items())]
    known = [file for file in files if file and file.hunks]
    groups = hunks.joined_groups([hunk.group for file in known for hunk in file.hunks if hunk.group])
    return Changes(folder=str(folder), style=style, files=tuple(_regrouped(file, groups) for file in known))


def _regrouped(file: FileChanges, groups: dict[str, str]) -> FileChanges:
    made = tuple(msgspec.structs.replace(hunk, group=groups.get(hunk.group, "")) for hunk in file.hunks)
    return msgspec.structs.replace(file, hunks=made)


def _with_lines(folder: Path, by_path: dict[str, list[Found]]) -> dict[str, Lines]:
    """The files that get the lines of transfer_to_npu, and whether anybody has to ask for them."""
    anchored = {
        path: one for path, found in by_path.items() for one in found if one.rule == prelude.RULE and one.cell is None
    }
    places = {path for path in anchored if any(prelude.may_need(one) for one in by_path[path])}
    native = {path for path, found in by_path.items() if any(one.rule == NATIVE for one in found)}
    entries = [path for path, one in anchored.items() if one.args.get("entry")]
    notebooks = {path for path in by_path if path.lower().endswith(".ipynb")}
    asked: dict[str, Lines] = {path: "offered" if path in native else "ready" for path in notebooks}
    return need_lines(folder, entries, places, native) | asked


def _of_file(folder: Path, path: str, found: list[Found], style: Style, lines: Lines) -> FileChanges | None:
    try:
        data = read_bytes(folder / path, LARGEST)
    except Unread:
        return None
    text = decode(data)
    source = Source(path=path, text=text.text)
    if _bytes_of(text.text, text.encoding) == data:
        plan = _planned(source, found, style, lines)
    else:
        plan = Planned(left=[one for one in found if one.kind == "place"], reason=NOT_WRITTEN_BACK)
    made = hunks_of(source, plan)
    if plan.edits and not parses(source.path, rendered(source, with_edits(made))):
        plan = Planned(left=[one for one in found if one.kind == "place"], reason=NOT_PARSED)
        made = hunks_of(source, plan)
    digest = hashlib.sha256(data).hexdigest()
    return FileChanges(path=path, encoding=text.encoding, digest=digest, hunks=tuple(made), withdrawn=plan.reason)


def _bytes_of(text: str, encoding: str) -> bytes:
    """Empty where the text cannot be written in it."""
    try:
        return text.encode(encoding)
    except (UnicodeError, LookupError):
        return b""


def _planned(source: Source, found: list[Found], style: Style, lines: Lines) -> Planned:
    if source.path.lower().endswith(".ipynb"):
        return notebook.planned(source, found, style, lines)
    if source.path.lower().endswith(_PYTHON) or any(one.rule == prelude.RULE for one in found):
        return planned.of_python(source, found, style, lines)
    return planned.of_text(source, found, style)


def with_edits(made: Iterable[Hunk]) -> list[Hunk]:
    return [hunk for hunk in made if hunk.state != "yours"]


def parses(path: str, text: str) -> bool:
    """Whether an edited file is still what its name says, for Python and notebooks."""
    if path.lower().endswith(".ipynb"):
        return notebook.is_notebook(text)
    if not path.lower().endswith(_PYTHON):
        return True
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def hunks_of(source: Source, plan: Planned) -> list[Hunk]:
    """By line: what is edited first, then what is left."""
    rows = list(plan.edits)
    if plan.prelude is not None:
        rows.append((plan.prelude[0], [plan.prelude[1]]))
    parts = hunks.parts(source, rows)
    first = next((one for one in parts if plan.prelude is not None and plan.prelude[1] in one.drafts), None)
    head = hunks.hunk_of(source, first, ()) if first else None
    made = [head] if head else []
    for part in parts:
        if part is not first:
            named = head is not None and any(one.needs for one in part.drafts)
            made.append(hunks.hunk_of(source, part, (head.id,) if head and named else ()))
    by_lines: dict[tuple[int, int], list[Found]] = defaultdict(list)
    for found in plan.left:
        by_lines[found.line, min(found.end, len(source.starts))].append(found)
    made += [hunks.yours(source, first_line, last, ones) for (first_line, last), ones in by_lines.items()]
    return sorted(made, key=lambda one: (one.first, one.last, one.state == "yours"))


def settled(folder: Path, found: Sequence[Found], style: Style) -> list[Found]:
    """What a scan found in a result: a place for which no edit is left counts as one that works by itself."""
    waiting = {(hunk.path, hunk.cell, rule) for hunk in changes(folder, found, style).hunks() for rule in hunk.rules}
    return [
        msgspec.structs.replace(one, state="auto")
        if one.state == "edit" and (one.path, one.cell, one.rule) not in waiting
        else one
        for one in found
    ]
