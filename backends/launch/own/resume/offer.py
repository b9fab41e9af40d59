"""What 'Resume' offers for a run of a user's own program: a checkpoint, and the line that goes on from it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common import program_line
from backends.launch.capture.spec import Planned
from backends.launch.own.options.reader import read_script_options
from backends.launch.own.plan import folder_of, script_of
from backends.launch.own.resume.line import with_options
from backends.launch.own.resume.newest import newest_whole
from backends.launch.own.resume.saves import noted_saves
from backends.launch.own.resume.script_option import resume_option, values_of
from backends.launch.own.resume.search import Span, search
from backends.launch.own.spec import OwnSpec
from studio import files, schema
from studio.errors import StudioError
from studio.run import OVER, glance, open_run

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from backends.launch.own.options.option import Option
    from backends.launch.own.resume.checkpoint import Checkpoint, Part
    from backends.launch.own.resume.newest import PassedOver
    from backends.launch.own.resume.script_option import ResumeOption
    from studio.run import Glance, Run

COMMAND = "script"
EARLY, LATE = 2 * 10**9, 5 * 10**9
"""ns by which a file's time may lie in front of the run's begin, as clocks of file systems do, and behind its end."""
_OUTPUT = re.compile(r"(^|[-_.])(out|output|save|ckpt|checkpoint|log|work|run|exp|result|snapshot)s?([-_.]|$)")
"""Options that say where a script writes."""
_NO_DATA_ORDER = r"--ignore[-_]data[-_]skip(=true)?"
"""What makes the Trainer of Hugging Face begin its data anew."""


@dataclass(frozen=True, kw_only=True)
class Offer:
    """`spec`: the start that goes on, the run's own where nothing could be filled in. `script`: None where the line
    names no Python file; `option`: None where it has none. `missing`: what the checkpoint does not hold. `folders`:
    where checkpoints were looked for; `is_partial`: not in all of them."""

    spec: OwnSpec
    script: Path | None
    checkpoint: Checkpoint | None
    option: ResumeOption | None
    missing: tuple[Part, ...] = ()
    passed_over: tuple[PassedOver, ...] = ()
    folders: tuple[Path, ...] = ()
    is_partial: bool = False

    @property
    def is_complete(self) -> bool:
        """Whether there is a checkpoint and an option for it."""
        return self.checkpoint is not None and self.option is not None

    @property
    def is_empty(self) -> bool:
        """Whether the run wrote nothing that looks like a checkpoint."""
        return self.checkpoint is None and not self.passed_over


def may_resume(run: Run, outcome: Glance) -> bool:
    """Whether a run is one of a user's program, and over: what still works may be writing its checkpoint."""
    return run.request.command == COMMAND and outcome.state in OVER


def resume_offer(run: Run, outcome: Glance) -> Offer:
    """Look for the newest whole checkpoint of a run, and for the option of its script that takes it. Reads files, so
    not for the UI thread; runs nothing. Raises StudioError where the run is none of a program, or still works."""
    if run.request.command != COMMAND:
        raise StudioError("launch.resume.no_program", run=run.name)
    if not may_resume(run, outcome):
        raise StudioError("launch.resume.at_work", run=run.name)
    spec, wrong = schema.from_json(OwnSpec, run.request.values)
    if wrong:
        raise StudioError("launch.resume.damaged", run=run.name)
    spec = replace(spec, planned=Planned())
    script = script_file(spec, run.request.project)
    try:
        noted = noted_saves(run.folder)
    except OSError:
        noted = {}
    result = search(_roots(spec, run.request.project, script), noted, _span(run, outcome))
    choice = newest_whole(result)
    checkpoint = choice.checkpoint
    arguments = program_line.parse_program_line(spec.program.line).arguments
    option = resume_option(script, arguments) if script is not None else None
    return Offer(
        spec=spec if checkpoint is None or option is None else _resumed(spec, option, checkpoint.path),
        script=script, checkpoint=checkpoint, option=option,
        missing=_missing(checkpoint, arguments, outcome) if checkpoint else (),
        passed_over=choice.passed_over, folders=result.folders, is_partial=result.is_partial,
    )  # fmt: skip


def _missing(checkpoint: Checkpoint, arguments: Sequence[str], outcome: Glance) -> tuple[Part, ...]:
    """What a checkpoint does not hold of this training, and the data order where the Trainer is not to seek it."""
    missing = checkpoint.missing(has_loss_scale="loss_scale" in outcome.values)
    skips = any(re.fullmatch(_NO_DATA_ORDER, word) for word in arguments)
    return (*missing, "data_order") if checkpoint.kind == "trainer" and skips else missing


def offer_for(folder: Path) -> Offer | StudioError:
    """Return the offer for the run in a folder, or why there is none."""
    try:
        run = open_run(folder)
        return resume_offer(run, glance(run))
    except StudioError as error:
        return error


def _resumed(spec: OwnSpec, option: ResumeOption, checkpoint: Path) -> OwnSpec:
    line = with_options(spec.program.line, values_of(option, checkpoint), option.subcommands)
    return replace(spec, program=replace(spec.program, line=line))


def _span(run: Run, outcome: Glance) -> Span:
    end = outcome.ended + LATE if outcome.state == "ended" else None
    return Span(begin=run.request.time - EARLY, end=end)


def script_file(spec: OwnSpec, project: str) -> Path | None:
    """Return the Python file that a line runs, also of a module below the folder where it starts; None where it names
    none."""
    program = program_line.parse_program_line(spec.program.line)
    if program.kind == "module":
        module = folder_of(spec, project).joinpath(*program.script.split("."))
        return next(filter(files.is_file, (module.with_suffix(".py"), module / "__main__.py")), None)
    script = script_of(spec, project)
    return script if script is not None and script.suffix == ".py" and files.is_file(script) else None


def _roots(spec: OwnSpec, project: str, script: Path | None) -> list[Path]:
    """The folder where the program starts, and those that its options of output lead to."""
    folder = folder_of(spec, project)
    arguments = program_line.parse_program_line(spec.program.line).arguments
    options = read_script_options(script).options if script is not None else ()
    values = (*_defaults(options), *_valued(arguments))
    outputs = [
        Path(os.path.normpath(folder / value))
        for name, value in values if _OUTPUT.search(name.lower()) and "\0" not in value
    ]  # fmt: skip
    return [folder, *(path for path in outputs if not path.is_relative_to(folder) and path.is_dir())]


def _defaults(options: Sequence[Option]) -> Iterator[tuple[str, str]]:
    yield from ((option.name, option.default) for option in options if isinstance(option.default, str))


def _valued(arguments: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each value with the name of its option."""
    name = ""
    for word in arguments:
        if word.startswith("-"):
            name, equals, value = word.lstrip("-").partition("=")
            if equals:
                yield name, value
        elif name:
            yield name, word
