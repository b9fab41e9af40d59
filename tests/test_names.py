"""Names and sentences of the source that a stranger can search: see docs/glossary.md."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from studio.paths import ROOT
from studio.texts import LANGUAGES, all_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

EMPTY_WORDS = frozenset(
    re.findall(
        r"\w+",
        "told tell said say asked ask beside going made later wanted way one found seen known given kept taken least "
        "most here there look looked place spelled led odd its theirs mine shown hand hands crew twin",
    )
)
MAX_PER_1000 = 5
REPLACED_WORDS = re.compile(r"octet|held.?out", re.IGNORECASE)


def sources() -> list[Path]:
    return [path for folder in ("studio", "backends", "ui") for path in sorted((ROOT / folder).rglob("*.py"))]


def words_of(name: str) -> list[str]:
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().strip("_").split("_")


def bindings(tree: ast.AST) -> Iterator[str]:
    """Yield each name that a file gives to something of its own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def test_that_names_say_what_they_stand_for() -> None:
    names = [name for path in sources() for name in bindings(ast.parse(path.read_text(encoding="utf-8")))]
    empty = [name for name in names if EMPTY_WORDS.intersection(words_of(name))]
    assert 1000 * len(empty) / len(names) <= MAX_PER_1000, sorted(set(empty))


def test_that_bytes_and_validation_sets_have_their_own_names() -> None:
    paths = [*sources(), *sorted((ROOT / "tests").rglob("*.py"))]
    names = {name for path in paths for name in bindings(ast.parse(path.read_text(encoding="utf-8")))}
    texts = {f"{key} {text}" for language in LANGUAGES for key, text in all_texts(language).items()}
    assert not [entry for entry in names | texts if REPLACED_WORDS.search(entry)]


def test_that_modules_are_named_by_what_they_give() -> None:
    assert not [path for path in sources() if EMPTY_WORDS.intersection(path.stem.split("_"))]


def test_that_docstrings_are_no_half_sentences() -> None:
    halves = [
        f"{path.relative_to(ROOT)}: {docstring[:60]}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module)
        and re.match(r"(Of|By|To) ", docstring := ast.get_docstring(node) or "")
    ]
    assert not halves
