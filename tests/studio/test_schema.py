"""One schema for the form, the command line and the JSON: what one writes, the others read back."""

from __future__ import annotations

import dataclasses
import math
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio import command_line, schema, texts
from studio.schema import Problem, Unreadable, option

if TYPE_CHECKING:
    import argparse

NO_PATH = Path()


@dataclass(frozen=True, kw_only=True)
class First:
    kind: Literal["plain", "fancy"] = option("plain")
    colour: Literal["red", "green"] | None = option(None)
    place: Path = option(NO_PATH, visible_when=("kind", ("fancy",)))
    words: str = option("none")


@dataclass(frozen=True, kw_only=True)
class Second:
    count: int = option(1, unit="samples", low=1, high=2**53)
    more: int | None = option(None, low=-5)
    most: int | None = option(3, low=0)
    rate: float = option(0.5, above=0, high=100)
    shift: float | None = option(None, low=-1e300)
    quiet: bool = option(False)
    extra: tuple[tuple[str, str], ...] = option(())
    line: tuple[str, ...] = option((), wants="line")
    source: Path = option(NO_PATH, wants="run", positional=True)


def _count_is_not_seven(spec: Sample) -> list[Problem]:
    return [Problem(field="count", rule="sample.seven")] if spec.second.count == 7 else []


@dataclass(frozen=True, kw_only=True)
class Sample:
    first: First = field(default_factory=First)
    second: Second = field(default_factory=Second)

    RULES = (_count_is_not_seven,)


PLAIN = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=20)
KEYS = PLAIN.map(lambda text: text.replace("=", "").strip()).filter(bool)
PATHS = PLAIN.map(lambda text: Path("/" + text.lstrip("/")))
SPECS = st.builds(
    Sample,
    first=st.builds(
        First, kind=st.sampled_from(["plain", "fancy"]), colour=st.sampled_from([None, "red", "green"]),
        place=st.one_of(st.just(NO_PATH), PATHS), words=PLAIN,
    ),
    second=st.builds(
        Second, count=st.integers(1, 2**53), more=st.none() | st.integers(-5, 10**9),
        most=st.none() | st.integers(0, 10**9),
        rate=st.floats(0, 100, exclude_min=True), shift=st.none() | st.floats(-1e300, 1e300), quiet=st.booleans(),
        extra=st.dictionaries(KEYS, PLAIN, max_size=3).map(lambda found: tuple(found.items())),
        line=st.lists(PLAIN | st.sampled_from(["--", "-x", "--json", ""]), max_size=4).map(tuple),
        source=st.one_of(st.just(NO_PATH), PATHS),
    ),
)  # fmt: skip


def parsed(words: tuple[str, ...]) -> argparse.Namespace:
    parser = command_line._Parser(exit_on_error=False)
    parser.line = "line"
    schema.add_arguments(parser, Sample, lambda field: field.name)
    found: argparse.Namespace = parser.parse_args(list(words))
    return found


def field_named(name: str) -> schema.Field:
    return schema.field_of(Sample, name)


@given(SPECS)
def test_that_any_valid_spec_survives_the_command_line(spec: Sample) -> None:
    read, wrong = schema.from_arguments(Sample, parsed(schema.arguments(spec)))
    assert not wrong
    assert read == schema.effective(spec)
    assert schema.to_json(read) == schema.to_json(spec)


@given(SPECS)
def test_that_any_valid_spec_survives_json(spec: Sample) -> None:
    written = msgspec.json.encode(schema.to_json(spec))
    assert schema.from_json(Sample, msgspec.json.decode(written)) == (schema.effective(spec), ())


@given(SPECS)
def test_that_texts_of_a_form_read_back(spec: Sample) -> None:
    for one in schema.fields(Sample):
        value = schema.value_of(spec, one.name)
        if one.kind in ("integer", "number") and value is not None:
            assert schema.parse(one, repr(value)) == value
        if one.kind == "line":
            assert schema.parse(one, shlex.join(value)) == value


@given(SPECS.filter(lambda spec: spec.second.count != 7))
def test_that_a_spec_within_its_bounds_has_no_problems(spec: Sample) -> None:
    assert schema.problems(spec) == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | PLAIN,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(PLAIN, inner, max_size=3),
    max_leaves=8,
)
NAMES = st.sampled_from([one.name for one in schema.fields(Sample)])


@settings(max_examples=300)
@given(JSON | st.fixed_dictionaries({"first": st.dictionaries(NAMES, JSON), "second": st.dictionaries(NAMES, JSON)}))
def test_that_no_json_breaks_the_reading(values: Any) -> None:
    spec, _ = schema.from_json(Sample, values)
    for problem in schema.problems(spec):
        assert problem.rule.startswith(("form.", "sample."))


@settings(max_examples=300)
@given(NAMES, st.text(max_size=30))
def test_that_any_typed_text_is_a_value_or_a_problem(name: str, text: str) -> None:
    try:
        value = schema.parse(field_named(name), text)
    except Unreadable as error:
        found: tuple[Problem, ...] = (error.problem,)
    else:
        found = schema.problems(schema.with_value(Sample(), name, value))
    assert all(texts.has(problem.rule) or problem.rule == "sample.seven" for problem in found)


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("count", 0, "form.too_small"),
        ("count", 2**53 + 1, "form.too_large"),
        ("rate", 0.0, "form.not_above"),
        ("rate", 100.5, "form.too_large"),
        ("rate", math.nan, "form.not_a_number"),
        ("rate", math.inf, "form.not_a_number"),
        ("kind", "odd", "form.not_a_choice"),
        ("colour", "blue", "form.not_a_choice"),
        ("words", "a\0b", "form.bad_text"),
        ("words", "\udcff", "form.bad_text"),
        ("extra", (("", "x"),), "form.not_a_pair"),
        ("extra", (("A=B", "x"),), "form.not_a_pair"),
        ("extra", ((" A", "x"),), "form.not_a_pair"),
        ("extra", (("A", "1"), ("A", "2")), "form.twice"),
        ("extra", (("A", "\0"),), "form.bad_text"),
        ("line", ("python", "\0"), "form.bad_text"),
        ("line", ("python", "\udcff"), "form.bad_text"),
    ],
)  # fmt: skip
def test_that_a_value_out_of_bounds_is_said_at_its_field(name: str, value: Any, rule: str) -> None:
    (problem,) = schema.problems(schema.with_value(Sample(), name, value))
    assert (problem.field, problem.rule) == (name, rule)
    assert "{" not in texts.t(problem.rule, **problem.args)


@pytest.mark.parametrize("path", [Path("here/there"), Path("/a\0b"), Path("/\udcff")])
def test_that_a_path_that_cannot_be_kept_is_said(path: Path) -> None:
    fancy = schema.with_value(Sample(), "kind", "fancy")
    (problem,) = schema.problems(schema.with_value(fancy, "place", path))
    assert problem.field == "place"


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("count", "abc", "form.not_an_integer"),
        ("count", "1.5", "form.not_an_integer"),
        ("count", "", "form.not_an_integer"),
        ("count", "9" * 5000, "form.not_an_integer"),
        ("rate", "fast", "form.not_a_number"),
        ("rate", "0,5", "form.not_a_number"),
        ("quiet", "maybe", "form.wrong_type"),
        ("extra", "no equals sign", "form.not_a_pair"),
        ("place", "~nobody-of-this-name/x", "form.bad_path"),
        ("line", "python 'a b", "form.not_a_line"),
    ],
)
def test_that_a_text_that_is_no_value_says_why(name: str, text: str, rule: str) -> None:
    with pytest.raises(Unreadable) as caught:
        schema.parse(field_named(name), text)
    assert caught.value.problem.rule == rule


def test_that_numbers_are_read_as_people_write_them() -> None:
    assert schema.parse(field_named("rate"), " 1e-3 ") == 0.001
    assert schema.parse(field_named("count"), " ６４ ") == 64
    assert schema.parse(field_named("more"), "  ") is None


def test_that_a_hidden_field_keeps_its_default_and_cannot_be_wrong() -> None:
    hidden = schema.with_value(Sample(), "place", Path("relative"))
    assert schema.problems(hidden) == ()
    assert schema.to_json(hidden)["first"]["place"] == ""
    assert "--place" not in schema.arguments(hidden)


def test_that_rules_meet_only_values_in_bounds() -> None:
    seven = schema.with_value(Sample(), "count", 7)
    assert [problem.rule for problem in schema.problems(seven)] == ["sample.seven"]
    both = schema.with_value(seven, "rate", -1.0)
    assert [problem.rule for problem in schema.problems(both)] == ["form.not_above", "sample.seven"]
    assert [problem.rule for problem in schema.problems(schema.with_value(both, "count", 0))] == [
        "form.too_small",
        "form.not_above",
    ]


def test_that_a_path_that_no_file_system_takes_is_wrong_by_itself_and_one_that_is_not_there_is_not(
    tmp_path: Path,
) -> None:
    for path, rules in ((tmp_path / "gone" / "x", []), (tmp_path / ("x" * 300), ["form.unusable_path"])):
        spec = schema.with_value(schema.with_value(Sample(), "kind", "fancy"), "place", path)
        assert [problem.rule for problem in schema.problems(spec)] == rules


def test_that_values_beginning_with_a_dash_are_not_taken_for_flags() -> None:
    spec = schema.with_value(schema.with_value(Sample(), "shift", -1e-05), "words", "--quiet")
    words = schema.arguments(spec)
    assert "--shift=-1e-05" in words
    assert schema.from_arguments(Sample, parsed(words)) == (spec, ())


def test_that_unknown_names_of_a_newer_studio_are_ignored() -> None:
    values = {"first": {"words": "x", "newer": 1}, "newest": {"a": 1}}
    assert schema.from_json(Sample, values) == (schema.with_value(Sample(), "words", "x"), ())


def test_that_an_unreadable_value_takes_the_default_and_is_reported() -> None:
    spec, wrong = schema.from_json(Sample, {"second": {"count": "many", "quiet": 1, "rate": 10**400}})
    assert spec == Sample()
    assert [problem.field for problem in wrong] == ["count", "rate", "quiet"]


def test_that_a_whole_number_is_the_same_number_with_a_point() -> None:
    spec = schema.with_value(Sample(), "rate", 2)
    assert msgspec.json.encode(schema.to_json(spec)["second"]["rate"]) == b"2.0"


def test_that_every_action_of_the_studio_has_a_spec_that_can_be_shown() -> None:
    from backends import features

    taken = {"json", "detach", "do", "action", "feature", "features", "project", "language", "help"}
    for action in (action for feature in features() for action in feature.actions):
        found = schema.fields(action.spec)
        names = [one.name for one in found]
        assert len(names) == len(set(names))
        assert not taken & set(names)
        # What has no default must be given, and nothing else is wrong.
        given = action.spec()
        assert all(schema.value_of(given, problem.field) in (Path(), (), "none") for problem in schema.problems(given))
        assert dataclasses.is_dataclass(action.spec)


def test_that_what_every_action_names_is_there_and_what_follows_two_dashes_belongs_to_one_command() -> None:
    from backends import features
    from studio.feature import load

    for feature in features():
        commands = [action.name for action in feature.actions if not action.line_of]
        for action in feature.actions:
            assert callable(action.load())
            assert not action.answer or callable(load(action.answer))
            assert action.command in commands
            assert not action.line_of or schema.line_of(action.spec)
