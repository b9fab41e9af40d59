"""Which generators a script gave which seed."""

from __future__ import annotations

import functools
import random
import sys

from ascend_studio import hooks
from ascend_studio.contract import log

if False:
    from typing import Any


def install(torch: Any) -> None:
    torch.manual_seed = torch.random.manual_seed = _seeding("torch", torch.manual_seed)
    follow(torch, torch.cuda, "cuda")
    random.seed = _seeding("random", random.seed)
    if "numpy.random" in sys.modules:
        _numpy(sys.modules["numpy.random"])
    else:
        hooks.after_import("numpy.random", hooks.guarded("contract of numpy")(_numpy))
    for name in ("DataLoader",):
        loader = getattr(torch.utils.data, name)
        loader.__init__ = _with_generator(loader.__init__)


def follow(_torch: Any, module: Any, kind: str) -> None:
    """Follow the seeds of a kind of cards."""
    for name in ("manual_seed", "manual_seed_all"):
        if name in vars(module):
            setattr(module, name, _seeding(kind, getattr(module, name)))


def _numpy(numpy_random: Any) -> None:
    for name in ("seed", "default_rng"):
        setattr(numpy_random, name, _seeding("numpy", getattr(numpy_random, name)))


def _seeding(generator: str, original: Any) -> Any:
    @functools.wraps(original)
    def seeded(*args: Any, **kwargs: Any) -> Any:
        if log.is_from_script():
            value = args[0] if args else next(iter(kwargs.values()), None)
            log.append("seeds", "%s %s" % (generator, _number(value)))
        return original(*args, **kwargs)

    return seeded


def _number(value: Any) -> str:
    return repr(value) if value is None or isinstance(value, str) else str(value)


def _with_generator(original: Any) -> Any:
    @functools.wraps(original)
    def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        for owner, generator in (("loader", self.generator), ("sampler", getattr(self.sampler, "generator", None))):
            if generator is not None:
                log.append("seeds", "%s %d" % (owner, generator.initial_seed()))

    return initialized
