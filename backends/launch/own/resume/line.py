"""A line that starts a script, with an option that it did not have, or that had another value."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.common import program_line
from backends.launch.own.options.reader import to_words

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from backends.launch.own.options.option import Option, Value


def with_options(
    line: tuple[str, ...], values: Sequence[tuple[Option, Value]], subcommands: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the line with these options; every other word stays as it is, and in its order. `subcommands`: those
    that the script has, in front of which its own options stand."""
    arguments = program_line.parse_program_line(line).arguments
    head = line[: len(line) - len(arguments)]
    for option, value in values:
        barriers = ("--",) if option.command else ("--", *subcommands)
        arguments = _with_option(arguments, option, value, barriers)
    return (*head, *arguments)


def _with_option(
    arguments: tuple[str, ...], option: Option, value: Value, barriers: Collection[str]
) -> tuple[str, ...]:  # fmt: skip
    """Where the line has the option, there; else at the end, or in front of the first of `barriers`."""
    plain = replace(option, command="", required=False, default=None, default_source="")
    words = to_words((plain,), {plain.flag: value})
    rest, position = _without_option(arguments, plain)
    end = next((index for index, word in enumerate(rest) if word in barriers), len(rest))
    at = end if position is None else position
    return (*rest[:at], *words, *rest[at:])


def _without_option(arguments: tuple[str, ...], option: Option) -> tuple[tuple[str, ...], int | None]:
    """Return the words without an option and its value, and where it was first."""
    names, takes_value = {*option.names, option.flag, *option.offs}, option.form not in ("on", "off", "both", "count")
    words: list[str] = []
    position: int | None = None
    index = 0
    while index < len(arguments):
        word = arguments[index]
        index += 1
        if word == "--":
            words += arguments[index - 1 :]
            break
        if word.partition("=")[0] not in names:
            words.append(word)
            continue
        position = len(words) if position is None else position
        is_apart = takes_value and "=" not in word
        while is_apart and index < len(arguments) and not arguments[index].startswith("-"):
            index += 1
            is_apart = option.form == "words"
    return tuple(words), position
