"""Events as sentences: the rule of a finding and the key of a note are keys of the catalogue, and so may `why` be,
whose own arguments are `why_args`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from studio.events import Finding, last_error
from studio.output.terminal import printable_line
from studio.run import NONFINITE, last_events, outcome_of
from studio.tail import last_lines
from studio.texts import has, t
from studio.units import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from studio.events import Event, Note
    from studio.run import Glance

LONGEST_LINE = 400
_FORMER_ARGUMENTS = {"octets": "size"}
"""What earlier versions called an argument of their events, and what the texts call it now."""


def sentence_of(event: Note | Finding | None) -> str:
    """Return the sentence in the current language; "" for nothing, and for a key that this version has no sentence
    for."""
    if event is None:
        return ""
    if isinstance(event, Finding):
        key, args = event.rule, {"path": event.path, "line": event.line, **event.args}
    else:
        key, args = event.key, event.args
    args = {_FORMER_ARGUMENTS.get(name, name): value for name, value in args.items()}
    if isinstance(why := args.get("why"), str) and has(why):
        args = {**args, "why": t(why, **args.get("why_args", {}))}
    sentence = t(key, **args) if has(key) else ""
    ranks = args.get(RANKS) if isinstance(event, Finding) else None
    return t("run.of_ranks", ranks=ranks, sentence=sentence) if sentence and isinstance(ranks, str) else sentence


RANKS = "of_ranks"
"""The argument that `with_ranks` adds to a finding."""
MOST_RANKS = 8  # that a sentence names


def with_ranks(finding: Finding, ranks: Sequence[int]) -> Finding:
    """Return a finding whose sentence names the ranks that it is of."""
    named = ", ".join(map(str, sorted(ranks)[:MOST_RANKS])) + (" …" if len(ranks) > MOST_RANKS else "")
    return structs.replace(finding, args={**finding.args, RANKS: named})


def loss_text(glance: Glance, *, is_short: bool = False) -> str:
    """Return the last loss of a run with what it is of where it has several ranks, "" where it has none."""
    if "loss" not in glance.values:
        return ""
    loss = number(glance.values["loss"])
    if glance.ranks < 2:
        return f"loss {loss}"
    if not glance.is_mean:
        return t("run.loss_of_first", loss=loss)
    return t("run.mean_loss", loss=loss) if is_short else t("run.loss_of_ranks", loss=loss, ranks=glance.ranks)


def reason_of(folder: Path, glance: Glance) -> str:
    """Return why a run failed, was lost or came to no full answer, as far as it is known, in a sentence of the current
    language; "" for a run that did none of these."""
    outcome = outcome_of(glance)
    if outcome == "gone":
        return t("run.gone_why")
    if outcome == "lost":
        return t("run.lost_why")
    if outcome == NONFINITE:
        return nonfinite_sentence(last_events(folder))
    if outcome == "incomplete":
        return early_sentence(last_events(folder))
    if outcome != "failed":
        return ""
    return known_reason(folder) or t("run.no_reason")


def known_reason(folder: Path) -> str:
    """Return what a run said last of what went wrong, "" where it said nothing."""
    return sentence_of(last_error(last_events(folder)))


def log_end(path: Path, count: int = 15) -> list[str]:
    """Return the last lines of a log that say something, as a terminal leaves them: of a progress bar its last
    state."""
    lines = (line.rstrip(b"\r").rpartition(b"\r")[2].decode("utf-8", "replace") for line in last_lines(path))
    return [printable_line(line)[:LONGEST_LINE] for line in lines if line.strip()][-count:]


NONFINITE_RULES = (
    "run.nonfinite_steps", "run.updates_left_out", "launch.nan", "launch.nan_skipped", "run.nonfinite",
    "run.nonfinite_log",
)  # fmt: skip
"""The findings that say of which steps a loss was no number, the most telling first."""


def nonfinite_sentence(events: Iterable[Event]) -> str:
    """Return in which steps the loss of a training was NaN or infinite, "" where no event tells."""
    findings = {event.rule: event for event in events if isinstance(event, Finding)}
    return next((sentence_of(findings[rule]) for rule in NONFINITE_RULES if rule in findings), "")


LENGTH_UNKNOWN = "run.length_unknown"
"""The note that says which step a training came to whose meant number of steps nobody told."""
EARLY_RULES = (
    "run.ended_early", "run.ended_early_epochs", "run.rank_ended_early", "run.ended_at_once",
    "launch.rehearse.short", "launch.rehearse.no_step", "launch.rehearse.not_shown",
    "capture.planned_short", "capture.planned_missing", "capture.no_config_pack",
)  # fmt: skip
"""The findings that say what is missing of a training that ended well: steps, or what was planned for it."""


def early_sentence(events: Iterable[Event]) -> str:
    """Return what is missing of a training that ended well, "" where no event tells."""
    findings = [event for event in events if isinstance(event, Finding) and event.rule in EARLY_RULES]
    return sentence_of(findings[-1]) if findings else ""
