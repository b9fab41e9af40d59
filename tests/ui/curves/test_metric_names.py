"""What a metric is called in the window."""

from __future__ import annotations

from ui.widgets.metric_format import ordered, title_of


def test_that_further_optimizers_and_parameter_groups_are_counted_from_one_in_words() -> None:
    rate = title_of("lr")
    assert title_of("lr.group1") == f"{rate}, parameter group 2"
    assert title_of("lr.1.group2") == f"{rate}, optimizer 2, parameter group 3"
    assert title_of("my.group") == "my.group"


def test_that_evaluations_stand_beside_the_loss_and_the_epoch_behind_all() -> None:
    logged = ["step_time", "loss", "epoch", "eval_accuracy", "own/number", "eval_loss", "val_mae", "overflows"]
    shown = ["loss", "eval_loss", "eval_accuracy", "val_mae", "step_time", "own/number", "epoch"]
    assert ordered(logged) == shown
