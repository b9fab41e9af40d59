"""What names CUDA or NCCL in the result and was left as it was: whether it ran, and if not, whether an NPU's host can
reach it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Literal

from backends.migration.certify import cuda_guards
from backends.migration.migrate.import_reach import ImportReach
from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from backends.migration.finding import ScanFinding

Fate = Literal["ran", "unreachable", "unloaded", "reachable"]
"""ran: the rehearsal came through it; unreachable: a condition that an NPU's host never meets is in front of it;
unloaded: a file that the command does not load; reachable: none of these, it may run."""
MAX_FILE_BYTES = 1 << 22
_NAMES_GPU = re.compile(r"cuda|nccl", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Leftover:
    path: str
    line: int
    text: str
    fate: Fate


def find_leftovers(
    top: Path, findings: Iterable[ScanFinding], ran: Mapping[str, set[int]], line: Sequence[str]
) -> tuple[Leftover, ...]:
    """Judge the findings of a scan of the result. `ran`: the lines that ran, by path; `line`: the command."""
    left = [finding for finding in findings if _is_left(finding)]
    loaded = _loaded_files(top, ran)
    sources = {path: _read(top / path) for path in {*loaded, *(finding.path for finding in left)}}
    trees = {path: _parse(text) for path, text in sources.items() if path.endswith(".py")}
    named = " ".join(line) + "".join(sources[path] for path in loaded)
    return tuple(
        Leftover(
            path=finding.path,
            line=finding.line,
            text=finding.text[:120],
            fate=_fate(finding, trees.get(finding.path), ran, loaded, named),
        )
        for finding in left
    )


def _is_left(finding: ScanFinding) -> bool:
    is_open = finding.kind == "place" and finding.state in ("edit", "manual")
    return is_open and bool(_NAMES_GPU.search(f"{finding.text} {finding.name}"))


def _loaded_files(top: Path, ran: Mapping[str, set[int]]) -> set[str]:
    """Return the files that ran, and those that they import when they come so far."""
    reach = ImportReach(top)
    return {file for path in ran if path.endswith(".py") for file in reach.reached_files(path)}


def _fate(
    finding: ScanFinding, tree: ast.Module | None, ran: Mapping[str, set[int]], loaded: set[str], named: str
) -> Fate:
    if not finding.path.endswith(".py"):
        return "reachable" if PurePosixPath(finding.path).name in named else "unloaded"
    if finding.path not in loaded:
        return "unloaded"
    if tree is None:
        return "reachable"
    chain = cuda_guards.chain_at(tree, finding.line, finding.column)
    if _has_run(finding, chain, ran.get(finding.path, set())):
        return "ran"
    return "unreachable" if cuda_guards.is_unreachable(chain, tree) else "reachable"


def _has_run(finding: ScanFinding, chain: Sequence[ast.AST], lines: set[int]) -> bool:
    """Tell whether the place ran. Of an expression that chooses, a line that ran does not say which side did."""
    if not chain or cuda_guards.is_chosen(chain):
        return False
    statement = next((node for node in reversed(chain) if isinstance(node, ast.stmt)), None)
    if statement is None:
        return False
    last = cuda_guards.last_header_line(statement)
    first = min([statement.lineno, finding.line])
    return any(number in lines for number in range(first, max(last, finding.line) + 1))


def unrun_edits(top: Path, edited: Mapping[str, set[int]], ran: Mapping[str, set[int]]) -> dict[str, list[int]]:
    """Return the first lines of statements that were edited and did not run, by path of files that ran."""
    unrun: dict[str, list[int]] = {}
    for path, numbers in edited.items():
        tree = _parse(_read(top / path)) if path in ran else None
        for statement in cuda_guards.statements(tree):
            span = range(statement.lineno, cuda_guards.last_header_line(statement) + 1)
            if numbers.intersection(span) and not ran[path].intersection(span):
                unrun.setdefault(path, []).append(statement.lineno)
    return unrun


def _read(path: Path) -> str:
    try:
        return decode_source(read_regular_file(path, MAX_FILE_BYTES)).text
    except UnreadableFile:
        return ""


def _parse(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
