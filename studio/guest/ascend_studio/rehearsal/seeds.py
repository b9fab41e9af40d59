"""A fixed seed for what a script leaves to chance, for two rehearsals whose numbers are compared.

Each process starts from the seed and its rank, and memory that nobody has written is zero. What a script seeds itself
counts as it does without this.
"""

from __future__ import annotations

import functools
import os
import random

from ascend_studio import hooks
from ascend_studio.writer import process_rank

if False:
    from types import ModuleType
    from typing import Any, Callable, Optional

SEED = "ASCEND_STUDIO_REHEARSAL_SEED"
LARGEST = 1 << 32  # numpy takes none beyond
UNWRITTEN = frozenset((
    "aten.empty.memory_format", "aten.empty_strided.default", "aten.empty_like.default", "aten.new_empty.default",
    "aten.new_empty_strided.default", "aten.empty_permuted.default",
))  # fmt: skip
_SEED_NAMES = ("seed", "a")  # of numpy.random, and of random


def requested_seed() -> Optional[int]:
    """Return the seed; None where none was requested: the rehearsal is then as random as the script is."""
    text = os.environ.get(SEED, "")
    return (int(text) + process_rank.rank()) % LARGEST if text else None


def begin(seed: int) -> None:
    random.seed(seed)
    random.seed = _seeded(random.seed, seed)
    hooks.after_import("numpy.random", hooks.guarded("seed of numpy")(functools.partial(_numpy, seed)))
    hooks.after_import("torch", hooks.guarded("seed")(functools.partial(_torch, seed)))


def _seeded(original: Callable[..., Any], seed: int) -> Callable[..., Any]:
    """Return this seed where a generator would take one from the system."""

    @functools.wraps(original)
    def with_seed(*args: Any, **kwargs: Any) -> Any:
        values = [*args[:1], *(kwargs[name] for name in _SEED_NAMES if name in kwargs)]
        if any(value is not None for value in values):
            return original(*args, **kwargs)
        rest = {name: value for name, value in kwargs.items() if name not in _SEED_NAMES}
        return original(seed, *args[1:], **rest)

    return with_seed


def _numpy(seed: int, numpy_random: ModuleType) -> None:
    space: Any = numpy_random
    space.seed(seed)
    for name in ("seed", "default_rng"):
        setattr(space, name, _seeded(getattr(space, name), seed))


def _torch(seed: int, torch: Any) -> None:
    torch.manual_seed(seed)

    def take_seed() -> int:
        torch.manual_seed(seed)
        return seed

    torch.seed = torch.random.seed = take_seed


def fill(operator: Any, result: Any) -> None:
    """Fill uninitialised memory with zeros; called with the result of an operator."""
    if str(operator) in UNWRITTEN and result.device.type == "cpu":
        result.zero_()
