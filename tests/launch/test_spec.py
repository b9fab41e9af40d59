"""What a launch may ask for, and what follows from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.launch.recipes import RECIPES, resolved
from backends.launch.spec import Advanced, How, LaunchSpec, Learning, What
from studio import schema, texts
from tests.launch.specs import launch_spec, rules


def test_that_the_default_is_digits_and_can_be_started() -> None:
    assert LaunchSpec().what.recipe == "digits"
    assert rules(LaunchSpec()) == []


@pytest.mark.parametrize("recipe", sorted(set(RECIPES) - {"own"}))
def test_that_every_recipe_of_ours_can_be_started_as_it_is(recipe: str) -> None:
    assert rules(launch_spec(recipe=recipe, framework="torch" if recipe == "lora" else "mindspore")) == []


def test_that_the_recipes_of_the_form_are_those_that_have_values() -> None:
    assert set(schema.field_of(LaunchSpec, "recipe").choices) == set(RECIPES)


@pytest.mark.parametrize(
    ("values", "field", "rule"),
    [
        ({"recipe": "cnn"}, "recipe", "form.not_a_choice"),
        ({"lr": -1.0}, "lr", "form.not_above"),
        ({"seed": -1}, "seed", "form.too_small"),
        ({"mode": "trace"}, "mode", "form.not_a_choice"),
        ({"device": "cpu", "amp": "O2", "amp_dtype": "bf16"}, "amp_dtype", "launch.no_bf16"),
        ({"mode": "jit", "jit_level": "O2"}, "jit_level", "launch.no_o2"),
        ({"mode": "graph", "jit_level": "O2", "device": "cpu"}, "jit_level", "launch.no_o2"),
        ({"steps": 10, "warmup": 11}, "warmup", "launch.rule.warmup_over_steps"),
        ({"amp": "O2", "loss_scale": "static", "scale": 0.5}, "scale", "form.too_small"),
        ({"batch": 0}, "batch", "form.too_small"),
        ({"batch": 65537}, "batch", "form.too_large"),
        ({"accumulate": 0}, "accumulate", "form.too_small"),
        ({"lr": 0.0}, "lr", "form.not_above"),
        ({"lr": float("nan")}, "lr", "form.not_a_number"),
        ({"lr": 101.0}, "lr", "form.too_large"),
        ({"steps": 0}, "steps", "form.too_small"),
        ({"seed": 2**31}, "seed", "form.too_large"),
        ({"grace": -1.0}, "grace", "form.too_small"),
        ({"steps": 10, "epochs": 2.0}, "epochs", "launch.rule.steps_or_epochs"),
        ({"recipe": "text", "epochs": 2.0}, "epochs", "launch.rule.no_epochs"),
        ({"batch": 1024, "accumulate": 2}, "batch", "launch.rule.batch_over_data"),
        ({"recipe": "text", "corpus": Path("/no/such/folder")}, "corpus", "launch.rule.no_folder"),
        ({"python": Path("/no/such/python")}, "python", "launch.rule.no_file"),
        ({"checkpoint_every": 0}, "checkpoint_every", "form.too_small"),
        ({"checkpoint_minutes": 0.0}, "checkpoint_minutes", "form.not_above"),
        ({"keep": 0}, "keep", "form.too_small"),
        ({"recipe": "linear", "best": "accuracy"}, "best", "launch.rule.no_metric"),
        ({"best": "loss"}, "best", "launch.rule.best_of_one"),
        ({"resume": Path("/no/such/run")}, "resume", "launch.no_checkpoint"),
        ({"env": (("MY_TOKEN", "x"),)}, "env", "launch.rule.secret"),
        ({"loop": "model", "sink": True, "mode": "graph", "device": "cpu"}, "sink", "launch.no_sink"),
        ({"loop": "model", "sink": True, "mode": "jit"}, "sink", "launch.no_sink"),
        (
            {"recipe": "text", "loop": "model", "sink": True, "mode": "graph", "accumulate": 2},
            "sink",
            "launch.no_sink_between",
        ),
        ({"recipe": "linear", "recompute": True}, "recompute", "launch.nothing_to_recompute"),
        ({"recipe": "text", "recompute": True, "amp": "O1"}, "recompute", "launch.no_recompute_o1"),
    ],
)
def test_that_what_cannot_be_started_is_said_at_its_field(values: dict[str, Any], field: str, rule: str) -> None:
    (problem,) = schema.problems(launch_spec(**values))
    assert (problem.field, problem.rule) == (field, rule)
    for language in texts.LANGUAGES:
        texts.use(language)
        assert "{" not in texts.t(problem.rule, **problem.args)


def test_that_a_folder_of_text_counts_only_for_the_recipe_that_reads_it() -> None:
    assert rules(launch_spec(recipe="digits", corpus=Path("/no/such/folder"))) == []


def test_that_empty_choices_take_the_values_of_the_recipe() -> None:
    recipe = RECIPES["linear"]
    chosen = resolved(launch_spec(recipe="linear"))
    assert (chosen.batch, chosen.optimizer, chosen.lr, chosen.steps) == (
        recipe.batch, recipe.optimizer, recipe.lr, recipe.steps,
    )  # fmt: skip


def test_that_the_global_batch_is_micro_batch_times_accumulation() -> None:
    chosen = resolved(launch_spec(batch=32, accumulate=4, steps=600))
    assert chosen.global_batch == 128
    assert chosen.epochs == pytest.approx(600 * 128 / 1437)


def test_that_epochs_become_whole_steps() -> None:
    chosen = resolved(launch_spec(epochs=1.0, batch=100))
    assert chosen.steps == 15  # 1437 samples
    assert resolved(launch_spec(epochs=0.001)).steps == 1


def test_that_an_epoch_without_its_remainder_is_shorter() -> None:
    chosen = resolved(launch_spec(epochs=2.0, batch=100, drop_remainder=True))
    assert (chosen.steps, chosen.epochs) == (28, 2.0)  # 1400 of 1437 samples
    assert resolved(launch_spec(steps=28, batch=100)).epochs == pytest.approx(2800 / 1437)


def test_that_reading_ahead_shows_where_threads_read() -> None:
    field = schema.field_of(LaunchSpec, "prefetch")
    assert not schema.is_visible(launch_spec(), field)
    assert schema.is_visible(launch_spec(data_workers=256), field)


def test_that_text_has_no_epochs_since_its_size_is_not_known_before() -> None:
    assert resolved(launch_spec(recipe="text")).epochs is None


@given(
    recipe=st.sampled_from(sorted(RECIPES)),
    batch=st.none() | st.integers(1, 65536),
    accumulate=st.integers(1, 1024),
    steps=st.none() | st.integers(1, 10**8),
)
def test_that_whatever_is_chosen_comes_to_numbers_that_the_engine_takes(
    recipe: Any, batch: int | None, accumulate: int, steps: int | None
) -> None:
    spec = LaunchSpec(
        what=What(recipe=recipe), how=How(batch=batch, accumulate=accumulate), learning=Learning(steps=steps)
    )
    chosen = resolved(spec)
    assert chosen.batch >= 1
    assert chosen.steps >= 1
    assert chosen.lr > 0
    assert chosen.global_batch == chosen.batch * accumulate


def test_that_every_field_has_its_texts_in_both_languages() -> None:
    for language in texts.LANGUAGES:
        known = texts.all_texts(language)
        for field in schema.fields(LaunchSpec):
            assert f"launch.field.{field.name}" in known
            assert f"launch.hint.{field.name}" in known
            assert f"launch.section.{field.section}" in known
            assert all(f"launch.choice.{field.name}.{choice}" in known for choice in field.choices)
            assert not field.unit or f"unit.{field.unit}" in known


def test_that_a_secret_is_refused_before_a_run_would_keep_it() -> None:
    spec = replace(LaunchSpec(), advanced=Advanced(env=(("OMP_NUM_THREADS", "2"), ("HF_TOKEN", "abc"))))
    (problem,) = schema.problems(spec)
    assert "abc" not in texts.t(problem.rule, **problem.args)


@pytest.mark.parametrize(
    ("values", "scale"),
    [
        ({}, "none"),
        ({"amp": "O2"}, "dynamic"),
        ({"amp": "auto", "amp_dtype": "bf16"}, "none"),
        ({"amp": "O3", "loss_scale": "static"}, "static"),
        ({"amp": "O0", "loss_scale": "static"}, "none"),
    ],
)
def test_that_the_loss_scale_follows_from_the_precision(values: dict[str, Any], scale: str) -> None:
    assert resolved(launch_spec(**values)).loss_scale == scale


def test_that_only_adamw_decays_weights_unasked() -> None:
    assert resolved(launch_spec(optimizer="adamw")).weight_decay == 0.01
    assert resolved(launch_spec(optimizer="adam")).weight_decay == 0
    assert resolved(launch_spec(optimizer="adamw", weight_decay=0.0)).weight_decay == 0


def test_that_the_value_of_a_scale_goes_with_the_scale() -> None:
    field = schema.field_of(LaunchSpec, "scale")
    assert schema.is_visible(launch_spec(amp="O2", loss_scale="static"), field)
    assert not schema.is_visible(launch_spec(amp="O0", loss_scale="static"), field)


def test_that_an_older_run_is_started_again_with_its_precision() -> None:
    spec, wrong = schema.from_json(LaunchSpec, {"how": {"mode": "jit", "amp": "O2"}})
    assert not wrong
    assert spec.precision.amp == "O2"
