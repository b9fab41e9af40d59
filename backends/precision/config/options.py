"""Command lines and options of two runs of the studio, as their run.json have them: a learning rate that differs is no
difference of an environment, and explains more than any.

Only what decides what is computed counts: where files are, what is recorded and how a run ends are left out. Of a
program's own arguments the names tell; paths are compared by their last part, since two hosts have two.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from backends.common.program_line import parse_program_line
from backends.precision.config.extra_checks import value_text
from backends.precision.config.result import CheckRow, Sentence, part
from backends.precision.origin import run_around
from studio import run as runs
from studio.errors import StudioError
from studio.security.secret_words import masked_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from backends.precision.config.result import Level, Part
    from studio.run import Run

OPTIONS_HEADER = ("what", "golden", "target")
COMMANDS = ("script", "launch")
LEFT_OUT = frozenset(
    {"planned", "recording", "ending", "limits", "debug", "grace", "python", "workdir", "master", "port", "visible"}
)
"""Sections and fields of a training's spec that change no number."""
TELLING = re.compile(
    r"(.*[._-])?(lr|learning_?rate|(weight_?)?decay(_\w+)?|wd|momentum|beta_?\d?s?|eps(ilon)?|adam\w*|optim(izer)?|"
    r"(lr_)?schedule(r)?(_type)?|warmup\w*|\w*steps?|\w*epochs?|seed|\w*batch(_?size)?|bs|\w*accum\w*|\w*clip\w*|"
    r"\w*grad_norm|dropout\w*|amp(_\w+)?|dtype|precision|fp16|bf16|tf32|(loss_)?scale|recipe|drop_remainder|"
    r"deterministic|layers?|hidden(_?size)?|heads?|seq(_?len(gth)?)?|\w*init\w*|"
    r"model(_name)?|arch(itecture)?|backbone|losses|loss(_\w+)?|\w*smoothing|temperature|tau|gamma|alpha|lambda\w*|\w*theta|"
    r"rope\w*|mixup\w*|cutmix\w*|reduction|freeze\w*|frozen\w*|half|(\w*_)?dims?|d_(model|ff|state)|width|depth|"
    r"(embed(ding)?|patch|kernel|vocab|image|img|crop|window|block|context|input|codebook)_?size|vocab|"
    r"max_?(seq_?)?len(gth)?|num_classes|act(ivation)?(_\w+)?|ema(_\w+)?|use_ema|noise(_\w+)?|tie_\w+|aug(ment\w*)?|"
    r"(data_)?shuffle|sampler|top_?[kp]|lora_\w+|ignore_index|reg(ulari[sz]ation)?|penalty|l[12]|norm(_type|ali[sz]ation)?|"
    r"drop_?path\w*|layer_?scale|experts?|num_experts|capacity_factor|stride|padding|pool(ing)?|resolution)",
    re.IGNORECASE,
)
"""Names of options that change what is computed."""
_HARMLESS = re.compile(r"(log(ging)?|sav(e|ing)|eval\w*|print|report|checkpoint|ckpt|val|test)_\w+", re.IGNORECASE)
NO_NUMBER = re.compile(
    r"(print|report)(_?(freq(uency)?|every|interval|steps?|iters?|epochs?|to|dir|file|name|level))?|"
    r"(wandb|tensorboard|swanlab|mlflow|comet|clearml)(_?(project|entity|team|workspace|experiment|run|group|job|tags?|notes?|"
    r"mode|offline|online|key|token|uri|url|host|port|dir|path|name|id|watch|run_name|run_id|log_model))*|"
    r"hub_(model_id|token|strategy|private_repo|always_push)|rdzv_(backend|endpoint|id|conf)|"
    r"log(ger|gers)?|logging(_(steps?|first_step|strategy|level|config|nan_inf_filter))?|"
    r"log_?(level\w*|(every|freq(uency)?|interval)(_n)?(_?(steps?|iters?|batch(es)?|epochs?))?|steps?|iters?|name|prefix|"
    r"format|config|to|with|on_each_node|to_\w+|model|predictions|completions|grad(ient)?s?|"
    r"console|stdout|stats|metrics|params|summary|images?|samples)|"
    r"(save|saving)(_(steps?|interval|every|freq(uency)?|total_limit|strategy|best|last|only_\w+))?|"
    r"(out(put)?|save|log(ging)?|work|run|results?|profile\w*|trace)_?(dir(ectory)?|path|folder|file|root)|out(put)?|"
    r"(run|exp(eriment)?|job|project|entity)(_?(name|id))?|group_?(name|id)|tags?|comment|notes?|disable_tqdm|verbose|quiet|"
    r"progress(_bar)?|master_(port|addr)|port|local_rank|push_to_hub|api_?key",
    re.IGNORECASE,
)
"""Names of options that say where results go, what they are called and what is printed: they change no number."""
MAX_NAMES = 20
OF_WINDOWS = ("GDK_", "QT_", "ELM_", "KDE_", "PLASMA_")
"""Variables of desktops, such as GDK_SCALE."""
MAX_VALUE_LENGTH = 2000
_FLAG = re.compile(r"-{1,2}[A-Za-z][\w.-]*")
_SETTING = re.compile(r"(?P<name>-{0,2}[A-Za-z][\w.-]*)=(?P<value>.*)", re.DOTALL)


def options_part(golden: Path, target: Path, variables: Sequence[CheckRow] = ()) -> Part | None:
    """Compare the options of the runs that two sides lie in; None where one of them is no run of the studio.
    `variables`: rows for their environments."""
    runs = runs_of_sides(golden, target)
    if runs is None:
        return part("options", OPTIONS_HEADER, list(variables)) if variables else None
    if runs[0].request.command != runs[1].request.command:
        return part("options", OPTIONS_HEADER, [_row("command", *(run.request.command for run in runs))])
    pairs = _option_pairs(*runs)
    rows = [_row(name, a, b) for name, a, b in pairs if a == b or not _is_harmless(name)]
    return part("options", OPTIONS_HEADER, [*rows, *variables])


def harmless_options(golden: Path, target: Path) -> tuple[Sentence, ...]:
    """Return which options of two runs differ and change no number: they are in no table."""
    runs = runs_of_sides(golden, target)
    if runs is None or runs[0].request.command != runs[1].request.command:
        return ()
    names = [name for name, a, b in _option_pairs(*runs) if a != b and _is_harmless(name)]
    shown = ", ".join(names[:MAX_NAMES]) + (" …" if len(names) > MAX_NAMES else "")
    return (Sentence(key="precision.config.harmless_options", args={"names": shown}),) if names else ()


def _option_pairs(golden: Run, target: Run) -> list[tuple[str, str, str]]:
    """Return each option with its values in two runs of one command, "" where a run does not have it."""
    a, b = (dict(_options(run)) for run in (golden, target))
    return [(name, a.get(name, ""), b.get(name, "")) for name in dict.fromkeys((*a, *b))]


def _is_harmless(name: str) -> bool:
    return NO_NUMBER.fullmatch(_plain(name)) is not None


def _plain(name: str) -> str:
    return name.lstrip("-").replace("-", "_")


def variable_rows(golden: Mapping[str, str], target: Mapping[str, str]) -> Iterator[CheckRow]:
    """Yield the variables whose names say that they change what is computed, where they differ: a script may read its
    learning rate there. One that a side lacks is worth a look: another host has other variables."""
    for name in sorted(golden.keys() | target.keys()):
        a, b = _shown(golden.get(name, "")), _shown(target.get(name, ""))
        if a != b and TELLING.fullmatch(name) and not (_HARMLESS.fullmatch(name) or name.startswith(OF_WINDOWS)):
            level: Level = "error" if name in golden and name in target else "warning"
            yield CheckRow(level, (f"${name}", a[:MAX_VALUE_LENGTH], b[:MAX_VALUE_LENGTH]))


def runs_of_sides(golden: Path, target: Path) -> tuple[Run, Run] | None:
    """Return the trainings that two sides lie in, None where one is no run of the studio."""
    sides = (run_of_side(golden), run_of_side(target))
    return (sides[0], sides[1]) if sides[0] is not None and sides[1] is not None else None


def run_of_side(side: Path) -> Run | None:
    """Return the training that a pack, or a folder of packs, was made by."""
    folder = run_around(side.absolute())
    if folder is None:
        return None
    try:
        run = runs.open_run(folder)
    except StudioError:
        return None
    return run if run.request.command in COMMANDS else None


def _row(name: str, golden: str, target: str) -> CheckRow:
    level: Level = "pass"
    if golden != target:
        is_telling = TELLING.fullmatch(_plain(name)) and not _HARMLESS.fullmatch(_plain(name))
        level = "error" if is_telling else "warning"
    return CheckRow(level, (name, golden[:MAX_VALUE_LENGTH], target[:MAX_VALUE_LENGTH]))


def _options(run: Run) -> Iterator[tuple[str, str]]:
    for section, fields in run.request.values.items():
        if section in LEFT_OUT or not isinstance(fields, dict):
            continue
        for name, value in fields.items():
            if name == "line" and isinstance(value, list):
                yield from _line_options(masked_words(tuple(map(str, value))))
            elif name not in LEFT_OUT:
                yield from _field(name, value)


def _field(name: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield the pairs of an environment or a strategy one by one, any other value as it is shown."""
    if isinstance(value, dict):
        words = masked_words(tuple(f"{key}={entry}" for key, entry in value.items()))
        yield from (_pair(word) for word in words)
    elif isinstance(value, list):
        yield name, " ".join(masked_words(tuple(map(str, value))))
    else:
        yield name, _shown(value_text(value))


def _line_options(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield what a line sets: variables, launcher, script, and its arguments, a flag with what follows it."""
    program = parse_program_line(words)
    yield from program.settings
    if program.kind == "launcher":
        yield "launcher", " ".join(_shown(word) for word in program.words[: max(0, program.arguments_at - 1)])
    yield "program", _shown(program.script) or " ".join(program.words)
    yield from _arguments(program.arguments)


def _arguments(words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    options: dict[str, list[str]] = {}
    flag, position = "", 0
    for word in words:
        if match := _SETTING.fullmatch(word):
            options.setdefault(match["name"], []).append(_shown(match["value"]))
            flag = ""
        elif _FLAG.fullmatch(word):
            flag = word
            options.setdefault(flag, [])
        elif flag:
            options[flag].append(_shown(word))
        else:
            position += 1
            options[f"argument {position}"] = [_shown(word)]
    yield from ((name, " ".join(values) or "true") for name, values in options.items())


def _pair(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, _shown(value)


def _shown(text: str) -> str:
    """Return a value as it is compared: of an absolute path the last part."""
    return PurePosixPath(text).name if text.startswith("/") else text
