"""What an environment check found, as it is kept in its run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from studio import files
from studio.errors import StudioError, from_os

if TYPE_CHECKING:
    from collections.abc import Mapping

    from studio.run import Run

CONFIG_CHECK_FILE = "artifacts/config-check.json"
Level = Literal["pass", "warning", "error"]
Outcome = Literal["pass", "review", "error", "incomplete"]
ORDER: tuple[Level, ...] = ("pass", "warning", "error")
PARTS = {
    "options": "precision.config.part.options",
    "code": "precision.config.part.code",
    "seeds": "precision.config.part.seeds",
    "determinism": "precision.config.part.determinism",
    "weights": "precision.config.part.weights",
    "buffers": "precision.config.part.buffers",
    "dataset": "precision.config.part.dataset",
    "random": "precision.config.part.random",
    "hyperparameters": "precision.config.part.hyperparameters",
    "pip": "precision.config.part.pip",
    "env": "precision.config.part.env",
    "versions": "precision.config.part.versions",
    "threads": "precision.config.part.threads",
}
"""Names of parts in the order in which to look at them, and what they are called."""
CHECK_COLUMNS = {
    "rank": "precision.config.column.rank",
    "place": "precision.config.column.place",
    "what": "precision.config.column.what",
    "package": "precision.config.column.package",
    "golden": "precision.config.column.golden",
    "target": "precision.config.column.target",
    "why": "precision.config.column.why",
}
"""What the columns of our own tables are called; msprobe's have its own words."""


class CheckRow(msgspec.Struct, frozen=True, gc=False):
    """`cells`: as many as the part has columns; the sides' values as text, "" where a side has none."""

    level: Level
    cells: tuple[str, ...]


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """One table. `verdict`: the worst level of its rows; `source`: whose table it is; `msprobe`: msprobe's own verdict
    where it gave one; `header`: names in COLUMNS, or msprobe's own words; `rows`: those that differ
    first, at most MOST_ROWS; `total`: how many there are."""

    name: str
    verdict: Level
    source: Literal["studio", "msprobe"]
    msprobe: str = ""
    header: tuple[str, ...]
    rows: tuple[CheckRow, ...]
    total: int


MAX_PART_ROWS = 20_000


class Sentence(msgspec.Struct, frozen=True, kw_only=True):
    """A sentence: `key` of the catalogue, `args` of its placeholders."""

    key: str
    args: dict[str, Any] = {}


class EnvironmentCheck(msgspec.Struct, frozen=True, kw_only=True):
    """`golden` is the side A that was given first, `target` side B, which the commands under `pip` make equal to it.
    `equal`: no part differs, and nothing is uncovered. `todo`: what to do, the most telling first. `notes`: what was
    not compared, and why. `uncovered`: what one side alone has, and was therefore not compared."""

    golden: str
    target: str
    verdict: Level
    equal: bool
    ranks: tuple[int, ...]
    parts: tuple[Part, ...]
    todo: tuple[Sentence, ...]
    pip: tuple[str, ...]
    notes: tuple[Sentence, ...] = ()
    uncovered: tuple[Sentence, ...] = ()
    msprobe: str = ""

    @property
    def outcome(self) -> Outcome:
        """Return whether anything differs that changes the result, that nothing does in what was compared and not all
        was, or that something differs of which a person has to say whether it changes the result."""
        if self.verdict == "error":
            return "error"
        if self.uncovered:
            return "incomplete"
        return "review" if any(map(differs, self.parts)) else "pass"


def part(
    name: str, header: tuple[str, ...], rows: list[CheckRow], source: Literal["studio", "msprobe"] = "studio",
    msprobe: str = "",
) -> Part:  # fmt: skip
    """Rows that differ first, in their own order. The verdict on a table of msprobe's is the worst of its rows' and of
    its own, which passes weights that only one side has; on ours, its own does not count."""
    ordered = sorted(rows, key=lambda row: -ORDER.index(row.level))
    levels = [
        ordered[0].level if ordered else "pass",
        *(accepted for accepted in ORDER if accepted == msprobe and source == "msprobe"),
    ]
    verdict: Level = max(levels, key=ORDER.index)
    return Part(
        name=name, verdict=verdict, source=source, msprobe=msprobe, header=header, rows=tuple(ordered[:MAX_PART_ROWS]),
        total=len(rows),
    )  # fmt: skip


def relevel(part: Part, levels: Mapping[tuple[str, ...], Level]) -> Part:
    """Return a table of msprobe's with other levels for some rows, by their first three cells. Its own verdict counts
    no more where rows were changed and all of them are here."""
    rows = tuple(CheckRow(_level_in(row, levels), row.cells) for row in part.rows)
    if rows == part.rows or part.total > len(rows):
        return part
    ordered = tuple(sorted(rows, key=lambda row: -ORDER.index(row.level)))
    return msgspec.structs.replace(part, rows=ordered, verdict=ordered[0].level)


def _level_in(row: CheckRow, levels: Mapping[tuple[str, ...], Level]) -> Level:
    return levels.get(row.cells[:3], row.level) if row.level == "error" else row.level


def differs(part: Part) -> bool:
    """Tell whether a table says that the sides differ: a switch of determinism that is off on both is equal, though it
    is no pass."""
    if part.name != "determinism":
        return part.verdict != "pass"
    return any(row.level != "pass" and row.cells[2] != row.cells[3] for row in part.rows)


def worst_verdict(parts: tuple[Part, ...]) -> Level:
    return max((part.verdict for part in parts), key=ORDER.index, default="pass")


def write_check(run: Run, check: EnvironmentCheck) -> None:
    try:
        files.write_json(run.folder / CONFIG_CHECK_FILE, check)
    except OSError as error:
        raise from_os(error, run.folder) from error


def read_check(run: Run) -> EnvironmentCheck:
    """Return the check of a run that has ended. Raises StudioError."""
    path = run.folder / CONFIG_CHECK_FILE
    try:
        return msgspec.json.decode(files.read_bytes(path), type=EnvironmentCheck)
    except OSError as error:
        raise from_os(error, path) from error
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise StudioError("precision.config.no_result", path=str(path), reason=str(error)[:200]) from error
