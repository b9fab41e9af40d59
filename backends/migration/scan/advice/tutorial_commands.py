"""Command lines of tutorials: options that msprobe and msprof-analyze do not have."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from backends.migration.finding import Occurrence
from backends.migration.scan.advice.advice_rules import ADVICE_RULES
from backends.migration.scan.python.positions import LineStarts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# A word, a comment, white space with line continuations, or what ends a command. Every character is in one of them.
TOKEN = re.compile(
    r"""(?P<word>(?:'[^']*'?|"(?:\\.|[^"\\])*"?|\\[^\n]|[^\s'"\\;|&()<>`#]|(?<=[^\s;|&()<>`])\#)+)"""
    r"""|(?P<comment>\#[^\n]*)|(?P<space>(?:\\\r?\n|[^\S\n]|[<>\\])+)|(?P<end>[\n;|&()`]+)""",
    re.DOTALL | re.VERBOSE,
)
QUOTES = re.compile(r"""['"]|\\(?=.)""", re.DOTALL)


class Word(NamedTuple):
    """`value`: without its quotes. `begin`, `end`: offsets in the text."""

    value: str
    begin: int
    end: int


def split_commands(text: str) -> Iterator[list[Word]]:
    """Comments are in none. Never raises: a quote that is left open ends with the text."""
    words: list[Word] = []
    for token in TOKEN.finditer(text):
        if token.lastgroup == "word":
            words.append(Word(QUOTES.sub("", token[0]), token.start(), token.end()))
        elif token.lastgroup == "end" and words:
            yield words
            words = []
    if words:
        yield words


MENTIONS_TOOLS = re.compile(r"msprobe|msprof-analyze|MSPROBE_PATH", re.IGNORECASE)
VARIABLE = "MSPROBE_PATH"
EXPANDED = re.compile(r"\$(\{MSPROBE_PATH\b|MSPROBE_PATH\b)")
ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
# What may stand before the command itself.
BEFORE = {
    "sudo", "nohup", "time", "env", "exec", "!", "if", "then", "do", "else", "elif", "while", "RUN", "srun",
    "python", "python3", "{", "@",
}  # fmt: skip
PRINTING = {"echo", "printf", "cat", "pip", "pip3", "which", "whereis", "man", "help", "type"}
LONGEST = 200


class MistakenCall(NamedTuple):
    """`begin`, `end`: offsets of what is wrong."""

    rule: str
    name: str
    begin: int
    end: int


def advise_command_lines(path: str, text: str) -> Iterator[Occurrence]:
    """Advise on the command lines of a shell script, Dockerfile, Makefile or notebook cell."""
    if not MENTIONS_TOOLS.search(text):
        return
    starts = LineStarts(text)
    advised: set[tuple[int, str]] = set()
    for mistake in find_mistaken_calls(text):
        line, column, end, end_column = starts.span(mistake.begin, mistake.end)
        if (line, mistake.rule) not in advised:
            advised.add((line, mistake.rule))
            yield Occurrence(
                kind="advice",
                path=path,
                line=line,
                column=column,
                end=end,
                end_column=end_column,
                category=ADVICE_RULES[mistake.rule].category,
                rule=mistake.rule,
                name=mistake.name,
                text=text[mistake.begin : mistake.end][:LONGEST],
            )


def find_mistaken_calls(text: str) -> Iterator[MistakenCall]:
    """Every wrong call of a shell text; comments and what is only printed do not count."""
    for words in split_commands(text):
        if words[0].value in PRINTING:
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


def _variables(words: Sequence[Word]) -> Iterator[MistakenCall]:
    for word in words:
        if word.value.startswith(VARIABLE + "=") or EXPANDED.search(word.value):
            yield MistakenCall("tutorial.msprobe_path", VARIABLE, word.begin, word.end)


def _msprobe(tool: Word, words: Sequence[Word]) -> Iterator[MistakenCall]:
    """`-f` was of versions before 26; `-l` never was an option of compare."""
    values = [word.value for word in words]
    if words and "compare" in values and ("-l" in values or "--level" in values):
        yield MistakenCall("tutorial.msprobe_level", "msprobe compare -l", tool.begin, words[-1].end)
    elif values and (values[0].startswith("--framework") or any(map(_names_a_framework, values, values[1:]))):
        yield MistakenCall("tutorial.msprobe_framework", "msprobe -f", tool.begin, words[-1].end)


def _names_a_framework(option: str, value: str) -> bool:
    return option in ("-f", "--framework") and not value.startswith("-")


def _msprof_analyze(tool: Word, words: Sequence[Word]) -> Iterator[MistakenCall]:
    if any(word.value == "-i" for word in words):
        yield MistakenCall("tutorial.msprof_input", "msprof-analyze -i", tool.begin, words[-1].end)


CHECKS = {"msprobe": _msprobe, "msprof-analyze": _msprof_analyze}
