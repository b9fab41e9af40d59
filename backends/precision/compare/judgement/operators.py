"""What kind of operator a call is: how it rounds, and how it lets the error of its inputs grow."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache


class Kind(IntEnum):
    """PRODUCT: sums of products (matmul, convolution). SUM: each output is a sum of inputs, or one of them, or of a
    slope of at most about one. NORM: by the spread of its input. SOFT: an exponential of its input. REDUCE: sum or mean
    of many. STEEP: a slope without a bound (division, root, logarithm, variance). OTHER: nothing is known."""

    PRODUCT = 0
    SUM = 1
    SCALE = 2
    NORM = 3
    SOFT = 4
    REDUCE = 5
    STEEP = 6
    OTHER = 7


_KINDS = (
    (Kind.NORM, "layer_?norm|batch_?norm|group_?norm|instance_?norm|rms_?norm|^normalize|add_layer_norm|sync_?batch"),
    (Kind.SOFT, "softmax|cross_?entropy|nll|attention|^exp$|^expm1|logsumexp|kl_div|transformer|lstm|gru|^rnn|bce"),
    (Kind.PRODUCT, "linear|matmul|^b?mm$|addmm|baddbmm|einsum|conv|dense|bilinear$|^dot|inner|tensordot|__matmul__"),
    (Kind.REDUCE, "^(nan)?sum$|^mean$|reduce_?(sum|mean)|mse_?loss|l1_?loss|cumsum|avg_?pool|loss|all_?reduce|prod$"),
    (Kind.STEEP, "div|sqrt|log|^pow|__pow__|__rpow__|reciprocal|var|^std|norm$|inv$|acos|asin|^tan$|erfinv|svd|solve"),
    (Kind.SCALE, "mul|scale"),
    (
        Kind.SUM,
        "add|sub|cat|stack|concat|where|mask|clamp|clip|max|min|relu|gelu|silu|swish|mish|tanh|sigmoid|elu|softplus|"
        "hard|dropout|embed|gather|index|select|slice|getitem|setitem|reshape|view|permute|transpose|flatten|squeeze|"
        "neg|abs|pad|copy|clone|contiguous|chunk|split|roll|flip|repeat|expand|tile|upsample|interpolate|sin|cos|"
        "^to$|cast|float|half|type|identity|tri[lu]|sort|topk|fill|scatter|broadcast|send|recv|erf$",
    ),
)  # fmt: skip
_KINKED = re.compile("relu|pool|clamp|clip|abs|^max|^min|hard|sort|topk|where|mask")
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)
_CHOICES = re.compile("topk|^sort|argsort|argmax|argmin|^max$|^min$|multinomial|kthvalue")
_MULTIPLIES = re.compile("lstm|gru|^rnn|attention")
_RECURRENT = re.compile("lstm|gru|^rnn")
_SUMS = re.compile(r"^(nan)?sum$|reduce_?sum$")
_RANDOM = re.compile("dropout|^rand|bernoulli|multinomial|normal_$|uniform_$|^normal$|exponential_")


@lru_cache(maxsize=1 << 14)
def kind_of(api: str) -> Kind:
    """Return the kind of an operator by the name of its function or of its module's class."""
    name = api.lower().rpartition(".")[2]
    return next((kind for kind, pattern in _PATTERNS if pattern.search(name)), Kind.OTHER)


@lru_cache(maxsize=1 << 14)
def has_kink(api: str) -> bool:
    return _KINKED.search(api.lower()) is not None


@lru_cache(maxsize=1 << 14)
def chooses(api: str) -> bool:
    """Whether an operator returns the indices of what it chose by size."""
    return _CHOICES.search(api.lower().rpartition(".")[2]) is not None


@lru_cache(maxsize=1 << 14)
def multiplies(api: str) -> bool:
    """Whether an operator multiplies matrices, as all it does or first of all."""
    return kind_of(api) is Kind.PRODUCT or _MULTIPLIES.search(api.lower().rpartition(".")[2]) is not None


@lru_cache(maxsize=1 << 14)
def is_recurrent(api: str) -> bool:
    return _RECURRENT.search(api.lower().rpartition(".")[2]) is not None


@lru_cache(maxsize=1 << 14)
def family_of(api: str) -> str:
    """Return of which library's kernels a product is, for its number of bits is chosen by family: "convolution" or
    "matrix"; "" where it is no product."""
    if not multiplies(api) and kind_of(api) is not Kind.SOFT:
        return ""
    return "convolution" if "conv" in api.lower().rpartition(".")[2] else "matrix"


@lru_cache(maxsize=1 << 14)
def adds_up(api: str) -> bool:
    """Whether a reduction adds its elements, and divides by nothing."""
    return _SUMS.search(api.lower().rpartition(".")[2]) is not None


@lru_cache(maxsize=1 << 14)
def is_random(api: str) -> bool:
    return _RANDOM.search(api.lower().rpartition(".")[2]) is not None
