"""The help says of a comparison what the code does: every verdict, reason, measure and command, and its numbers."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest

from backends import features
from backends.precision import FEATURE
from backends.precision.compare.alignment import sequences
from backends.precision.compare.comparison import MEASURES, VERDICTS
from backends.precision.compare.judgement.operators import Kind
from backends.precision.compare.tolerances import TOLERANCES as LIMITS
from backends.precision.compare.values import distance
from backends.precision.config.result import PARTS
from backends.precision.losses import compare as losses
from studio import schema
from studio.paths import ASSETS
from studio.texts import catalogue

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
        names = catalogue(language, "precision")
        said = {names[f"precision.verdict.{one}"] for one in VERDICTS}
        assert said <= first_cells(language, "9-precision.md")


def test_that_every_reason_of_a_first_divergence_is_explained() -> None:
    for language in LANGUAGES:
        reasons = {key.removeprefix("precision.first.") for key in catalogue(language, "precision")
                   if key.startswith("precision.first.")}  # fmt: skip
        assert reasons <= first_cells(language, "9-precision.md")


def test_that_every_measure_has_its_formula_under_the_name_of_its_column() -> None:
    for language in LANGUAGES:
        names = catalogue(language, "precision")
        said = {names[f"precision.view.column_{one}"] for one in MEASURES}
        assert said <= first_cells(language, "9b-precision-formulas.md")


def test_that_every_part_of_the_environment_check_is_explained() -> None:
    for language in LANGUAGES:
        names = catalogue(language, "precision")
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
        assert float(said[name]) == LIMITS.growth[Kind[english.upper()]]


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


NUMBERS = {
    "en": (
        f"rounding(dtype) = {LIMITS.rounding_ulps:g} · eps of 32 bits and more",
        f"rounding(dtype) = {LIMITS.low_rounding_ulps:g} · eps of 16 bits and fewer",
        f"κ of a soft operator is {LIMITS.max_kappa_of_exponent:g} at most",
        f"A backward has B = {LIMITS.backward_growth:g}. Where a kink",
        f"counts {LIMITS.kink_growth:g} times: the statistics need not show the element",
        f"(in the norm {LIMITS.random_norm_factor:g} / sqrt(n) of it",
        f"From {LIMITS.unrelated_error:g} on everything is allowed",
        f"hidden = max( {LIMITS.hidden_factor:g} · max(shown, rounding), eps of the coarsest dtype on the way / "
        f"{1 / LIMITS.hidden_eps_share:g} )",
        f"rounding + {LIMITS.copy_growth:g} · its level",
        f"updated {LIMITS.update_spread:g} · n^(1/4) times",
        f"rounding + {LIMITS.untraced_growth:g} · the largest level of the last {LIMITS.recent_outputs} outputs",
        f"rounding + {LIMITS.update_ways:g} · Σ over the steps",
        f"(within a factor of {LIMITS.same_step_spread:g})",
        f"by 1/{1 / LIMITS.gradient_noise_share:g} of the largest step",
        f"at {LIMITS.peer_factor:g} times the median",
        f"max( allowed, {LIMITS.hidden_factor:g} · error(golden again, golden) )",
        f"of at least {LIMITS.min_products} products",
        f"less than {LIMITS.usual_dtype_share:.0%} of all tensors".replace("%", " %"),
        f"(where there are at least {LIMITS.min_dtype_calls})",
        f"equal within {LIMITS.same_number:.0e}".replace("e-0", "e-"),
        f"at most {LIMITS.argument_noise:.0e}".replace("e-0", "e-"),
        f"(Myers 1986, {sequences.MAX_EDITS} edits at most)",
        f"at most {LIMITS.calls_to_input} calls between it and an input that differs, "
        f"{LIMITS.calls_to_other} for other differences",
        f"max({losses.MIN_LIMIT:.1%}, {losses.NOISE_FACTOR:g} · mean".replace("%", " %"),
        f"max({losses.STEP_FACTOR:g} · limit, {losses.NOISE_FACTOR:g} · largest",
        f"`--golden-again`, at least {losses.MIN_LIMIT:.1%}), else {losses.DEFAULT_LIMIT:.0%}".replace("%", " %"),
    ),
    "zh": (
        f"rounding(dtype) = {LIMITS.rounding_ulps:g} · eps 32 位及以上",
        f"rounding(dtype) = {LIMITS.low_rounding_ulps:g} · eps 16 位及以下",
        f"κ 最多为 {LIMITS.max_kappa_of_exponent:g}",
        f"反向的 B = {LIMITS.backward_growth:g}。有折点的算子",
        f"由输入推出的误差按 {LIMITS.kink_growth:g} 倍计",
        f"范数中只有其 {LIMITS.random_norm_factor:g} / sqrt(n)",
        f"限值达到 {LIMITS.unrelated_error:g} 时",
        f"hidden = max( {LIMITS.hidden_factor:g} · max(shown, rounding), 途经的最粗数据类型的 eps / "
        f"{1 / LIMITS.hidden_eps_share:g} )",
        f"rounding + {LIMITS.copy_growth:g} · 其水平",
        f"按 {LIMITS.update_spread:g} · n^(1/4) 倍计",
        f"rounding + {LIMITS.untraced_growth:g} · 最近 {LIMITS.recent_outputs} 个输出",
        f"rounding + {LIMITS.update_ways:g} · Σ",
        f"相差不超过 {LIMITS.same_step_spread:g} 倍",
        f"按最大移动量的 1/{1 / LIMITS.gradient_noise_share:g}",
        f"中位数的 {LIMITS.peer_factor:g} 倍",
        f"max( allowed, {LIMITS.hidden_factor:g} · error(第二份标杆, 标杆) )",
        f"至少有 {LIMITS.min_products} 个",
        f"占不到 {LIMITS.usual_dtype_share:.0%}",
        f"（至少 {LIMITS.min_dtype_calls} 次时）",
        f"较大者的 {LIMITS.same_number:.0e}".replace("e-0", "e-"),
        f"最多 {LIMITS.argument_noise:.0e}".replace("e-0", "e-"),
        f"（Myers 1986，最多 {sequences.MAX_EDITS} 次编辑）",
        f"不超过 {LIMITS.calls_to_input} 个调用，其他差异不超过 {LIMITS.calls_to_other} 个",
        f"max({losses.MIN_LIMIT:.1%}, {losses.NOISE_FACTOR:g} ·",
        f"max({losses.STEP_FACTOR:g} · limit, {losses.NOISE_FACTOR:g} ·",
        f"至少 {losses.MIN_LIMIT:.1%}；也没有第二次标杆时为 {losses.DEFAULT_LIMIT:.0%}",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_that_the_numbers_of_the_formulas_are_those_of_the_comparison(language: Language) -> None:
    text = whole(language)
    assert not [one for one in NUMBERS[language] if one not in text]
    assert (LIMITS.ten_bit_error, LIMITS.product_share) == (2.0**-11, 0.75)  # "2^-11", "three quarters"
    assert (LIMITS.extreme_margin, LIMITS.branch_share) == (2.0**-7, 2.0**-10)
    assert (LIMITS.digest_eps_share, LIMITS.other_kernel_calls, LIMITS.other_program_share) == (
        0.25,
        3,
        0.5,
    )  # in words
