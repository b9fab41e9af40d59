"""The report's page."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from backends.common.page import page, row, said, section, tag
from backends.precision.compare.comparison import (
    DIFFERS,
    EXTRA,
    FIRST,
    FOLLOWS,
    MISSING,
    NO_RESULT,
    PASS,
    VERDICTS,
)
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER
from backends.precision.issue.text import (
    number,
    own_lines,
    place_text,
    rows_of,
    sentence,
    shape_text,
    source_line,
    stack_of,
    value_text,
)
from backends.precision.origin import VERSIONS, origin_of
from studio.texts import t_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run
    from studio.texts import Language

MOST_CALLS = 200
"""Rows of the table of calls that differ: the first are what matters, and a page is to be printed."""
MOST_PASSES = 64
SHOWN = (FIRST, DIFFERS, MISSING, EXTRA, FOLLOWS)
KEYS = {INPUT: "input_args", KWARG: "input_kwargs", OUTPUT: "output", PARAMETER: "parameters", GRADIENT: ""}
"""The objects of dump.json that rows are from."""

OF_ROWS = (
    "precision.report.place", "precision.report.dtype", "precision.report.shape", "precision.report.target",
    "precision.report.golden", "precision.report.error", "precision.report.limit", "precision.report.from",
)  # fmt: skip
OF_CALLS = (
    "precision.report.number", "precision.report.call", "precision.report.verdict", "precision.report.inputs",
    "precision.report.outputs", "precision.report.limit", "precision.report.source",
)  # fmt: skip
SIDE = {"target": "precision.issue.target", "golden": "precision.issue.golden"}
OF_SIDES = (
    "precision.report.step", "precision.report.rank", "precision.report.side", "precision.report.folder",
    "precision.report.code", "precision.report.versions",
)  # fmt: skip


class Report:
    """`run`: that of the comparison."""

    def __init__(self, comparison: Comparison, run: Run, language: Language) -> None:
        self.comparison, self.run, self.language = comparison, run, language

    def say(self, key: str, /, **args: object) -> str:
        return t_in(self.language, key, **args)

    def whole(self) -> bytes:
        title = self.say("precision.report.title")
        parts = (*self._verdict(), *self._first(), *self._differing(), *self._sides(), *self._method(), *self._notes())
        return page(self.language, title, "", parts)

    def _verdict(self) -> Iterator[str]:
        found = self.comparison
        calls, rows = len(found.names), len(found.verdict)
        first = found.first
        if first is None:
            yield tag("p", self.say("precision.report.none", calls=calls), "verdict")
        else:
            yield tag("p", f"{first.name}: {sentence(found, first.call, self.language)}", "verdict")
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.run.asked.time / 1e9))
        yield tag("p", self.say("precision.report.made", when=made, run=self.run.name, rows=rows, calls=calls), "dim")
        counts = np.bincount(found.call_verdict, minlength=len(VERDICTS))
        heads = [self.say("precision.report.verdict"), self.say("precision.report.calls"), ""]
        lines = [
            row([said(self.say(f"precision.verdict.{name}"))], [int(count)]) + f"<td>{said(self._meaning(name))}</td>"
            for name, count in zip(VERDICTS, counts, strict=True)
            if count
        ]
        yield section(self.say("precision.report.counts"), heads, lines, (1,))

    def _meaning(self, verdict: str) -> str:
        return self.say(f"precision.verdict.{verdict}_hint")

    def _first(self) -> Iterator[str]:
        found = self.comparison
        if found.first is None or found.first.call < 0:
            return
        call = found.first.call
        heads = list(map(self.say, OF_ROWS))
        lines = [self._row(one) for one in rows_of(found, call)]
        yield section(self.say("precision.report.first"), heads, lines, (5, 6))
        yield tag("p", self.say("precision.issue.statistics"), "dim")
        if source := source_line(found, call):
            yield f"<p><code>{said(source)}</code></p>"
            title = said(self.say("precision.report.stack"))
            yield f"<details><summary>{title}</summary><code>"
            yield said("\n".join(own_lines(stack_of(found, call)))) + "</code></details>"

    def _row(self, index: int) -> str:
        found = self.comparison
        dtype, shape = int(found.target_dtype[index]), int(found.target_shape[index])
        cells = [place_text(found, index), found.dtypes[dtype] if dtype >= 0 else "", shape_text(found, shape)]
        cells += [value_text(found, index, side) for side in ("target", "golden")]
        figures = [number(found.error[index]), number(found.allowed[index])]
        return row([said(one) for one in cells], [said(one) for one in figures]) + (
            f"<td><code>{said(self._origin(index))}</code></td>"
        )

    def _origin(self, index: int) -> str:
        """Where in dump.json of either side the figures of a row are."""
        found = self.comparison
        name = found.names[int(found.call[index])]
        key = KEYS[int(found.role[index])]
        place = ".".join(one for one in (key, found.items[int(found.item[index])]) if one)
        return f'data["{name}"].{place}'

    def _differing(self) -> Iterator[str]:
        found = self.comparison
        calls = np.flatnonzero(np.isin(found.call_verdict, SHOWN))
        if not len(calls):
            return
        heads = list(map(self.say, OF_CALLS))
        yield section(
            self.say("precision.report.differing"), heads, [self._call(int(one)) for one in calls[:MOST_CALLS]]
        )
        if len(calls) > MOST_CALLS:
            yield tag("p", self.say("precision.report.more", count=len(calls) - MOST_CALLS), "dim")

    def _call(self, call: int) -> str:
        found = self.comparison
        verdict = self.say(f"precision.verdict.{VERDICTS[int(found.call_verdict[call])]}")
        numbers = [number(column[call]) for column in (found.call_input, found.call_error, found.call_allowed)]
        cells = [str(call + 1), f"<code>{said(found.names[call])}</code>", said(verdict), *numbers]
        return row([*cells, f"<code>{said(source_line(found, call))}</code>"], [])

    def _sides(self) -> Iterator[str]:
        found = self.comparison
        heads = list(map(self.say, OF_SIDES))
        lines = [
            self._side(one.step, one.rank, side, folder)
            for one in found.passes[:MOST_PASSES]
            for side, folder in (("target", one.target), ("golden", one.golden))
        ]
        yield section(self.say("precision.report.compared"), heads, lines)

    def _side(self, step: int, rank: int, side: str, folder: Path | None) -> str:
        name = self.say(SIDE[side])
        if folder is None:
            return row([str(step), str(rank), said(name), said(self.say("precision.report.absent")), "", ""], [])
        origin = origin_of(folder)
        commit = origin.commit[:12] + (self.say("precision.report.dirty") if origin.dirty else "")
        versions = ", ".join(f"{one} {origin.versions[one]}" for one in VERSIONS if one in origin.versions)
        unknown = self.say("precision.issue.unknown")
        place = f"<code>{said(str(folder / 'dump.json'))}</code>"
        return row([str(step), str(rank), said(name), place, said(commit or unknown), said(versions or unknown)], [])

    def _method(self) -> Iterator[str]:
        yield tag("h2", self.say("precision.report.method"))
        yield tag("p", self.say("precision.report.error_is"))
        yield tag("p", self.say("precision.report.limit_is"))
        own = np.bincount(self.comparison.msprobe, minlength=4)
        if own[NO_RESULT + 1 :].any():
            yield tag(
                "p", self.say("precision.report.msprobe", passed=int(own[PASS]), others=int(own[PASS + 1 :].sum()))
            )
        else:
            yield tag("p", self.say("precision.report.no_msprobe"))

    def _notes(self) -> Iterator[str]:
        if self.comparison.notes:
            yield tag("h2", self.say("precision.report.notes"))
            for note in self.comparison.notes:
                yield tag("p", self.say(str(note.get("key", "")), **dict(note.get("args") or {})))


def report(comparison: Comparison, run: Run, language: Language) -> bytes:
    return Report(comparison, run, language).whole()
