"""One page of HTML with everything in it: no script, nothing from elsewhere, every text of the project escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.common.page import bar, page, row, said, section, tag
from backends.migration.found import STATES
from backends.migration.scan.facts.rules import source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.export.report import Report
    from backends.migration.found import Found

STATE = {
    "auto": "migration.state.auto_one",
    "edit": "migration.state.edit_one",
    "manual": "migration.state.manual_one",
    "none": "migration.state.none_one",
    "unverified": "migration.state.unverified_one",
}
SUPPORT = {"yes": "migration.support.yes", "no": "migration.support.no", "unverified": "migration.support.unverified"}
ADVICE = "migration.kind.advice"
MOST_APIS = 200
MOST_FOLDED = 12
"""Files whose findings are shown unfolded: a longer report begins with its files closed."""


STYLE = """
:root{--auto:#2f8f5b;--edit:#2f6fd0;--manual:#b7791f;--none:#c2413b;--unverified:#7b8494}
@media(prefers-color-scheme:dark){:root{--auto:#4cb57d;--edit:#6b9df0;--manual:#d9a24a;--none:#e5736d;
--unverified:#8d97a8}}
details td:nth-child(1){width:6rem}details td:nth-child(2){width:9rem}
.s.auto{border-color:var(--auto)}.s.edit{border-color:var(--edit)}.s.manual{border-color:var(--manual)}
.s.none{border-color:var(--none)}.s.unverified{border-color:var(--unverified)}.left{opacity:.55}
"""


def write(report: Report) -> bytes:
    title = report.say("migration.report.title", project=report.overview.folder.rpartition("/")[2])
    parts = (
        *_verdict(report), *_files(report), *_findings(report), *_rules(report), *_libraries(report), *_apis(report),
        *_notes(report),
    )  # fmt: skip
    return page(report.language, title, STYLE, parts)


def _verdict(report: Report) -> Iterator[str]:
    overview, say = report.overview, report.say
    counts, total = overview.places, sum(overview.places.values())
    yield tag("p", say("migration.report.verdict", total=total, **counts), "verdict")
    yield bar(counts, {state: say(STATE[state]) for state in STATES})
    low, high = (f"{hours:.1f}" for hours in overview.hours)
    yield tag("p", say("migration.report.hours", low=low, high=high))
    yield tag("p", say("migration.report.read", files=overview.files, lines=overview.lines), "dim")
    yield tag("p", say(overview.facts.key, **overview.facts.args), "dim")
    if overview.suppressed:
        yield tag("p", say("migration.report.suppressed", count=len(overview.suppressed)), "dim")
    if since := overview.since:
        figures = {"new": len(since.new), "done": len(since.done), "still": since.still}
        yield tag("p", say("migration.report.since", **figures))


def _files(report: Report) -> Iterator[str]:
    if report.overview.heat:
        heads = [report.say("migration.report.file"), *_states(report), report.say(ADVICE)]
        heads.append(report.say("migration.report.effort"))
        rows = [
            row(
                [f'<a href="#{_anchor(one.path)}">{said(one.path)}</a>'],
                [*one.places.values(), one.advice, one.effort],
            )
            for one in report.overview.heat
        ]
        yield section(report.say("migration.report.files"), heads, rows, range(1, len(heads)))


def _states(report: Report) -> list[str]:
    return [report.say(STATE[state]) for state in STATES]


def _findings(report: Report) -> Iterator[str]:
    by_file: dict[str, list[tuple[Found, str]]] = {}
    for one, mark in zip(report.found, report.marks, strict=True):
        by_file.setdefault(one.path, []).append((one, mark))
    if by_file:
        yield tag("h2", report.say("migration.report.findings"))
    opened = " open" if len(by_file) <= MOST_FOLDED else ""
    for path, ones in by_file.items():
        yield f'<details id="{_anchor(path)}"{opened}><summary>{said(path)} <b>{len(ones)}</b></summary><table>'
        yield from (_finding(report, one, report.overview.suppressed.get(mark, "")) for one, mark in ones)
        yield "</table></details>"


def _finding(report: Report, one: Found, suppressed: str) -> str:
    where = str(one.line) if one.cell is None else report.say("migration.report.cell", cell=one.cell, line=one.line)
    state = report.say(ADVICE if one.kind == "advice" else STATE[one.state])
    reason = tag("p", report.say("migration.report.left", reason=suppressed), "dim") if suppressed else ""
    return (
        f'<tr class="{"left" if suppressed else one.kind}"><td class="n">{said(where)}</td>'
        f'<td><span class="s {one.state}">{said(state)}</span></td>'
        f'<td><code>{said(one.text)}</code><p><a href="#{_anchor(one.rule)}">'
        f"{said(report.title(one))}</a></p>{reason}</td></tr>"
    )


def _rules(report: Report) -> Iterator[str]:
    first = {one.rule: one for one in reversed(report.found)}
    if first:
        yield tag("h2", report.say("migration.report.rules"))
    for rule, one in sorted(first.items()):
        yield f'<section id="{_anchor(rule)}">{tag("h3", report.title(one))}'
        yield tag("p", report.why(one)) + tag("p", report.todo(one), "todo")
        link = source(rule)
        href = f' · <a href="{said(link)}">{said(link)}</a>' if link.startswith("https://") else ""
        yield f'<p class="dim"><code>{said(rule)}</code>{href}</p></section>'


def _libraries(report: Report) -> Iterator[str]:
    if report.overview.libraries:
        names = (
            "migration.report.library", "migration.report.version", "migration.report.state", "migration.report.todo",
        )  # fmt: skip
        rows = [
            row([tag("code", one.name), said(one.version or one.asked)], [])
            + row([report.say(STATE[one.state]), _of_library(report, one.rule)], [])
            for one in report.overview.libraries
        ]
        heads = list(map(report.say, names))
        yield section(report.say("migration.report.libraries"), heads, rows)


def _of_library(report: Report, rule: str) -> str:
    return said(report.say(f"rule.{rule}.todo")) if rule else ""


def _apis(report: Report) -> Iterator[str]:
    if report.overview.apis:
        heads = [report.say("migration.report.api"), report.say("migration.report.calls")]
        heads += ["A2", "A3", "950", "MindSpore"]
        rows = [_api(report, index) for index in range(min(MOST_APIS, len(report.overview.apis)))]
        yield section(report.say("migration.report.apis"), heads, rows, (1,))


def _api(report: Report, index: int) -> str:
    one = report.overview.apis[index]
    answers = [report.say(SUPPORT[answer]) for answer in (one.a2, one.a3, one.a950)]
    differs = report.say("migration.report.differs") if one.mindspore and not one.consistent else ""
    return row([tag("code", one.name)], [one.count]) + row([*map(said, answers), said(one.mindspore + differs)], [])


def _notes(report: Report) -> Iterator[str]:
    if report.overview.notes:
        rows = [
            row([said(note.path) + (f":{note.line}" if note.line else "")], [])
            + row([said(report.say(note.key, **note.args))], [])
            for note in report.overview.notes
        ]
        heads: Sequence[str] = [report.say("migration.report.file"), report.say("migration.report.why")]
        yield section(report.say("migration.report.notes"), heads, rows)


def _anchor(text: str) -> str:
    return "a-" + re.sub(r"[^A-Za-z0-9]", lambda found: f"_{ord(found[0]):x}_", text)
