"""The catalogue: both languages whole, every key that the source uses there, none left over."""

from __future__ import annotations

import re
import string

import pytest

from studio import texts
from studio.places import ROOT

KEY = re.compile(r'"([a-z_0-9]+(?:\.[a-zA-Z_0-9-]+)+)"')
MADE = re.compile(r'f"([a-z_]+\.)[^"]*\{|"([a-z_.]+\.)"\s*\+')
# Keys put together at run time: fields, hints and choices of specs, states, phases, names of metrics, units.
DYNAMIC = re.compile(
    r"(\w+\.(field|hint|card|choice|tab)\..*|state\..*|phase\..*|metric\..*|unit\..*|cli\..*|feature\..*|launch\.rule\..*|journey\..*"
    r"|curves\.(figure|phase|sentence)\..*|explain\..*\.(cause|fix))"
)


def source() -> str:
    files = [
        *(ROOT / "studio").rglob("*.py"),
        *(ROOT / "backends").rglob("*.py"),
        *(ROOT / "ui").rglob("*.py"),
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_that_both_languages_have_the_same_keys() -> None:
    assert texts.catalogue("en").keys() == texts.catalogue("zh").keys()


def test_that_both_languages_fill_in_the_same_placeholders() -> None:
    english, chinese = texts.catalogue("en"), texts.catalogue("zh")
    assert not [key for key in english if placeholders(english[key]) != placeholders(chinese[key])]


def test_that_the_chinese_is_chinese() -> None:
    english, chinese = texts.catalogue("en"), texts.catalogue("zh")
    same = [key for key in english if english[key] == chinese[key] and " " in english[key].strip()]
    assert not same


def test_that_every_key_the_source_names_has_a_text() -> None:
    known = texts.catalogue("en")
    prefixes = {key.split(".")[0] for key in known}
    used = {key for key in KEY.findall(source()) if key.split(".")[0] in prefixes}
    files = re.compile(r".*\.(py|json|jsonl|md|toml|txt|log|bin|sh|png|svg|patch|tmp|lock|com)$")
    assert not sorted(key for key in used if key not in known and not files.fullmatch(key))


def test_that_no_text_is_left_over() -> None:
    text = source()
    unused = [key for key in texts.catalogue("en") if f'"{key}"' not in text and not DYNAMIC.fullmatch(key)]
    assert not unused


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_that_texts_are_plain(language: texts.Language) -> None:
    words = re.compile(r"!|！|\bplease\b|请您|successfully|成功地", re.IGNORECASE)
    assert not [key for key, text in texts.catalogue(language).items() if words.search(text)]


def test_that_an_unknown_key_comes_back_as_it_is() -> None:
    assert texts.t("scan.of_a_newer_studio", path="x") == "scan.of_a_newer_studio {'path': 'x'}"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [({"LANG": "zh_CN.UTF-8"}, "zh"), ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, "en"), ({}, "en")],
)
def test_that_the_language_follows_the_system(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert texts.system_language() == expected
