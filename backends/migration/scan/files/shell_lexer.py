"""Shell text as commands of words, each character's offset kept."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLAIN = re.compile(r"""[^\s\\'"$`;&|()<>]+""")
IN_QUOTES = re.compile(r'[^"\\$`]+')
CONTINUED = re.compile(r"\\(?:\r\n|\r|\n)")
SPACE = re.compile(r"(?:[ \t\f\v]|\\(?:\r\n|\r|\n))+")
REDIRECT = re.compile(r"\d*(?:>>|>&|>\||<&|<>|&>>?|>|<<<|<)(?!\()")
HEREDOC = re.compile(r"\d*<<-?(?!<)(?=[ \t]*[\"'\\]?[A-Za-z_])")
LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|\Z)")


@dataclass(frozen=True, kw_only=True)
class ShellWord:
    """`value` is without quotes and escapes, expansions as written; `at[i]` is the offset of value[i]."""

    begin: int
    end: int
    value: str
    at: Sequence[int]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """Offsets of value[first:last]."""
        return self.at[first], self.at[last - 1] + 1


@dataclass(kw_only=True)
class ShellCommand:
    """`after`: the operator that ends it, "\\n" for a line's end. `target`: what the output is redirected to."""

    words: list[ShellWord] = field(default_factory=list)
    after: str = ""
    target: str = ""
    body: tuple[int, int] | None = None


@dataclass(kw_only=True)
class _Heredoc:
    command: ShellCommand
    marker: str


class ShellLexer:
    """Lex text[begin:end] into commands in one pass; `nested` holds the regions in $(…) and `…`, to be lexed next.

    Unclosed quotes and brackets end with the region: half a script is read as far as it goes.
    """

    def __init__(self, text: str, begin: int, end: int) -> None:
        self.text, self.at, self.end = text, begin, end
        self.nested: list[tuple[int, int]] = []
        self._heredocs: list[_Heredoc] = []
        self._unclosed = False

    def commands(self) -> Iterator[ShellCommand]:
        command = ShellCommand()
        while self.at < self.end:
            after = self._step(command)
            if after:
                command.after = after
                if after == "\n":
                    self._read_bodies()
                yield command
                command = ShellCommand()
        yield command

    def _step(self, command: ShellCommand) -> str:
        """Reads one word, redirect, blank or comment; gives the operator where the command ends."""
        text, at = self.text, self.at
        if blank := SPACE.match(text, at, self.end):
            self.at = blank.end()
            return ""
        sign = text[at]
        if sign in "\r\n":
            self.at += 2 if text.startswith("\r\n", at) else 1
            return "\n"
        if sign == "#":
            self.at = self._line_end(at)
            return ""
        if heredoc := HEREDOC.match(text, at, self.end):
            self._begin_heredoc(command, heredoc)
            return ""
        if redirect := REDIRECT.match(text, at, self.end):
            self._redirect(command, redirect)
            return ""
        if sign in ";&|()<>":
            self.at += 2 if text.startswith(("&&", "||", ";;"), at) else 1
            return sign
        word = self._word()
        command.words.append(word)
        return ""

    def _line_end(self, at: int) -> int:
        line_break = re.compile(r"[\r\n]").search(self.text, at, self.end)
        return line_break.start() if line_break else self.end

    def _blank(self) -> None:
        if blank := SPACE.match(self.text, self.at, self.end):
            self.at = blank.end()

    def _redirect(self, command: ShellCommand, sign: re.Match[str]) -> None:
        self.at = sign.end()
        self._blank()
        if self.at < self.end and self.text[self.at] not in "\r\n;|&()<>":
            word = self._word()
            if ">" in sign[0] and "&" not in sign[0]:
                command.target = word.value
            elif sign[0].endswith("<<<"):
                command.words.append(word)

    def _begin_heredoc(self, command: ShellCommand, sign: re.Match[str]) -> None:
        self.at = sign.end()
        self._blank()
        if self.at < self.end and self.text[self.at] not in "\r\n;|&()<>":
            self._heredocs.append(_Heredoc(command=command, marker=self._word().value))

    def _read_bodies(self) -> None:
        """Here-documents of the line that ended. One without its end is read on as shell, and no other is sought."""
        for heredoc in self._heredocs:
            close = None if self._unclosed else self._body_end(heredoc.marker)
            self._unclosed = self._unclosed or close is None
            if close:
                heredoc.command.body = (self.at, close[0])
                self.at = close[1]
        self._heredocs.clear()

    def _body_end(self, marker: str) -> tuple[int, int] | None:
        at = self.at
        while at < self.end and (line := LINE.match(self.text, at, self.end)):
            if line[0].strip() == marker:
                return at, line.end()
            at = line.end()
        return None

    def _word(self) -> ShellWord:
        begin = self.at
        value: list[str] = []
        offsets: list[int] = []
        while self.at < self.end and self.text[self.at] not in " \t\f\v\r\n;&|()<>":
            self._piece(value, offsets)
        if self.at == begin:
            self.at += 1
        plain = "".join(value)
        simple = len(plain) == self.at - begin
        return ShellWord(begin=begin, end=self.at, value=plain, at=range(begin, self.at) if simple else offsets)

    def _piece(self, value: list[str], offsets: list[int]) -> None:
        sign = self.text[self.at]
        if sign == "\\":
            self._escape(value, offsets)
        elif sign == "'":
            self._single(value, offsets)
        elif sign == '"':
            self._double(value, offsets)
        elif sign in "$`":
            self._expansion(value, offsets)
        elif plain := PLAIN.match(self.text, self.at, self.end):
            self._keep(plain.end(), value, offsets)
        else:
            self._keep(self.at + 1, value, offsets)

    def _keep(self, end: int, value: list[str], offsets: list[int]) -> None:
        value.append(self.text[self.at : end])
        offsets.extend(range(self.at, end))
        self.at = end

    def _escape(self, value: list[str], offsets: list[int]) -> None:
        if continued := CONTINUED.match(self.text, self.at, self.end):
            self.at = continued.end()
            return
        self.at += 1
        if self.at < self.end:
            self._keep(self.at + 1, value, offsets)

    def _single(self, value: list[str], offsets: list[int]) -> None:
        close = self.text.find("'", self.at + 1, self.end)
        self.at += 1
        self._keep(close if close >= 0 else self.end, value, offsets)
        self.at = min(self.at + 1, self.end)

    def _double(self, value: list[str], offsets: list[int]) -> None:
        self.at += 1
        while self.at < self.end and self.text[self.at] != '"':
            if plain := IN_QUOTES.match(self.text, self.at, self.end):
                self._keep(plain.end(), value, offsets)
            elif self.text[self.at] == "\\":
                self._escape(value, offsets)
            else:
                self._expansion(value, offsets)
        self.at = min(self.at + 1, self.end)

    def _expansion(self, value: list[str], offsets: list[int]) -> None:
        text, at = self.text, self.at
        if text.startswith("$(", at):
            close = self._closing(at + 2, "(", ")")
            self.nested.append((at + 2, close))
        elif text.startswith("${", at):
            close = self._closing(at + 2, "{", "}")
        elif text[at] == "`":
            close = text.find("`", at + 1, self.end)
            close = close if close >= 0 else self.end
            self.nested.append((at + 1, close))
        else:
            close = at
        self._keep(min(close + 1, self.end), value, offsets)

    def _closing(self, at: int, opening: str, closing: str) -> int:
        """Offset of the bracket that closes the one before `at`; quotes inside hide brackets."""
        depth = 1
        quoted = ""
        while at < self.end:
            sign = self.text[at]
            if sign == "\\":
                at += 1
            elif quoted:
                quoted = "" if sign == quoted else quoted
            elif sign == "'" or (sign == '"' and opening == "("):
                quoted = sign
            elif sign == opening:
                depth += 1
            elif sign == closing:
                depth -= 1
                if depth == 0:
                    return at
            at += 1
        return self.end
