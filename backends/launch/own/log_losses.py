"""Losses in the log of a run that are no numbers, whatever pattern its curves are read with, and where they are not."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.common import log_patterns
from backends.common.nonfinite_losses import LOG_RULE
from backends.launch.own.log_lines import LogLines
from studio.events import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from studio.events import Journal

# A word with "loss" in it, maybe one before it ("val loss"), and a value that is no number right behind.
_NAMED = re.compile(
    r"(?i)((?:[a-z][\w/.-]{0,30} {1,2})?[\w/.-]{0,30}loss[\w/.]{0,30})"
    r"[\"']?[ \t]{0,4}[:=]?[ \t]{0,4}([-+]?)(nan|inf(?:inity)?)\b"
)
_SIGN = re.compile(rb"(?i)loss[^\n]{0,44}(?:nan|inf)")
# What the curves are read by, and the guest knows better: it sees which steps a loss scaler skipped.
_OF_TRAINING = re.compile(
    r"(?i)(?:train(?:ing)?|step|iter(?:ation)?|batch|epoch|avg|average|mean|running|total|the|is|lm)?[ _/.-]?loss"
)
_EVALUATION = re.compile(r"(?i)\b(?:test|val|valid|validation|eval|evaluation|dev)\b[^\n]{0,30}$")
# A bound that the first value is to beat is infinite at the beginning.
_BOUND = re.compile(
    r"(?i)(?<![a-z])(?:best|min|max|minimum|lowest|prev|previous|last|from|initial|scale|target|threshold|old)(?![a-z])"
)
_LOCATION = re.compile(r"(?i)\b(global[_ ]?step|step|iter(?:ation)?s?|epoch)\b[^\w\n]{0,3}(\d{1,9})")


class LogLosses:
    """Reads on in output.log and tells the first loss that is no number, once. For the worker: `tick()` while the
    training runs, `finish()` after its end."""

    def __init__(self, log: Path, journal: Journal) -> None:
        self._lines, self._journal = LogLines(log), journal
        self._number = 0
        self._has_reported = False

    def tick(self) -> None:
        """Raises OSError where the finding cannot be written; it is written later then."""
        self._read_lines(self._lines.read())

    def finish(self) -> None:
        self._read_lines(self._lines.read())
        while self._lines.more and not self._has_reported:
            self._read_lines(self._lines.read())
        self._read_lines(self._lines.last())

    def _read_lines(self, lines: Iterable[bytes]) -> None:
        for line in () if self._has_reported else lines:
            self._number += 1
            if not self._has_reported and _SIGN.search(line) and (args := nonfinite_loss(log_patterns.plain(line))):
                self._has_reported = True
                finding = Finding(rule=LOG_RULE, severity="warning", args={"line": self._number, **args})
                self._journal.write_or_keep(finding)


def nonfinite_loss(line: str) -> dict[str, str] | None:
    """Return name, value and place (a step or an epoch) of a loss in a line that is no number, None without one. The
    loss of the training itself is told by whoever reads the curves."""
    for match in _NAMED.finditer(line[: log_patterns.LONGEST_LINE]):
        name, value = match[1].strip(" -./_"), "NaN" if match[3].lower() == "nan" else f"{match[2].strip('+')}Infinity"
        before = line[: match.start()]
        context = _EVALUATION.search(before)
        if _BOUND.search(f"{before.rstrip().rpartition(' ')[2]} {name}") or (
            _OF_TRAINING.fullmatch(name) and not context
        ):
            continue
        position = _LOCATION.search(line)
        title = f"{context[0].strip()} {name}" if context else name
        return {"name": title, "value": value, "place": f"{position[1]} {position[2]}" if position else "–"}
    return None
