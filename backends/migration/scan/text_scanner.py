"""Scan one text: the scanners of its kind find occurrences, the judge turns them into findings."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from backends.migration.migrate.prelude import prelude_occurrences
from backends.migration.scan.advice import advise, advise_command_lines
from backends.migration.scan.file_scan import FileScan, ScanNote
from backends.migration.scan.files import (
    cmake,
    config_files,
    cpp,
    dockerfile,
    notebook,
    requirements,
    setup_script,
    shell,
)
from backends.migration.scan.project_libraries import imported_libraries, required_libraries
from backends.migration.scan.python import token_scanner
from backends.migration.scan.python.module import UnparsableSource, parse_module
from backends.migration.scan.source_kinds import LARGEST_TREE
from backends.migration.scan.verdicts.judge import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from backends.migration.finding import Occurrence, ScanFinding
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.python.module import Module, ProjectExports
    from backends.migration.scan.source_kinds import SourceKind

_SCANNERS: dict[SourceKind, tuple[Callable[[str, str], Iterator[Occurrence]], ...]] = {
    "shell": (shell.scan_shell_script, advise_command_lines),
    "makefile": (shell.scan_makefile, advise_command_lines),
    "dockerfile": (dockerfile.scan_dockerfile, advise_command_lines),
    "config": (partial(config_files.scan_config, scan_shell=shell.scan_shell),),
    "requirements": (requirements.scan_requirements,),
    "cpp": (cpp.scan_cpp,),
    "cmake": (cmake.scan_cmake,),
}
_UNREADABLE = {"not_json": "migration.note.not_json", "no_cells": "migration.note.no_cells"}
_LINE = re.compile(r"\r\n|\r|\n")


def scan_text(path: str, kind: SourceKind, text: str, exports: ProjectExports, facts: Facts) -> FileScan:
    """Scan the text of one file and judge what is found."""
    if kind == "python":
        return _scan_python(path, text, exports, facts)
    if kind == "notebook":
        return _scan_notebook(path, text, exports, facts)
    occurrences = [occurrence for scan in _SCANNERS[kind] for occurrence in scan(path, text)]
    names = required_libraries(text) if kind == "requirements" else {}
    return FileScan(
        findings=_judge_once(occurrences, facts),
        libraries={name: line for name, (line, _) in names.items()},
        pinned={name: version for name, (_, version) in names.items()},
        lines=count_lines(text),
    )


def _scan_python(path: str, text: str, exports: ProjectExports, facts: Facts) -> FileScan:
    if len(text) > LARGEST_TREE:
        return _scan_without_tree(path, text, facts, ScanNote(path=path, key="migration.note.long"))
    occurrences = list(setup_script.scan_setup_script(path, text)) if path.rpartition("/")[2] == "setup.py" else []
    try:
        module = parse_module(path, text, exports)
    except UnparsableSource as error:
        note = ScanNote(path=path, key="migration.note.unparsed", args={"reason": error.reason}, line=error.line)
        return _scan_without_tree(path, text, facts, note)
    occurrences += _scan_module(module)
    return FileScan(
        findings=_judge_once(occurrences, facts),
        libraries=imported_libraries(module),
        apis=_count_apis(module),
        lines=count_lines(text),
    )


def _scan_without_tree(path: str, text: str, facts: Facts, note: ScanNote) -> FileScan:
    return FileScan(
        findings=_judge_once(list(token_scanner.scan_tokens(path, text)), facts), lines=count_lines(text), notes=(note,)
    )


def _scan_notebook(path: str, text: str, exports: ProjectExports, facts: Facts) -> FileScan:
    """Scan the cells of a notebook as one module: an import in one cell is known in the next."""
    modules: list[Module] = []

    def scan_cells(module: Module) -> Iterator[Occurrence]:
        modules.append(module)
        yield from _scan_module(module)

    try:
        occurrences = list(notebook.scan_notebook(path, text, exports, scan_cells))
        occurrences += _advise_tutorial_cells(path, text)
    except notebook.UnreadableNotebook as error:
        return FileScan(notes=(ScanNote(path=path, key=_UNREADABLE[error.reason]),), lines=count_lines(text))
    return FileScan(
        findings=_judge_once(occurrences, facts),
        libraries={name: line for module in modules for name, line in imported_libraries(module).items()},
        apis=dict(sum((Counter(_count_apis(module)) for module in modules), Counter())),
        lines=sum(count_lines(cell.text) for cell in notebook.parse_cells(text)),
    )


def _advise_tutorial_cells(path: str, text: str) -> Iterator[Occurrence]:
    for cell in notebook.parse_cells(text):
        for occurrence in advise_command_lines(path, cell.text):
            yield msgspec.structs.replace(occurrence, cell=cell.index)


def _scan_module(module: Module) -> Iterator[Occurrence]:
    occurrences = list(shell.scan_python(module))
    yield from occurrences
    yield from prelude_occurrences(module, occurrences)
    yield from advise(module)


def _count_apis(module: Module) -> dict[str, int]:
    return Counter(name for _, name in module.calls if name and name.startswith("torch."))


def _judge_once(occurrences: list[Occurrence], facts: Facts) -> tuple[ScanFinding, ...]:
    distinct = {
        (occurrence.kind, occurrence.rule, occurrence.category, _span(occurrence)): occurrence
        for occurrence in reversed(occurrences)
    }
    findings = [finding for occurrence in distinct.values() if (finding := judge(occurrence, facts)) is not None]
    return tuple(
        sorted(
            findings,
            key=lambda finding: (
                -1 if finding.cell is None else finding.cell,
                finding.line,
                finding.column,
                finding.rule,
            ),
        )
    )


def _span(occurrence: Occurrence) -> tuple[int | None, int, int, int, int]:
    return occurrence.cell, occurrence.line, occurrence.column, occurrence.end, occurrence.end_column


def count_lines(text: str) -> int:
    return len(_LINE.findall(text)) + (not text.endswith(("\n", "\r")) and bool(text))
