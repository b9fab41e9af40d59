"""A scan as a report of one of four formats, in one language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from backends.migration.scan.fingerprint import fingerprints
from studio import texts

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.scan.overview import Overview


@dataclass(frozen=True, kw_only=True)
class Report:
    """`marks`: the fingerprint of each finding."""

    found: tuple[Found, ...]
    marks: tuple[str, ...]
    overview: Overview
    language: texts.Language

    def say(self, key: str, /, **args: object) -> str:
        return texts.t_in(self.language, key, **args)

    def title(self, one: Found) -> str:
        return texts.t_in(self.language, f"rule.{one.rule}.title", **told(one))

    def why(self, one: Found) -> str:
        return texts.t_in(self.language, f"rule.{one.rule}.why", **told(one))

    def todo(self, one: Found) -> str:
        return texts.t_in(self.language, f"rule.{one.rule}.todo", **told(one))


def told(one: Found) -> dict[str, object]:
    """What the sentences of a finding's rule may name."""
    return {"name": one.name, "text": one.text, **one.args}


def report(found: tuple[Found, ...], overview: Overview, format: str, language: texts.Language) -> bytes:
    """The whole file. `format`: one of `backends.migration.scan.spec.FORMATS`."""
    if format == "json":
        return as_json(found)
    from backends.migration.export import html, sarif, table

    whole = Report(found=found, marks=fingerprints(found), overview=overview, language=language)
    writers = {"csv": table.write, "sarif": sarif.write, "html": html.write}
    return writers[format](whole)


def as_json(found: tuple[Found, ...]) -> bytes:
    """findings.json: one finding per line, so that two of them can be compared as text."""
    encoder = msgspec.json.Encoder()
    return b"[\n" + b",\n".join(map(encoder.encode, found)) + b"\n]\n" if found else b"[]\n"
