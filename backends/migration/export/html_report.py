"""A self-contained HTML page: no script, nothing loaded from elsewhere, all text of the project escaped."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.common.page import bar, escaped, page, row, section, tag
from backends.migration.export.certificate_section import certificate_html
from backends.migration.finding import STATES
from backends.migration.scan.facts.rules import rule_source
from backends.migration.scan.overview import count_unanswered

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.migration.export.report import Report
    from backends.migration.finding import ScanFinding

STATE = {
    "auto": "migration.state.auto_one",
    "edit": "migration.state.edit_one",
    "manual": "migration.state.manual_one",
    "none": "migration.state.none_one",
    "unverified": "migration.state.unverified_one",
}
SUPPORT = {"yes": "migration.support.yes", "no": "migration.support.no", "unverified": "migration.support.unverified"}
ADVICE = "migration.kind.advice"
MAX_APIS = 200
MAX_UNFOLDED = 12
"""Files whose findings are shown unfolded: a longer report begins with its files closed."""


STYLE = """
:root{--auto:#2f8f5b;--edit:#2f6fd0;--manual:#b7791f;--none:#c2413b;--unverified:#7b8494}
@media(prefers-color-scheme:dark){:root{--auto:#4cb57d;--edit:#6b9df0;--manual:#d9a24a;--none:#e5736d;
--unverified:#8d97a8}}
details td:nth-child(1){width:6rem}details td:nth-child(2){width:9rem}
.s.auto{border-color:var(--auto)}.s.edit{border-color:var(--edit)}.s.manual{border-color:var(--manual)}
.s.none{border-color:var(--none)}.s.unverified{border-color:var(--unverified)}.left{opacity:.55}
"""


def render_html(report: Report) -> bytes:
    """Return the bytes of the HTML page."""
    title = report.text("migration.report.title", project=report.overview.folder.rpartition("/")[2])
    parts = (
        *_verdict(report),
        *certificate_html(report),
        *_files(report),
        *_findings(report),
        *_rules(report),
        *_libraries(report),
        *_apis(report),
        *_notes(report),
    )
    return page(report.language, title, STYLE, parts)


def _verdict(report: Report) -> Iterator[str]:
    overview, text = report.overview, report.text
    counts, total = overview.places, sum(overview.places.values())
    yield tag(
        "p", text("migration.report.verdict", total=total, advice=sum(overview.advice.values()), **counts), "verdict"
    )
    if unanswered := count_unanswered(overview.apis):
        yield tag("p", text("migration.scan.apis", count=unanswered, total=len(overview.apis)))
    yield bar(counts, {state: text(STATE[state]) for state in STATES})
    low, high = (f"{hours:.1f}" for hours in overview.hours)
    yield tag("p", text("migration.report.hours", low=low, high=high))
    yield tag("p", text("migration.report.read", files=overview.files, lines=overview.lines), "dim")
    yield tag("p", text(overview.facts.key, **overview.facts.args), "dim")
    if overview.suppressed:
        yield tag("p", text("migration.report.suppressed", count=len(overview.suppressed)), "dim")
    if since := overview.since:
        figures = {"new": len(since.new), "done": len(since.done), "still": since.still}
        yield tag("p", text("migration.report.since", **figures))


def _files(report: Report) -> Iterator[str]:
    if report.overview.heat:
        heads = [report.text("migration.report.file"), *_states(report), report.text(ADVICE)]
        heads.append(report.text("migration.report.effort"))
        rows = [
            row(
                [f'<a href="#{_anchor(file.path)}">{escaped(file.path)}</a>'],
                [*file.places.values(), file.advice, file.effort],
            )
            for file in report.overview.heat
        ]
        yield section(report.text("migration.report.files"), heads, rows, range(1, len(heads)))


def _states(report: Report) -> list[str]:
    return [report.text(STATE[state]) for state in STATES]


def _findings(report: Report) -> Iterator[str]:
    by_file: dict[str, list[tuple[ScanFinding, str]]] = {}
    for finding, mark in zip(report.findings, report.marks, strict=True):
        by_file.setdefault(finding.path, []).append((finding, mark))
    if by_file:
        yield tag("h2", report.text("migration.report.findings"))
    opened = " open" if len(by_file) <= MAX_UNFOLDED else ""
    for path, ones in by_file.items():
        yield f'<details id="{_anchor(path)}"{opened}><summary>{escaped(path)} <b>{len(ones)}</b></summary><table>'
        yield from (_finding(report, finding, report.overview.suppressed.get(mark, "")) for finding, mark in ones)
        yield "</table></details>"


def _finding(report: Report, finding: ScanFinding, suppressed: str) -> str:
    where = (
        str(finding.line)
        if finding.cell is None
        else report.text("migration.report.cell", cell=finding.cell, line=finding.line)
    )
    state = report.text(ADVICE if finding.kind == "advice" else STATE[finding.state])
    reason = tag("p", report.text("migration.report.left", reason=suppressed), "dim") if suppressed else ""
    return (
        f'<tr class="{"left" if suppressed else finding.kind}"><td class="n">{escaped(where)}</td>'
        f'<td><span class="s {finding.state}">{escaped(state)}</span></td>'
        f'<td><code>{escaped(finding.text)}</code><p><a href="#{_anchor(finding.rule)}">'
        f"{escaped(report.title(finding))}</a></p>{reason}</td></tr>"
    )


def _rules(report: Report) -> Iterator[str]:
    first = {finding.rule: finding for finding in reversed(report.findings)}
    if first:
        yield tag("h2", report.text("migration.report.rules"))
    for rule, finding in sorted(first.items()):
        yield f'<section id="{_anchor(rule)}">{tag("h3", report.title(finding))}'
        yield tag("p", report.why(finding)) + tag("p", report.todo(finding), "todo")
        link = rule_source(rule)
        href = f' · <a href="{escaped(link)}">{escaped(link)}</a>' if link.startswith("https://") else ""
        yield f'<p class="dim"><code>{escaped(rule)}</code>{href}</p></section>'


def _libraries(report: Report) -> Iterator[str]:
    if report.overview.libraries:
        names = (
            "migration.report.library",
            "migration.report.version",
            "migration.report.state",
            "migration.report.todo",
        )
        rows = [
            row([tag("code", library.name), escaped(library.version or library.asked)], [])
            + row([report.text(STATE[library.state]), _library_todo(report, library.rule)], [])
            for library in report.overview.libraries
        ]
        heads = list(map(report.text, names))
        yield section(report.text("migration.report.libraries"), heads, rows)


def _library_todo(report: Report, rule: str) -> str:
    return escaped(report.text(f"rule.{rule}.todo")) if rule else ""


def _apis(report: Report) -> Iterator[str]:
    if report.overview.apis:
        heads = [report.text("migration.report.api"), report.text("migration.report.calls")]
        heads += ["A2", "A3", "950", "MindSpore"]
        rows = [_api(report, index) for index in range(min(MAX_APIS, len(report.overview.apis)))]
        yield section(report.text("migration.report.apis"), heads, rows, (1,))


def _api(report: Report, index: int) -> str:
    api = report.overview.apis[index]
    answers = [report.text(SUPPORT[answer]) for answer in (api.a2, api.a3, api.a950)]
    differs = report.text("migration.report.differs") if api.mindspore and not api.consistent else ""
    return row([tag("code", api.name)], [api.count]) + row(
        [*map(escaped, answers), escaped(api.mindspore + differs)], []
    )


def _notes(report: Report) -> Iterator[str]:
    if report.overview.notes:
        rows = [
            row([escaped(note.path) + (f":{note.line}" if note.line else "")], [])
            + row([escaped(report.text(note.key, **note.args))], [])
            for note in report.overview.notes
        ]
        heads: Sequence[str] = [report.text("migration.report.file"), report.text("migration.report.why")]
        yield section(report.text("migration.report.notes"), heads, rows)


def _anchor(text: str) -> str:
    return "a-" + re.sub(r"[^A-Za-z0-9]", lambda char: f"_{ord(char[0]):x}_", text)
