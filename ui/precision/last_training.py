"""What was trained last: a capture and a proof begin with its line, its folder and its interpreter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio import schema

if TYPE_CHECKING:
    from studio.project import Project
    from studio.run import Glance, Run

COMMANDS = ("script", "determinism", "certify")


def as_last(spec: Any, project: Project | None, listed: list[tuple[Run, Glance]]) -> Any:
    """`spec` with `line`, `workdir` and `python` of the newest run that had a line; without one in the project's
    folder."""
    spec = schema.with_value(spec, "workdir", project.folder if project else Path())
    cards = (_card(run) for run, _ in listed if run.asked.command in COMMANDS) if project else ()
    card = next(filter(None, cards), {})
    if not card:
        return spec
    spec = schema.with_value(spec, "line", tuple(map(str, card["line"])))
    for name in ("workdir", "python"):
        value = card.get(name)
        if isinstance(value, str) and Path(value) != Path():
            spec = schema.with_value(spec, name, Path(value))
    return spec


def _card(run: Run) -> dict[str, Any]:
    cards = (card for card in run.asked.values.values() if isinstance(card, dict))
    return next((card for card in cards if isinstance(card.get("line"), list) and card["line"]), {})
