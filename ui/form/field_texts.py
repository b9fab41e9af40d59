"""Short texts about the fields of a form: what is set in a section, and which options match a search."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from studio import schema
from studio.texts import find, t

if TYPE_CHECKING:
    from studio.schema import Field


def summary(spec: Any, card: str, feature: str) -> str:
    """What differs from the defaults in a card, in one line; '' where nothing does."""
    fields = [field for field in schema.fields(type(spec)) if field.section == card and schema.is_visible(spec, field)]
    return t("form.between").join(
        value_text(field, schema.value_of(spec, field.name), feature)
        for field in fields if schema.value_of(spec, field.name) != field.default
    )  # fmt: skip


def value_text(field: Field, value: Any, feature: str) -> str:
    """A value as text: a choice by its name, a switch by the name of what is on."""
    name = t(f"{feature}.field.{field.name}")
    return name if value is True else t("form.named", name=name, value=_changed_text(field, value, feature))


def _changed_text(field: Field, value: Any, feature: str) -> str:
    if field.kind == "choice":
        return t(f"{feature}.choice.{field.name}.{value}")
    if field.kind == "switch":
        return t("form.off")
    if field.kind == "pairs":
        return ", ".join(key for key, _ in value)
    if field.kind == "line":
        return shlex.join(value)
    unit = f" {t(f'unit.{field.unit}')}" if field.unit else ""
    return f"{value.name if field.kind == 'path' else _number(value)}{unit}"


def _number(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def matches(field: Field, feature: str, text: str) -> bool:
    """Whether a text is in an option's name, hint or flag, in either language: who reads Chinese help may type it in
    an English window."""
    keys = (f"{feature}.field.{field.name}", f"{feature}.hint.{field.name}")
    texts = [field.flag, field.name, *(find(key, language) or "" for language in ("en", "zh") for key in keys)]
    return any(text.lower() in candidate.lower() for candidate in texts)
