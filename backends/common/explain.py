"""Why a training failed, from the end of its logs: a known cause, its fix, and the lines that show it.

The causes are in assets/errors.toml, their sentences in the catalogue: explain.<id>.cause, explain.<id>.fix.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.common.errors import known_errors
from backends.common.logs import log_ends
from backends.common.traceback import last_chain, raised
from studio.events import Finding
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from backends.common.errors import KnownError
    from backends.common.logs import LogEnd
    from backends.common.traceback import Lines, Raised
    from studio.events import Ended

# Any other finding of the training itself has its advice in its own sentence.
GENERIC = "launch.python_error"
PYTHON = "python_exception"
LIBRARY = "library_exception"
"""An exception of which no line of the user's own code is in the traceback."""
SYNTAX = "syntax_error"
CLOSING = ("launch.closing_crashed", "launch.closing_failed")
# Where nothing raised, only what was printed last can have ended the training.
LAST = 400
LONGEST_CHAIN = 2000
MAX_CHAINS = 8
LONGEST = 400
MAX_LINES = 8
_STAMP = re.compile(r"(20\d\d-\d\d-\d\d)-(\d\d:\d\d:\d\d)")


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """A cause. `args` fill in both sentences. `lines`: number and text of the lines that show it, in the log of that
    name. `follows`: it is only the consequence of another process's failure. `rank` is None where there is one
    process.
    """

    id: str
    args: dict[str, str]
    log: str = ""
    lines: Lines = ()
    rank: int | None = None
    follows: bool = False


def explain(logs: Sequence[LogEnd], ended: Ended, errors: Sequence[tuple[int, Finding]]) -> Explanation | None:
    """Return the first cause, of the rank that failed first; None for an end that needs none or whose cause is unknown.

    `errors`: what the training itself reported, with its rank, in order of time. Pure.
    """
    if ended.code == 0 or ended.reason:
        return None
    first = errors[0][0] if errors else None
    explanations = [
        explanation for log in sorted(logs, key=lambda log: _order(log, first)) if (explanation := _of_log(log))
    ]
    causes = [one for one in explanations if not one.follows] or explanations
    by_signal = _of_signal(ended.code)
    # A process that gets one of these has no time to print: what stands in the log is older.
    if by_signal and (not causes or ended.code - 128 in (9, 15)):
        return by_signal
    return causes[0] if causes else None


def _order(log: LogEnd, first: int | None) -> tuple[bool, bool, float]:
    """Return the sort key of a log: the rank that reported its failure first, then the others by when they failed, then
    the log of the whole run.
    """
    return log.rank is None, log.rank != first, _failed_at(log)


def _failed_at(log: LogEnd) -> float:
    """Return seconds since the epoch: of the last dated line of the last traceback, else of the last write, since the
    first rank to fail is the first to fall silent.
    """
    for _, text in last_chain(log.lines):
        if match := _STAMP.search(text):
            with suppress(ValueError, OverflowError):
                return time.mktime(time.strptime(" ".join(match.groups()), "%Y-%m-%d %H:%M:%S"))
    return log.written


def _of_log(log: LogEnd) -> Explanation | None:
    """Return the cause that a log tells. Launchers add tracebacks of their own after that of the process that failed,
    so while the last one is only a consequence, the one before it is read.
    """
    follows, lines = None, log.lines
    for _ in range(MAX_CHAINS):
        chain = last_chain(lines)
        explanation = _of_chain(chain) if chain else _search(log.lines[-LAST:][::-1], None, bool(follows))
        if explanation and not explanation.follows:
            return _with_location(explanation, log)
        follows = follows or explanation
        if not chain:
            break
        lines = lines[: len(lines) - len(chain)]
    return _with_location(follows, log) if follows else None


def _with_location(explanation: Explanation, log: LogEnd) -> Explanation:
    """Return the explanation with a location: where no Python code takes part, that is the line of the log."""
    location = explanation.args["place"] or f"{log.name}:{explanation.lines[-1][0]}"
    return replace(explanation, args=explanation.args | {"place": location}, log=log.name, rank=log.rank)


def _of_chain(chain: Lines) -> Explanation | None:
    error = raised(chain)
    explanation = _search(chain[:LONGEST_CHAIN], error)
    if explanation is None and error is not None:
        excerpt = _excerpt(chain, error.lines)
        return Explanation(id=_kind(error), args={"what": _short(error), "place": error.location}, lines=excerpt)
    return explanation


def _kind(error: Raised) -> str:
    if error.is_unreadable_file:
        return SYNTAX
    return PYTHON if error.is_own else LIBRARY


def _search(lines: Lines, error: Raised | None, causes_only: bool = False) -> Explanation | None:
    """Return the known cause that stands first in the table, by the first of these lines that matches it."""
    for cause in known_errors():
        for number, text in () if causes_only and cause.follows else lines:
            if match := _match(cause, text):
                message = _short(error) if error else text.strip()
                args = {"what": message, "place": error.location if error else ""} | _groups(match)
                numbers = {*(error.lines if error else ()), number} - {error.at if error and error.at != number else 0}
                args = {name: value[:LONGEST] for name, value in args.items()}
                return Explanation(id=cause.id, args=args, lines=_excerpt(lines, numbers), follows=cause.follows)
    return None


def _match(cause: KnownError, text: str) -> re.Match[str] | None:
    return next((match for says in cause.says if (match := says.pattern.search(text))), None)


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name: value.strip() for name, value in match.groupdict().items() if value}


def _of_signal(code: int) -> Explanation | None:
    for cause in known_errors():
        if code - 128 in cause.signals:
            return Explanation(id=cause.id, args={"what": str(code - 128), "place": ""})
    return None


def _short(error: Raised) -> str:
    return f"{error.type}: {error.message}"[:LONGEST] if error.message else error.type


def _excerpt(lines: Lines, numbers: Collection[int]) -> Lines:
    return tuple((n, text[:LONGEST]) for n, text in lines if n in numbers)[:MAX_LINES]


def findings(folder: Path, ended: Ended, first_ended: int | None = None) -> list[Finding]:
    """Return what a failed run's folder tells about the cause: which rank was first, the cause where the training did
    not report it itself, and the fix with the lines that show it. It reads the logs and the events. `first_ended`: the
    rank whose process ended before the others; that of a log counts more, unless it only tells of another's failure.
    """
    if ended.code == 0 or ended.reason:
        return []
    ranks, errors = _errors(folder)
    own = [finding for _, finding in errors if finding.rule != GENERIC]
    logs = log_ends(folder)
    explanation = explain(logs, ended, errors)
    ranks |= {log.rank for log in logs if log.rank is not None}
    several = len(ranks) > 1 or any(ranks)
    first = errors[0][0] if errors else explanation.rank if explanation else None
    if explanation is not None and explanation.follows and not own:
        first = first_ended
    if any(finding.rule in CLOSING for finding in own):
        return []  # it names the rank itself, where that is known; what the logs say of it is a consequence
    rank_findings = [Finding(rule="explain.first_rank", args={"rank": first})] if several and first is not None else []
    if own or explanation is None:
        return rank_findings
    return rank_findings + list(_sentences(explanation, is_reported=_is_reported(explanation, errors)))


def _errors(folder: Path) -> tuple[set[int], list[tuple[int, Finding]]]:
    """Return the ranks that wrote events in the last attempt, and the errors among them by time."""
    attempts: dict[int, tuple[set[int], list[tuple[int, Finding]]]] = {}
    tail = RunTail(folder)
    while news := list(tail.read()):
        for attempt, rank, events in news:
            ranks, errors = attempts.setdefault(attempt, (set(), []))
            ranks.add(rank)
            errors += [(rank, event) for event in events if isinstance(event, Finding) and event.severity == "error"]
    ranks, errors = attempts[max(attempts)] if attempts else (set(), [])
    return ranks, sorted(errors, key=lambda error: error[1].time)


def _is_reported(explanation: Explanation, errors: list[tuple[int, Finding]]) -> bool:
    """Return whether the training itself has reported the cause already."""
    return explanation.id in (PYTHON, LIBRARY, SYNTAX) and bool(errors)


def _sentences(explanation: Explanation, is_reported: bool) -> Iterator[Finding]:
    line = explanation.lines[-1][0] if explanation.lines else 0
    if not is_reported:
        yield Finding(
            rule=f"explain.{explanation.id}.cause", severity="error", path=explanation.log, args=dict(explanation.args)
        )
    excerpt = list(map(list, explanation.lines))
    yield Finding(
        rule=f"explain.{explanation.id}.fix", path=explanation.log, line=line, args=explanation.args | {"said": excerpt}
    )
