"""Decoder-only Transformers in two forms: GPT (Megatron-LM's) and Llama (gated, without biases)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from backends.launch.preview.network import Layer, Matmul, Network, SavedNumbers, Weight

# Numbers per weight that the algorithm needs; a whole of its own is not counted.
PAPER = {"sgd": (0, 0), "momentum": (1, 0), "adam": (2, 0), "adamw": (2, 0)}


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """As in the papers: h hidden, a heads, f feed-forward, v vocabulary, s sequence. `groups`: heads of keys and
    values, each shared by a / groups heads of queries (Ainslie et al. 2023, https://arxiv.org/abs/2305.13245); None
    for a."""

    form: Literal["gpt", "llama"]
    layers: int
    hidden: int
    heads: int
    ffn: int
    vocab: int
    sequence: int
    groups: int | None = None

    @property
    def shared_heads(self) -> int:
        return self.heads if self.groups is None else self.groups


def transformer(sizes: Sizes) -> Network:
    """Column and row splits as in Shoeybi et al. 2019 (https://arxiv.org/abs/1909.08053), section 3. The vocabulary
    counts as given: Megatron-LM pads it until the tensor split divides it."""
    gpt = sizes.form == "gpt"
    table = Weight(name="embedding", shape=(sizes.vocab, sizes.hidden), split=0)
    places = (Weight(name="positions", shape=(sizes.sequence, sizes.hidden)),) if gpt else ()
    local_numbers = sizes.sequence * sizes.hidden
    return Network(
        first=Layer(weights=(table, *places), saved=SavedNumbers(whole_bytes=local_numbers if gpt else 0)),
        block=_block(sizes),
        blocks=sizes.layers,
        last=_last(sizes, () if gpt else (Weight(name="output", shape=(sizes.vocab, sizes.hidden), split=0),)),
        message=local_numbers,
        sequence=sizes.sequence,
        groups=sizes.shared_heads,
        tied=table if gpt else None,
        states=PAPER,
    )


def _norm(name: str, hidden: int, biased: bool) -> tuple[Weight, ...]:
    gamma = Weight(name=f"{name}.gamma", shape=(hidden,))
    return (gamma, Weight(name=f"{name}.beta", shape=(hidden,))) if biased else (gamma,)


def dense(name: str, inputs: int, outputs: int, by: Literal["n", "k"], biased: bool) -> tuple[Weight, ...]:
    """A layer's weight (outputs, inputs) and bias, by columns ("n") or by rows ("k"); a row split keeps its bias."""
    weight = Weight(name=name, shape=(outputs, inputs), split=0 if by == "n" else 1)
    bias = Weight(name=f"{name}.bias", shape=(outputs,), split=0 if by == "n" else None)
    return (weight, bias) if biased else (weight,)


def _block(sizes: Sizes) -> Layer:
    s, h, f, biased = sizes.sequence, sizes.hidden, sizes.ffn, sizes.form == "gpt"
    wide = h + 2 * h // sizes.heads * sizes.shared_heads
    widen = ("widen",) if biased else ("gate", "up")
    return Layer(
        weights=(
            *_norm("norm1", h, biased), *_norm("norm2", h, biased),
            *dense("query_key_value", h, wide, "n", biased), *dense("output", h, h, "k", biased),
            *(weight for name in widen for weight in dense(name, h, f, "n", biased)),
            *dense("narrow", f, h, "k", biased),
        ),
        matmuls=(
            Matmul(m=s, k=h, n=wide, split="n"), Matmul(m=s, k=h, n=h, split="k"),
            *attention(s, h, sizes.heads), *(Matmul(m=s, k=h, n=f, split="n") for _ in widen),
            Matmul(m=s, k=f, n=h, split="k"),
        ),
        saved=saved_numbers(s, h, f, sizes.heads, biased, sizes.shared_heads),
    )  # fmt: skip


def attention(s: int, h: int, heads: int) -> tuple[Matmul, ...]:
    """Scores and context, without the saving that a causal mask allows."""
    return (
        Matmul(m=s, k=h // heads, n=s, count=heads, split="count", is_core=True),
        Matmul(m=s, k=s, n=h // heads, count=heads, split="count", is_core=True),
    )


FLASH_BYTES = 64
"""Of one head and position: FlashAttentionScore gives softmax_max and softmax_sum, each (batch, heads, sequence, 8)
in float32 (https://www.hiascend.com/document/detail/zh/Pytorch/720/ptmoddevg/trainingmigrguide/performance_tuning_0033.html)."""


def saved_numbers(s: int, h: int, f: int, heads: int, gpt: bool, groups: int | None = None) -> SavedNumbers:
    """Korthikanti et al. 2022 (https://arxiv.org/abs/2205.05198), section 4: for GPT with f = 4h and 16 bits this is
    sh(10 + 24/t + 5as/(ht)) bytes, and sh/t (34 + 5as/h) where the sequence is split too. Without dropout its masks
    fall away; a gated MLP keeps four tensors of width f where GELU keeps two."""
    wide = 2 if gpt else 4
    shared = h // heads * (heads if groups is None else groups)
    return SavedNumbers(
        input=s * h, whole=4 * s * h, whole_bytes=2 * s * h if gpt else 0,
        split=2 * s * h + 2 * s * shared + wide * s * f,
        core=2 * heads * s * s, core_bytes=heads * s * s if gpt else 0, flash_bytes=FLASH_BYTES * heads * s,
    )  # fmt: skip


def _last(sizes: Sizes, output: tuple[Weight, ...]) -> Layer:
    """The last norm and the logits, in float32: 4sh(1 + v/h) bytes with 16 bits (Korthikanti, section 4.3)."""
    s, h, v = sizes.sequence, sizes.hidden, sizes.vocab
    return Layer(
        weights=(*_norm("norm", h, sizes.form == "gpt"), *output),
        matmuls=(Matmul(m=s, k=h, n=v, split="n"),),
        saved=SavedNumbers(whole=2 * s * h, split_bytes=4 * s * v),
    )
