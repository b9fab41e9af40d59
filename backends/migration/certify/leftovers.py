"""What a scan of the result still calls open: whether the rehearsal saw it work, and if not, whether an NPU's host can
reach it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from backends.migration.certify import cuda_guards
from backends.migration.certify.loading import Loading, path_parts
from backends.migration.migrate.import_reach import ImportReach
from backends.migration.scan.text_files import UnreadableFile, decode_source, read_regular_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from backends.migration.finding import ScanFinding

Fate = Literal["ran", "unreachable", "unloaded", "reachable"]
"""ran: the rehearsal saw the call, or came through what names neither CUDA nor NCCL; unreachable: a condition that an
NPU's host never meets is in front of it; unloaded: a file that the command does not load; reachable: none of these, it
may run, or its value be used."""
MAX_FILE_BYTES = 1 << 22
_NAMES_CUDA = re.compile(r"cuda|nccl", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Leftover:
    path: str
    line: int
    text: str
    fate: Fate


@dataclass(frozen=True, kw_only=True)
class Observed:
    """What a rehearsal came through. `lines`: that ran, by path; `calls`: by path, lines and names of calls that its
    contract has."""

    lines: Mapping[str, set[int]]
    calls: Mapping[str, set[tuple[int, str]]]


def find_leftovers(
    top: Path, findings: Iterable[ScanFinding], observed: Observed, line: Sequence[str]
) -> tuple[Leftover, ...]:
    """Judge the findings of a scan of the result. `line`: the command."""
    left = [finding for finding in findings if _is_left(finding)]
    loaded = _loaded_files(top, observed.lines)
    sources = {path: _read(top / path) for path in {*loaded, *(finding.path for finding in left)}}
    trees = {path: _parse(text) for path, text in sources.items() if path.endswith(".py")}
    loading = Loading(
        python=frozenset(loaded),
        text=" ".join(line) + "".join(sources[path] for path in loaded),
        parts=path_parts([trees[path] for path in loaded], line),
    )
    return tuple(
        Leftover(
            path=finding.path,
            line=finding.line,
            text=finding.text[:120],
            fate=_fate(finding, trees.get(finding.path), observed, loading),
        )
        for finding in left
    )


def _is_left(finding: ScanFinding) -> bool:
    return finding.kind == "place" and finding.state in ("edit", "manual", "none")


def _loaded_files(top: Path, ran: Mapping[str, set[int]]) -> set[str]:
    """Return the files that ran, and those that they import when they come so far."""
    reach = ImportReach(top)
    return {file for path in ran if path.endswith(".py") for file in reach.reached_files(path)}


def _fate(finding: ScanFinding, tree: ast.Module | None, observed: Observed, loading: Loading) -> Fate:
    if not finding.path.endswith(".py"):
        return "reachable" if loading.may_load(finding.path) else "unloaded"
    if finding.path not in loading.python:
        return "unloaded"
    if tree is None:
        return "reachable"
    chain = cuda_guards.chain_at(tree, finding.line, finding.column)
    lines = observed.lines.get(finding.path, set())
    if _is_seen(chain, observed.calls.get(finding.path, set())):
        return "ran"
    if not _names_cuda(finding) and _has_run(finding, chain, lines):
        return "ran"
    return "unreachable" if cuda_guards.is_unreachable(chain, tree, lines) else "reachable"


def _names_cuda(finding: ScanFinding) -> bool:
    """Tell whether a place names CUDA or NCCL. That its line ran says nothing of it: a name may be used later, and what
    CUDA answers on an NPU's host may be what changes the training."""
    return bool(_NAMES_CUDA.search(f"{finding.text} {finding.name}"))


def _is_seen(chain: Sequence[ast.AST], calls: set[tuple[int, str]]) -> bool:
    """Tell whether the innermost node is the name of a call that was seen, or one of its arguments as it stands."""
    place, call = next(((at, node) for at, node in enumerate(chain) if _is_innermost_call(chain, at)), (0, None))
    if not isinstance(call, ast.Call):
        return False
    inner = [node for node in chain[place + 1 :] if not isinstance(node, ast.keyword)]
    if not all(isinstance(node, ast.Name | ast.Attribute | ast.Constant) for node in inner):
        return False
    name = ast.unparse(call.func).rpartition(".")[2]
    return any((number, name) in calls for number in range(call.lineno, (call.end_lineno or call.lineno) + 1))


def _is_innermost_call(chain: Sequence[ast.AST], place: int) -> bool:
    is_call = isinstance(chain[place], ast.Call)
    return is_call and not any(isinstance(node, ast.Call) for node in chain[place + 1 :])


def _has_run(finding: ScanFinding, chain: Sequence[ast.AST], lines: set[int]) -> bool:
    """Tell whether the place ran. Of an expression that chooses, a line that ran does not say which side did."""
    statement = next((node for node in reversed(chain) if isinstance(node, ast.stmt)), None)
    if statement is None or cuda_guards.is_chosen(chain):
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
