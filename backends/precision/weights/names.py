"""Which tensor of one checkpoint is which of the other: by name, else by what frameworks and wrappers do to names, else
by shape and order, which is only a suggestion. The state of a training (optimizer, generators, epoch) is no weight: it
is compared where both sides have it under the same name, and else is neither missing nor extra."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Shapes = Mapping[str, "Shape"]
    PairFinder = Callable[[Shapes, Shapes], Iterable[tuple[str, str]]]

K = TypeVar("K")
Shape = tuple[int, ...]
How = Literal["name", "prefix", "order"]

PREFIXES = ("module.", "model.", "_orig_mod.", "state_dict.", "model_state_dict.", "network.", "net.", "_backbone.")
"""Put before names by DistributedDataParallel and DataParallel, Hugging Face and Lightning, torch.compile, dictionaries
around the weights, and MindSpore's wrapping cells."""
NAME_ENDINGS = {
    "gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var",
    "embedding_table": "weight",
}  # fmt: skip
"""What MindSpore calls the parameters of its normalisations and embeddings, and torch those of the same layers."""
STATE_GROUP = re.compile(
    r"(optim(izers?)?|lr_schedulers?|scheduler|scaler|grad_scaler|random|rng|(torch|cuda|numpy)_rng)(_states?)?(_dict)?"
    r"|loops|callbacks|epoch(_num)?|(global_)?step(_num)?|iteration|lr|learning_rate|loss_scale|moments|moment[12]"
    r"|beta[12]_power|(current|last_overflow)_iterator_step",
    re.IGNORECASE,
)
"""What stands first in the names of a training's state: keys of common dictionaries around a state_dict, parameters of
MindSpore's optimizers and loss scaling."""


STATE_OF_TORCH = re.compile(
    r"state\.\d+\.(step|(max_)?exp_avg(_sq)?|exp_inf|momentum_buffer|square_avg|acc_delta|grad_avg|sum|prev|eta|mu|ax)"
)
"""What the state_dict of an optimizer of torch holds, where it is saved alone."""
OPTIMIZER_GROUP = re.compile(r"(optim(izers?)?)(_states?)?(_dict)?|moments|moment[12]", re.IGNORECASE)
"""Groups of a training's state that hold tensors by the names of the weights that they are of."""
RESULT = re.compile(
    r"((best|min|max|last|train|val|valid|eval|test)_?)*(loss(es)?|acc(uracy)?|acc1|prec1?|top1|f1|score|metric|ppl|iter|"
    r"iters|time(stamp)?|version|seed|epochs?|steps?|\w+_(seen|steps?|epochs?|time))",
    re.IGNORECASE,
)
"""What a training notes beside its weights: results and counters."""
WEIGHT_ENDINGS = frozenset(("weight", "bias", "gamma", "beta", "embedding_table"))
"""Last words of the names of weights."""


@dataclass(frozen=True, kw_only=True)
class WeightPair:
    target: str
    golden: str
    how: How


@dataclass(frozen=True, kw_only=True)
class Matched:
    """`pairs` in the order of the golden side; `missing`: weights that the target lacks; `extra`: weights that only
    the target has; `training_state`: what is no weight and only one side has."""

    pairs: tuple[WeightPair, ...]
    missing: tuple[str, ...]
    extra: tuple[str, ...]
    training_state: tuple[str, ...] = ()


def match_weights(target: Shapes, golden: Shapes) -> Matched:
    """Match two checkpoints' shapes by name, each in the order of its checkpoint."""
    matched = {name: WeightPair(target=name, golden=name, how="name") for name in golden if name in target}
    _add(matched, target, golden, "prefix", _by_canonical_name)
    _add(matched, target, golden, "order", _by_order)
    used = {pair.target for pair in matched.values()}
    target_state, golden_state = training_state(target), training_state(golden)
    missing = [name for name in golden if name not in matched]
    extra = [name for name in target if name not in used]
    return Matched(
        pairs=tuple(matched[name] for name in golden if name in matched),
        missing=tuple(name for name in missing if name not in golden_state),
        extra=tuple(name for name in extra if name not in target_state),
        training_state=tuple(name for name in (*missing, *extra) if name in golden_state | target_state),
    )


def training_state(names: Iterable[str]) -> frozenset[str]:
    """Return which names of a checkpoint are those of an optimizer's state, a generator or a counter, and not of
    weights. A name that ends as a weight's does is one, whatever its module is called ("loops.0.weight"), unless it is
    in an optimizer's group beside a weight of that name ("moments.fc.weight" beside "fc.weight")."""
    names = list(names)
    weights = {canonical(name) for name in names if not OPTIMIZER_GROUP.fullmatch(name.partition(".")[0])}
    return frozenset(name for name in names if _is_state(name, weights))


def is_note(name: str) -> bool:
    """Return whether a plain number of this name is a result or a counter, or is in a training's state."""
    return _is_state(name, set()) or RESULT.fullmatch(name.rpartition(".")[2]) is not None


def _is_state(name: str, weights: set[str]) -> bool:
    group, _, rest = name.partition(".")
    if not STATE_GROUP.fullmatch(group):
        return STATE_OF_TORCH.fullmatch(name) is not None
    if rest.rpartition(".")[2] not in WEIGHT_ENDINGS:
        return True
    parts = rest.split(".")
    return bool(OPTIMIZER_GROUP.fullmatch(group)) and any(
        canonical(".".join(parts[begin:])) in weights for begin in range(len(parts) - 1)
    )


def _add(matched: dict[str, WeightPair], target: Shapes, golden: Shapes, how: How, pairs: PairFinder) -> None:
    """Pairs among those that have no partner yet."""
    used = {pair.target for pair in matched.values()}
    left = {name: shape for name, shape in target.items() if name not in used}
    missing = {name: shape for name, shape in golden.items() if name not in matched}
    matched |= {other: WeightPair(target=name, golden=other, how=how) for name, other in pairs(left, missing)}


def canonical(name: str) -> str:
    """A name without what wrappers put before it, with torch's word for the parameter."""
    while prefix := next((candidate for candidate in PREFIXES if name.startswith(candidate)), ""):
        name = name[len(prefix) :]
    path, point, last = name.rpartition(".")
    return path + point + NAME_ENDINGS.get(last, last)


def _by_canonical_name(target: Shapes, golden: Shapes) -> Iterable[tuple[str, str]]:
    """Only names that stand for one tensor on either side."""
    ours, others = _grouped(target, canonical), _grouped(golden, canonical)
    for name, peers in others.items():
        if len(peers) == 1 and len(ours.get(name, ())) == 1:
            yield ours[name][0], peers[0]


def _by_order(target: Shapes, golden: Shapes) -> Iterable[tuple[str, str]]:
    """Pair the first weight of each shape with the first, where both sides have as many."""
    ours = _grouped(_weights(target), lambda name: target[name])
    for shape, peers in _grouped(_weights(golden), lambda name: golden[name]).items():
        if len(ours.get(shape, ())) == len(peers):
            yield from zip(ours[shape], peers, strict=True)


def _weights(names: Shapes) -> list[str]:
    state = training_state(names)
    return [name for name in names if name not in state]


def _grouped(names: Iterable[str], key: Callable[[str], K]) -> dict[K, Sequence[str]]:
    groups: dict[K, list[str]] = {}
    for name in names:
        groups.setdefault(key(name), []).append(name)
    return dict(groups)
