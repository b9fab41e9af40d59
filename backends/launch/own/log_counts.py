"""How far a training came by its own counts, "Epoch 3/10" and "step 8 of 20", read from lines with a loss. Pure.

Epochs count before steps, which may be those of one epoch; the bar of tqdm counts where a line has neither.
"""

from __future__ import annotations

import re

from studio.events import Progress

_WORDS = (
    re.compile(r"(?i:\bepoch)\b[ \":=\[#]*(\d{1,9})(?: */ *| of )(\d{1,9})\b(?![.\d])|第 *(\d{1,9}) */ *(\d{1,9}) *轮"),
    re.compile(
        r"(?i:\b(?:step|iter|iteration|batch))\b[ \":=\[#]*(\d{1,9})(?: */ *| of )(\d{1,9})\b(?![.\d])"
        r"|第 *(\d{1,9}) */ *(\d{1,9}) *步"
    ),
    re.compile(r"\|\s*(\d{1,9})/(\d{1,9}) \["),
)
_UNITS = ("epochs", "steps", "steps")
"""Of the expressions above."""
_STOP = re.compile("(?i)early[ _-]?stop|stopp(?:ed|ing) early|提前停止|提前结束|早停".encode())


class LogCounts:
    """The last count of each kind, and by how much it grew from one line to the next, at most."""

    def __init__(self) -> None:
        self._last: dict[int, tuple[int, int]] = {}
        self._gaps: dict[int, int] = {}

    def read(self, text: str) -> None:
        """Read the counts of one line."""
        for kind, expression in enumerate(_WORDS):
            if match := expression.search(text):
                count, total = (int(number) for number in match.groups() if number is not None)
                before = self._last.get(kind)
                if before is not None and before[1] == total:
                    self._gaps[kind] = max(self._gaps.get(kind, 1), count - before[0])
                self._last[kind] = (count, total)

    def progress(self) -> Progress | None:
        """Return how far it came, complete where the next line would have been behind its end: counts may begin at 0,
        and not every step need be printed. None where nothing was counted, or a count went past its total."""
        kind = min(self._last, default=None)
        if kind is None:
            return None
        count, total = self._last[kind]
        if total <= 0 or count > total:
            return None
        is_complete = count + self._gaps.get(kind, 1) >= total
        return Progress(done=total if is_complete else count, total=total, phase="train", log_unit=_UNITS[kind])


def stops_early(end_of_log: bytes) -> bool:
    """Return whether the end of a log says that the training stopped of its own accord."""
    return bool(_STOP.search(end_of_log))
