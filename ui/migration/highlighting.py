"""Colours for source: comments, strings, words of the language and numbers. Lexical only, as a quick look needs."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat

from ui import theme

if TYPE_CHECKING:
    from PySide6.QtGui import QTextDocument

PYTHON = (
    "False None True and as assert async await break class continue def del elif else except finally for from global "
    "if import in is lambda nonlocal not or pass raise return try while with yield match case self print"
)
SHELL = (
    "if then else elif fi for while until do done case esac in function export local return exit source echo "
    "FROM RUN ENV ARG COPY ADD CMD ENTRYPOINT WORKDIR"
)
C = (
    "auto bool break case char class const continue default do double else enum extern float for if inline int long "
    "namespace new nullptr private public return short sizeof static struct switch template this typedef typename "
    "unsigned using virtual void while include define ifdef ifndef endif pragma __global__ __device__ __shared__"
)
VALUES = "true false null yes no on off"
LANGUAGES = {
    "py": (PYTHON, "#"), "pyx": (PYTHON, "#"), "ipynb": (PYTHON, "#"), "sh": (SHELL, "#"), "bash": (SHELL, "#"),
    "slurm": (SHELL, "#"), "dockerfile": (SHELL, "#"), "yaml": (VALUES, "#"), "yml": (VALUES, "#"),
    "toml": (VALUES, "#"), "cfg": (VALUES, "#"), "ini": (VALUES, "#"), "txt": ("", "#"), "json": (VALUES, ""),
    "c": (C, "//"), "cc": (C, "//"), "cpp": (C, "//"), "h": (C, "//"), "hpp": (C, "//"), "cu": (C, "//"),
    "cuh": (C, "//"),
}  # fmt: skip
TRIPLES = ('"""', "'''")
TRIPLE_QUOTED = ("py", "pyx", "ipynb")
TOKENS = {"comment": "dim", "string": "good", "word": "accent", "number": "warning"}


def language_of(path: str) -> str:
    name = path.rsplit("/", 1)[-1].lower()
    if name.startswith("dockerfile") or name.endswith(".dockerfile"):
        return "dockerfile"
    return name.rsplit(".", 1)[-1] if "." in name else "sh"


@lru_cache(maxsize=32)
def _pattern(language: str) -> re.Pattern[str]:
    words, comment = LANGUAGES.get(language, ("", "#"))
    parts = [r"(?P<string>[rbfuRBFU]{0,2}(?:\"(?:[^\"\\]|\\.)*\"?|'(?:[^'\\]|\\.)*'?))"]
    if language in TRIPLE_QUOTED:
        parts.insert(0, r"(?P<triple>[rbfuRBFU]{0,2}(?:\"\"\"|'''))")
    if comment:
        parts.insert(0, f"(?P<comment>{comment if len(comment) == 1 else re.escape(comment)}.*)")
    if words:
        parts.append(rf"(?P<word>\b(?:{'|'.join(words.split())})\b)")
    parts.append(r"(?P<number>\b\d[\d_.]*(?:[eE][+-]?\d+)?\b)")
    return re.compile("|".join(parts))


def spans(text: str, language: str, inside: str = "") -> tuple[list[tuple[int, int, str]], str]:
    """Of one line: (begin, length, kind) and the triple quote that is open at its end. `inside`: open before it."""
    found: list[tuple[int, int, str]] = []
    begin = at = 0
    while True:
        if inside:
            end = text.find(inside, at)
            stop = len(text) if end < 0 else end + len(inside)
            found.append((begin, stop - begin, "string"))
            if end < 0:
                return found, inside
            at, inside = stop, ""
        match = _pattern(language).search(text, at)
        if match is None:
            return found, ""
        begin, at = match.span()
        if match.lastgroup == "triple":
            inside = match.group()[-3:]
        else:
            found.append((begin, at - begin, match.lastgroup or ""))


class Highlighter(QSyntaxHighlighter):
    """The state of a block is the triple quote that it leaves open."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.language = ""
        self._formats: dict[str, QTextCharFormat] = {}
        self.recolor()

    def recolor(self) -> None:
        """The colours of the current theme; whoever changes them calls `rehighlight`."""
        for kind, token in TOKENS.items():
            made = QTextCharFormat()
            made.setForeground(theme.color(token))
            self._formats[kind] = made

    def highlightBlock(self, text: str) -> None:
        inside = TRIPLES[self.previousBlockState()] if self.previousBlockState() in (0, 1) else ""
        found, inside = spans(text, self.language, inside)
        for begin, length, kind in found:
            self.setFormat(begin, length, self._formats[kind])
        self.setCurrentBlockState(TRIPLES.index(inside) if inside else -1)
