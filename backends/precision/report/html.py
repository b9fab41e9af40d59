"""The report's page."""

from __future__ import annotations

import time
from functools import cache, cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from backends.common.page import escaped, page, row, section, tag
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
from backends.precision.compare.verdict.notes import noise_sentences
from backends.precision.dump.dump import GRADIENT, INPUT, KWARG, OUTPUT, PARAMETER
from backends.precision.issue.markdown import (
    number_text,
    own_lines,
    row_text,
    rows_of,
    sentence,
    shape_text,
    source_line,
    stack_of,
    value_text,
)
from backends.precision.origin import VERSIONS, origin_of
from backends.precision.report import compared_dumps, plot, summary
from backends.precision.report.deeper import origin_comparison
from backends.precision.report.losses import ReportedLosses, losses_of
from backends.precision.report.outcome import outcome_of
from studio.texts import t_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run
    from studio.texts import Language

MAX_CALLS = 200
"""Rows of the table of calls that differ: the first are what matters, and a page is to be printed."""
MAX_PASSES = 64
MAX_PASSING = 500
OUTCOMES = {
    "pass": "precision.report.outcome_pass", "differs": "precision.report.outcome_differs",
    "incomplete": "precision.report.outcome_incomplete",
}  # fmt: skip
SIGNATURE = (
    "precision.report.sign_decision", "precision.report.sign_name", "precision.report.sign_date",
    "precision.report.sign_sign",
)  # fmt: skip
STYLE = """
.outcome{font-size:1.7rem;font-weight:700;margin:.4rem 0;padding:.5rem .9rem;border-left:10px solid;
background:var(--card)}.outcome.pass{border-color:#4c9f70}.outcome.differs{border-color:#c0392b}
.outcome.incomplete{border-color:#d68910}.gap{border-left:4px solid #d68910;padding-left:.6rem}
.sign td{height:2.1rem;vertical-align:bottom}.sign td:first-child{width:14rem}
.sign td:last-child{border-bottom:1px solid var(--text)}
"""
REPORTED_VERDICTS = (FIRST, DIFFERS, MISSING, EXTRA, FOLLOWS)
VERDICT_KEYS = {INPUT: "input_args", KWARG: "input_kwargs", OUTPUT: "output", PARAMETER: "parameters", GRADIENT: ""}
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
    "precision.report.digest", "precision.report.code", "precision.report.versions",
)  # fmt: skip


class Report:
    """`run`: that of the comparison. `is_top`: the report is of this one, and not of one that it began from."""

    def __init__(self, comparison: Comparison, run: Run, language: Language, *, is_top: bool = True) -> None:
        self.comparison, self.run, self.language, self.is_top = comparison, run, language, is_top
        self._state_of = cache(partial(compared_dumps.state_of, run=run))  # it reads whole tensors

    def say(self, key: str, /, **args: object) -> str:
        return t_in(self.language, key, **args)

    def whole(self) -> bytes:
        title = self.say("precision.report.title")
        opening = (*self._verdict(), *self._covered(), *self._tools(), *self._signature())
        results = (*self._counts(), *self._plot(), *self._first(), *self._differing(), *self._losses())
        grounds = (*self._sides(), *self._settings(), *self._method(), *self._notes(), *self._passing())
        return page(self.language, title, STYLE + plot.STYLE, (*opening, *results, *self._whole_step(), *grounds))

    def _verdict(self) -> Iterator[str]:
        comparison = self.comparison
        calls, rows = len(comparison.names), len(comparison.verdict)
        origin = origin_comparison(self.run) if self.is_top else None
        outcome = outcome_of(comparison, self.run, self._reported_losses, origin, self._state_of)
        text = self.say(outcome.key, **outcome.args)
        state = escaped(self.say(OUTCOMES[outcome.outcome]))
        first = comparison.first
        if first is not None:
            text = f"{first.name}: {sentence(comparison, first.call, self.language)}"
        yield f'<p class="outcome {outcome.outcome}">{state}</p>{tag("p", text, "verdict")}'
        created = time.strftime("%Y-%m-%d %H:%M", time.localtime(self.run.request.time / 1e9))
        yield tag(
            "p", self.say("precision.report.made", when=created, run=self.run.name, rows=rows, calls=calls), "dim"
        )

    def _covered(self) -> Iterator[str]:
        """Yield what was compared of what was there, and what was not."""
        heads = [self.say("precision.report.covered"), self.say("precision.report.compared_count")]
        lines = [
            row([escaped(self.say(key))], [f"{done} / {total}"])
            for key, done, total in summary.covered_counts(self.comparison)
        ]
        yield section(self.say("precision.report.covered_title"), heads, lines, (1,))
        for note in self.comparison.gaps:
            yield tag("p", self.say(str(note["key"]), **dict(note.get("args") or {})), "gap")
        if self.comparison.noise is not None:
            for key, args in noise_sentences(self.comparison.noise):
                yield tag("p", self.say(key, **args))

    def _tools(self) -> Iterator[str]:
        heads = [self.say("precision.report.tool"), self.say(SIDE["target"]), self.say(SIDE["golden"])]
        unknown = self.say("precision.issue.unknown")
        lines = [
            row([escaped(name), escaped(target or unknown), escaped(golden or unknown)], [])
            for name, target, golden in summary.tool_versions(self.comparison, self.run)
        ]
        yield section(self.say("precision.report.tools"), heads, lines)

    def _signature(self) -> Iterator[str]:
        """Yield lines to be filled in by hand."""
        yield tag("h2", self.say("precision.report.signature"))
        lines = "".join(f"<tr><td>{escaped(self.say(key))}</td><td></td></tr>" for key in SIGNATURE)
        yield f'<table class="sign">{lines}</table>'

    def _counts(self) -> Iterator[str]:
        comparison = self.comparison
        counts = np.bincount(comparison.call_verdict, minlength=len(VERDICTS))
        heads = [self.say("precision.report.verdict"), self.say("precision.report.calls"), ""]
        lines = [
            row([escaped(self.say(f"precision.verdict.{name}"))], [int(count)])
            + f"<td>{escaped(self._meaning(name))}</td>"
            for name, count in zip(VERDICTS, counts, strict=True)
            if count
        ]
        yield section(self.say("precision.report.counts"), heads, lines, (1,))

    def _meaning(self, verdict: str) -> str:
        return self.say(f"precision.verdict.{verdict}_hint")

    def _plot(self) -> Iterator[str]:
        title, axis = self.say("precision.view.plot"), self.say("precision.report.execution_order")
        if drawn := plot.error_plot(self.comparison, title, axis):
            yield tag("h2", title)
            yield drawn
            yield tag("p", self.say("precision.report.plot_hint"), "dim")

    @cached_property
    def _reported_losses(self) -> ReportedLosses | None:
        return losses_of(self.comparison, self.run)

    def _losses(self) -> Iterator[str]:
        title = self.say("precision.report.losses")
        yield tag("h2", title)
        losses = self._reported_losses
        if losses is None:
            yield tag("p", self.say("precision.report.no_losses"))
            return
        yield tag("p", self.say(losses.key, **losses.args))
        if not losses.curves:
            return
        names = {side: self.say(key) for side, key in SIDE.items()}
        yield plot.loss_plot(losses.curves, names, title, self.say("precision.report.step"))

    def _whole_step(self) -> Iterator[str]:
        """Yield the comparison of the whole step that a deeper one began from: its plot, losses, calls and code."""
        origin = origin_comparison(self.run) if self.is_top else None
        if origin is None:
            return
        comparison, run = origin
        yield tag("h2", self.say("precision.report.whole_step"))
        yield tag("p", self.say("precision.report.whole_step_text", run=run.name))
        first = comparison.first
        if first is not None:
            yield tag("p", f"{first.name}: {sentence(comparison, first.call, self.language)}")
        inner = Report(comparison, run, self.language, is_top=False)
        parts = (*inner._covered(), *inner._counts(), *inner._plot(), *inner._first(), *inner._differing())
        yield from (*parts, *inner._losses(), *inner._sides())

    def _settings(self) -> Iterator[str]:
        heads = [self.say("precision.report.setting"), self.say("precision.report.value")]
        lines = [
            row([escaped(self.say(key)), escaped(summary.text_of(value, self.say))], [])
            for key, value in summary.settings(self.run)
        ]
        yield section(self.say("precision.report.settings"), heads, lines)

    def _passing(self) -> Iterator[str]:
        """Yield the calls that do not differ: a sign-off lists what it is of."""
        comparison = self.comparison
        calls = np.flatnonzero(~np.isin(comparison.call_verdict, REPORTED_VERDICTS))
        title = self.say("precision.report.passing", count=len(calls))
        heads = list(map(self.say, OF_CALLS))
        yield section(title, heads, [self._call(int(call)) for call in calls[:MAX_PASSING]])
        if len(calls) > MAX_PASSING:
            yield tag("p", self.say("precision.report.more", count=len(calls) - MAX_PASSING), "dim")

    def _first(self) -> Iterator[str]:
        comparison = self.comparison
        if comparison.first is None or comparison.first.call < 0:
            return
        call = comparison.first.call
        heads = list(map(self.say, OF_ROWS))
        lines = [self._row(text) for text in rows_of(comparison, call)]
        yield section(self.say("precision.report.first"), heads, lines, (5, 6))
        yield tag("p", self.say("precision.issue.statistics"), "dim")
        if source := source_line(comparison, call):
            yield f"<p><code>{escaped(source)}</code></p>"
            title = escaped(self.say("precision.report.stack"))
            yield f"<details><summary>{title}</summary><code>"
            yield escaped("\n".join(own_lines(stack_of(comparison, call)))) + "</code></details>"

    def _row(self, index: int) -> str:
        comparison = self.comparison
        dtype, shape = int(comparison.target_dtype[index]), int(comparison.target_shape[index])
        cells = [
            row_text(comparison, index),
            comparison.dtypes[dtype] if dtype >= 0 else "",
            shape_text(comparison, shape),
        ]
        cells += [value_text(comparison, index, side) for side in ("target", "golden")]
        figures = [number_text(comparison.error[index]), number_text(comparison.allowed[index])]
        return row([escaped(text) for text in cells], [escaped(text) for text in figures]) + (
            f"<td><code>{escaped(self._origin(index))}</code></td>"
        )

    def _origin(self, index: int) -> str:
        """Where in dump.json of either side the figures of a row are."""
        comparison = self.comparison
        name = comparison.names[int(comparison.call[index])]
        key = VERDICT_KEYS[int(comparison.role[index])]
        location = ".".join(text for text in (key, comparison.items[int(comparison.item[index])]) if text)
        return f'data["{name}"].{location}'

    def _differing(self) -> Iterator[str]:
        comparison = self.comparison
        calls = np.flatnonzero(np.isin(comparison.call_verdict, REPORTED_VERDICTS))
        if not len(calls):
            return
        heads = list(map(self.say, OF_CALLS))
        yield section(
            self.say("precision.report.differing"), heads, [self._call(int(text)) for text in calls[:MAX_CALLS]]
        )
        if len(calls) > MAX_CALLS:
            yield tag("p", self.say("precision.report.more", count=len(calls) - MAX_CALLS), "dim")

    def _call(self, call: int) -> str:
        comparison = self.comparison
        verdict = self.say(f"precision.verdict.{VERDICTS[int(comparison.call_verdict[call])]}")
        numbers = [
            number_text(column[call])
            for column in (comparison.call_input, comparison.call_error, comparison.call_allowed)
        ]
        cells = [str(call + 1), f"<code>{escaped(comparison.names[call])}</code>", escaped(verdict), *numbers]
        return row([*cells, f"<code>{escaped(source_line(comparison, call))}</code>"], [])

    def _sides(self) -> Iterator[str]:
        comparison = self.comparison
        heads = list(map(self.say, OF_SIDES))
        lines = [
            self._side(text.step, text.rank, side, folder)
            for text in comparison.passes[:MAX_PASSES]
            for side, folder in (("target", text.target), ("golden", text.golden))
        ]
        yield section(self.say("precision.report.compared"), heads, lines)

    def _side(self, step: int, rank: int, side: str, folder: Path | None) -> str:
        name = self.say(SIDE[side])
        if folder is None:
            return row(
                [str(step), str(rank), escaped(name), escaped(self.say("precision.report.absent")), *[""] * 3], []
            )
        origin = origin_of(folder)
        commit = origin.commit[:12] + (self.say("precision.report.dirty") if origin.dirty else "")
        versions = ", ".join(f"{text} {origin.versions[text]}" for text in VERSIONS if text in origin.versions)
        unknown = self.say("precision.issue.unknown")
        location = f"<code>{escaped(str(folder / 'dump.json'))}</code>"
        digest = f"<code>{compared_dumps.dump_digest(folder) or escaped(unknown)}</code>"
        if self._state_of(folder) == "changed":
            digest += tag("p", self.say("precision.report.changed_since"))
        texts = (escaped(commit or unknown), escaped(versions or unknown))
        return row([str(step), str(rank), escaped(name), location, digest, *texts], [])

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
