"""Why a training failed, from the end of its logs: a known cause, its fix, and the lines that say it.

The causes are in assets/errors.toml, their sentences in the catalogue: explain.<id>.cause, explain.<id>.fix.
"""

from __future__ import annotations

import re
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from backends.common.errors import known
from backends.common.logs import log_ends
from backends.common.traceback import last_chain, raised
from studio.events import Finding
from studio.tail import RunTail

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from backends.common.errors import Known
    from backends.common.logs import LogEnd
    from backends.common.traceback import Lines, Raised
    from studio.events import Ended

# Any other finding of the training itself has its advice in its own sentence.
GENERIC = "launch.python_error"
PYTHON = "python_exception"
# Where nothing raised, only what was printed last can have ended the training.
LAST = 400
LONGEST_CHAIN = 2000
MOST_CHAINS = 8
LONGEST = 400
MOST_SAID = 8
_STAMP = re.compile(r"(20\d\d-\d\d-\d\d)-(\d\d:\d\d:\d\d)")


@dataclass(frozen=True, kw_only=True)
class Explanation:
    """`args` fill in both sentences. `said`: number and text of the lines that say it, in the log of that name.
    `follows`: only the consequence of another process's failure. `rank` is None where there is one process."""

    id: str
    args: dict[str, str]
    log: str = ""
    said: Lines = ()
    rank: int | None = None
    follows: bool = False


def explain(logs: Sequence[LogEnd], ended: Ended, errors: Sequence[tuple[int, Finding]]) -> Explanation | None:
    """The first cause, of the rank that failed first; None for an end that needs none or that is not known.

    `errors`: what the training itself said, with its rank, the first first. Pure."""
    if ended.code == 0 or ended.reason:
        return None
    first = errors[0][0] if errors else None
    found = [one for log in sorted(logs, key=lambda log: _order(log, first)) if (one := _of_log(log))]
    causes = [one for one in found if not one.follows] or found
    by_signal = _of_signal(ended.code)
    # A process that gets one of these has no time to print: what stands in the log is older.
    if by_signal and (not causes or ended.code - 128 in (9, 15)):
        return by_signal
    return causes[0] if causes else None


def _order(log: LogEnd, first: int | None) -> tuple[bool, bool, float]:
    """The rank that said first that it failed, then the others by when they failed, then the log of the whole run."""
    return log.rank is None, log.rank != first, _failed_at(log)


def _failed_at(log: LogEnd) -> float:
    """Seconds since the epoch: of the line in the last chain that has a time, else of the last writing: the first to
    fail is the first to fall silent."""
    for _, text in last_chain(log.lines):
        if match := _STAMP.search(text):
            with suppress(ValueError, OverflowError):
                return time.mktime(time.strptime(" ".join(match.groups()), "%Y-%m-%d %H:%M:%S"))
    return log.written


def _of_log(log: LogEnd) -> Explanation | None:
    """The cause that a log tells. Launchers add tracebacks of their own after that of the process that failed, so
    while the last one is only a consequence, the one before it is asked."""
    follows, lines = None, log.lines
    for _ in range(MOST_CHAINS):
        chain = last_chain(lines)
        found = _of_chain(chain) if chain else _search(log.lines[-LAST:][::-1], None, bool(follows))
        if found and not found.follows:
            return _placed(found, log)
        follows = follows or found
        if not chain:
            break
        lines = lines[: len(lines) - len(chain)]
    return _placed(follows, log) if follows else None


def _placed(found: Explanation, log: LogEnd) -> Explanation:
    """Where no Python code has a part in it, the line of the log is the place."""
    place = found.args["place"] or f"{log.name}:{found.said[-1][0]}"
    return replace(found, args=found.args | {"place": place}, log=log.name, rank=log.rank)


def _of_chain(chain: Lines) -> Explanation | None:
    error = raised(chain)
    found = _search(chain[:LONGEST_CHAIN], error)
    if found is None and error is not None:
        said = _said(chain, error.lines)
        return Explanation(id=PYTHON, args={"what": _short(error), "place": error.place}, said=said)
    return found


def _search(lines: Lines, error: Raised | None, causes_only: bool = False) -> Explanation | None:
    """The known cause that stands first in the table, by the first of these lines that tells it."""
    for cause in known():
        for number, text in () if causes_only and cause.follows else lines:
            if match := _match(cause, text):
                told = _short(error) if error else text.strip()
                args = {"what": told, "place": error.place if error else ""} | _groups(match)
                numbers = {*(error.lines if error else ()), number} - {error.at if error and error.at != number else 0}
                args = {name: value[:LONGEST] for name, value in args.items()}
                return Explanation(id=cause.id, args=args, said=_said(lines, numbers), follows=cause.follows)
    return None


def _match(cause: Known, text: str) -> re.Match[str] | None:
    return next((match for says in cause.says if (match := says.pattern.search(text))), None)


def _groups(match: re.Match[str]) -> dict[str, str]:
    return {name: value.strip() for name, value in match.groupdict().items() if value}


def _of_signal(code: int) -> Explanation | None:
    for cause in known():
        if code - 128 in cause.signals:
            return Explanation(id=cause.id, args={"what": str(code - 128), "place": ""})
    return None


def _short(error: Raised) -> str:
    return f"{error.type}: {error.message}"[:LONGEST] if error.message else error.type


def _said(lines: Lines, numbers: Collection[int]) -> Lines:
    return tuple((n, text[:LONGEST]) for n, text in lines if n in numbers)[:MOST_SAID]


def findings(folder: Path, ended: Ended) -> list[Finding]:
    """What a failed run's folder tells about the cause, as findings of the run: which rank was first, the cause where
    the training did not say it itself, and the fix with the lines that say it. Reads the logs and the events."""
    if ended.code == 0 or ended.reason:
        return []
    ranks, errors = _errors(folder)
    own = [finding for _, finding in errors if finding.rule != GENERIC]
    logs = log_ends(folder)
    found = explain(logs, ended, errors)
    ranks |= {log.rank for log in logs if log.rank is not None}
    several = len(ranks) > 1 or any(ranks)
    first = errors[0][0] if errors else found.rank if found else None
    said = [Finding(rule="explain.first_rank", args={"rank": first})] if several and first is not None else []
    return said if own or found is None else said + list(_sentences(found, told=_told(found, errors)))


def _errors(folder: Path) -> tuple[set[int], list[tuple[int, Finding]]]:
    """The ranks that wrote events in the last attempt, and the errors among them by time."""
    attempts: dict[int, tuple[set[int], list[tuple[int, Finding]]]] = {}
    tail = RunTail(folder)
    while news := list(tail.read()):
        for attempt, rank, events in news:
            ranks, errors = attempts.setdefault(attempt, (set(), []))
            ranks.add(rank)
            errors += [(rank, one) for one in events if isinstance(one, Finding) and one.severity == "error"]
    ranks, errors = attempts[max(attempts)] if attempts else (set(), [])
    return ranks, sorted(errors, key=lambda error: error[1].time)


def _told(found: Explanation, errors: list[tuple[int, Finding]]) -> bool:
    """Whether the training itself has said it already."""
    return found.id == PYTHON and bool(errors)


def _sentences(found: Explanation, told: bool) -> Iterator[Finding]:
    line = found.said[-1][0] if found.said else 0
    if not told:
        yield Finding(rule=f"explain.{found.id}.cause", severity="error", path=found.log, args=dict(found.args))
    said = [list(one) for one in found.said]
    yield Finding(rule=f"explain.{found.id}.fix", path=found.log, line=line, args=found.args | {"said": said})
