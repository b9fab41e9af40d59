"""The catalogue: both languages whole, every key that the source uses there, none left over."""

from __future__ import annotations

import re
import string

import pytest

from backends.migration.scan.facts.rules import load_rules
from studio import texts
from studio.paths import ROOT

KEY = re.compile(r'"([a-z_0-9]+(?:\.[a-zA-Z_0-9-]+)+)"')
MADE = re.compile(r'f"([a-z_]+\.)[^"]*\{|"([a-z_.]+\.)"\s*\+')
# Keys put together at run time: fields, hints and choices of specs, states, phases, names of metrics, units.
DYNAMIC = re.compile(
    r"(\w+\.(field|hint|section|choice|tab)\..*|state\..*|phase\..*|metric\..*|unit\..*|cli\..*|feature\..*|launch\.rule\..*|journey\..*"
    r"|\w+\.did\..*|curves\.(figure|phase|sentence|worker)\..*|precision\.first\..*|precision\.losses\..*|timeline\.lost\..*|explain\..*\.(cause|fix))"
)


def source() -> str:
    files = [
        *(ROOT / "studio").rglob("*.py"),
        *(ROOT / "backends").rglob("*.py"),
        *(ROOT / "ui").rglob("*.py"),
    ]
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def said_in(language: texts.Language) -> dict[str, str]:
    """All texts but those of the scan's rules."""
    return {key: text for key, text in texts.all_texts(language).items() if not key.startswith("rule")}


def placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def test_that_both_languages_have_the_same_keys() -> None:
    assert said_in("en").keys() == said_in("zh").keys()


def test_that_both_languages_fill_in_the_same_placeholders() -> None:
    english, chinese = said_in("en"), said_in("zh")
    assert not [key for key in english if placeholders(english[key]) != placeholders(chinese[key])]


def test_that_the_chinese_is_chinese() -> None:
    english, chinese = said_in("en"), said_in("zh")
    same = [key for key in english if english[key] == chinese[key] and " " in english[key].strip()]
    assert not same


def test_that_every_key_the_source_names_has_a_text() -> None:
    known = said_in("en")
    prefixes = {key.split(".")[0] for key in known}
    used = {key for key in KEY.findall(source()) if key.split(".")[0] in prefixes}
    files = re.compile(r".*\.(py|json|jsonl|md|toml|txt|log|bin|sh|png|svg|patch|tmp|lock|com)$")
    of_projects = {"device.type"}  # an expression in the code that a scan reads
    assert not sorted(key for key in used - of_projects if key not in known and not files.fullmatch(key))


def test_that_no_text_is_left_over() -> None:
    text = source()
    unused = [key for key in said_in("en") if f'"{key}"' not in text and not DYNAMIC.fullmatch(key)]
    assert not unused


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_that_texts_are_plain(language: texts.Language) -> None:
    words = re.compile(r"!|！|\bplease\b|请您|successfully|成功地", re.IGNORECASE)
    assert not [key for key, text in said_in(language).items() if words.search(text)]


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


# Of the scan's rules, in files of their own.


@pytest.fixture(params=texts.LANGUAGES)
def said(request: pytest.FixtureRequest) -> dict[str, str]:
    return texts.catalogue(request.param, "rule")


def test_that_every_rule_says_what_it_is_why_and_what_to_do(said: dict[str, str]) -> None:
    wanted = {f"rule.{rule}.{part}" for rule in load_rules() for part in ("title", "why", "todo")}
    assert {key for key in said if key.startswith("rule.")} == wanted


def test_that_every_rule_has_a_source_to_open() -> None:
    assert not [name for name, rule in load_rules().items() if not rule.source.startswith("https://")]


def test_that_rules_fill_in_the_same_placeholders_in_both_languages() -> None:
    english, chinese = texts.catalogue("en", "rule"), texts.catalogue("zh", "rule")
    assert english.keys() == chinese.keys()
    assert not [key for key in english if placeholders(english[key]) != placeholders(chinese[key])]


def test_that_rules_need_no_more_than_a_finding_has() -> None:
    known = {"name", "text"}
    sentences = texts.catalogue("en", "rule").items()
    of_rules = {key: placeholders(text) for key, text in sentences if key.startswith("rule.")}
    assert not {key: names for key, names in of_rules.items() if not names <= known and not is_of_advice(key)}


def is_of_advice(key: str) -> bool:
    return key.startswith(("rule.advice.", "rule.tutorial.", "rule.migrate."))


def test_that_reasons_are_said_and_none_is_left_over(said: dict[str, str]) -> None:
    named = set(re.findall(r'"([a-z_]+)"', source()))
    reasons = {key.partition(".")[2] for key in said if key.startswith("rule_because.")}
    assert reasons
    assert reasons <= named


def test_that_sentences_of_rules_are_plain_and_the_chinese_is_chinese(said: dict[str, str]) -> None:
    words = re.compile(r"(?<![!=<>])!(?!=)|！|\bplease\b|请您|successfully|成功地", re.IGNORECASE)
    assert not [key for key, text in said.items() if words.search(text)]
    english, chinese = texts.catalogue("en", "rule"), texts.catalogue("zh", "rule")
    assert not [key for key in english if english[key] == chinese[key] and " " in english[key]]


def test_that_rules_are_read_only_when_they_are_asked_for() -> None:
    texts.catalogue.cache_clear()
    texts.t("launch.start")
    assert texts.catalogue.cache_info().currsize == 1
    assert texts.t("rule.cuda_env.visible.title", name="CUDA_VISIBLE_DEVICES").startswith("CUDA_VISIBLE_DEVICES")
    assert texts.catalogue.cache_info().currsize == 2


@pytest.mark.parametrize(("lanes", "text"), [(1, "in 1 lane over"), (2, "in 2 lanes over"), (0, "in 0 lanes over")])
def test_that_a_word_behind_a_count_has_its_number(lanes: int, text: str) -> None:
    args = {"slices": "1", "seconds": 1.0, "cpu": 0.1}
    sentence = texts.t_in("en", "timeline.said.read", lanes=lanes, **args)
    assert sentence.startswith("1 slice in")
    assert text in sentence
    assert "1 event is damaged and is in" in texts.t_in("en", "timeline.remark.damaged", n=1)
    assert texts.t_in("en", "timeline.said.read", lanes=lanes) == texts.find("timeline.said.read", "en")


def test_that_no_count_stands_before_a_word_of_its_own_choice() -> None:
    """A text for one thing says "1 lanes" unless it gives both words: `{lanes:lane|lanes}`."""
    counted = re.compile(r"\{(?:lanes|slices|events|files|rows)\} (?:lanes|slices|events|files|rows)\b")
    assert not [key for key, text in texts.all_texts("en").items() if counted.search(text) and " of {" not in text]
