"""Which options are the same in a run that is gone on from."""

from __future__ import annotations

from backends.launch.resume_options import differing, with_options_of
from tests.launch.specs import launch_spec


def test_that_what_is_written_down_is_what_the_recipe_brings_along() -> None:
    assert differing(launch_spec(), launch_spec(batch=32, optimizer="adamw", lr=0.005, weight_decay=0.01)) == ()
    assert differing(launch_spec(), launch_spec(batch=16, lr=0.01)) == ("batch", "lr")
    assert differing(launch_spec(recipe="linear"), launch_spec(batch=32)) == ("recipe", "batch")


def test_that_what_decides_nothing_is_no_difference() -> None:
    assert differing(launch_spec(), launch_spec(data_workers=2, prefetch=9, steps=900)) == ()
    assert differing(launch_spec(schedule="cosine"), launch_spec(schedule="cosine", steps=900)) == ("steps",)
    assert differing(launch_spec(), launch_spec(drop_remainder=True)) == ("drop_remainder",)


def test_that_what_is_taken_over_leaves_no_difference() -> None:
    then = launch_spec(recipe="text", batch=32, lr=0.1, accumulate=2)
    taken = with_options_of(launch_spec(recipe="digits", mode="jit"), then)
    assert differing(taken, then) == ()
    assert (taken.what.recipe, taken.how.batch, taken.how.mode) == ("text", 32, "pynative")
