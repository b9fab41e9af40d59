"""A part of the pairs of `prove precision`, whose dumps the tests of this folder share."""

from __future__ import annotations

from dataclasses import replace

from tests.planted import network_plants
from tests.planted.plant import Order, Pair, pair_of
from tests.planted.plants import pairs

PLANTED = (
    "transformer, eps / clean",
    "transformer, cast between / kernels",
    "transformer, no residual / double",
    "transformer, scale 1.01, block 2 / ulp",
    "transformer, wrong backward / clean",
    "transformer, linear 1.1, step 1 of adamw / ulp",
    "cnn, running / clean",
    "cnn, convolution in bfloat16, rank 1 / double",
    "mindspore, weight / ulp",
)
HEALTHY = (
    "transformer-healthy-clean-L1-statistics-1x1, nothing planted / kernels",
    "transformer-healthy-clean-L1-statistics-3x1-adamw, nothing planted / ulp",
    "cnn-healthy-clean-L1-statistics-1x1, nothing planted / threads",
)
PAIRS = {pair.name: pair for pair in pairs()}


def _planted(model: str, plant: str, noise: str) -> Pair:
    return pair_of(next(each for each in network_plants.PLANTS if (each.model, each.plant) == (model, plant)), noise)


def _healthy(model: str, noise: str, seed: int = 0) -> Pair:
    pairs = network_plants.healthy(seed)
    return next(pair for pair in pairs if (pair.target.model, pair.golden.noise) == (model, noise))


def _trained(model: str, optimizer: str, noise: str, steps: int = 2) -> Pair:
    order = Order(model=model, steps=steps, optimizer=optimizer)
    return Pair(target=order, golden=replace(order, noise=noise))


NETWORKS = (
    _planted("decoder", "rotary base", "order"),
    _planted("scan", "state scaled", "half"),
    _planted("resnet", "kernel convolution_backward 4.1 times 1.05", "atomics"),
    _healthy("decoder", "written"),  # a fused attention against one by hand
    _healthy("decoder", "bfloat16"),  # a query that is one rounding off, times a rotary table in float32
    _healthy("tcn", "half"),  # a weight that is computed from others
    _healthy("resnet", "hf32"),  # a first product of few weights
    _healthy("vae", "hf32"),  # a gradient that a ReLU turned on
    _healthy("scan", "float16", 9),  # a state of zeros, which are equal under any noise
    _trained("resnet", "momentum", "order"),  # a ReLU that turned one element of few
    _healthy("recurrent", "bfloat16"),  # an LSTM that is not traced, under autocast
    _trained("scan", "adam", "ulp", 3),  # a sum whose summands cancel
)
ROUTED = _healthy("experts", "bfloat16", 1)
"""A word that rounding gives to another expert."""
NOT_CAUSAL = _planted("decoder", "not causal", "written")
"""A fused attention that is wrong, against one that is written out."""
