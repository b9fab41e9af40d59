"""The engine's own recipes, weight for weight; a test compares them with the networks that it trains."""

from __future__ import annotations

from typing import Literal

from backends.launch.preview.network import Layer, Matmul, Network, SavedNumbers, Weight
from backends.launch.preview.transformer import attention, dense, saved_numbers
from backends.launch.recipes import DENSE

VOCABULARY = 513
"""Vocabulary of `text` where its folder holds at least 512 different characters, as the help pages do."""

# What MindSpore 2.10 keeps for the engine's optimizers: nn.SGD has accum and stat, experimental.optim.Adam and AdamW
# have max_exp_avg_sq also without amsgrad. The second number: global_step, learning_rate, momentum; state_step.
MINDSPORE = {"sgd": (2, 3), "momentum": (1, 3), "adam": (3, 1), "adamw": (3, 1)}


def recipe(name: Literal["linear", "digits", "text", "dense"]) -> Network:
    return {"linear": linear, "digits": digits, "text": text, "dense": two_layers}[name]()


def linear() -> Network:
    weights = (Weight(name="weight", shape=(1, 1)), Weight(name="bias", shape=(1,)))
    layer = Layer(weights=weights, matmuls=(Matmul(m=1, k=1, n=1),), saved=SavedNumbers(whole=2))
    return Network(first=Layer(), last=layer, states=MINDSPORE)


def two_layers() -> Network:
    """The network of recipe dense. Not split by tensor: what that sends is counted for a transformer's blocks only.
    Saved for the backward pass: what goes into each operator, and the output."""
    inputs, width, outputs = DENSE
    weights = (Weight(name="first", shape=(inputs, width)), Weight(name="second", shape=(width, outputs)))
    matmuls = (Matmul(m=1, k=inputs, n=width), Matmul(m=1, k=width, n=outputs))
    saved_numbers = SavedNumbers(whole=inputs + 2 * width + outputs)
    layer = Layer(weights=weights, matmuls=matmuls, saved=saved_numbers)
    return Network(first=Layer(), last=layer, states=MINDSPORE)


def _convolution(name: str, inputs: int, outputs: int) -> tuple[Weight, ...]:
    return Weight(name=name, shape=(outputs, inputs, 3, 3)), Weight(name=f"{name}.bias", shape=(outputs,))


def digits() -> Network:
    """A convolution is the product of its unfolded image with its kernel. Kept: the image, and of each convolution
    its output, after ReLU and after pooling."""
    weights = (
        *_convolution("layers.0", 1, 16), *_convolution("layers.3", 16, 32),
        Weight(name="layers.7", shape=(10, 128)), Weight(name="layers.7.bias", shape=(10,)),
    )  # fmt: skip
    matmuls = (Matmul(m=64, k=9, n=16), Matmul(m=16, k=16 * 9, n=32), Matmul(m=1, k=128, n=10))
    numbers = 64 + 2 * 64 * 16 + 16 * 16 + 2 * 16 * 32 + 4 * 32 + 10
    return Network(first=Layer(), last=Layer(weights=weights, matmuls=matmuls, saved=SavedNumbers(whole=numbers)),
                   states=MINDSPORE)  # fmt: skip


def text(vocabulary: int = VOCABULARY) -> Network:
    """Two pre-norm blocks of width 64 with 4 heads; an output of its own, with a bias; no dropout."""
    s, h, f, heads = 64, 64, 256, 4
    norms = tuple(Weight(name=f"{name}.{of}", shape=(h,)) for name in ("norm1", "norm2") for of in ("gamma", "beta"))
    block = Layer(
        weights=(
            *norms, *dense("project", h, 3 * h, "n", True), *dense("output", h, h, "k", True),
            *dense("widen", h, f, "n", True), *dense("narrow", f, h, "k", True),
        ),
        matmuls=(
            Matmul(m=s, k=h, n=3 * h, split="n"), Matmul(m=s, k=h, n=h, split="k"), *attention(s, h, heads),
            Matmul(m=s, k=h, n=f, split="n"), Matmul(m=s, k=f, n=h, split="k"),
        ),
        saved=_without_masks(saved_numbers(s, h, f, heads, True)),
    )  # fmt: skip
    end = (Weight(name="norm.gamma", shape=(h,)), Weight(name="norm.beta", shape=(h,)))
    places = Weight(name="places", shape=(s, h))
    table = Weight(name="characters", shape=(vocabulary, h), split=0)
    return Network(
        first=Layer(weights=(table, places)),
        block=block,
        blocks=2,
        last=Layer(
            weights=(*end, *dense("logits", h, vocabulary, "n", True)),
            matmuls=(Matmul(m=s, k=h, n=vocabulary, split="n"),),
            saved=SavedNumbers(whole=2 * s * h, split_bytes=4 * s * vocabulary),
        ),
        message=s * h,
        sequence=s,
        states=MINDSPORE,
    )


def _without_masks(saved: SavedNumbers) -> SavedNumbers:
    return SavedNumbers(input=saved.input, whole=saved.whole, split=saved.split, core=saved.core)
