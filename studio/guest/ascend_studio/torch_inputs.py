"""The network that a training calls, and its inputs."""

from __future__ import annotations

import weakref
from collections.abc import Mapping

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Dict, Tuple

DEPTH = 3  # of tuples, lists and dicts around a tensor


class Roots:
    """The modules called by a script, each with whether it is trained."""

    def __init__(self, torch: ModuleType) -> None:
        self.distributed = torch.distributed
        self.is_trained_by_module: Any = weakref.WeakKeyDictionary()
        self.shards = False  # each rank has gradients of its own part: a norm of them says nothing

    def have(self, module: Any) -> bool:
        is_trained = self.is_trained_by_module.get(module)
        if is_trained is None:
            is_trained = self.is_trained_by_module[module] = any(
                parameter.requires_grad for parameter in module.parameters()
            )
            if is_trained and self.distributed.is_available() and self.distributed.is_initialized():
                self.shards = self.shards or not _is_data_parallel(module)
        return bool(is_trained)


def _is_data_parallel(module: Any) -> bool:
    """Return whether every rank has the same gradients; looks through torch.compile."""
    inner = getattr(module, "_orig_mod", module)
    return type(inner).__name__ == "DistributedDataParallel"


def size_of(torch: ModuleType, args: Tuple[Any, ...], kwargs: Dict[str, Any]) -> Tuple[int, int]:
    """Return samples and tokens of a batch: the first dimension of the first tensor, and how many integers it holds."""
    plain = args and type(args[0]) is torch.Tensor
    tensor = args[0] if plain else _first_tensor(torch, (args, kwargs), DEPTH)
    if tensor is None:
        return 0, 0
    are_tokens = tensor.dim() > 1 and not (tensor.is_floating_point() or tensor.is_complex())
    return tensor.shape[0] if tensor.dim() else 1, tensor.numel() if are_tokens else 0


def _first_tensor(torch: ModuleType, values: Any, depth: int) -> Any:
    if isinstance(values, torch.Tensor):
        return values
    if isinstance(values, Mapping):  # also a BatchEncoding, which is no dict
        values = values.values()
    elif not isinstance(values, (tuple, list)):
        return None  # asked for more, a proxy of torch.fx would note that in the graph it is tracing
    tensors = (_first_tensor(torch, item, depth - 1) for item in values) if depth else ()
    return next((tensor for tensor in tensors if tensor is not None), None)
