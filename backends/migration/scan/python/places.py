"""All places of one module that touch the GPU stack.

What `context` and `args` of a place say, beside what `found.Place` says:

- of a name: context "call", "decorator", "set" (args value), "compare", "alias", "base", "getattr", "hasattr" (args
  base), "import" (args bound) or "";
- of a text: "compare" (args operator, other, side, leads_to), "argument:<function>:<position or keyword>", "default"
  (args option or parameter or target), "choices", "key" (args operation), "value" (args key), "return", "loop", "env",
  or "" (args target where it is assigned). args: form (fstring, percent, format, concatenated) where it is put
  together, index for what is filled in, conditional in `a if b else c`, element in a list, part in a longer
  expression, npu where an NPU is named beside it;
- of .cuda(): args at (line and column of the dot), device, non_blocking, and own where the project may define it;
- of .to(rank), device=rank: args index, and value: the span of the number alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.python.apis import api_places
from backends.migration.scan.python.commands import command_places
from backends.migration.scan.python.imports import import_places
from backends.migration.scan.python.methods import method_places
from backends.migration.scan.python.texts import text_places

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.found import Place
    from backends.migration.scan.python.module import Module

_WRITTEN = re.compile(r"[rbuf]{0,2}['\"]", re.IGNORECASE)
_READERS = (import_places, api_places, text_places, method_places, command_places)


def places(module: Module) -> Iterator[Place]:
    """In source order; each once."""
    found = [place for reader in _READERS for place in reader(module)]
    found.sort(key=lambda place: (place.line, place.column, -place.end, -place.end_column, place.category))
    around: list[Place] = []
    for place in found:
        around = [outer for outer in around if (outer.end, outer.end_column) > (place.line, place.column)]
        if not any(_says_the_same(outer, place) for outer in around):
            around.append(place)
            yield place


def _says_the_same(outer: Place, inner: Place) -> bool:
    """A part of a text that is a place as a whole, or a command's word that is one by itself."""
    if (outer.end, outer.end_column) < (inner.end, inner.end_column):
        return False
    if inner.context in ("command", "code"):
        return outer.context not in ("command", "code", "call")
    return outer.category == inner.category and _WRITTEN.match(inner.text) is not None
