"""Lexical colours for source: comments, strings, keywords and numbers."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from PySide6.QtGui import QSyntaxHighlighter, QTextCharFormat

from ui.widgets import theme

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
SPAN_COLORS = {"comment": "dim", "string": "good", "word": "accent", "number": "warning"}


def language_of(path: str) -> str:
    """Return the key of LANGUAGES for a file."""
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


def highlight_spans(text: str, language: str, inside: str = "") -> tuple[list[tuple[int, int, str]], str]:
    """Return (begin, length, kind) of each coloured span of a line, and the triple quote that is open at its end.
    `inside`: the one open before it."""
    spans: list[tuple[int, int, str]] = []
    begin = at = 0
    while True:
        if inside:
            end = text.find(inside, at)
            stop = len(text) if end < 0 else end + len(inside)
            spans.append((begin, stop - begin, "string"))
            if end < 0:
                return spans, inside
            at, inside = stop, ""
        match = _pattern(language).search(text, at)
        if match is None:
            return spans, ""
        begin, at = match.span()
        if match.lastgroup == "triple":
            inside = match.group()[-3:]
        else:
            spans.append((begin, at - begin, match.lastgroup or ""))


class Highlighter(QSyntaxHighlighter):
    """The state of a block is the triple quote that it leaves open."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        self.language = ""
        self._formats: dict[str, QTextCharFormat] = {}
        self.recolor()

    def recolor(self) -> None:
        """Take the colours of the current theme; callers that change them call `rehighlight`."""
        for kind, token in SPAN_COLORS.items():
            text_format = QTextCharFormat()
            text_format.setForeground(theme.color(token))
            self._formats[kind] = text_format

    def highlightBlock(self, text: str) -> None:
        inside = TRIPLES[self.previousBlockState()] if self.previousBlockState() in (0, 1) else ""
        spans, inside = highlight_spans(text, self.language, inside)
        for begin, length, kind in spans:
            self.setFormat(begin, length, self._formats[kind])
        self.setCurrentBlockState(TRIPLES.index(inside) if inside else -1)
