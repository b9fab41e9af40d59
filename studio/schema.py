"""One schema: the fields of a spec give the form, the command line and the JSON.

A spec is a frozen dataclass whose fields are frozen dataclasses, its sections; the fields of a section are the choices.
Names of fields are unique in a spec: `lr` is the flag `--lr`, the text `<feature>.field.lr`, the JSON `learning.lr`. A
field that may be None takes an empty text for it. A line (tuple[str, ...]) is a program with its arguments: on the
command line all that stands behind `--`, in the form as a shell would read it.
"""

from __future__ import annotations

import dataclasses
import shlex
import types
import typing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Mapping

S = TypeVar("S")
Kind = Literal["choice", "integer", "number", "text", "path", "switch", "pairs", "line"]
Wants = Literal["folder", "here", "file", "run", "line"]
BEHIND = "--"


@dataclass(frozen=True, kw_only=True)
class Problem:
    """An invalid field. `rule` is a key of the catalogue, `args` its placeholders."""

    field: str
    rule: str
    args: dict[str, Any] = dataclasses.field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Field:
    """One choice of a spec. `optional`: None stands for a value that follows from other choices."""

    section: str
    name: str
    kind: Kind
    default: Any
    optional: bool = False
    unit: str = ""
    low: float | None = None
    high: float | None = None
    above: float | None = None
    choices: tuple[str, ...] = ()
    visible_when: tuple[str, tuple[Any, ...]] | None = None
    choices_when: tuple[str, Mapping[Any, tuple[str, ...]]] | None = dataclasses.field(default=None, hash=False)
    wants: Wants = "folder"
    names_runs: bool = False
    positional: bool = False
    flag_name: str = ""
    about: str = ""

    @property
    def flag(self) -> str:
        """Return what stands for the field on the command line."""
        if self.kind == "line":
            return BEHIND
        flag_name = self.flag_name or self.name
        return flag_name.upper() if self.positional else "--" + flag_name.replace("_", "-")


def option(
    default: Any,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    above: float | None = None,
    visible_when: tuple[str, tuple[Any, ...]] | None = None,
    choices_when: tuple[str, Mapping[Any, tuple[str, ...]]] | None = None,
    wants: Wants = "folder",
    names_runs: bool = False,
    positional: bool = False,
    flag_name: str = "",
    about: str = "",
) -> Any:
    """A dataclass field with what the form needs: `low` and `high` are inclusive bounds, `above` an exclusive
    one; `choices_when` names a field and the choices that each of its values leaves; `wants` says what a path leads to:
    "here" is the current folder of a command line that does not say. `names_runs`: where no such file is, the name of a
    run stands for its folder on the command line. A positional path needs no flag there. `flag_name`: the flag where
    Python could not have a field of that name. `about`: a few words for a comment in code; the form takes its texts
    from the catalogue."""
    metadata = {
        "unit": unit, "low": low, "high": high, "above": above, "visible_when": visible_when,
        "choices_when": choices_when, "wants": wants, "names_runs": names_runs, "positional": positional,
        "flag_name": flag_name, "about": about,
    }  # fmt: skip
    return dataclasses.field(default=default, metadata=metadata)


def _kind(hint: Any) -> tuple[Kind, tuple[str, ...], bool]:
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        (inner,) = (part for part in typing.get_args(hint) if part is not type(None))
        kind, choices, _ = _kind(inner)
        return kind, choices, True
    if typing.get_origin(hint) is Literal:
        return "choice", typing.get_args(hint), False
    if typing.get_origin(hint) is tuple:
        return ("line" if typing.get_args(hint) == (str, ...) else "pairs"), (), False
    kinds: dict[Any, Kind] = {bool: "switch", int: "integer", float: "number", str: "text", Path: "path"}
    return kinds[hint], (), False


def _section_fields(card: str, card_type: type[Any]) -> Iterable[Field]:
    hints = typing.get_type_hints(card_type)
    for field in dataclasses.fields(card_type):
        kind, choices, optional = _kind(hints[field.name])
        yield Field(
            section=card, name=field.name, kind=kind, default=field.default, optional=optional, choices=choices,
            **field.metadata,
        )  # fmt: skip


_fields_by_spec: dict[type[Any], tuple[Field, ...]] = {}


def fields(spec_type: type[Any]) -> tuple[Field, ...]:
    """Return all fields of a spec, in the order of its sections."""
    if spec_type not in _fields_by_spec:
        hints = typing.get_type_hints(spec_type)
        cards = (card.name for card in dataclasses.fields(spec_type) if card.name in hints)
        _fields_by_spec[spec_type] = tuple(field for card in cards for field in _section_fields(card, hints[card]))
    return _fields_by_spec[spec_type]


def line_of(spec_type: type[Any]) -> Field | None:
    """Return the field that is a program with its arguments, if there is one."""
    return next((field for field in fields(spec_type) if field.kind == "line"), None)


def field_of(spec_type: type[Any], name: str) -> Field:
    return next(field for field in fields(spec_type) if field.name == name)


def value_of(spec: Any, name: str) -> Any:
    return getattr(getattr(spec, field_of(type(spec), name).section), name)


def with_value(spec: S, name: str, value: Any) -> S:
    """Return the same spec with one field changed."""
    card = field_of(type(spec), name).section
    changed = dataclasses.replace(getattr(spec, card), **{name: value})
    return dataclasses.replace(spec, **{card: changed})  # type: ignore[type-var]


def is_visible(spec: Any, field: Field) -> bool:
    """Return whether a field applies: the field that it depends on is visible and has one of the values."""
    if field.visible_when is None:
        return True
    name, values = field.visible_when
    return value_of(spec, name) in values and is_visible(spec, field_of(type(spec), name))


def choices_of(spec: Any, field: Field) -> tuple[str, ...]:
    """Return the choices of a field that the value of another one leaves."""
    if field.choices_when is None:
        return field.choices
    name, choices = field.choices_when
    return choices.get(value_of(spec, name), field.choices)


def with_offered_choices(spec: S) -> S:
    """Return the spec with the defaults in fields whose choice the other fields no longer leave."""
    for field in fields(type(spec)):
        value = value_of(spec, field.name)
        if field.kind == "choice" and value is not None and value not in choices_of(spec, field):
            spec = with_value(spec, field.name, field.default)
    return spec


def unmet_conditions(spec: Any, field: Field) -> tuple[tuple[Field, tuple[Any, ...]], ...]:
    """Return what keeps a field from applying: fields with the values that they would have to have, outermost first."""
    if field.visible_when is None:
        return ()
    name, values = field.visible_when
    parent = field_of(type(spec), name)
    own = () if value_of(spec, name) in values else ((parent, values),)
    return (*unmet_conditions(spec, parent), *own)


def condition_text(field: Field, values: tuple[Any, ...]) -> str:
    """Return a condition as words of a command line: '--loop model', '--data-workers 1…256', '--msprobe'."""
    if field.kind == "switch":
        return field.flag if True in values else "--no-" + field.flag[2:]
    if field.kind == "integer" and len(values) > 2:
        return f"{field.flag} {values[0]}…{values[-1]}"
    return f"{field.flag} {'|'.join(str(value) for value in values if value is not None)}"


def unused_fields(spec_type: type[Any]) -> frozenset[str]:
    """Return the names of the fields that a command of another's spec has and does not use: those in `UNUSED`, which
    names fields, or sections for all of their fields.
    """
    names: tuple[str, ...] = getattr(spec_type, "UNUSED", ())
    return frozenset(field.name for field in fields(spec_type) if field.name in names or field.section in names)


def without_effect(spec: Any, given: Iterable[str]) -> tuple[Problem, ...]:
    """Return a problem for each field of `given` that would be taken without any effect: one that does not apply to the
    other choices, that the command does not use, or that one of the spec's `GIVEN_RULES` names.

    `given`: the names of the fields that somebody asked for just now. Defaults and values of an earlier run were not
    given. A switch that is turned off where it does not apply is as it was asked for.
    """
    spec_type, asked = type(spec), frozenset(given)
    named = [field for field in fields(spec_type) if field.name in asked]
    unused = unused_fields(spec_type)
    ineffective = [
        problem for field in named if (problem := _ineffective(spec, field, field.name in unused)) is not None
    ]
    reported = {problem.field for problem in ineffective}
    rules: tuple[Callable[[Any], Iterable[Problem]], ...] = getattr(spec_type, "GIVEN_RULES", ())
    by_rule = (problem for rule in rules for problem in rule(_bounded(spec)[0]))
    return (*ineffective, *(problem for problem in by_rule if problem.field in asked - reported))


def _ineffective(spec: Any, field: Field, is_unused: bool) -> Problem | None:
    if field.kind == "switch" and value_of(spec, field.name) is False and field.default is False:
        return None
    if is_unused:
        return Problem(field=field.name, rule="form.not_used")
    if unmet := unmet_conditions(spec, field):
        needs = " ".join(condition_text(parent, values) for parent, values in unmet)
        return Problem(field=field.name, rule="form.does_not_apply", args={"needs": needs})
    return None


def effective(spec: S) -> S:
    """Return the spec with the defaults in fields that do not apply."""
    for field in fields(type(spec)):
        if not is_visible(spec, field):
            spec = with_value(spec, field.name, field.default)
    return spec


class Unreadable(ValueError):
    """Raised for a text that is no value of its field; `problem` says why."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.rule)
        self.problem = problem


def pair(field: Field, line: str) -> tuple[str, str]:
    """Return KEY=VALUE as a pair; the value is kept unchanged. Raises Unreadable."""
    key, separator, value = line.partition("=")
    if not separator or not key.strip():
        raise Unreadable(Problem(field=field.name, rule="form.not_a_pair", args={"text": line[:40]}))
    return key.strip(), value


def _path(field: Field, text: str) -> Path:
    try:
        return Path(text).expanduser().absolute()
    except (RuntimeError, OSError):  # ~nobody, or a current folder that is gone
        raise Unreadable(Problem(field=field.name, rule="form.bad_path", args={"text": text[:80]})) from None


def _words(field: Field, text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError:  # a quote that is not closed
        raise Unreadable(Problem(field=field.name, rule="form.not_a_line", args={"text": text[:80]})) from None


def _switch(field: Field, text: str) -> bool:
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    if text.lower() in ("0", "false", "no", "off"):
        return False
    raise Unreadable(Problem(field=field.name, rule="form.wrong_type", args={"text": text[:40]}))


def parse(field: Field, text: str) -> Any:
    """Return the value that a text from the command line or the form stands for. Raises Unreadable."""
    stripped = text.strip()
    if field.kind == "pairs":
        return tuple(pair(field, line) for line in text.split("\n") if line.strip())
    if field.kind == "line":
        return _words(field, text)
    if field.optional and not stripped:
        return None
    if field.kind == "switch":
        return _switch(field, stripped)
    if field.kind == "path":
        return _path(field, text) if stripped else Path()
    if field.kind in ("text", "choice"):
        return stripped if field.kind == "choice" else text
    try:
        return int(stripped) if field.kind == "integer" else float(stripped)
    except ValueError:
        rule = "form.not_an_integer" if field.kind == "integer" else "form.not_a_number"
        raise Unreadable(Problem(field=field.name, rule=rule, args={"text": stripped[:40]})) from None


def _bounds(field: Field, value: Any, choices: tuple[str, ...]) -> Problem | None:
    """Return what is wrong with one value by itself, or None. `choices`: those that other fields leave."""
    if value is None and field.optional:
        return None
    if field.kind == "choice" and value not in choices:
        args = {"text": str(value)[:40], "choices": ", ".join(choices)}
        return Problem(field=field.name, rule="form.not_a_choice", args=args)
    if field.kind in ("text", "path"):
        return _writable(field, str(value)) or (_path_problem(field, value) if field.kind == "path" else None)
    if field.kind == "pairs":
        return _pairs_problem(field, value)
    if field.kind == "line":
        return next(filter(None, (_writable(field, word) for word in value)), None)
    return _number_problem(field, value) if field.kind in ("integer", "number") else None


def _writable(field: Field, text: str) -> Problem | None:
    """Check a text: neither JSON nor a process takes NUL or bytes that are not UTF-8."""
    printable = text.encode(errors="replace").decode()
    if printable == text and "\0" not in text:
        return None
    return Problem(field=field.name, rule="form.bad_text", args={"text": printable.replace("\0", "?")[:80]})


def _path_problem(field: Field, value: Path) -> Problem | None:
    """Check a path: absolute, as a run is worked on in another folder than the one it was asked for in, and one that
    can be asked about, as the rules of a spec do.
    """
    if value == Path():
        return None
    if not value.is_absolute():
        return Problem(field=field.name, rule="form.bad_path", args={"text": str(value)[:80]})
    try:
        value.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        args = {"text": str(value)[:80], "reason": error.strerror}
        return Problem(field=field.name, rule="form.unusable_path", args=args)
    return None


def _pairs_problem(field: Field, value: tuple[tuple[str, str], ...]) -> Problem | None:
    names: set[str] = set()
    for key, text in value:
        if problem := _writable(field, f"{key}={text}"):
            return problem
        if not key or key != key.strip() or "=" in key:
            return Problem(field=field.name, rule="form.not_a_pair", args={"text": f"{key}={text}"[:40]})
        if key in names:
            return Problem(field=field.name, rule="form.twice", args={"name": key[:40]})
        names.add(key)
    return None


def _number_problem(field: Field, value: float) -> Problem | None:
    if value != value or value in (float("inf"), float("-inf")):
        return Problem(field=field.name, rule="form.not_a_number", args={"text": str(value)})
    if field.above is not None and value <= field.above:
        return Problem(field=field.name, rule="form.not_above", args={"above": field.above})
    if field.low is not None and value < field.low:
        return Problem(field=field.name, rule="form.too_small", args={"low": field.low})
    if field.high is not None and value > field.high:
        return Problem(field=field.name, rule="form.too_large", args={"high": field.high})
    return None


def _bounded(spec: S) -> tuple[S, tuple[Problem, ...]]:
    """Return the spec with the defaults in fields that do not apply or are wrong by themselves, and what is wrong."""
    spec = effective(spec)
    checked = (_bounds(field, value_of(spec, field.name), choices_of(spec, field)) for field in fields(type(spec)))
    out_of_bounds = tuple(problem for problem in checked if problem is not None)
    for problem in out_of_bounds:
        spec = with_value(spec, problem.field, field_of(type(spec), problem.field).default)
    return spec, out_of_bounds


def problems(spec: Any) -> tuple[Problem, ...]:
    """Return everything that is wrong with a spec: bounds and choices of each field, then the spec's own `RULES`.

    `RULES` is a tuple of functions from a spec to problems. They meet only values that are each in bounds: fields that
    are wrong by themselves, and those that do not apply, count with their defaults.
    """
    spec, out_of_bounds = _bounded(spec)
    wrong = {problem.field for problem in out_of_bounds}
    rules: tuple[Callable[[Any], Iterable[Problem]], ...] = getattr(type(spec), "RULES", ())
    return (*out_of_bounds, *(problem for rule in rules for problem in rule(spec) if problem.field not in wrong))


def _plain(field: Field, value: Any) -> Any:
    if value is None:
        return None
    if field.kind == "path":
        return "" if value == Path() else str(value)
    if field.kind == "number":
        return float(value)
    if field.kind == "line":
        return list(value)
    return dict(value) if field.kind == "pairs" else value


def to_json(spec: Any) -> dict[str, dict[str, Any]]:
    """Return the spec as run.json keeps it: {section: {field: value}}. Pairs are an object, lines a list, an empty path
    is "".
    """
    values: dict[str, dict[str, Any]] = {}
    spec = effective(spec)
    for field in fields(type(spec)):
        values.setdefault(field.section, {})[field.name] = _plain(field, value_of(spec, field.name))
    return values


def _from_plain(field: Field, value: Any) -> Any:
    """Return the value of a field from JSON's own types. Raises Unreadable."""
    json_types: dict[Kind, tuple[type[Any], ...]] = {
        "choice": (str,), "integer": (int,), "number": (int, float), "text": (str,), "path": (str,),
        "switch": (bool,), "pairs": (dict,), "line": (list,),
    }  # fmt: skip
    if value is None and field.optional:
        return None
    if not isinstance(value, json_types[field.kind]) or (isinstance(value, bool) and field.kind != "switch"):
        raise Unreadable(Problem(field=field.name, rule="form.wrong_type", args={"text": repr(value)[:40]}))
    if field.kind == "pairs":
        return tuple((str(key), str(text)) for key, text in value.items())
    if field.kind == "line":
        return tuple(map(str, value))
    if field.kind == "path":
        return Path(value) if value else Path()
    try:
        return float(value) if field.kind == "number" else value
    except OverflowError:  # a whole number of 400 digits
        args = {"text": str(value)[:40]}
        raise Unreadable(Problem(field=field.name, rule="form.not_a_number", args=args)) from None


def _card_with(field: Field, values: Any) -> dict[str, Any] | None:
    """The card that has a field: its own, or in a run of an older studio the one it was in then."""
    if not isinstance(values, dict):
        return None
    cards = (values.get(field.section), *values.values())
    return next((card for card in cards if isinstance(card, dict) and field.name in card), None)


def from_json(spec_type: type[S], values: Any) -> tuple[S, tuple[Problem, ...]]:
    """Return a spec from JSON, and its problems. Unknown names are ignored (a newer studio wrote them); missing values
    take their default; unreadable ones too, and are reported.
    """
    spec, wrong = spec_type(), []
    for field in fields(spec_type):
        card = _card_with(field, values)
        if card is None:
            continue
        try:
            spec = with_value(spec, field.name, _from_plain(field, card[field.name]))
        except Unreadable as error:
            wrong.append(error.problem)
    return spec, tuple(wrong)


def arguments(spec: Any) -> tuple[str, ...]:
    """Return the words that make this spec: only what differs from the defaults, in the order of the form; a line comes
    last.
    """
    words: list[str] = []
    behind: tuple[str, ...] = ()
    spec = effective(spec)
    for field in fields(type(spec)):
        value = value_of(spec, field.name)
        if value == field.default:
            continue
        if field.kind == "switch":
            words.append(field.flag if value else "--no-" + field.flag[2:])
        elif field.kind == "line":
            behind = (BEHIND, *value)
        else:
            words += [word for text in _texts(field, value) for word in _flag_words(field, text)]
    return (*words, *behind)


def _texts(field: Field, value: Any) -> tuple[str, ...]:
    if field.kind == "pairs":
        return tuple(f"{key}={text}" for key, text in value)
    if value is None:
        return ("",)
    return (repr(float(value)) if field.kind == "number" else str(value),)


def _flag_words(field: Field, text: str) -> tuple[str, ...]:
    """Return the words of one flag; a value that begins with "-" would be taken for a flag where it stands alone."""
    if field.positional:
        return (text,)
    return (f"{field.flag}={text}",) if text.startswith("-") else (field.flag, text)


def add_arguments(parser: argparse.ArgumentParser, spec_type: type[Any], helps: Callable[[Field], str]) -> None:
    """Add the flags of a spec to a parser. Values stay texts here: `from_arguments` reads them, so that errors are
    ours. What stands behind `--` is not the parser's: see `line_of`.
    """
    import argparse

    unused = unused_fields(spec_type)
    for field in fields(spec_type):
        text = argparse.SUPPRESS if field.name in unused else helps(field).replace("%", "%%")
        if field.kind == "line":
            parser.set_defaults(**{field.name: None})
        elif field.positional:
            parser.add_argument(field.name, nargs="?", default=None, metavar=field.flag, help=text)
        elif field.kind == "switch":
            parser.add_argument(
                field.flag, dest=field.name, default=None, action=argparse.BooleanOptionalAction, help=text
            )
        elif field.kind == "pairs":
            parser.add_argument(
                field.flag, dest=field.name, default=None, action="append", metavar="KEY=VALUE", help=text
            )
        else:
            shape = "{" + ",".join(field.choices) + "}" if field.choices else field.name.upper()
            parser.add_argument(field.flag, dest=field.name, default=None, metavar=shape, help=text)


def given_fields(spec_type: type[Any], arguments: Any) -> tuple[str, ...]:
    """Return the names of the fields that parsed arguments name."""
    return tuple(field.name for field in fields(spec_type) if getattr(arguments, field.name) is not None)


def from_arguments(spec_type: type[S], arguments: Any) -> tuple[S, tuple[Problem, ...]]:
    """Return the spec that parsed arguments stand for, and what could not be read."""
    spec, wrong = spec_type(), []
    for field in fields(spec_type):
        value = getattr(arguments, field.name)
        if value is None:
            continue
        try:
            read = tuple(pair(field, line) for line in value) if field.kind == "pairs" else value
            if isinstance(read, str):
                read = parse(field, read)
            spec = with_value(spec, field.name, read)
        except Unreadable as error:
            wrong.append(error.problem)
    return spec, tuple(wrong)
