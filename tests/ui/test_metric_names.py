"""What a metric is called in the window."""

from __future__ import annotations

from ui.curves.metrics import title_of


def test_that_further_optimizers_and_parameter_groups_are_counted_from_one_in_words() -> None:
    rate = title_of("lr")
    assert title_of("lr.group1") == f"{rate}, parameter group 2"
    assert title_of("lr.1.group2") == f"{rate}, optimizer 2, parameter group 3"
    assert title_of("my.group") == "my.group"
