"""Curves out of what a training prints: patterns of known trainings, and the user's own.

A pattern is one or more expressions of Python's `re`, one a line, searched in a line of the log. The first decides
whether the line counts, the others add what they find. `{loss}` stands for `(?P<loss>number)`. Groups are metrics,
except step, total, epoch and steps (those of one epoch), which say where on the axis a row belongs.
"""

from __future__ import annotations

import importlib
import math
import re
import sys
import time
import warnings
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from studio.errors import StudioError
from studio.paths import ASSETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Python's own parser of expressions: what it finds decides whether a search can take exponential time.
sre: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

LONGEST_LINE = 1000
"""Characters of a line that are looked at: what a search costs is bounded by this."""
LONGEST_OWN = 2000
PLACES = ("step", "total", "epoch", "steps")
SLOW = 0.05
"""Seconds that an own pattern may take for the worst line: quadratic in its length passes, cubic does not."""

_WHOLE = r"\d{1,3}(?:,\d{3})+|\d+"
_ENDS = r"(?!\d|[eE][-+]?\d|\.?#|[.,'_]\d|[ \xa0\u202f]\d{3},\d|[kKMG](?:\b|\d|i?B\b)| ?[x×*] ?10\^)"
"""What must not follow a number: it would be the beginning of another one, as 2 is of 2,5 or 2'500."""
_NUMBER = (
    r"(?:[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+|[kKMG]\b)?" + _ENDS + ")"
    r"|[-+]?(?i:nan|inf(?:inity)?)"
)
_SHORT = re.compile(r"\{([A-Za-z_]\w*)\}")
_PREFIXES = {"k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9}
"""Of numbers that are printed short: 2.5k is 2500."""
_UNITS = {"_ms": 1e-3, "_us": 1e-6, "_percent": 1e-2}
_SCALAR = re.compile(r"\bnp\.float(?:16|32|64)\(([^()]{1,40})\)")
"""A number as NumPy 2 writes it within a container."""
_ESCAPE = re.compile(r"\x1b\[[0-9;?]{0,16}[A-Za-z]")
_MAX_REPEATS = 14
_LOSS_WORDS = re.compile("loss|Loss|LOSS|损失|(?i:cost|objective|nll|elbo|bce)")


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """`bar`: the lines have no step of their own, the progress bar beside them does. `last`: counts only where no other
    pattern does. `text`: the expressions as they were written, one a line."""

    id: str
    title: str
    text: str
    expressions: tuple[re.Pattern[str], ...]
    bar: bool = False
    last: bool = False
    example: str = ""
    source: str = ""


@dataclass(frozen=True, kw_only=True)
class Row:
    """What one line says, in the units of the curves. `places`: step, total, epoch, steps, as far as they are there."""

    values: dict[str, float]
    places: dict[str, int]


@lru_cache(maxsize=1)
def patterns() -> tuple[Pattern, ...]:
    """In the order of assets/log_patterns.toml: where two count as many lines, the first."""
    with (ASSETS / "log_patterns.toml").open("rb") as file:
        return tuple(map(_pattern, tomllib.load(file)["pattern"]))


def _pattern(entry: dict[str, Any]) -> Pattern:
    texts = entry["expressions"]
    return Pattern(
        id=entry["id"], title=entry["title"], text="\n".join(texts), expressions=tuple(map(_compiled, texts)),
        bar=entry.get("bar", False), last=entry.get("last", False), example=entry["example"], source=entry["from"],
    )  # fmt: skip


def by_id(name: str) -> Pattern | None:
    return next((pattern for pattern in patterns() if pattern.id == name), None)


def read(line: str, pattern: Pattern) -> Row | None:
    """The numbers of a line, or None where the pattern does not fit or finds none."""
    line = line[:LONGEST_LINE]
    first = pattern.expressions[0].search(line)
    if first is None:
        return None
    texts = first.groupdict()
    for expression in pattern.expressions[1:]:
        if match := expression.search(line):
            texts |= {name: text for name, text in match.groupdict().items() if text is not None}
    return _row(texts)


def _row(texts: dict[str, str | None]) -> Row | None:
    values: dict[str, float] = {}
    places: dict[str, int] = {}
    for name, text in texts.items():
        number = _number(text)
        if number is None:
            continue
        if name not in PLACES:
            metric, times = unit_of(name)
            values[metric] = number * times
        elif math.isfinite(number) and abs(number) < 2**53:
            places[name] = int(number)
    return Row(values=values, places=places) if values else None


def _number(text: str | None) -> float | None:
    if not text:
        return None
    times = _PREFIXES.get(text[-1])
    try:
        return float(text.replace(",", "")) if times is None else times * float(text[:-1].replace(",", ""))
    except ValueError:
        return None


def unit_of(group: str) -> tuple[str, float]:
    """The metric that a group is, and by what its number is multiplied: step_time_ms is step_time, by 0.001."""
    for ending, times in _UNITS.items():
        if group.endswith(ending):
            return group.removesuffix(ending), times
    base, _, number = group.rpartition("_")
    return (f"{base}.{number}" if base == "loss" and number.isdigit() else group), 1.0


def plain(line: bytes) -> str:
    """A line as a terminal would show it: decoded, without colours, and numbers of NumPy as numbers."""
    return _SCALAR.sub(r"\1", _ESCAPE.sub("", line[: 4 * LONGEST_LINE].decode("utf-8", "replace")))


def best(lines: Iterable[str]) -> Pattern | None:
    """The pattern that reads a loss in most of the lines, of those that come last the first; None where none does."""
    counts = {pattern.id: 0 for pattern in patterns()}
    for line in lines:
        if may_have_loss(line):
            for pattern in patterns():
                row = read(line, pattern)
                counts[pattern.id] += row is not None and "loss" in row.values
    matching = [pattern for pattern in patterns() if counts[pattern.id]]
    return max(matching, key=lambda pattern: 0 if pattern.last else counts[pattern.id], default=None)


def is_better(pattern: Pattern, former: Pattern | None) -> bool:
    """Tell whether a pattern is to be read with from now on, in place of the one before."""
    if former is None or not pattern.last:
        return True
    order = [each.id for each in patterns()]
    return former.last and order.index(pattern.id) < order.index(former.id)


def may_have_loss(line: str) -> bool:
    """Tell whether a line has a word for a loss: most lines of most logs have none."""
    return bool(_LOSS_WORDS.search(line))


def preview(pattern: Pattern, lines: Iterable[str]) -> tuple[tuple[int, Row], ...]:
    """The lines that a pattern reads, by their place among those given, from 0."""
    return tuple((index, row) for index, line in enumerate(lines) if (row := read(line, pattern)) is not None)


def own(text: str) -> Pattern:
    """The user's own pattern. Raises StudioError, with what is wrong: it does not compile, names no number, or could
    take so long on some line that it would hold up what reads it."""
    texts = [line for line in text.splitlines() if line.strip()]
    if not texts:
        raise StudioError("pattern.empty")
    if len(text) > LONGEST_OWN:
        raise StudioError("pattern.long", most=LONGEST_OWN)
    expressions = tuple(map(_own_expression, texts))
    names = {name for expression in expressions for name in expression.groupindex}
    if not names - set(PLACES):
        raise StudioError("pattern.nothing_named")
    return Pattern(id="own", title="", text=text, expressions=expressions)


def _own_expression(text: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            parsed = sre.parse(_expanded(text))
            expression = _compiled(text)
    except (re.error, OverflowError, RecursionError, ValueError) as error:
        raise StudioError("pattern.wrong", text=text, reason=str(error)) from error
    if _explodes(sre.parse(_SHORT.sub(r"\\d+", text))) or _is_slow(expression, _sample(parsed)):
        raise StudioError("pattern.slow", text=text)
    return expression


def _expanded(text: str) -> str:
    return _SHORT.sub(lambda match: f"(?P<{match[1]}>{_WHOLE if match[1] in PLACES else _NUMBER})", text)


def _compiled(text: str) -> re.Pattern[str]:
    return re.compile(_expanded(text))


def _parts(node: Any) -> Iterator[tuple[str, Any]]:
    """(name of the operation, its argument) of everything in a parsed expression, the outer ones first."""
    if isinstance(node, sre.SubPattern):
        for operation, argument in node:
            yield str(operation), argument
            yield from _parts(argument)
    elif isinstance(node, (tuple, list)):
        for child in node:
            yield from _parts(child)


def _explodes(parsed: Any) -> bool:
    """Whether a search can take exponential time: something of no fixed length is repeated; or simply too much is."""
    repeats = 0
    for operation, argument in _parts(parsed):
        if operation in ("GROUPREF", "GROUPREF_EXISTS"):
            return True
        if operation not in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            continue
        _, maximum, inside = argument
        repeats += maximum > 9
        if maximum > 1 and any(_varies(name, what) for name, what in _parts(inside)):
            return True
    return repeats > _MAX_REPEATS


def _varies(operation: str, argument: Any) -> bool:
    if operation in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return bool(argument[0] != argument[1])
    return operation == "BRANCH"


def _sample(node: Any) -> str:
    """A text that the expression nearly matches: what a search spends most time on."""
    text = ""
    for operation, argument in node if isinstance(node, (sre.SubPattern, list)) else ():
        name = str(operation)
        if name == "LITERAL":
            text += chr(argument)
        elif name in ("ANY", "NOT_LITERAL", "CATEGORY"):
            text += "a"
        elif name == "IN":
            text += _member(argument)
        elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            text += _sample(argument[2]) * max(1, min(int(argument[0]), 50))
        elif name == "SUBPATTERN":
            text += _sample(argument[-1])
        elif name == "BRANCH":
            text += _sample(argument[1][0])
    return text


def _member(items: Any) -> str:
    for operation, argument in items:
        if str(operation) == "LITERAL":
            return chr(argument)
        if str(operation) == "RANGE":
            return chr(argument[0])
        if str(operation) == "CATEGORY":
            return "1" if "DIGIT" in str(argument) else " " if "SPACE" in str(argument) else "a"
    return "a"


def _is_slow(expression: re.Pattern[str], sample: str) -> bool:
    """Measured on lines that grow by half, so that the first one that is slow is not yet a minute."""
    for unit in dict.fromkeys((sample or "a", "a", "1", " ", "loss: 1 ", sample[:-1] or "1")):
        length = 16
        while length < LONGEST_LINE:
            length = min(LONGEST_LINE, length * 5 // 4)
            line = (unit * (length // len(unit) + 1))[:length] + "\x01"
            if _seconds(expression, line) > SLOW and _seconds(expression, line) > SLOW:
                return True
    return False


def _seconds(expression: re.Pattern[str], line: str) -> float:
    begin = time.thread_time()
    expression.search(line)
    return time.thread_time() - begin
