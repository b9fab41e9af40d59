"""Groups of processes where nothing is computed: each rank goes its way alone, and no byte is sent.

torch's own FakeProcessGroup stands for hccl and gloo. What other ranks would send has the sizes that it must have; of
objects, each rank takes the others for being like itself.
"""

from __future__ import annotations

import functools
import os
from importlib import import_module

if False:
    from typing import Any

NAME = "fake"
REFUSED = "%s cannot be followed where nothing is computed: what another rank sends is not known."


def install(torch: Any) -> None:
    distributed = torch.distributed
    if not distributed.is_available():
        return
    import_module("torch.distributed._tools.fake_collectives")
    made = import_module("torch.testing._internal.distributed.fake_pg")
    backend = distributed.Backend
    if "npu" not in backend.backend_capability[NAME]:
        backend.backend_capability[NAME] = [*backend.backend_capability[NAME], "npu"]
    core = import_module("torch.distributed.distributed_c10d")
    for name, function in _functions(core, made.FakeStore).items():
        for module in (core, distributed):
            setattr(module, name, function)


def _functions(core: Any, store: Any) -> Any:
    begin, group = core.init_process_group, core.new_group

    @functools.wraps(begin)
    def init_process_group(backend: Any = None, *args: Any, **kwargs: Any) -> None:
        rank, size = _place(kwargs)
        # A foreign one is refused by torch, as on the host of a card.
        begin(backend if _is_foreign(backend) else NAME, store=store(), rank=rank, world_size=size)

    @functools.wraps(group)
    def new_group(ranks: Any = None, timeout: Any = None, backend: Any = None, *args: Any, **kwargs: Any) -> Any:
        if _is_foreign(backend):
            return group(ranks, timeout, backend, *args, **kwargs)
        kwargs.pop("device_id", None)
        return group(ranks, timeout, None, *args, **kwargs)

    def all_gather_object(object_list: Any, obj: Any, group: Any = None) -> None:
        object_list[:] = [obj] * len(object_list)

    def gather_object(obj: Any, object_gather_list: Any = None, *_args: Any, **_kwargs: Any) -> None:
        if object_gather_list is not None:
            object_gather_list[:] = [obj] * len(object_gather_list)

    def broadcast_object_list(object_list: Any, src: Any = None, *_args: Any, **kwargs: Any) -> None:
        if (kwargs.get("group_src") if src is None else src) not in (None, core.get_rank()):
            raise NotImplementedError(REFUSED % "torch.distributed.broadcast_object_list")

    def scatter_object_list(*_args: Any, **_kwargs: Any) -> None:
        raise NotImplementedError(REFUSED % "torch.distributed.scatter_object_list")

    return {
        "init_process_group": init_process_group, "new_group": new_group, "all_gather_object": all_gather_object,
        "gather_object": gather_object, "broadcast_object_list": broadcast_object_list,
        "scatter_object_list": scatter_object_list,
    }  # fmt: skip


def _is_foreign(backend: Any) -> bool:
    return isinstance(backend, str) and any(name in backend.lower() for name in ("nccl", "ucc", "xccl"))


def _place(kwargs: Any) -> Any:
    """Return rank and size of the world, of the arguments or else of the launcher's environment."""
    rank, size = kwargs.get("rank", -1), kwargs.get("world_size", -1)
    return (
        int(os.environ.get("RANK") or 0) if rank < 0 else rank,
        int(os.environ.get("WORLD_SIZE") or 1) if size < 0 else size,
    )
