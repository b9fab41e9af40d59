"""A small project on disk, scanned and migrated as the command does it."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from backends.migration.migrate.plan import changes
from backends.migration.migrate.result import results
from backends.migration.scan.facts.facts import facts_for
from backends.migration.scan.read import decode
from backends.migration.scan.scan import scan

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.found import Found
    from backends.migration.migrate.changes import Changes, Hunk, Style

FACTS = facts_for(None, None)


def project(folder: Path, **files: str | bytes) -> Path:
    """`train__py="…"` becomes train.py, `a___b__py` a/b.py."""
    for name, text in files.items():
        path = folder / name.replace("___", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def planned(folder: Path, style: Style) -> Changes:
    return changes(folder, scan(folder, FACTS), style)


def after(folder: Path, style: Style) -> dict[str, str]:
    """Each changed file with everything that is ready in it."""
    done = results(planned(folder, style), folder)
    return {one.path: decode(one.after).text for one in done}


def migrated(folder: Path, style: Style, text: str, name: str = "train.py") -> str:
    """One file by itself."""
    (folder / name).write_text(text)
    return after(folder, style).get(name, text)


def touched(hunk: Hunk) -> set[int]:
    """Lines of the file that a diff without context shows; of an insertion the line before it."""
    before, after = (re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text) for text in (hunk.before, hunk.after))
    found: set[int] = set()
    for kind, first, last, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "insert":
            found.add(max(1, hunk.first + first - 1))
        elif kind != "equal":
            found |= set(range(hunk.first + first, hunk.first + last))
    return found


def lines_with(found: tuple[Found, ...], path: str) -> set[int]:
    return {line for one in found if one.path == path for line in range(one.line, one.end + 1)}
