"""What a report opens with: whether the comparison passed, what it covers, with which tools, and of which files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import studio
from backends.precision.compare.spec import CompareSpec
from backends.precision.msprobe.installed import version_of
from backends.precision.origin import VERSIONS, origin_of
from studio import files, interpreters, schema
from studio.texts import find

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run

HEAD_BYTES = 400
_FRAMEWORK = re.compile(rb'"framework"\s*:\s*"(\w+)"')


def covered_counts(comparison: Comparison) -> Iterator[tuple[str, int, int]]:
    """Yield what was compared: the key of its name, how many, and of how many; nothing of a comparison by an older
    studio, which did not count."""
    coverage = comparison.coverage
    if coverage is not None:
        yield "precision.report.covered_steps", len(coverage.steps), len(coverage.all_steps)
        yield "precision.report.covered_ranks", len(coverage.ranks), len(coverage.all_ranks)
        yield "precision.report.covered_calls", coverage.calls, coverage.all_calls
        yield "precision.report.covered_rows", coverage.values, coverage.all_values


def tool_versions(comparison: Comparison, run: Run) -> Iterator[tuple[str, str, str]]:
    """Yield what each tool is, its version on the target's side, and on the golden side; "" where it is not known. The
    first rows are of the comparison itself, and stand for both."""
    own = version_of(interpreters.embedded())
    studio_version = run.request.studio
    if run.request.studio != studio.__version__:
        studio_version += f" (report: {studio.__version__})"
    yield "studio", studio_version, studio_version
    yield "msprobe (studio)", own.version, own.version
    first = comparison.passes[0] if comparison.passes else None
    folders = (first.target, first.golden) if first else (None, None)
    sides = [origin_of(folder).versions if folder is not None else {} for folder in folders]
    required = {_framework(folder) for folder in folders if folder is not None} | {"mindstudio-probe"}
    for name in VERSIONS:
        versions = [side.get(name, "") for side in sides]
        if any(versions) or name in required:
            yield name, versions[0], versions[1]


def _framework(folder: Path) -> str:
    """Return the package of the framework that a dump names at its head, "" where it does not."""
    try:
        with files.open_regular(folder / "dump.json") as file:
            match = _FRAMEWORK.search(file.read(HEAD_BYTES))
    except OSError:
        return ""
    return {"pytorch": "torch"}.get(match[1].decode(), match[1].decode()) if match else ""


def settings(run: Run) -> Iterator[tuple[str, str]]:
    """Yield what was asked of the comparison: the key of its name, and its value, a key or a text."""
    spec = schema.from_json(CompareSpec, run.request.values)[0]
    again = spec.sides.golden_again
    yield "precision.field.golden_again", str(again) if again.parts else "precision.report.no_again"
    yield "precision.field.tensors", f"precision.choice.tensors.{spec.compared.tensors}"
    for name in ("step_numbers", "rank_numbers", "pairs"):
        if text := str(schema.value_of(spec, name)):
            yield f"precision.field.{name}", text


def text_of(key_or_text: str, say: Any) -> str:
    """Return the sentence of a key, any other text as it is."""
    return str(say(key_or_text)) if find(key_or_text, "en") is not None else key_or_text
