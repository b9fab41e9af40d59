"""Pieces of a report: one HTML page without a script, which prints well and loads nothing from elsewhere."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

STYLE = """
:root{color-scheme:light dark;--text:#1d2330;--dim:#626b7c;--line:#dfe3ea;--card:#f6f7f9;--back:#fff;--link:#2257c4}
@media(prefers-color-scheme:dark){:root{--text:#e4e8ef;--dim:#97a1b3;--line:#333b48;--card:#20262f;--back:#171b21;
--link:#7fa9f5}}
body{font:15px/1.5 system-ui,"Noto Sans CJK SC","Microsoft YaHei",sans-serif;color:var(--text);background:var(--back);
max-width:1100px;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2.2rem}h3{font-size:1rem;margin:1.4rem 0 .2rem}
.verdict{font-size:1.15rem}.dim{color:var(--dim);font-size:.9em}a{color:var(--link)}
table{border-collapse:collapse;width:100%}td,th{border-top:1px solid var(--line);padding:.35rem .6rem;text-align:left;
vertical-align:top}th{font-weight:600;color:var(--dim)}
th::first-letter{text-transform:uppercase}
.n{text-align:right;font-variant-numeric:tabular-nums}
code{font:13px/1.4 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}td p{margin:.1rem 0}
summary{cursor:pointer;padding:.4rem 0;overflow-wrap:anywhere}.bar{display:flex;height:14px;border-radius:4px;
overflow:hidden;background:var(--card)}.s{white-space:nowrap;border-left:4px solid;padding-left:.4rem}
.todo{background:var(--card);padding:.5rem .7rem;border-radius:4px;white-space:pre-line}.wide{overflow-x:auto}
@media print{body{max-width:none;margin:0}h2{break-after:avoid}tr{break-inside:avoid}.wide{overflow:visible}}
"""

_UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


def escaped(text: str) -> str:
    """Return a text as HTML; invisible characters, and those that turn the direction of a line, become marks."""
    return escape(_UNSEEN.sub("\ufffd", text))


def tag(name: str, text: str, kind: str = "") -> str:
    return f"<{name}{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}>{escaped(text)}</{name}>"


def bar(counts: Mapping[str, int], names: Mapping[str, str]) -> str:
    """Widths by count; the names and counts are said as text too."""
    pieces = "".join(
        f'<span title="{escaped(names[state])}: {count}" style="flex:{count};background:var(--{state})"></span>'
        for state, count in counts.items()
        if count
    )
    legend = " · ".join(
        f'<span class="s {state}">{escaped(names[state])} {count}</span>' for state, count in counts.items()
    )
    return f'<div class="bar">{pieces}</div><p class="dim">{legend}</p>'


def section(title: str, heads: Sequence[str], rows: Sequence[str], numbers: Collection[int] = ()) -> str:
    """`numbers`: the columns that hold some."""
    head = "".join(tag("th", heading, "n" if column in numbers else "") for column, heading in enumerate(heads))
    body = "\n".join(f"<tr>{cells}</tr>" for cells in rows)
    return f'{tag("h2", title)}<div class="wide"><table><tr>{head}</tr>\n{body}</table></div>'


def row(cells: Sequence[str], numbers: Sequence[int | str]) -> str:
    """Cells of HTML, then numbers."""
    return "".join(f"<td>{cell}</td>" for cell in cells) + "".join(f'<td class="n">{number}</td>' for number in numbers)


def page(language: str, title: str, style: str, parts: Iterable[str]) -> bytes:
    """Return the whole file. `style` is added to STYLE."""
    head = [
        "<!DOCTYPE html>", f'<html lang="{escaped(language)}">', '<head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width">',
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        tag("title", title), f"<style>{STYLE}{style}</style></head><body>", tag("h1", title),
    ]  # fmt: skip
    return "\n".join([*head, *parts, "</body></html>"]).encode("utf-8", "replace")
