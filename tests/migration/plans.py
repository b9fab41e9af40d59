"""A small project on disk, scanned and planned as the command does it."""

from __future__ import annotations

import difflib
import os
import re
import subprocess
from typing import TYPE_CHECKING

from backends.migration.migrate.plan import plan_changes
from backends.migration.migrate.replaced_files import edited_files
from backends.migration.migrate.work import migrate
from backends.migration.scan.facts.facts import facts_of_interpreter
from backends.migration.scan.project_scan import scan_project
from backends.migration.scan.text_files import decode_source
from studio import run as runs
from studio import schema

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Changes, Hunk, Style
    from backends.migration.migrate.spec import MigrateSpec

FACTS = facts_of_interpreter(None, None)


def project(folder: Path, **files: str | bytes) -> Path:
    """Write files: `train__py="…"` becomes train.py, `a___b__py` a/b.py."""
    for name, text in files.items():
        path = folder / name.replace("___", "/").replace("__", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def plan_project(folder: Path, style: Style) -> Changes:
    return plan_changes(folder, scan_project(folder, FACTS), style)


def planned_texts(folder: Path, style: Style) -> dict[str, str]:
    """Return the text of each changed file with every ready hunk applied."""
    done = edited_files(plan_project(folder, style), folder)
    return {file.path: decode_source(file.after).text for file in done}


def migrated_text(folder: Path, style: Style, text: str, name: str = "train.py") -> str:
    """Return the text of a file that is the only one of its project."""
    (folder / name).write_text(text)
    return planned_texts(folder, style).get(name, text)


def touched_lines(hunk: Hunk) -> set[int]:
    """Return the lines that a diff without context shows; for an insertion, the line before it."""
    before, after = (re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text) for text in (hunk.before, hunk.after))
    numbers: set[int] = set()
    for kind, first, last, _, _ in difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if kind == "insert":
            numbers.add(max(1, hunk.first + first - 1))
        elif kind != "equal":
            numbers |= set(range(hunk.first + first, hunk.first + last))
    return numbers


def lines_of_findings(findings: tuple[ScanFinding, ...], path: str) -> set[int]:
    return {line for finding in findings if finding.path == path for line in range(finding.line, finding.end + 1)}


def files_below(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def git(folder: Path, *words: str) -> str:
    who = {"GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b", "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    line = ["git", "-C", str(folder), *words]
    return subprocess.run(line, check=True, capture_output=True, text=True, env={**os.environ, **who}).stdout


def of(tmp_path: Path, spec: MigrateSpec) -> tuple[runs.Run, int]:
    (tmp_path / "runs").mkdir(exist_ok=True)
    run = runs.create(tmp_path / "runs", "migrate", schema.to_json(spec), None)
    return run, migrate(spec, run).code
