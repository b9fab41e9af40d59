"""Tutorial check of command lines: options that msprobe and msprof-analyze do not have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from backends.migration.found import Place
from backends.migration.scan.advice.rules import RULES
from backends.migration.scan.advice.words import Word, commands
from backends.migration.scan.python.positions import Starts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ABOUT = re.compile(r"msprobe|msprof-analyze|MSPROBE_PATH", re.IGNORECASE)
VARIABLE = "MSPROBE_PATH"
USED = re.compile(r"\$(\{MSPROBE_PATH\b|MSPROBE_PATH\b)")
ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
# What may stand before the command itself.
BEFORE = {
    "sudo", "nohup", "time", "env", "exec", "!", "if", "then", "do", "else", "elif", "while", "RUN", "srun",
    "python", "python3", "{", "@",
}  # fmt: skip
SAYS = {"echo", "printf", "cat", "pip", "pip3", "which", "whereis", "man", "help", "type"}
LONGEST = 200


class Wrong(NamedTuple):
    """`begin`, `end`: offsets of what is wrong."""

    rule: str
    name: str
    begin: int
    end: int


def tutorial_lines(path: str, text: str) -> Iterator[Place]:
    """Of a shell script, a Dockerfile, a Makefile, or a cell of a notebook: what is Python there has no such words."""
    if not ABOUT.search(text):
        return
    starts = Starts(text)
    told: set[tuple[int, str]] = set()
    for wrong in wrongs(text):
        line, column, end, end_column = starts.span(wrong.begin, wrong.end)
        if (line, wrong.rule) not in told:
            told.add((line, wrong.rule))
            yield Place(
                kind="advice",
                path=path,
                line=line,
                column=column,
                end=end,
                end_column=end_column,
                category=RULES[wrong.rule].category,
                rule=wrong.rule,
                name=wrong.name,
                text=text[wrong.begin : wrong.end][:LONGEST],
            )


def wrongs(text: str) -> Iterator[Wrong]:
    """Every wrong call of a shell text; comments and what is only printed do not count."""
    for words in commands(text):
        if words[0].value in SAYS:
            continue
        yield from _variables(words)
        for number, word in enumerate(words):
            check = CHECKS.get(word.value.lstrip("!@").rpartition("/")[2])
            if check is not None:
                yield from check(word, words[number + 1 :])
            if not _may_stand_before(word.value):
                break


def _may_stand_before(word: str) -> bool:
    return word in BEFORE or word.startswith("-") or word.isdigit() or bool(ASSIGNED.match(word))


def _variables(words: Sequence[Word]) -> Iterator[Wrong]:
    for word in words:
        if word.value.startswith(VARIABLE + "=") or USED.search(word.value):
            yield Wrong("tutorial.msprobe_path", VARIABLE, word.begin, word.end)


def _msprobe(tool: Word, words: Sequence[Word]) -> Iterator[Wrong]:
    """`-f` was of versions before 26; `-l` never was an option of compare."""
    values = [word.value for word in words]
    if words and "compare" in values and ("-l" in values or "--level" in values):
        yield Wrong("tutorial.msprobe_level", "msprobe compare -l", tool.begin, words[-1].end)
    elif values and (values[0].startswith("--framework") or any(map(_names_a_framework, values, values[1:]))):
        yield Wrong("tutorial.msprobe_framework", "msprobe -f", tool.begin, words[-1].end)


def _names_a_framework(option: str, value: str) -> bool:
    return option in ("-f", "--framework") and not value.startswith("-")


def _msprof_analyze(tool: Word, words: Sequence[Word]) -> Iterator[Wrong]:
    if any(word.value == "-i" for word in words):
        yield Wrong("tutorial.msprof_input", "msprof-analyze -i", tool.begin, words[-1].end)


CHECKS = {"msprobe": _msprobe, "msprof-analyze": _msprof_analyze}
