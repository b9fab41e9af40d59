"""What the preview estimates, beside arithmetic done by hand, beside published figures, and beside the engine."""

from __future__ import annotations

import argparse
import json
import math
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.launch.preview.answer import dearest, name_of, preview_answer, size_text
from backends.launch.preview.ascend_parts import Link, Part, read_parts
from backends.launch.preview.memory import activation_bytes, memory_of, optimizer_bytes, saved_bytes, stage_size
from backends.launch.preview.network import Layer, Network, Weight
from backends.launch.preview.recipes import MINDSPORE, digits, linear, text, two_layers
from backends.launch.preview.search import search_splits, splits
from backends.launch.preview.spec import PreviewSpec, feed_forward
from backends.launch.preview.split import Setting, Split
from backends.launch.preview.times import Efficiency, Times, bubble_share, flops_of, times_of
from backends.launch.preview.traffic import ring_all_reduce, traffic_of
from backends.launch.preview.transformer import PAPER, Sizes, transformer
from studio import schema
from studio.errors import StudioError
from tests.launch.engine_process import check, needs_mindspore

if TYPE_CHECKING:
    from pathlib import Path

ALL_PEAK = Efficiency(compute=1, link=1)


def gpt(layers: int, hidden: int, heads: int, vocab: int, sequence: int) -> Network:
    return transformer(
        Sizes(form="gpt", layers=layers, hidden=hidden, heads=heads, ffn=4 * hidden, vocab=vocab, sequence=sequence)
    )


def llama(layers: int, hidden: int, heads: int, ffn: int) -> Network:
    return transformer(
        Sizes(form="llama", layers=layers, hidden=hidden, heads=heads, ffn=ffn, vocab=32_000, sequence=2048)
    )


def setting(**values: object) -> Setting:
    chosen = {
        "precision": "fp16", "optimizer": "adam", "micro_batch": 2, "micro_batches": 3, "recomputation": "none",
        "sequence_parallel": False,
    }  # fmt: skip
    return Setting(**(chosen | values))  # type: ignore[arg-type]


def split(data: int = 1, tensor: int = 1, pipeline: int = 1, sharded: bool = False) -> Split:
    return Split(data=data, tensor=tensor, pipeline=pipeline, sharded=sharded)


def spec_of(**values: object) -> PreviewSpec:
    spec = PreviewSpec()
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    assert schema.problems(spec) == ()
    return spec


# s = 4, h = 8, a = 2, f = 32, v = 16, 2 layers
SMALL = gpt(layers=2, hidden=8, heads=2, vocab=16, sequence=4)


def test_that_a_tensor_split_comes_out_as_by_hand() -> None:
    """
    Weights of a block on one of 2 cards: norms 4 x 8 = 32 whole; query, key, value 24 x 8 / 2 + 24 / 2 = 108; output
    8 x 8 / 2 + 8 = 40 (a row split keeps its bias); widen 32 x 8 / 2 + 32 / 2 = 144; narrow 8 x 32 / 2 + 8 = 136: 460.
    Embedding 16 x 8 / 2 = 64, positions 4 x 8 = 32, last norm 16. Together 2 x 460 + 64 + 32 + 16 = 1032.
    Activations of a block and sample, sh = 32: 10 x 32 + 24 x 32 / 2 + 5 x 2 x 4 x 4 / 2 = 320 + 384 + 80 = 784.
    The embedding's mask 32; last norm and its output 2 x 32 x 2 = 128, logits 4 x 4 x 16 / 2 = 128.
    Two samples: 2 x (2 x 784 + 32 + 256) = 3712.
    Sent: 3 rounds x 2 blocks x 4 all-reduces x 2 (2 - 1) / 2 x (2 x 32 x 2 bytes) = 3072.
    """
    two = split(tensor=2)
    memory = memory_of(SMALL, setting(), two)
    assert stage_size(SMALL, two, 0) == 1032
    assert (memory.parameters, memory.gradients, memory.optimizer) == (2 * 1032, 2 * 1032, 12 * 1032)
    assert memory.activations == 3712
    traffic = traffic_of(SMALL, setting(), two)
    assert (traffic.data, traffic.tensor, traffic.pipeline) == (0, 3072, 0)


def test_that_a_pipeline_comes_out_as_by_hand() -> None:
    """
    A block has 32 + 216 + 72 + 288 + 264 = 872 weights. Stage 0: 872 + 128 + 32 = 1032. Stage 1: 872 + 16, and its
    copy of the embedding 128: 1016.
    A block keeps 34 x 32 + 5 x 2 x 16 = 1248 bytes of a sample. Stage 0 holds 2 micro batches of 2 samples, each with
    the embedding's mask: 2 x 2 x (1248 + 32) = 5120. Stage 1 holds one: 2 x (1248 + 128 + 4 x 4 x 16) = 3264.
    Sent: 3 rounds x 2 directions x 2 samples x 32 numbers x 2 bytes = 768. Bubble: 1 / (3 + 1).
    """
    two = split(pipeline=2)
    assert (stage_size(SMALL, two, 0), stage_size(SMALL, two, 1)) == (1032, 1016)
    assert [activation_bytes(SMALL, setting(), two, stage) for stage in (0, 1)] == [5120, 3264]
    assert memory_of(SMALL, setting(), two).total == (2 + 2 + 12) * 1032 + 5120
    assert traffic_of(SMALL, setting(), two).pipeline == 768
    assert bubble_share(two, 3) == 0.25


def test_that_the_times_of_a_pipeline_come_out_as_by_hand() -> None:
    """
    One operation a second without a memory bandwidth. A sample's block, forward: 2 x 4 x 8 x (24 + 8 + 32 + 32) = 6144
    and scores and context 2 x 2 x (2 x 4 x 4 x 4) = 512; the logits 2 x 4 x 8 x 16 = 1024. The last stage is slower:
    3 rounds x 2 samples x 3 x (6656 + 1024) = 138240 s. Messages: 768 bytes at 10^9 bytes a second.
    Half as long again is waited: (2 - 1) / 3 of what is busy.
    """
    part = Part(label="", source="", tflops={"fp16": 1e-12}, links=(Link(cards=2, gbs=1),))
    two = split(pipeline=2)
    times = times_of(SMALL, setting(), two, memory_of(SMALL, setting(), two), part, ALL_PEAK)
    assert times.compute == pytest.approx(138240)
    assert times.pipeline == pytest.approx(768e-9)
    assert times.bubble == pytest.approx((138240 + 768e-9) / 3)
    assert (times.tensor, times.data, times.update, times.total) == (0, 0, None, None)


def test_that_a_ring_sends_twice_all_but_one_part() -> None:
    assert ring_all_reduce(100, 4) == 150
    assert ring_all_reduce(100, 1) == 0


def test_that_a_mesh_gives_a_small_group_its_own_links_only() -> None:
    """8 cards, each with 7 links of 28: a pair has one of them, 4 neighbours three, every second card of 8 as well."""
    part = read_parts()["atlas-800t-a2"]
    assert part.bandwidth(2, 1) == pytest.approx(28e9)
    assert part.bandwidth(4, 1) == part.bandwidth(4, 2) == pytest.approx(84e9)
    assert part.bandwidth(8, 1) == 196e9
    assert part.bandwidth(2, 8) == 25e9
    assert part.bandwidth(2, 1024) is None


def test_that_published_models_have_their_published_sizes() -> None:
    """GPT-2 small and the Llama models (https://arxiv.org/abs/2302.13971) as their checkpoints count them."""
    assert gpt(layers=12, hidden=768, heads=12, vocab=50257, sequence=1024).parameters == 124_439_808
    assert llama(layers=32, hidden=4096, heads=32, ffn=11008).parameters == 6_738_415_616
    assert llama(layers=80, hidden=8192, heads=64, ffn=22016).parameters == 65_285_660_672
    assert feed_forward(PreviewSpec().net) == 11008


def test_that_the_optimizer_needs_what_the_zero_paper_says() -> None:
    """Rajbhandari et al. 2020, figure 1: 7.5 billion weights on 64 cards, 120 GB without and 31.4 GB with P_os."""
    network = Network(first=Layer(weights=(Weight(name="w", shape=(7_500_000_000,)),)), last=Layer(), states=PAPER)
    for sharded, gigabytes in ((False, 120.0), (True, 31.4)):
        memory = memory_of(network, setting(micro_batches=64), split(data=64, sharded=sharded))
        assert memory.total / 1e9 == pytest.approx(gigabytes, abs=0.05)


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "percent"), [(96, 12288, 96, 70), (105, 20480, 128, 65)], ids=["GPT-3", "MT-NLG"]
)
def test_that_selective_recomputation_saves_what_its_paper_says(
    layers: int, hidden: int, heads: int, percent: int
) -> None:
    """Korthikanti et al. 2022, section 5: 70 % of the activations of GPT-3 175B, 65 % of MT-NLG 530B."""
    kept = gpt(layers=layers, hidden=hidden, heads=heads, vocab=51200, sequence=2048).block.saved
    both = setting(sequence_parallel=True)
    whole = saved_bytes(kept, both, split(tensor=8))
    selective = saved_bytes(kept, setting(sequence_parallel=True, recomputation="selective"), split(tensor=8))
    assert round(100 * (1 - selective / whole)) == percent


def test_that_activations_are_the_rows_of_the_papers_table() -> None:
    """Korthikanti et al. 2022, table 2, for GPT-3: bytes of a layer and sample."""
    s, h, a, t = 2048, 12288, 96, 8
    kept = gpt(layers=96, hidden=h, heads=a, vocab=51200, sequence=s).block.saved
    eight = split(tensor=t)
    rows = {
        ("none", False): s * h * (10 + 24 / t + 5 * a * s / (h * t)),
        ("none", True): s * h / t * (34 + 5 * a * s / h),
        ("selective", False): s * h * (10 + 24 / t),
        ("selective", True): s * h / t * 34,
        ("full", False): s * h * 2,
    }
    for (recomputation, parallel), expected in rows.items():
        chosen = setting(recomputation=recomputation, sequence_parallel=parallel)
        assert saved_bytes(kept, chosen, eight) == pytest.approx(expected)
    assert saved_bytes(kept, setting(), split()) == s * h * (34 + 5 * a * s / h)


def test_that_operations_are_those_of_megatrons_formula() -> None:
    """Narayanan et al. 2021, section 5.1: 96 B s l h^2 (1 + s / 6h + V / 16lh), with full recomputation; GPT-3."""
    B, s, l, h, V = 1536, 2048, 96, 12288, 51200  # noqa: E741 - the paper's letters
    network = gpt(layers=l, hidden=h, heads=96, vocab=V, sequence=s)
    chosen = setting(micro_batch=1, micro_batches=B, recomputation="full")
    expected = 96 * B * s * l * h**2 * (1 + s / (6 * h) + V / (16 * l * h))
    assert flops_of(network, chosen) == pytest.approx(expected, rel=1e-12)


STATES = """
from ascend_engine import optimizers
from ascend_engine.recipes import digits
for name in ("sgd", "momentum", "adam", "adamw"):
    parameters = digits.Network().trainable_params()
    own = {id(one) for one in parameters}
    kept = optimizers.make_optimizer(name, parameters, 0.1).parameters_and_names()
    print(name, sum(one.size for _, one in kept if id(one) not in own))
"""


@needs_mindspore
def test_that_optimizer_states_are_those_that_mindspore_keeps(tmp_path: Path) -> None:
    network, lines = digits(), check(tmp_path, STATES).splitlines()
    assert len(lines) == len(MINDSPORE)
    for line in lines:
        name, numbers = line.split()
        each, once = MINDSPORE[name]
        assert int(numbers) == each * network.parameters + once
        chosen = setting(precision="fp32", optimizer=name)
        assert optimizer_bytes(network, chosen, split(), network.parameters) == 4 * int(numbers)


NETWORKS = {"linear": linear(), "digits": digits(), "text": text(), "dense": two_layers()}
COUNTS = f"""
from ascend_engine import recipe
from ascend_engine.train import Training
from tests.launch.engine_config import config_of
for name in {list(NETWORKS)}:
    line = f"--recipe {{name}} --device cpu --mode pynative --optimizer sgd --lr 0.1 --batch 2 --steps 1"
    config = config_of(line)
    print(name, Training(config, "cpu", recipe.build(config)).record.weight_count)
"""


@needs_mindspore
def test_that_a_recipe_has_the_parameters_that_the_engine_reports(tmp_path: Path) -> None:
    """text: on the help pages, which have more than 512 different characters."""
    counts = [line.split() for line in check(tmp_path, COUNTS).splitlines()[-len(NETWORKS) :]]
    assert {name: int(count) for name, count in counts} == {
        name: network.parameters for name, network in NETWORKS.items()
    }


POWERS = st.sampled_from([1, 2, 4, 8])


@given(data=POWERS, tensor=POWERS, pipeline=POWERS, sharded=st.booleans(), parallel=st.booleans())
def test_that_more_cards_never_hold_more_of_the_weights(
    data: int, tensor: int, pipeline: int, sharded: bool, parallel: bool
) -> None:
    network = gpt(layers=16, hidden=64, heads=16, vocab=512, sequence=32)
    chosen = setting(micro_batches=64, sequence_parallel=parallel)
    before = memory_of(network, chosen, split(data, tensor, pipeline, sharded))
    for more in ((2 * data, tensor, pipeline), (data, 2 * tensor, pipeline), (data, tensor, 2 * pipeline)):
        after = memory_of(network, chosen, split(*more, sharded))
        assert after.parameters <= before.parameters
        assert after.gradients <= before.gradients
        assert after.optimizer <= before.optimizer
    whole = memory_of(network, chosen, split(data, tensor, pipeline))
    assert before.optimizer <= whole.optimizer


@given(cards=st.integers(1, 96), rounds=st.integers(1, 96))
def test_that_every_split_uses_all_cards_and_divides_the_work(cards: int, rounds: int) -> None:
    network = gpt(layers=12, hidden=48, heads=6, vocab=96, sequence=8)
    found = list(splits(network, setting(micro_batches=rounds), cards))
    assert len(set(found)) == len(found)
    for one in found:
        assert one.cards == cards
        assert rounds % one.data == 0
        assert 12 % one.pipeline == 0
        assert 6 % one.tensor == 0
        assert not one.sharded or one.data > 1


@given(micro_batches=st.integers(1, 64), pipeline=st.integers(1, 16))
def test_that_the_bubble_shrinks_with_more_micro_batches(micro_batches: int, pipeline: int) -> None:
    share = bubble_share(split(pipeline=pipeline), micro_batches)
    assert 0 <= bubble_share(split(pipeline=pipeline), micro_batches + 1) <= share < 1


def test_that_a_network_without_splittable_weights_is_only_split_by_data() -> None:
    found = preview_answer(spec_of(network="digits", cards=4)).splits
    assert {(one.split.data, one.split.tensor, one.split.pipeline) for one in found} == {(4, 1, 1)}


def test_that_the_best_split_is_the_fastest_that_fits() -> None:
    found = preview_answer(spec_of(cards=8, show=1000))
    assert found.limit == 64 * 2**30 * 0.9
    assert found.fitting == len(found.splits) < found.tried
    assert all(one.memory.total <= found.limit for one in found.splits)
    times = [one.seconds for one in found.splits if one.seconds is not None]
    assert len(times) == len(found.splits)
    assert times == sorted(times)


def test_that_it_says_in_which_term_the_next_split_loses() -> None:
    best = Times(compute=4, tensor=0, pipeline=0, bubble=0, data=2, update=0)
    other = Times(compute=4.5, tensor=3, pipeline=0, bubble=1, data=0, update=0)
    assert dearest(best, other) == ("tensor", 3)


def test_that_the_block_that_is_computed_again_is_counted() -> None:
    """Llama 7B, one sample: of one block all is there while it is computed again, 5 a s / h of it scores."""
    s, h, f, heads = 65536, 4096, 11008, 32
    network = transformer(Sizes(form="llama", layers=32, hidden=h, heads=heads, ffn=f, vocab=32_000, sequence=s))
    full = setting(micro_batch=1, recomputation="full")
    one_block = 2 * (8 * s * h + 4 * s * f + 2 * heads * s * s)
    inputs = 31 * 2 * s * h
    assert activation_bytes(network, full, split(), 0) > one_block + inputs > 500 * 2**30
    with_flash = setting(micro_batch=1, recomputation="full", flash=True)
    assert activation_bytes(network, with_flash, split(), 0) < 40 * 2**30
    selective = setting(micro_batch=1, recomputation="selective")
    kept = 32 * saved_bytes(network.block.saved, selective, split())
    assert activation_bytes(network, selective, split(), 0) > kept + 4 * heads * s * s


def test_that_a_long_sequence_without_flash_attention_does_not_fit() -> None:
    long = {"sequence": 65536, "recomputation": "full"}
    assert preview_answer(spec_of(**long)).fitting == 0
    flash = preview_answer(spec_of(**long, flash=True))
    assert flash.fitting > 0
    assert "preview.assumed_flash" in [note.key for note in flash.after]
    assert "preview.assumed_scores" in [note.key for note in preview_answer(spec_of()).after]


def test_that_gradients_have_the_width_that_is_chosen_and_it_is_said() -> None:
    """Llama 7B with float32 gradients: 12.55 GiB more on a card that has all of them, and it does not fit."""
    splits_of = {width: preview_answer(spec_of(gradients=width, show=1000)) for width in ("same", "fp32")}
    fitting = {
        width: {(one.split.data, one.split.sharded) for one in found.splits} for width, found in splits_of.items()
    }
    assert (8, True) in fitting["same"]
    assert (8, True) not in fitting["fp32"]
    (note,) = [note for note in splits_of["fp32"].after if note.key == "preview.assumed_memory"]
    assert note.args["bytes"] == 4


def test_that_the_stages_of_zero_need_what_the_paper_says() -> None:
    """Rajbhandari et al. 2020, figure 1: 7.5 billion weights on 64 cards need 31.4, 16.6 and 1.9 GB."""
    layer = Layer(weights=(Weight(name="w", shape=(7_500_000,)),))
    network = Network(first=Layer(), block=layer, blocks=1000, last=Layer(), states=PAPER)
    for zero, gigabytes in ((1, 31.4), (2, 16.6), (3, 1.9)):
        memory = memory_of(network, setting(micro_batches=64, zero=zero), split(data=64, sharded=True))
        assert memory.total / 1e9 == pytest.approx(gigabytes, abs=0.06)


def test_that_stage_3_sends_half_as_much_again() -> None:
    """The paper's section 7.2.2: 3 numbers a weight where data parallel sends 2; with several rounds, in each."""
    sent = [
        traffic_of(SMALL, setting(micro_batches=rounds * 2, zero=zero), split(data=2, sharded=True)).data
        for rounds, zero in ((1, 1), (1, 2), (1, 3), (3, 2), (3, 3))
    ]
    assert [value / sent[0] for value in sent] == pytest.approx([1, 1, 1.5, 2, 4.5])


def test_that_grouped_queries_have_the_published_sizes() -> None:
    """Llama 2 70B: 64 heads, 8 of keys and values, as its checkpoint counts it; a tensor split divides the 8."""
    sizes = {"form": "llama", "layers": 80, "hidden": 8192, "heads": 64, "ffn": 28672, "vocab": 32_000}
    network = transformer(Sizes(**sizes, sequence=4096, groups=8))  # type: ignore[arg-type]
    assert network.parameters == 68_976_648_192
    tensors = {one.tensor for one in splits(network, setting(micro_batches=64), 64)}
    assert max(tensors) == 8
    whole = transformer(Sizes(**sizes, sequence=4096))  # type: ignore[arg-type]
    assert network.block.saved.split < whole.block.saved.split


def test_that_a_hop_between_servers_is_not_priced_as_one_inside() -> None:
    a2, pcie = read_parts()["atlas-800t-a2"], read_parts()["atlas-800-a2-32g-pcie"]
    assert a2.hop(8) == pytest.approx(28e9)
    assert a2.hop(16) == 25e9
    assert (pcie.hop(8), pcie.hop(16)) == (64e9, None)


def test_that_nothing_is_called_the_fastest_where_a_time_is_unknown() -> None:
    for chosen in ({"cards": 16, "part": "atlas-800-a2-32g-pcie"}, {"network": "linear"}, {"network": "digits"}):
        found = preview_answer(spec_of(**chosen, show=1000))
        keys = [note.key for note in found.after]
        assert {"preview.unknown_time", "preview.too_short"} & set(keys)
        assert not [key for key in keys if key.startswith("preview.why") or key == "preview.faster_but_too_large"]
        sent = [one.traffic.total for one in found.splits]
        assert sent == sorted(sent)


def test_that_overlap_hides_the_communication_of_gradients_alone() -> None:
    times = [preview_answer(spec_of(overlap=share, show=1000)).splits for share in (0.0, 1.0)]
    plain, hidden = ({one.split: one.times for one in found} for found in times)
    one = next(split for split in plain if split.data == 8 or split.data == 4)
    assert plain[one].data
    assert hidden[one].data == 0
    assert hidden[one].compute == plain[one].compute


def test_that_what_has_no_source_stays_unknown() -> None:
    found = preview_answer(spec_of(part="atlas-300i-duo-chip"))
    assert all((one.seconds is None and one.times.data is None) or one.split.data == 1 for one in found.splits)
    assert "preview.unknown_time" in [said.key for said in found.after]
    assert not [said.key for said in found.after if said.key.startswith("preview.why")]


def test_that_every_part_names_its_source() -> None:
    assert all(part.source.startswith("https://") for part in read_parts().values())


def test_that_the_table_of_parts_can_be_another_one(tmp_path: Path) -> None:
    table = tmp_path / "parts.toml"
    table.write_text('[mine]\nlabel = "Mine"\nsource = "measured"\nhbm_gib = 200\ntflops = { bf16 = 100 }\n')
    found = preview_answer(spec_of(parts=table, part="mine", cards=1))
    (only,) = found.splits
    assert only.times.compute == pytest.approx(found.flops / (100e12 * 0.4))


@pytest.mark.parametrize(
    ("content", "rule"),
    [("[mine", "preview.bad_parts"), ('[mine]\nlabel = 1\nsource = ""', "preview.bad_parts"),
     ('[mine]\nlabel = ""\nsource = ""\nhbm_gbs = 0', "preview.bad_part"),
     ('[mine]\nlabel = ""\nsource = ""\nlinks = [{cards = 1, gbs = 3, mesh = true}]', "preview.bad_part")],
)  # fmt: skip
def test_that_a_table_that_is_none_is_refused(tmp_path: Path, content: str, rule: str) -> None:
    table = tmp_path / "parts.toml"
    table.write_text(content)
    with pytest.raises(StudioError) as raised:
        read_parts(table)
    assert raised.value.key == rule
    found = schema.problems(schema.with_value(PreviewSpec(), "parts", table))
    assert [(problem.field, problem.rule) for problem in found] == [("parts", rule)]


def test_that_the_whole_search_of_a_thousand_cards_is_ordered_and_finite() -> None:
    network = gpt(layers=96, hidden=12288, heads=96, vocab=51200, sequence=2048)
    chosen = setting(micro_batch=1, micro_batches=1536, recomputation="selective")
    found = search_splits(network, chosen, 1024, read_parts()["atlas-800t-a2"], ALL_PEAK)
    seconds = [math.inf if one.seconds is None else one.seconds for one in found]
    assert seconds == sorted(seconds)
    assert all(one.memory.total > 0 for one in found)
    assert json.loads(json.dumps([one.memory.total for one in found]))


def with_words(spec: PreviewSpec, words: str) -> PreviewSpec:
    """The spec with the options that a way out names."""
    parser = argparse.ArgumentParser()
    schema.add_arguments(parser, PreviewSpec, lambda field: field.name)
    named, wrong = schema.from_arguments(PreviewSpec, parser.parse_args(words.split()))
    given = schema.given_fields(PreviewSpec, parser.parse_args(words.split()))
    assert not wrong
    for name in given:
        spec = schema.with_value(spec, name, schema.value_of(named, name))
    return spec


@pytest.mark.parametrize(
    ("values", "options"),
    [
        ({"sequence": 65536, "recomputation": "full"}, ["--flash", "--cards 32", "--sequence 32768"]),
        ({"cards": 1}, ["--cards 4"]),
        ({"batch": 4, "cards": 4}, ["--sequence-parallel", "--recomputation full", "--batch 2 --micro-batches 128"]),
        ({"cards": 4, "recomputation": "none", "sequence": 8192}, ["--flash", "--recomputation selective"]),
        ({"cards": 2, "batch": 16, "recomputation": "none"}, ["--recomputation full --batch 1 --micro-batches 1024"]),
        ({"cards": 2, "zero": "1", "flash": True, "sequence": 512}, ["--gradients same"]),
    ],
)  # fmt: skip
def test_that_ways_out_that_are_named_fit_when_they_are_previewed(values: dict[str, Any], options: list[str]) -> None:
    spec = spec_of(**values)
    answer = preview_answer(spec)
    assert answer.fitting == 0
    ways = [message.args for message in answer.after if message.key == "preview.way_out"]
    words = [str(args["options"]) for args in ways]
    assert [option for option in options if not any(option in text for text in words)] == [], words
    for args in ways:
        taken = preview_answer(with_words(spec, str(args["options"])))
        assert taken.fitting
        assert (name_of(taken.splits[0].split), size_text(taken.splits[0].memory.total)) == (
            args["split"],
            args["need"],
        )


def test_that_no_way_out_is_named_that_does_not_fit() -> None:
    """Selective recomputation keeps no scores either, so FlashAttention saves nothing beside it."""
    ways = [str(message.args.get("options")) for message in preview_answer(spec_of(batch=4, cards=4)).after]
    assert "--flash" not in ways
    answer = preview_answer(
        spec_of(cards=1, recomputation="full", sequence=1, layers=10_000, hidden=1_000_000, heads=1)
    )
    assert [message.key for message in answer.after][:2] == ["preview.nothing_fits", "preview.no_way_out"]
    assert not [message for message in preview_answer(spec_of()).after if "way_out" in message.key]


def test_that_a_count_of_devices_that_divides_nothing_is_no_matter_of_memory() -> None:
    answer = preview_answer(spec_of(cards=7))
    keys = [message.key for message in answer.after]
    assert keys[0] == "preview.no_split"
    assert "preview.no_way_out" not in keys


@pytest.mark.parametrize("name", ["link_efficiency", "overlap"])
def test_that_a_choice_of_links_is_refused_where_no_time_is_known(name: str) -> None:
    spec = schema.with_value(spec_of(network="digits"), name, 0.25)
    found = schema.without_effect(spec, (name,))
    assert [(problem.field, problem.rule) for problem in found] == [(name, "launch.rule.changes_no_figure")]
