"""Commands are found by what one types, in either language."""

from __future__ import annotations

import pytest

from studio.texts import LANGUAGES, t_in
from ui.shell.fuzzy_search import best, initials, score
from ui.shell.palette_rows import Entry, ranked

KEYS = ("action.open_project", "action.theme", "action.language", "action.quit", "feature.launch", "feature.curves")


def found(typed: str) -> str:
    entries = [
        Entry(title=key, names=tuple(t_in(language, key) for language in LANGUAGES), do=lambda: None) for key in KEYS
    ]
    titles = [entry.title for entry in ranked(typed, entries)]
    return titles[0] if titles else ""


@pytest.mark.parametrize(
    ("typed", "key"),
    [
        ("open", "action.open_project"), ("oprj", "action.open_project"), ("打开", "action.open_project"),
        ("dkxm", "action.open_project"), ("dark", "action.theme"), ("深色", "action.theme"),
        ("curv", "feature.curves"), ("qx", "feature.curves"), ("启动", "feature.launch"), ("QUIT", "action.quit"),
        ("zzzz", ""),
    ],
)  # fmt: skip
def test_that_a_command_is_found_in_either_language_and_by_initials(typed: str, key: str) -> None:
    assert found(typed) == key


def test_that_nothing_typed_keeps_the_order() -> None:
    assert found("") == KEYS[0]


def test_that_initials_are_those_of_the_pinyin() -> None:
    assert initials("启动训练 ok 梯度累积") == "qdxltdlj"


def test_that_a_whole_word_beats_scattered_letters() -> None:
    whole, scattered = score("run", "run again"), score("run", "red urban north")
    assert whole is not None
    assert scattered is not None
    assert whole > scattered


def test_that_a_name_is_found_by_its_best_name() -> None:
    assert best("停止", ("Stop", "停止")) == score("停止", "停止")
