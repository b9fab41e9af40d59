"""An environment check, in the worker: packs are read, msprobe compares what it knows, we the rest."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.config import checked, members, own, pip
from backends.precision.config.checked import FILE, PARTS, Checked, Said, part
from backends.precision.config.found import packs_at, pairs
from backends.precision.config.pack import ENV, PIP
from backends.precision.config.sheets import read_result
from backends.precision.msprobe import process
from backends.precision.msprobe.installed import version_of
from backends.precision.msprobe.lines import config_check_line
from studio import interpreters
from studio.errors import StudioError, from_os
from studio.events import Artifact, Ended, Journal, Note, Progress

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from backends.precision.config.checked import Part, Row
    from backends.precision.config.pack import Pack
    from backends.precision.config.spec import ConfigCheckSpec
    from backends.precision.msprobe.installed import Installed
    from studio.run import Run

    Pairs = Sequence[tuple[Pack, Pack]]

NO = 3  # done, and the answer is no
SECONDS = 900.0
KEPT = Path("artifacts") / "msprobe"
RESULT = "result.xlsx"
TODO = {
    "weights": "precision.config.do_weights",
    "dataset": "precision.config.do_dataset",
    "random": "precision.config.do_random",
    "hyperparameters": "precision.config.do_hyperparameters",
    "env": "precision.config.do_env",
    "pip": "precision.config.do_pip",
}
VERDICTS = {
    "pass": "precision.config.verdict_pass",
    "warning": "precision.config.verdict_warning",
    "error": "precision.config.verdict_error",
}
MOST_TOLD = 200


@dataclass(frozen=True, kw_only=True)
class Theirs:
    """msprobe's tables and its verdict by part; `notes`: why there are none, or ours in their place."""

    parts: tuple[Part, ...] = ()
    verdicts: dict[str, str] = field(default_factory=dict)
    version: str = ""
    notes: tuple[Said, ...] = ()


def config_check(spec: ConfigCheckSpec, run: Run) -> Ended:
    """Leaves artifacts/config-check.json, and msprobe's own result.xlsx where there is one. Raises StudioError."""
    journal = Journal(run.folder, 1)
    sides = (spec.packs.side_a, spec.packs.side_b)
    journal.write(Progress(done=0, total=2, phase="config-check"))
    found = pairs(packs_at(sides[0]), packs_at(sides[1]))
    journal.write(Progress(done=1, total=2, phase="config-check"))
    try:
        theirs = by_msprobe(found, run.folder / KEPT, version_of(_interpreter(spec.packs.check_python)))
    except process.Stopped:
        return Ended(code=143, reason="stopped")
    result = made((str(sides[0]), str(sides[1])), found, theirs)
    checked.keep(run, result)
    journal.write(Progress(done=2, total=2, phase="config-check"), Artifact(kind="config-check", path=FILE))
    journal.write(_verdict(result), *_told_notes(result))
    return Ended(code=NO, reason="no") if result.verdict == "error" else Ended(code=0)


def _interpreter(python: Path) -> Path:
    return python if python.parts else interpreters.embedded()


def _verdict(result: Checked) -> Note:
    told = [one.name for one in result.parts if one.verdict == result.verdict]
    return Note(key=VERDICTS[result.verdict], args={"parts": len(told), "names": ", ".join(told)})


def _told_notes(result: Checked) -> Iterator[Note]:
    for said in (*result.todo, *result.notes):
        yield Note(key=said.key, args=said.args)
    for command in result.pip:
        yield Note(key="precision.config.run_pip", args={"command": command})


def by_msprobe(found: Pairs, kept: Path, installed: Installed) -> Theirs:
    """Where msprobe cannot say it, equal or not is told by us. Raises process.Stopped."""
    if not installed.family or installed.version.startswith("1."):
        args = {"python": str(installed.python)}
        return Theirs(parts=members.parts(found), notes=(Said(key="precision.config.msprobe_missing", args=args),))
    try:
        verdicts, tables = _compared(found, kept, installed)
    except StudioError as error:
        notes = (Said(key=error.key, args=error.values), Said(key="precision.config.only_equal"))
        return Theirs(parts=members.parts(found), version=installed.version, notes=notes)
    return Theirs(parts=tables, verdicts=verdicts, version=installed.version)


def _compared(found: Pairs, kept: Path, installed: Installed) -> tuple[dict[str, str], tuple[Part, ...]]:
    """What msprobe reads are zips that we wrote: of the members that it knows alone, those of all ranks in one."""
    try:
        kept.mkdir(parents=True, exist_ok=True)
        with process.workplace() as place:
            for name, side in (("golden", [a for a, _ in found]), ("target", [b for _, b in found])):
                _write_zip(place / f"{name}.zip", side)
            out = place / "out"
            line = config_check_line(installed, place / "golden.zip", place / "target.zip", out)
            done = process.run(line, place, kept / "config_check.log", SECONDS)
            if not (out / RESULT).is_file():
                raise StudioError("precision.msprobe.failed", reason=done.reason or f"exit {done.code}")
            shutil.move(out / RESULT, kept / RESULT)
    except OSError as error:
        raise from_os(error, kept) from error
    return read_result(kept / RESULT)


def _write_zip(path: Path, side: Sequence[Pack]) -> None:
    written: dict[str, bytes] = {}
    for pack in reversed(side):
        written |= pack.members
        if pack.env is not None:
            written[ENV] = msgspec.json.encode(pack.env)
        if pack.packages is not None:
            written[PIP] = "".join(f"{name}={version}\n" for name, version in pack.packages.items()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in written.items():
            archive.writestr(name, data)


def made(sides: tuple[str, str], found: Pairs, theirs: Theirs) -> Checked:
    """The result, of tables that are there."""
    packages = _packages(found)
    told = [part("pip", pip.HEADER, list(packages), msprobe=theirs.verdicts.get("pip", ""))] if packages else []
    parts = tuple(sorted((*own.parts(found), *told, *theirs.parts), key=lambda one: list(PARTS).index(one.name)))
    if not parts:
        raise StudioError("precision.config.nothing_in_common", golden=sides[0], target=sides[1])
    return Checked(
        golden=sides[0], target=sides[1], verdict=checked.worst(parts), equal=checked.worst(parts) == "pass",
        ranks=tuple(golden.rank for golden, _ in found), parts=parts, todo=tuple(_todo(found, parts, packages)),
        pip=pip.commands(packages), notes=(*theirs.notes, *_without_own(found)), msprobe=theirs.version,
    )  # fmt: skip


def _packages(found: Pairs) -> tuple[Row, ...]:
    """Of the first pair that has them: all ranks of a host have the same interpreter."""
    for golden, target in found:
        if golden.packages is not None and target.packages is not None:
            return pip.compared(golden.packages, target.packages)
    return ()


def _without_own(found: Pairs) -> tuple[Said, ...]:
    """Packs that msprobe made alone say nothing of seeds."""
    if any(golden.own and target.own for golden, target in found):
        return ()
    return (Said(key="precision.config.no_seeds"),)


def _todo(found: Pairs, parts: Iterable[Part], packages: Iterable[Row]) -> Iterator[Said]:
    """What explains the most comes first."""
    differs = {one.name for one in parts if one.verdict != "pass"}
    yield from own.todo(found, parts)
    yield from (Said(key=key) for name, key in TODO.items() if name in differs)
    yield from pip.left_over(packages)


def answer(run: Run) -> dict[str, Any]:
    """What `--json` adds."""
    try:
        found = checked.read(run)
    except StudioError:
        return {}
    told = {one.name: _told(one) for one in found.parts}
    return {
        "equal": found.equal, "verdict": found.verdict, "parts": told, "pip": list(found.pip),
        "todo": [msgspec.to_builtins(one) for one in found.todo], "ranks": list(found.ranks), "msprobe": found.msprobe,
    }  # fmt: skip


def _told(one: Part) -> dict[str, Any]:
    differs = [row for row in one.rows if row.level != "pass"]
    return {
        "verdict": one.verdict, "msprobe": one.msprobe, "rows": one.total, "differs": len(differs),
        "header": list(one.header), "differences": [list(row.cells) for row in differs[:MOST_TOLD]],
    }  # fmt: skip
