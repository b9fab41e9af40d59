"""An issue as Markdown: what differs, by how much, in which versions, and where it is called."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from backends.precision.compare.comparison import VERDICTS
from backends.precision.dump.dump import ROLES
from backends.precision.dump.names import LIBRARIES, frames, source_of
from backends.precision.origin import VERSIONS, origin_of
from backends.precision.sides import pass_of
from studio.texts import t_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.precision.compare.comparison import Comparison
    from studio.texts import Language

MAX_ISSUE_ROWS = 40
SIDE_KEYS = ("precision.issue.target", "precision.issue.golden")
HEADS = (*SIDE_KEYS, "precision.issue.error", "precision.issue.limit")


def issue_text(comparison: Comparison, call: int, language: Language, reproducer: str = "") -> str:
    """`reproducer`: the path of its script, "" where there is none."""
    translate = partial(t_in, language)
    parts = [
        "# " + translate("precision.issue.title", call=comparison.names[call]),
        sentence(comparison, call, language),
    ]
    parts += ["## " + translate("precision.issue.figures"), *_table(comparison, call, language)]
    if source := source_line(comparison, call):
        parts += ["## " + translate("precision.issue.where"), f"`{source}`", *_stack(comparison, call)]
    parts += ["## " + translate("precision.issue.versions"), *_versions(comparison, call, language)]
    parts += ["## " + translate("precision.issue.reproducer")]
    parts += [
        translate("precision.issue.run", file=reproducer) if reproducer else translate("precision.issue.no_reproducer")
    ]
    return "\n\n".join(parts) + "\n"


def sentence(comparison: Comparison, call: int, language: Language) -> str:
    """What is known of a call: of the first divergence its reason."""
    first = comparison.first
    if first is not None and first.call == call:
        return t_in(language, f"precision.first.{first.reason}", **first.args)
    verdict = VERDICTS[int(comparison.call_verdict[call])]
    return t_in(language, f"precision.verdict.{verdict}")


def figures(comparison: Comparison, call: int, language: Language) -> str:
    """The same figures as plain lines, for the head of a script."""
    lines = [sentence(comparison, call, language)]
    for row in rows_of(comparison, call):
        shape = shape_text(comparison, int(comparison.target_shape[row]))
        lines.append(f"{row_text(comparison, row)}: {shape} {number_text(comparison.error[row])}")
    if source := source_line(comparison, call):
        lines.append(source)
    return "\n".join(lines)


def rows_of(comparison: Comparison, call: int) -> range:
    """The rows of a call: they lie one behind the other."""
    begin, end = comparison.call.searchsorted([call, call + 1])
    return range(int(begin), int(end))


def _table(comparison: Comparison, call: int, language: Language) -> Iterator[str]:
    names = [t_in(language, "precision.issue.place"), "dtype", "shape", *(t_in(language, text) for text in HEADS)]
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cells(comparison, row)) + " |" for row in rows_of(comparison, call)[:MAX_ISSUE_ROWS]]
    yield "\n".join(lines)
    yield t_in(language, "precision.issue.statistics")


def _cells(comparison: Comparison, row: int) -> list[str]:
    dtypes = [_of(comparison.dtypes, int(column[row])) for column in (comparison.target_dtype, comparison.golden_dtype)]
    shapes = [shape_text(comparison, int(column[row])) for column in (comparison.target_shape, comparison.golden_shape)]
    values = [value_text(comparison, row, side) for side in ("target", "golden")]
    cells = [row_text(comparison, row), _both(dtypes), _both(shapes), *values]
    cells += [number_text(comparison.error[row]), number_text(comparison.allowed[row])]
    return [text.replace("|", "\\|").replace("\n", " ") for text in cells]


def value_text(comparison: Comparison, row: int, side: str) -> str:
    """What a dump says of one side: a scalar or a digest, else max, min, mean, norm."""
    text = int(comparison.columns[f"{side}_text"][row])
    if text >= 0:
        return f"`{comparison.texts[text][:80]}`"
    return ", ".join(number_text(figure) for figure in comparison.columns[f"{side}_stats"][row])


def row_text(comparison: Comparison, row: int) -> str:
    """Such as "input 0.1"."""
    return f"{ROLES[int(comparison.role[row])]} {comparison.items[int(comparison.item[row])]}"


def shape_text(comparison: Comparison, shape: int) -> str:
    return str(comparison.shapes[shape]) if shape >= 0 else ""


def number_text(value: float) -> str:
    """Four digits; empty where there is none."""
    return "" if value != value else f"{float(value):.4g}"


def _of(names: Sequence[str], index: int) -> str:
    return names[index] if index >= 0 else ""


def _both(texts: list[str]) -> str:
    """One where both are alike."""
    return texts[0] if texts[0] == texts[1] else " / ".join(text or "–" for text in texts)


def source_line(comparison: Comparison, call: int) -> str:
    """Return the line of the user's own code that made a call, "" where the dump has no stack."""
    stack = stack_of(comparison, call)
    return source_of(stack) if stack else ""


def stack_of(comparison: Comparison, call: int) -> tuple[str, ...]:
    """Return the stack of a call on the target, else on the golden side; () where neither dump has any."""
    own = int(comparison.stack[call])
    index = own if own >= 0 else int(comparison.golden_stack[call])
    return comparison.stacks[index] if index >= 0 else ()


def own_lines(stack: tuple[str, ...]) -> list[str]:
    """Frames of the user's own code, each on one line; all of them where there is none."""
    own = [line for line in stack if any(not LIBRARIES.search(frame.file) for frame in frames((line,)))]
    return [" ".join(line.split()) for line in own or stack]


def _stack(comparison: Comparison, call: int) -> Iterator[str]:
    lines = "\n".join(own_lines(stack_of(comparison, call)))
    yield "```\n" + lines.replace("```", "'''") + "\n```"


def _versions(comparison: Comparison, call: int, language: Language) -> Iterator[str]:
    of = pass_of(comparison, call)
    lines = []
    for side, folder in zip(SIDE_KEYS, (of.target, of.golden), strict=True):
        if folder is not None:
            origin = origin_of(folder)
            versions = [f"{name} {origin.versions[name]}" for name in VERSIONS if name in origin.versions]
            text = ", ".join(versions) or t_in(language, "precision.issue.unknown")
            lines.append(f"- {t_in(language, side)}: {text}")
    yield "\n".join(lines)
