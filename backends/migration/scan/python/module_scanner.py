"""All occurrences of the GPU stack in one module.

What `context` and `args` of an occurrence hold, in addition to `finding.Occurrence`:

- of a name: context "call", "decorator", "set" (args value), "compare", "alias", "base", "getattr", "hasattr" (args
  base), "import" (args bound) or "";
- of a text: "compare" (args operator, other, side, leads_to), "argument:<function>:<position or keyword>", "default"
  (args option or parameter or target), "choices", "key" (args operation), "value" (args key), "return", "loop", "env",
  or "" (args target where it is assigned). args: form (fstring, percent, format, concatenated) where it is put
  together, index for what is filled in, conditional in `a if b else c`, element in a list, part in a longer
  expression, npu where an NPU is named next to it;
- of .cuda(): args at (line and column of the dot), device, non_blocking, and own where the project may define it;
- of .to(rank), device=rank: args index, and value: the span of the number alone;
- of all: args npu_branch where another branch is for NPUs.
"""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.python.api_uses import scan_apis
from backends.migration.scan.python.device_methods import scan_device_methods
from backends.migration.scan.python.device_texts import scan_texts
from backends.migration.scan.python.embedded_commands import scan_commands
from backends.migration.scan.python.imports import scan_imports
from backends.migration.scan.python.npu_branches import spans_without_npu

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.python.embedded_commands import ScriptScanner
    from backends.migration.scan.python.module import Module

_STRING_LITERAL = re.compile(r"[rbuf]{0,2}['\"]", re.IGNORECASE)
_SCANNERS = (scan_imports, scan_apis, scan_texts, scan_device_methods)


def scan_module(module: Module, scan_script: ScriptScanner) -> Iterator[Occurrence]:
    """Yield the occurrences of a module in source order, each once.

    `scan_script`: the scanner of the shell commands in its texts; `shell.scan_python` calls this with ours.
    """
    occurrences = [occurrence for scan in _SCANNERS for occurrence in scan(module)]
    occurrences += scan_commands(module, scan_script, partial(scan_module, scan_script=scan_script))
    occurrences = _with_branches(occurrences, module)
    occurrences.sort(
        key=lambda occurrence: (
            occurrence.line,
            occurrence.column,
            -occurrence.end,
            -occurrence.end_column,
            occurrence.category,
        )
    )
    enclosing: list[Occurrence] = []
    for occurrence in occurrences:
        enclosing = [
            outer for outer in enclosing if (outer.end, outer.end_column) > (occurrence.line, occurrence.column)
        ]
        if not any(_repeats(outer, occurrence) for outer in enclosing):
            enclosing.append(occurrence)
            yield occurrence


def _with_branches(occurrences: list[Occurrence], module: Module) -> list[Occurrence]:
    """Mark what stands beside a branch for NPUs."""
    spans = spans_without_npu(module)

    def is_inside(occurrence: Occurrence) -> bool:
        begin, end = (occurrence.line, occurrence.column), (occurrence.end, occurrence.end_column)
        return any(first <= begin and end <= last for first, last in spans)

    return [
        msgspec.structs.replace(occurrence, args={**occurrence.args, "npu_branch": True})
        if spans and is_inside(occurrence)
        else occurrence
        for occurrence in occurrences
    ]


def _repeats(outer: Occurrence, inner: Occurrence) -> bool:
    """Whether `inner` is a part of a text that counts as a whole, or a word of a command that counts by itself."""
    if (outer.end, outer.end_column) < (inner.end, inner.end_column):
        return False
    if inner.context in ("command", "code"):
        return outer.context not in ("command", "code", "call")
    return outer.category == inner.category and _STRING_LITERAL.match(inner.text) is not None
