"""What a report opens with: whether the comparison passed, what it covers, with which tools, and of which files."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import studio
from backends.precision.compare.spec import CompareSpec
from backends.precision.msprobe.installed import version_of
from backends.precision.origin import VERSIONS, origin_of
from studio import files, interpreters, schema
from studio.texts import find

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run

Outcome = Literal["pass", "differs", "incomplete"]
GAPS = frozenset(
    (
        "precision.dump.no_target", "precision.dump.no_golden", "precision.dump.stack_damaged",
        "precision.dump.construct_damaged", "precision.compare.damaged_dump", "precision.compare.tensors_failed",
        "precision.compare.tensors_need_torch", "precision.compare.tensors_beyond", "precision.compare.one_side",
        "precision.compare.other_calls",
    )
)  # fmt: skip
"""Notes of a comparison that say that something is there and was not compared."""
MAX_DUMP_BYTES = 1 << 30
HEAD_BYTES = 400
_FRAMEWORK = re.compile(rb'"framework"\s*:\s*"(\w+)"')


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """What was compared, and of how many: steps, ranks, calls, and rows with figures on both sides."""

    steps: tuple[int, int]
    ranks: tuple[int, int]
    calls: tuple[int, int]
    rows: tuple[int, int]


def outcome_of(comparison: Comparison) -> Outcome:
    """Return "incomplete" where nothing differs in what was compared, and not all was."""
    if comparison.first is not None:
        return "differs"
    coverage = coverage_of(comparison)
    is_whole = all(done == total for done, total in (coverage.steps, coverage.ranks)) and coverage.rows[0] > 0
    return "pass" if is_whole and not gaps_of(comparison) else "incomplete"


def gaps_of(comparison: Comparison) -> tuple[dict[str, Any], ...]:
    return tuple(note for note in comparison.notes if note.get("key") in GAPS)


def coverage_of(comparison: Comparison) -> Coverage:
    both = [each for each in comparison.passes if each.target is not None and each.golden is not None]
    has_both = (comparison.target_call >= 0) & (comparison.golden_call >= 0)
    return Coverage(
        steps=(len({each.step for each in both}), len({each.step for each in comparison.passes})),
        ranks=(len({each.rank for each in both}), len({each.rank for each in comparison.passes})),
        calls=(int(has_both.sum()), len(comparison.names)),
        rows=(int((~np.isnan(comparison.error)).sum()), int(_has_figures(comparison).sum())),
    )


def _has_figures(comparison: Comparison) -> NDArray[Any]:
    """Return the rows that have a figure, a digest or a scalar on either side, or a distance."""
    has_stats = [~np.isnan(comparison.columns[f"{side}_stats"]).all(axis=1) for side in ("target", "golden")]
    has_text = [comparison.columns[f"{side}_text"] >= 0 for side in ("target", "golden")]
    rows: NDArray[Any] = np.logical_or.reduce([*has_stats, *has_text, ~np.isnan(comparison.error)])
    return rows


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


def dump_digest(folder: Path) -> str:
    """Return the SHA-256 of a dump.json, "" where it is gone or too large to read for a report."""
    digest = hashlib.sha256()
    try:
        with files.open_regular(folder / "dump.json") as file:
            size = 0
            while piece := file.read(1 << 20):
                size += len(piece)
                if size > MAX_DUMP_BYTES:
                    return ""
                digest.update(piece)
    except OSError:
        return ""
    return digest.hexdigest()


def is_changed_since(folder: Path, run: Run) -> bool:
    """Return whether a dump was written again after it was compared: its digest is that of another dump."""
    try:
        return (folder / "dump.json").stat().st_mtime_ns > run.request.time
    except OSError:
        return False


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
