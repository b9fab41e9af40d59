"""What follows from a NaN, what a missing detach() does, and what the sentence says is to be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from backends.precision.compare.comparison import DIFFERS, FIRST, FOLLOWS, SUSPECTS, suspect_of
from backends.precision.compare.verdict.notes import SUSPECT_KEYS, suspect_key
from studio.events import Note
from studio.run import last_events
from studio.texts import catalogue, has, t

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.precision.compare.conftest import Compared


def sentences(found: Compared) -> list[str]:
    return [t(event.key, **event.args) for event in last_events(found.run.folder) if isinstance(event, Note)]


def test_that_everything_after_a_nan_follows(compared: Callable[..., Compared]) -> None:
    found = compared("nan", "ulp")
    assert found.first["reason"] == "first_nan"
    comparison = found.comparison
    assert found.answer["differs"] == 1, [
        (comparison.names[comparison.call[row]], comparison.role[row], comparison.items[comparison.item[row]])
        for row in np.flatnonzero(comparison.verdict == DIFFERS)
    ]
    after = comparison.call_verdict[comparison.first.call + 1 :]  # type: ignore[union-attr]
    assert not np.isin(after, (DIFFERS, FIRST)).any()
    assert (after == FOLLOWS).sum() > 10


def test_that_a_nan_of_one_step_is_followed_by_the_next(compared: Callable[..., Compared]) -> None:
    found = compared("steps_nan", "steps_ulp")
    assert (found.first["step"], found.first["reason"], found.answer["differs"]) == (1, "first_nan", 1)


@pytest.mark.parametrize(("target", "golden", "reason"), [
    ("detached", "ulp", "detached"), ("ulp", "detached", "not_detached"), ("healthy", "detached", "not_detached"),
])  # fmt: skip
def test_that_a_detach_of_one_side_is_named_as_that(
    compared: Callable[..., Compared], target: str, golden: str, reason: str
) -> None:
    found = compared(target, golden)
    first = found.first
    assert (first["name"], first["place"], first["index"]) == ("Torch.matmul.2.forward", "input", 1)
    assert (first["reason"], first["suspect"]) == (reason, "graph")
    assert ".detach()" in t(f"precision.first.{reason}", **first["args"])


@pytest.mark.parametrize(("plant", "suspect", "says"), [
    ("cast", "untraced", "not Functional.linear.8.forward, but what feeds it and is not traced, after"),
    ("nan", "untraced", "what feeds it and is not traced"), ("scale", "argument", "the argument"),
    ("weight", "parameter", "the parameter"), ("extra", "program", "the program"),
])  # fmt: skip
def test_that_the_sentence_says_what_is_the_suspect(
    compared: Callable[..., Compared], plant: str, suspect: str, says: str
) -> None:
    found = compared(plant, "ulp")
    assert found.first["suspect"] == suspect
    assert any(sentence.startswith("Suspect: ") and says in sentence for sentence in sentences(found))


def test_that_every_reason_has_a_suspect_and_every_suspect_its_sentence(compared: Callable[..., Compared]) -> None:
    reasons = {
        key.removeprefix("precision.first.")
        for key in catalogue("en", "precision")
        if key.startswith("precision.first.")
    }
    of_place = {"first_nan", "first_inf", "golden_nan"}
    assert {reason for reason in reasons if not reason.startswith("optimizer_")} == set(SUSPECTS) | of_place
    assert all(has(key) for key in SUSPECT_KEYS.values())
    first = compared("cast", "ulp").comparison.first
    assert first is not None
    assert suspect_of(first) == "untraced"
    assert suspect_key(first) == "precision.suspect.untraced_after"


def test_that_a_call_of_one_side_that_makes_the_first_nan_is_named(compared: Callable[..., Compared]) -> None:
    found = compared("divided", "ulp")
    assert (found.first["name"], found.first["reason"]) == ("Tensor.__truediv__.0.forward", "extra")
    assert found.first["suspect"] == "program"
