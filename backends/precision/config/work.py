"""An environment check, in the worker: packs are read, msprobe compares what it knows, we the rest."""

from __future__ import annotations

import shutil
import zipfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from backends.precision.config import extra_checks, members, pip, result
from backends.precision.config.code import code_part, uncovered_code
from backends.precision.config.options import harmless_options, options_part, variable_rows
from backends.precision.config.pack import ENV, PIP
from backends.precision.config.pack_discovery import one_sided, pair_packs, read_packs
from backends.precision.config.result import (
    CONFIG_CHECK_FILE,
    PARTS,
    EnvironmentCheck,
    Sentence,
    differs,
    part,
)
from backends.precision.config.sheets import read_sheets
from backends.precision.msprobe import process
from backends.precision.msprobe.installed import version_of
from backends.precision.msprobe.lines import config_check_line
from studio import interpreters
from studio.errors import Stopped, StudioError, from_os
from studio.events import Artifact, Ended, Journal, Note, Progress
from studio.exit_codes import NO, STOPPED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from backends.precision.config.pack import Pack
    from backends.precision.config.result import CheckRow, Level, Part
    from backends.precision.config.spec import ConfigCheckSpec
    from backends.precision.msprobe.installed import Installed
    from studio.run import Run

    Pairs = Sequence[tuple[Pack, Pack]]
    RoundingLevels = Mapping[str, Mapping[tuple[str, ...], Level]]

CHECK_SECONDS = 900.0
MSPROBE_FOLDER = Path("artifacts") / "msprobe"
RESULT = "result.xlsx"
TODO = {
    "options": "precision.config.do_options",
    "code": "precision.config.do_code",
    "weights": "precision.config.do_weights",
    "buffers": "precision.config.do_buffers",
    "dataset": "precision.config.do_dataset",
    "random": "precision.config.do_random",
    "hyperparameters": "precision.config.do_hyperparameters",
    "env": "precision.config.do_env",
    "pip": "precision.config.do_pip",
}
WORK_VERDICTS = {
    "pass": "precision.config.verdict_pass",
    "review": "precision.config.verdict_review",
    "error": "precision.config.verdict_error",
    "incomplete": "precision.config.verdict_incomplete",
}
MAX_ANSWER_ROWS = 200


@dataclass(frozen=True, kw_only=True)
class MsprobeCheck:
    """msprobe's tables and its verdict by part; `notes`: why there are none, or ours in their place."""

    parts: tuple[Part, ...] = ()
    verdicts: dict[str, str] = field(default_factory=dict)
    version: str = ""
    notes: tuple[Sentence, ...] = ()


def config_check(spec: ConfigCheckSpec, run: Run) -> Ended:
    """Leaves artifacts/config-check.json, and msprobe's own result.xlsx where there is one. Raises StudioError."""
    journal = Journal(run.folder, 1)
    sides = (spec.packs.side_a, spec.packs.side_b)
    journal.write(Progress(done=0, total=2, phase="config-check"))
    packs = (read_packs(sides[0]), read_packs(sides[1]))
    pairs = pair_packs(*packs)
    levels = members.rounding_levels(pairs)
    journal.write(Progress(done=1, total=2, phase="config-check"))
    try:
        msprobe = check_with_msprobe(
            pairs, levels, run.folder / MSPROBE_FOLDER, version_of(_interpreter(spec.packs.check_python))
        )
    except Stopped:
        return Ended(code=STOPPED, reason="stopped")
    environment = environment_check(sides, pairs, levels, msprobe, one_sided(*packs, pairs))
    result.write_check(run, environment)
    journal.write(
        Progress(done=2, total=2, phase="config-check"), Artifact(kind="config-check", path=CONFIG_CHECK_FILE)
    )
    journal.write(_verdict(environment), *_result_notes(environment))
    if environment.outcome == "pass":
        return Ended(code=0)
    return Ended(code=NO, reason="no" if environment.outcome == "error" else "incomplete")


def _interpreter(python: Path) -> Path:
    return python if python.parts else interpreters.embedded()


def _verdict(result: EnvironmentCheck) -> Note:
    differing = [part.name for part in result.parts if part.verdict == result.verdict and differs(part)]
    return Note(key=WORK_VERDICTS[result.outcome], args={"parts": len(differing), "names": ", ".join(differing)})


def _result_notes(result: EnvironmentCheck) -> Iterator[Note]:
    for sentence in (*result.uncovered, *result.todo, *result.notes):
        yield Note(key=sentence.key, args=sentence.args)
    for command in result.pip:
        yield Note(key="precision.config.run_pip", args={"command": command})


def check_with_msprobe(pairs: Pairs, levels: RoundingLevels, folder: Path, installed: Installed) -> MsprobeCheck:
    """Where msprobe cannot say it, equal or not is told by us. Raises process.Stopped."""
    if not installed.family or installed.version.startswith("1."):
        args = {"python": str(installed.python)}
        return MsprobeCheck(
            parts=members.member_parts(pairs), notes=(Sentence(key="precision.config.msprobe_missing", args=args),)
        )
    try:
        verdicts, tables = _compared(pairs, folder, installed)
    except StudioError as error:
        notes = (Sentence(key=error.key, args=error.values), Sentence(key="precision.config.only_equal"))
        return MsprobeCheck(parts=members.member_parts(pairs), version=installed.version, notes=notes)
    tables = tuple(result.relevel(table, levels.get(table.name, {})) for table in tables)
    return MsprobeCheck(parts=tables, verdicts=verdicts, version=installed.version)


def _compared(pairs: Pairs, folder: Path, installed: Installed) -> tuple[dict[str, str], tuple[Part, ...]]:
    """What msprobe reads are zips that we wrote: of the members that it knows alone, those of all ranks in one."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with process.workplace() as workplace:
            for name, side in (("golden", [a for a, _ in pairs]), ("target", [b for _, b in pairs])):
                _write_zip(workplace / f"{name}.zip", side)
            out = workplace / "out"
            line = config_check_line(installed, workplace / "golden.zip", workplace / "target.zip", out)
            done = process.run(line, workplace, folder / "config_check.log", CHECK_SECONDS)
            if not (out / RESULT).is_file():
                raise StudioError("precision.msprobe.failed", reason=done.reason or f"exit {done.code}")
            shutil.move(out / RESULT, folder / RESULT)
    except OSError as error:
        raise from_os(error, folder) from error
    return read_sheets(folder / RESULT)


def _write_zip(path: Path, side: Sequence[Pack]) -> None:
    written: dict[str, bytes] = {}
    for pack in reversed(side):
        written |= {name: data for name, data in pack.members.items() if not name.startswith(f"{members.BUFFERS}/")}
        if pack.env is not None:
            written[ENV] = msgspec.json.encode(pack.env)
        if pack.packages is not None:
            written[PIP] = "".join(f"{name}={version}\n" for name, version in pack.packages.items()).encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in written.items():
            archive.writestr(name, data)


def environment_check(
    sides: tuple[Path, Path],
    pairs: Pairs,
    levels: RoundingLevels,
    msprobe: MsprobeCheck,
    uncovered: tuple[Sentence, ...],
) -> EnvironmentCheck:
    """The result, of tables that are there."""
    options = options_part(*sides, variables=list(_variables(pairs)))
    code = code_part(*sides)
    uncovered += uncovered_code(*sides)
    packages = _packages(pairs)
    pip_parts = (
        [part("pip", pip.PACKAGE_HEADER, list(packages), msprobe=msprobe.verdicts.get("pip", ""))] if packages else []
    )
    parts = tuple(
        sorted(
            (
                *filter(None, (options, code, members.buffer_part(pairs))),
                *extra_checks.extra_parts(pairs),
                *pip_parts,
                *msprobe.parts,
            ),
            key=lambda each: list(PARTS).index(each.name),
        )
    )
    if not parts:
        raise StudioError("precision.config.nothing_in_common", golden=str(sides[0]), target=str(sides[1]))
    notes = (*msprobe.notes, *_without_own(pairs), *_rounding(levels))
    notes += harmless_options(*sides) if options else (Sentence(key="precision.config.no_options"),)
    return EnvironmentCheck(
        golden=str(sides[0]), target=str(sides[1]), verdict=result.worst_verdict(parts),
        equal=not any(map(result.differs, parts)) and not uncovered, uncovered=uncovered,
        ranks=tuple(golden.rank for golden, _ in pairs), parts=parts, todo=tuple(_todo(pairs, parts, packages)),
        pip=pip.commands(packages), notes=notes, msprobe=msprobe.version,
    )  # fmt: skip


def _variables(pairs: Pairs) -> Iterator[CheckRow]:
    """Compare the variables of the first pair that has them: all ranks are started with the same."""
    envs = next(((a.env, b.env) for a, b in pairs if a.env is not None and b.env is not None), None)
    if envs is not None:
        yield from variable_rows(*envs)


def _packages(pairs: Pairs) -> tuple[CheckRow, ...]:
    """Compare the packages of the first pair that has them: all ranks of a host have the same interpreter."""
    for golden, target in pairs:
        if golden.packages is not None and target.packages is not None:
            return pip.compare_packages(golden.packages, target.packages)
    return ()


def _without_own(pairs: Pairs) -> tuple[Sentence, ...]:
    """Packs that msprobe made alone say nothing of seeds."""
    if any(golden.own and target.own for golden, target in pairs):
        return ()
    return (Sentence(key="precision.config.no_seeds"),)


def _rounding(levels: RoundingLevels) -> tuple[Sentence, ...]:
    """Return how many tensors count as equal although a mean or a norm is off by its own rounding."""
    count = sum(map(len, levels.values()))
    return (Sentence(key="precision.config.rounding", args={"count": count}),) if count else ()


def _todo(pairs: Pairs, parts: Iterable[Part], packages: Iterable[CheckRow]) -> Iterator[Sentence]:
    """What explains the most comes first."""
    differs = {part.name for part in parts if part.verdict != "pass"}
    yield from extra_checks.todo(pairs, parts)
    yield from (Sentence(key=key) for name, key in TODO.items() if name in differs)
    yield from pip.left_over(packages)


def config_check_answer(run: Run) -> dict[str, Any]:
    """What `--json` adds."""
    try:
        check = result.read_check(run)
    except StudioError:
        return {}
    part_answers = {part.name: _part_answer(part) for part in check.parts}
    return {
        "equal": check.equal, "verdict": check.verdict, "outcome": check.outcome, "complete": not check.uncovered,
        "parts": part_answers,
        "pip": list(check.pip), "uncovered": [msgspec.to_builtins(sentence) for sentence in check.uncovered],
        "todo": [msgspec.to_builtins(part) for part in check.todo], "ranks": list(check.ranks),
        "msprobe": check.msprobe,
    }  # fmt: skip


def _part_answer(part: Part) -> dict[str, Any]:
    differs = [row for row in part.rows if row.level != "pass"]
    return {
        "verdict": part.verdict, "msprobe": part.msprobe, "rows": part.total, "differs": len(differs),
        "header": list(part.header), "differences": [list(row.cells) for row in differs[:MAX_ANSWER_ROWS]],
    }  # fmt: skip
