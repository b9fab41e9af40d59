"""Which options are the same in a run that is gone on from."""

from __future__ import annotations

from backends.launch.going_on import differing, taken_over
from tests.launch.test_spec import asked


def test_that_what_is_written_down_is_what_the_recipe_brings_along() -> None:
    assert differing(asked(), asked(batch=32, optimizer="adamw", lr=0.005, weight_decay=0.01)) == ()
    assert differing(asked(), asked(batch=16, lr=0.01)) == ("batch", "lr")
    assert differing(asked(recipe="linear"), asked(batch=32)) == ("recipe", "batch")


def test_that_what_decides_nothing_is_no_difference() -> None:
    assert differing(asked(), asked(data_workers=2, prefetch=9, steps=900)) == ()
    assert differing(asked(schedule="cosine"), asked(schedule="cosine", steps=900)) == ("steps",)
    assert differing(asked(), asked(drop_remainder=True)) == ("drop_remainder",)


def test_that_what_is_taken_over_leaves_no_difference() -> None:
    then = asked(recipe="text", batch=32, lr=0.1, accumulate=2)
    taken = taken_over(asked(recipe="digits", mode="jit"), then)
    assert differing(taken, then) == ()
    assert (taken.what.recipe, taken.how.batch, taken.how.mode) == ("text", 32, "pynative")
