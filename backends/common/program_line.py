"""What a line of words starts: recognised from the words alone, as a shell would have split them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

Kind = Literal["python", "module", "code", "shell", "launcher", "other"]

LAUNCHERS = ("torchrun", "msrun", "accelerate", "deepspeed", "mpirun", "mpiexec", "horovodrun", "torchpippy")
LAUNCHING_MODULES = (
    "torch.distributed.run", "torch.distributed.launch", "accelerate.commands.launch", "mindspore.parallel.cluster",
)  # fmt: skip
SHELLS = ("bash", "sh", "dash", "zsh")
# A shell's own words, which no program takes for what they mean there.
SHELL_WORDS = ("&", "&&", "|", "||", ";", ">", ">>", "<", "&>", "2>", "2>&1", "2>>")
_PYTHON = re.compile(r"python(\d+(\.\d+)*)?")
_SETTING = re.compile(r"([A-Za-z_]\w*)=(.*)", re.DOTALL)
_WITH_VALUE = "WX"


@dataclass(frozen=True, kw_only=True)
class Program:
    """`settings`: the KEY=VALUE words before the program; `words`: the program and its arguments; `python`: the word
    that names an interpreter, "" where none does; `script`: the file or module that is run, "" where none is seen;
    `at`: the place of what follows it in `words`."""

    kind: Kind
    settings: tuple[tuple[str, str], ...] = ()
    words: tuple[str, ...] = ()
    python: str = ""
    script: str = ""
    arguments_at: int = 0

    @property
    def names_a_file(self) -> bool:
        """Whether `script` is surely a file, seen from where the program starts: a launcher may start it elsewhere."""
        return self.kind in ("python", "shell") and self.script not in ("", "-")

    @property
    def arguments(self) -> tuple[str, ...]:
        """What the script itself is given."""
        return self.words[self.arguments_at :] if self.script else ()


def parse_program_line(line: tuple[str, ...]) -> Program:
    """Never raises; an empty line is a program of no words."""
    settings: list[tuple[str, str]] = []
    while len(settings) < len(line) and (match := _SETTING.fullmatch(line[len(settings)])):
        settings.append((match[1], match[2]))
    return replace(_read(line[len(settings) :]), settings=tuple(settings))


def _read(words: tuple[str, ...]) -> Program:
    first = words[0] if words else ""
    name, suffix = Path(first).name, Path(first).suffix
    if _PYTHON.fullmatch(name):
        return _of_python(words, 1, first)
    if first.startswith("-m"):
        return _of_python(words, 0, "")
    if name in SHELLS:
        return _of_shell(words)
    if name in LAUNCHERS:
        return _of_launcher(words, 1, "")
    if suffix in (".py", ".sh"):
        return Program(kind="python" if suffix == ".py" else "shell", words=words, script=first, arguments_at=1)
    return Program(kind="other", words=words)


def _of_python(words: tuple[str, ...], at: int, python: str) -> Program:
    """https://docs.python.org/3/using/cmdline.html: options end with -c, -m, or the first word that is none."""
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        word, at = words[at], at + 1
        for position, letter in enumerate(word[1:] if not word.startswith("--") else "", 2):
            if letter == "c":
                return Program(kind="code", words=words, python=python)
            if letter == "m":
                module, at = (word[position:], at) if word[position:] else (" ".join(words[at : at + 1]), at + 1)
                return _of_module(words, at, python, module)
            if letter in _WITH_VALUE:
                at += not word[position:]
                break
    script = words[at] if at < len(words) else ""
    return Program(kind="python", words=words, python=python, script=script, arguments_at=at + 1)


def _of_module(words: tuple[str, ...], at: int, python: str, module: str) -> Program:
    if module.startswith(LAUNCHING_MODULES):
        return _of_launcher(words, at, python)
    return Program(kind="module", words=words, python=python, script=module, arguments_at=at)


def _of_shell(words: tuple[str, ...]) -> Program:
    at = next((position for position, word in enumerate(words[1:], 1) if not word.startswith("-")), len(words))
    is_code = any("c" in word and not word.startswith("--") for word in words[1:at])
    script = "" if is_code or at == len(words) else words[at]
    return Program(kind="shell", words=words, script=script, arguments_at=at + 1)


def _of_launcher(words: tuple[str, ...], at: int, python: str) -> Program:
    """Each launcher has options of its own: the first word that is a Python file is what it starts."""
    script_at = next((position for position, word in enumerate(words[at:], at) if word.endswith(".py")), None)
    if script_at is None:
        return Program(kind="launcher", words=words, python=python)
    return Program(kind="launcher", words=words, python=python, script=words[script_at], arguments_at=script_at + 1)
