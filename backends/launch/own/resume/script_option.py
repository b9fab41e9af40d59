"""The option of a script that takes a checkpoint to go on from, read from its source without running it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from backends.launch.own.options.option import Option
from backends.launch.own.options.reader import read_script_options
from backends.launch.own.options.source import called, imported, load_source
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from backends.launch.own.options.reader import ScriptOptions
    from backends.launch.own.options.source import Source

Takes = Literal["path", "switch", "word"]

WORD = "resume"
"""What nanoGPT's --init_from takes, so that it goes on with what lies in its folder."""
_SURE = re.compile(r"(^|_)(resume|resuming|restore|restart|continue|reload)(_|$)")
_PREFERRED = (
    "resume_from_checkpoint", "resume_from", "resume_path", "resume_checkpoint", "resume_ckpt", "resume_file",
    "restore_from", "restore_checkpoint", "continue_from", "resume",
)  # fmt: skip
_PERHAPS = re.compile(
    r"(load|ckpt|checkpoint|chkpt|snapshot|init)(_(from|path|file|dir|folder|model|checkpoint|ckpt|snapshot))?"
    r"|(from|pretrained|start|initial|last)_(checkpoint|ckpt)|start_from|model_(checkpoint|ckpt)"
)
"""Options that may as well say where to write: these count where the source loads what they take."""
_MODIFIER = re.compile(
    r"_(epoch|step|steps|iter|iters|iteration|id|run_id|only|optimizer|strict|mode|name|lr|interval|every)$|wandb|^no_"
    r"|skip|reset"
)
"""What only says how a script goes on, not from what."""
_LOADS = re.compile(r"load|resume|restore|restart|^fit$|^train$")
_READS = re.compile(r"\b(load|resum|restor|continu|restart|start from|initiali[sz]e from)", re.IGNORECASE)
_WRITES = re.compile(r"\b(sav|writ|output|stor)", re.IGNORECASE)
_TRAINING_ARGUMENTS = re.compile(r"TrainingArguments$|^(SFT|DPO|PPO|GRPO|KTO|ORPO|CPO|RLOO|Reward)\w*Config$")
TRAINER_FLAG = "--resume_from_checkpoint"
LIGHTNING_FLAG = "--ckpt_path"


@dataclass(frozen=True, kw_only=True)
class ResumeOption:
    """`takes`: a path; nothing, where a switch makes the script look for its checkpoint itself; or WORD. `path_option`:
    beside a switch, the option that takes the path. `subcommands`: those of the script."""

    option: Option
    takes: Takes
    path_option: Option | None = None
    subcommands: frozenset[str] = frozenset()


def resume_option(script: Path, arguments: Sequence[str]) -> ResumeOption | None:
    """Return the option that a script has for it, None where none was recognised. `arguments`: what it is given now,
    for the options of subcommands. Never raises."""
    try:
        sources = _sources(load_source(script))
    except StudioError:
        return None
    declared = read_script_options(script)
    options = [
        option for option in declared.options
        if not option.positional and (not option.command or option.command in arguments)
    ]  # fmt: skip
    option = (
        _declared(options, sources) or _of_trainer(declared, sources) or _of_lightning(sources[0], arguments)
        or _perhaps(options, sources)
    )  # fmt: skip
    subcommands = frozenset(option.command for option in declared.options if option.command)
    return None if option is None else replace(option, subcommands=subcommands)


def _sources(script: Source) -> list[Source]:
    """The script and the local modules that it imports itself."""
    sources = [script]
    for path, _, _ in imported(script):
        try:
            sources.append(load_source(path))
        except StudioError:
            continue
    return sources


def name_of(option: Option) -> str:
    """Return how a program calls the value of an option: resume_from of --resume-from."""
    return option.name.rpartition(".")[2].replace("-", "_").lower()


def _declared(options: Sequence[Option], sources: Sequence[Source]) -> ResumeOption | None:
    named = [option for option in options if _SURE.search(name_of(option)) and not _MODIFIER.search(name_of(option))]
    paths = sorted(filter(_takes_path, named), key=_rank)
    if paths:
        return ResumeOption(option=paths[0], takes="path")
    if switches := sorted(filter(_is_switch, named), key=_rank):
        path_option = _perhaps(options, sources)
        return ResumeOption(option=switches[0], takes="switch", path_option=path_option.option if path_option else None)
    words = [option for option in options if _takes_word(option, sources)]
    return ResumeOption(option=words[0], takes="word") if words else None


def _rank(option: Option) -> int:
    name = name_of(option)
    return _PREFERRED.index(name) if name in _PREFERRED else len(_PREFERRED)


def _takes_path(option: Option) -> bool:
    return option.kind in ("text", "path", "list") and not option.choices and option.form not in ("on", "off", "both")


def _is_switch(option: Option) -> bool:
    return option.kind == "bool" and option.form != "off"


def _takes_word(option: Option, sources: Iterable[Source]) -> bool:
    """Whether "resume" is one of its choices, or what the source compares it with."""
    if option.choices:
        return WORD in option.choices
    return option.kind == "text" and any(_compares(source, name_of(option)) for source in sources)


def _compares(source: Source, name: str) -> bool:
    comparisons = (node for node in ast.walk(source.tree) if isinstance(node, ast.Compare))
    return any(
        _names(node.left, name) and any(isinstance(other, ast.Constant) and other.value == WORD for other in
                                        node.comparators)
        for node in comparisons
    )  # fmt: skip


def _perhaps(options: Sequence[Option], sources: Sequence[Source]) -> ResumeOption | None:
    """An option such as --checkpoint, where its help or a call says that it is loaded, and its help not that it is
    written."""
    named = [option for option in options if _PERHAPS.fullmatch(name_of(option)) and _takes_path(option)]
    for option in named:
        reads = bool(_READS.search(option.help))
        if (reads or not _WRITES.search(option.help)) and (
            reads or any(_loads(source, name_of(option)) for source in sources)
        ):
            return ResumeOption(option=option, takes="path")
    return None


def _loads(source: Source, name: str) -> bool:
    """Whether a call that loads is given what has this name."""
    calls = (node for node in ast.walk(source.tree) if isinstance(node, ast.Call) and _LOADS.search(called(node)))
    return any(_names(argument, name) for call in calls for argument in _arguments(call))


def _arguments(call: ast.Call) -> Iterator[ast.expr]:
    yield from call.args
    yield from (word.value for word in call.keywords)


def _names(node: ast.expr, name: str) -> bool:
    """Whether args.resume, resume or args["resume"] is in an expression."""
    return any(
        (isinstance(part, ast.Attribute) and part.attr == name)
        or (isinstance(part, ast.Name) and part.id == name)
        or (isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Constant) and part.slice.value == name)
        for part in ast.walk(node)
    )


def _of_trainer(declared: ScriptOptions, sources: Iterable[Source]) -> ResumeOption | None:
    """TrainingArguments have an option that the Trainer itself does not read: the script has to hand it on."""
    if not any(map(_TRAINING_ARGUMENTS.search, declared.library_classes)):
        return None
    name = TRAINER_FLAG.lstrip("-")
    if not any(_mentions(source, name) for source in sources):
        return None
    names = (TRAINER_FLAG, TRAINER_FLAG[:2] + TRAINER_FLAG[2:].replace("_", "-"))
    return ResumeOption(option=Option(flag=TRAINER_FLAG, names=names), takes="path")


def _mentions(source: Source, name: str) -> bool:
    return any(isinstance(node, ast.Attribute) and node.attr == name for node in ast.walk(source.tree))


def _of_lightning(script: Source, arguments: Sequence[str]) -> ResumeOption | None:
    """LightningCLI gives its subcommand fit the path of a checkpoint."""
    calls = (node for node in ast.walk(script.tree) if isinstance(node, ast.Call))
    if "fit" not in arguments or not any(called(call) == "LightningCLI" for call in calls):
        return None
    option = Option(flag=LIGHTNING_FLAG, names=(LIGHTNING_FLAG,), command="fit")
    return ResumeOption(option=option, takes="path")


def values_of(option: ResumeOption, checkpoint: Path) -> tuple[tuple[Option, str | bool | tuple[str, ...]], ...]:
    """Return what each option has to be, so that the script goes on from a checkpoint."""
    path = str(checkpoint)
    option_value: str | bool | tuple[str, ...]
    if option.takes == "switch":
        option_value = True
    elif option.takes == "word":
        option_value = WORD
    else:
        option_value = (path,) if option.option.kind == "list" else path
    others = ((option.path_option, path),) if option.path_option is not None else ()
    return ((option.option, option_value), *others)
