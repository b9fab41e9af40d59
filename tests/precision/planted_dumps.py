"""A part of the pairs of `prove precision`, whose dumps the tests of this folder share."""

from __future__ import annotations

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
