"""Which tensor is which."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backends.precision.weights.names import match_weights

NAMES = st.sampled_from(["a", "b", "module.a", "model.b", "c.gamma", "c.weight", "d", "e"])
SHAPES = st.dictionaries(NAMES, st.sampled_from([(1,), (2,)]))


def test_that_equal_names_come_first_whatever_their_shape() -> None:
    found = match_weights({"a": (1,), "module.a": (2,)}, {"a": (2,)})
    assert [(pair.target, pair.how) for pair in found.pairs] == [("a", "name")]
    assert found.extra == ("module.a",)


def test_that_prefixes_of_wrappers_are_seen_through() -> None:
    target = {"module.model.fc.weight": (2, 3), "_orig_mod.fc.bias": (2,)}
    found = match_weights(target, {"fc.weight": (2, 3), "fc.bias": (2,)})
    assert [(pair.golden, pair.target, pair.how) for pair in found.pairs] == [
        ("fc.weight", "module.model.fc.weight", "prefix"),
        ("fc.bias", "_orig_mod.fc.bias", "prefix"),
    ]


def test_that_mindspore_s_words_for_a_normalisation_are_torch_s() -> None:
    target = {"bn.gamma": (4,), "bn.beta": (4,), "bn.moving_mean": (4,), "bn.moving_variance": (4,)}
    golden = {"bn.weight": (4,), "bn.bias": (4,), "bn.running_mean": (4,), "bn.running_var": (4,)}
    assert [pair.target for pair in match_weights(target, golden).pairs] == list(target)


def test_that_shape_and_order_only_suggest() -> None:
    target = {"x1": (2, 3), "x2": (2, 3), "y": (5,), "z": (7,)}
    golden = {"first": (2, 3), "second": (2, 3), "one": (5,), "two": (5,), "z": (7,)}
    found = match_weights(target, golden)
    assert [(pair.golden, pair.target, pair.how) for pair in found.pairs] == [
        ("first", "x1", "order"),
        ("second", "x2", "order"),
        ("z", "z", "name"),
    ]
    assert (found.missing, found.extra) == (("one", "two"), ("y",))


def test_that_a_name_that_stands_for_two_tensors_is_not_guessed_by_its_prefix() -> None:
    found = match_weights({"module.a": (1,), "model.a": (1,)}, {"net.a": (1,)})
    assert (found.pairs, found.missing, found.extra) == ((), ("net.a",), ("module.a", "model.a"))


@given(target=SHAPES, golden=SHAPES)
def test_that_every_tensor_is_paired_once_or_named_as_left_over(target: dict, golden: dict) -> None:
    found = match_weights(target, golden)
    assert sorted([pair.target for pair in found.pairs] + list(found.extra)) == sorted(target)
    assert sorted([pair.golden for pair in found.pairs] + list(found.missing)) == sorted(golden)
