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


GROWTH = {
    Kind.PRODUCT: 4.0, Kind.SUM: 4.0, Kind.SCALE: 4.0, Kind.NORM: 8.0, Kind.SOFT: 8.0, Kind.REDUCE: 8.0,
    Kind.STEEP: 32.0, Kind.OTHER: 16.0,
}  # fmt: skip
"""By how much an error may grow beyond what the sizes of inputs and outputs say. Statistics show the errors of a few
elements only, so that an input's may be larger than it seems: 4. Where the slope varies between rows or channels 8; of
an unknown operator 16; where it has no bound 32."""

BACKWARD = 4.0
"""More, for a backward: its sums run over the batch, and it uses what its forward kept."""

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
KINK = 8.0
"""More, for the backward of what has a kink: where noise carries an element over it, its gradient comes or goes."""
_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in _KINDS)
_MULTIPLIES = re.compile("lstm|gru|^rnn|attention")
_RANDOM = re.compile("dropout|^rand|bernoulli|multinomial|normal_$|uniform_$|^normal$|exponential_")


@lru_cache(maxsize=1 << 14)
def kind_of(api: str) -> Kind:
    """`api`: of a function its name, of a module its class."""
    name = api.lower().rpartition(".")[2]
    return next((kind for kind, pattern in _PATTERNS if pattern.search(name)), Kind.OTHER)


@lru_cache(maxsize=1 << 14)
def growth_of(api: str, *, forward: bool) -> float:
    growth = GROWTH[kind_of(api)]
    return growth if forward else growth * BACKWARD * (KINK if _KINKED.search(api.lower()) else 1.0)


@lru_cache(maxsize=1 << 14)
def multiplies(api: str) -> bool:
    """Matrices, as all it does or first of all."""
    return kind_of(api) is Kind.PRODUCT or _MULTIPLIES.search(api.lower().rpartition(".")[2]) is not None


@lru_cache(maxsize=1 << 14)
def is_random(api: str) -> bool:
    return _RANDOM.search(api.lower().rpartition(".")[2]) is not None
