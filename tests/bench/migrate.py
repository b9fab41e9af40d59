"""Explicit migration of other people's projects: whether the result parses and only lines of findings are touched."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from backends.migration.scan.facts.facts import facts_of_interpreter
from backends.migration.scan.project_scan import scan_project
from studio.paths import MAIN
from tests.bench.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Iterator

PROJECTS = ("nanoGPT", "examples")
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? ")


def figures() -> list[Figure]:
    projects = Path(os.environ.get("ASCEND_STUDIO_PROJECTS", "/nowhere")).absolute()
    edited = []
    for name in PROJECTS:
        if (projects / name).is_dir():
            edited += _measure_project(projects / name)
        else:
            print(f"  {name}: no project; see ASCEND_STUDIO_PROJECTS", file=sys.stderr)
    return edited


def _measure_project(project: Path) -> list[Figure]:
    with tempfile.TemporaryDirectory() as home:
        target = Path(home, "migrated")
        seconds, hunks = _migrate(project, target, home)
        touched = list(_touched(project, target))
        broken = [path for path in _files(project) if _parses(project / path) and not _parses(target / path)]
    lines = {
        (finding.path, line)
        for finding in scan_project(project, facts_of_interpreter(None, None))
        for line in range(finding.line, finding.end + 1)
    }
    outside = [line for line in touched if line not in lines]
    for fault in (*broken, *outside):
        print(f"  {project.name}: {fault}", file=sys.stderr)
    name = f"{project.name}, explicit migration, {hunks} hunks"
    return [
        Figure(what=f"{name}: files that no longer parse", value=len(broken), unit="files", bar=0),
        Figure(
            what=f"{name}: of {len(touched)} lines that git diff touches, without a finding",
            value=len(outside), unit="lines", bar=0,
        ),
        Figure(what=f"{name}: scan, plan, copy, scan again", value=seconds, unit="s"),
    ]  # fmt: skip


def _migrate(project: Path, target: Path, home: str) -> tuple[float, int]:
    """Return the wall seconds of the command with an empty cache, and the number of hunks it applied."""
    env = os.environ | {"XDG_CACHE_HOME": home, "XDG_STATE_HOME": home}
    words = ("--no-project", "migrate", str(project), "--style", "explicit", "--out", str(target), "--json")
    begun = time.perf_counter()
    done = subprocess.run(
        (sys.executable, "-I", str(MAIN), *words), env=env, capture_output=True, text=True, check=True
    )
    return time.perf_counter() - begun, json.loads(done.stdout.splitlines()[-1])["hunks"]


def _touched(project: Path, target: Path) -> Iterator[tuple[str, int]]:
    """Yield the lines that a diff without context shows; for an insertion, the line before it. Notebooks are left out,
    as findings in them have line numbers of their cells."""
    with tempfile.TemporaryDirectory() as home:
        Path(home, "a").symlink_to(project)
        Path(home, "b").symlink_to(target)
        for path in _files(project):
            if not path.endswith(".ipynb"):
                line = ("git", "diff", "--no-index", "--no-color", "-U0", "--", f"a/{path}", f"b/{path}")
                done = subprocess.run(line, cwd=home, capture_output=True, check=False)
                for changed_line in done.stdout.decode("latin-1").splitlines():
                    if hunk := _HUNK.match(changed_line):
                        first, length = int(hunk[1]), int(hunk[2] or 1)
                        yield from ((path, number) for number in range(max(1, first), max(1, first) + max(1, length)))


def _files(project: Path) -> list[str]:
    listed = (path.relative_to(project) for path in sorted(project.rglob("*")) if path.is_file())
    return [path.as_posix() for path in listed if ".git" not in path.parts]


def _parses(path: Path) -> bool:
    """Tell whether a Python or JSON file parses; any other file counts as parsing."""
    with suppress(OSError, ValueError, SyntaxError, RecursionError):
        if path.suffix == ".py":
            ast.parse(path.read_bytes())
        elif path.suffix in (".ipynb", ".json"):
            json.loads(path.read_bytes())
        return True
    return False
