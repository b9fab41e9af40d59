"""The help explains every option of the launch form, in both languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from backends.launch.spec import LaunchSpec
from studio import schema
from studio.paths import ASSETS
from studio.texts import all_texts
from tests.shots import schedules

if TYPE_CHECKING:
    from studio.texts import Language


def help_of(language: str) -> str:
    return "\n".join(path.read_text(encoding="utf-8") for path in sorted((ASSETS / "help" / language).glob("2*.md")))


def has_place(text: str, name: str, flag: str) -> bool:
    """A paragraph or a row of a table that begins with an option."""
    return bool(re.search(rf"^(\| )?\*\*{re.escape(name)}\*\* ?[(（]`{flag}[ `]", text, re.MULTILINE))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_each_option_has_a_place_of_its_own_under_the_name_it_has_in_the_form(language: Language) -> None:
    text, names = help_of(language), all_texts(language)
    fields = schema.fields(LaunchSpec)
    assert not [one.flag for one in fields if not has_place(text, names[f"launch.field.{one.name}"], one.flag)]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_that_each_card_has_a_section_for_its_question_mark(language: Language) -> None:
    text, names = help_of(language), all_texts(language)
    cards = {field.section for field in schema.fields(LaunchSpec)}
    assert not [card for card in cards if f"\n## {names[f'launch.section.{card}']}\n" not in text]


def test_that_the_picture_of_the_schedules_is_drawn_from_the_formulas_of_the_engine() -> None:
    assert (ASSETS / "help" / "schedules.svg").read_text(encoding="utf-8") == schedules.picture()
