"""The help says of a comparison what the code does: every verdict, reason, measure and command, and its numbers."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from backends import features
from backends.precision import FEATURE
from backends.precision.compare import (
    arguments,
    distance,
    dtypes,
    first,
    growth,
    kinds,
    levels,
    links,
    products,
    sequence,
    state,
    structure,
    walk,
)
from backends.precision.compare.comparison import MEASURES, VERDICTS
from backends.precision.compare.kinds import GROWTH, Kind
from backends.precision.config.checked import PARTS
from backends.precision.losses import compare as losses
from studio import schema
from studio.places import ASSETS
from studio.texts import precision_texts

if TYPE_CHECKING:
    from studio.texts import Language

LANGUAGES: tuple[Language, ...] = ("en", "zh")
KINDS = {
    "product": "乘积", "sum": "加和", "scale": "缩放", "norm": "归一化", "soft": "指数", "reduce": "归约",
    "other": "其他", "steep": "陡峭",
}  # fmt: skip
ALWAYS = {"--json", "--help"}


@cache
def page(language: Language, name: str) -> str:
    return (ASSETS / "help" / language / name).read_text(encoding="utf-8")


@cache
def whole(language: Language) -> str:
    """Both pages on one line: where a sentence is broken does not matter."""
    return " ".join((page(language, "9-precision.md") + page(language, "9b-precision-formulas.md")).split())


def rows(text: str) -> list[list[str]]:
    """The cells of all tables."""
    return [re.split(r" ?(?<!\\)\| ?", line.strip("| ")) for line in text.splitlines() if line.startswith("|")]


def first_cells(language: Language, name: str) -> set[str]:
    cells = [row[0] for row in rows(page(language, name))]
    return {part.strip() for cell in cells for part in (cell, *re.split("[,、]", cell))}


def test_that_every_verdict_is_explained() -> None:
    for language in LANGUAGES:
        names = precision_texts(language)
        said = {names[f"precision.verdict.{one}"] for one in VERDICTS}
        assert said <= first_cells(language, "9-precision.md")


def test_that_every_reason_of_a_first_divergence_is_explained() -> None:
    for language in LANGUAGES:
        reasons = {key.removeprefix("precision.first.") for key in precision_texts(language)
                   if key.startswith("precision.first.")}  # fmt: skip
        assert reasons <= first_cells(language, "9-precision.md")


def test_that_every_measure_has_its_formula_under_the_name_of_its_column() -> None:
    for language in LANGUAGES:
        names = precision_texts(language)
        said = {names[f"precision.view.column_{one}"] for one in MEASURES}
        assert said <= first_cells(language, "9b-precision-formulas.md")


def test_that_every_part_of_the_environment_check_is_explained() -> None:
    for language in LANGUAGES:
        names = precision_texts(language)
        assert {names[key] for key in PARTS.values()} <= first_cells(language, "9-precision.md")


def test_that_every_command_is_named() -> None:
    for language in LANGUAGES:
        text = whole(language)
        assert not [one.name for one in FEATURE.actions if one.name not in text]


def test_that_no_option_is_named_that_no_command_has() -> None:
    actions = [action for feature in features() for action in feature.actions]
    flags = {field.flag for action in actions for field in schema.fields(action.spec)} | ALWAYS
    for language in LANGUAGES:
        assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", whole(language))) <= flags


@pytest.mark.parametrize("language", LANGUAGES)
def test_that_the_growth_of_each_kind_of_operator_is_what_the_comparison_takes(language: Language) -> None:
    said = {row[0]: row[-1] for row in rows(page(language, "9b-precision-formulas.md")) if len(row) == 4}
    for english, chinese in KINDS.items():
        name = chinese if language == "zh" else english
        assert float(said[name]) == GROWTH[Kind[english.upper()]]


def test_that_the_eps_of_each_dtype_is_what_the_comparison_takes() -> None:
    for language in LANGUAGES:
        found = 0
        for row in rows(page(language, "9b-precision-formulas.md")):
            for dtype in re.split("[,、] ?", row[0]):
                if dtype in distance.EPS:
                    power = re.match(r"2\^(-\d+)", row[1])
                    assert power is not None
                    assert distance.EPS[dtype] == 2.0 ** int(power[1])
                    found += 1
        assert found == 7


KINKED = kinds.BACKWARD * kinds.KINK
NUMBERS = {
    "en": (
        f"rounding(dtype) = {growth.ULPS:g} · eps of 32 bits and more",
        f"rounding(dtype) = {growth.LOW_ULPS:g} · eps of 16 bits and fewer",
        f"κ of a soft operator is {growth.HOT:g} at most",
        f"A backward has B = {kinds.BACKWARD:g}, and {KINKED:g} where",
        f"From {levels.LOST:g} on everything is allowed",
        f"hidden = max( {levels.HIDES:g} · max(shown, rounding), eps of the coarsest dtype on the way / "
        f"{1 / levels.AT_LEAST:g} )",
        f"rounding + {walk.COPIED:g} · its level",
        f"updated {walk.UNEVEN:g} · n^(1/4) times",
        f"rounding + {walk.UNTRACED:g} · the largest level of the last {walk.RECENT} outputs",
        f"rounding + {state.BOTH_WAYS:g} · Σ over the steps",
        f"(within a factor of {state.SPREAD:g})",
        f"by 1/{1 / state.SHARE:g} of the largest step",
        f"at {state.OTHERS:g} times the median",
        f"max( allowed, {levels.HIDES:g} · error(golden again, golden) )",
        f"of at least {products.SIBLINGS} products",
        f"less than {dtypes.USUAL:.0%} of all tensors".replace("%", " %"),
        f"(where there are at least {dtypes.FEW})",
        f"equal within {arguments.SAME:.0e}".replace("e-0", "e-"),
        f"at most {walk.ARGUMENTS:.0e}".replace("e-0", "e-"),
        f"(Myers 1986, {sequence.LONGEST} edits at most)",
        f"at most {first.NEAR} calls between it and an input that differs, {first.HIDDEN} for other differences",
        f"max({losses.LEAST:.1%}, {losses.NOISES:g} · mean".replace("%", " %"),
        f"max({losses.STEPS:g} · limit, {losses.NOISES:g} · largest",
        f"`--golden-again`, at least {losses.LEAST:.1%}), else {losses.DEFAULT:.0%}".replace("%", " %"),
    ),
    "zh": (
        f"rounding(dtype) = {growth.ULPS:g} · eps 32 位及以上",
        f"rounding(dtype) = {growth.LOW_ULPS:g} · eps 16 位及以下",
        f"κ 最多为 {growth.HOT:g}",
        f"反向的 B = {kinds.BACKWARD:g}；有折点的算子（relu、池化、clamp、sort）为 {KINKED:g}",
        f"限值达到 {levels.LOST:g} 时",
        f"hidden = max( {levels.HIDES:g} · max(shown, rounding), 途经的最粗数据类型的 eps / {1 / levels.AT_LEAST:g} )",
        f"rounding + {walk.COPIED:g} · 其水平",
        f"按 {walk.UNEVEN:g} · n^(1/4) 倍计",
        f"rounding + {walk.UNTRACED:g} · 最近 {walk.RECENT} 个输出",
        f"rounding + {state.BOTH_WAYS:g} · Σ",
        f"相差不超过 {state.SPREAD:g} 倍",
        f"按最大移动量的 1/{1 / state.SHARE:g}",
        f"中位数的 {state.OTHERS:g} 倍",
        f"max( allowed, {levels.HIDES:g} · error(第二份标杆, 标杆) )",
        f"至少有 {products.SIBLINGS} 个",
        f"占不到 {dtypes.USUAL:.0%}",
        f"（至少 {dtypes.FEW} 次时）",
        f"较大者的 {arguments.SAME:.0e}".replace("e-0", "e-"),
        f"最多 {walk.ARGUMENTS:.0e}".replace("e-0", "e-"),
        f"（Myers 1986，最多 {sequence.LONGEST} 次编辑）",
        f"不超过 {first.NEAR} 个调用，其他差异不超过 {first.HIDDEN} 个",
        f"max({losses.LEAST:.1%}, {losses.NOISES:g} ·",
        f"max({losses.STEPS:g} · limit, {losses.NOISES:g} ·",
        f"至少 {losses.LEAST:.1%}；也没有第二次标杆时为 {losses.DEFAULT:.0%}",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_that_the_numbers_of_the_formulas_are_those_of_the_comparison(language: Language) -> None:
    text = whole(language)
    assert not [one for one in NUMBERS[language] if one not in text]
    assert (products.TEN_BITS, products.MOST) == (2.0**-11, 0.75)  # "2^-11", "three quarters"
    assert (distance.END, links.BRANCH) == (2.0**-7, 2.0**-10)
    assert (distance.HIDDEN, structure.OFTEN, structure.OTHERWISE) == (0.25, 3, 0.5)  # in words
