"""Several processes, with gloo in place of nccl and hccl."""

from __future__ import annotations

import functools

from ascend_studio import hooks
from ascend_studio.rehearsal import record, redirect, requested_devices

if False:
    from typing import Any, Tuple


def install(torch: Any) -> None:
    distributed = torch.distributed
    for space in (distributed, distributed.distributed_c10d):
        space.init_process_group = _group(space.init_process_group, 0, "init_process_group")
        space.new_group = _group(space.new_group, 2, "new_group")
        space.barrier = _without_devices(space.barrier)
    if record.stance == "cuda":
        distributed.is_nccl_available = distributed.distributed_c10d.is_nccl_available = lambda: True
    distributed.is_hccl_available = lambda: "npu" in redirect.types
    _data_parallel(torch.nn.parallel.DistributedDataParallel)
    hooks.after_import("torch.distributed.device_mesh", _mesh)


def know_hccl(torch: Any) -> None:
    """Register hccl as torch_npu does: a query for the backend of an NPU returns its name. No group of it is ever
    made."""
    backend = torch.distributed.Backend
    if not hasattr(backend, "HCCL"):
        backend.register_backend("hccl", lambda *_args: None, devices=["npu"])


def _names() -> Tuple[str, ...]:
    return (("nccl",) if "cuda" in redirect.types else ()) + (("hccl", "lccl") if "npu" in redirect.types else ())


def _is_of_device(backend: Any) -> bool:
    return any(name in str(backend).lower() for name in _names())


def _group(original: Any, position: int, name: str) -> Any:
    """`place`: where the backend stands among the arguments."""

    @functools.wraps(original)
    def redirected(*args: Any, **kwargs: Any) -> Any:
        arguments = list(args)
        backend = arguments[position] if len(arguments) > position else kwargs.get("backend")
        if _is_of_device(backend) or (backend is None and name == "init_process_group"):
            record.redirect(name)
            if len(arguments) > position:
                arguments[position] = "gloo"
            else:
                kwargs["backend"] = "gloo"
        if redirect.is_redirected(kwargs.get("device_id")) or redirect.is_index(kwargs.get("device_id")):
            kwargs.pop("device_id")
        try:
            return original(*arguments, **kwargs)
        except (RuntimeError, ValueError) as error:
            if "nccl" in str(backend).lower():
                record.block(name, str(error), "raised")
            raise

    return redirected


def _without_devices(original: Any) -> Any:
    @functools.wraps(original)
    def barrier(*args: Any, **kwargs: Any) -> Any:
        kwargs.pop("device_ids", None)
        return original(*args, **kwargs)

    return barrier


def _data_parallel(parallel: Any) -> None:
    original = parallel.__init__

    @functools.wraps(original)
    def initialized(
        self: Any, module: Any, device_ids: Any = None, output_device: Any = None, *args: Any, **kwargs: Any
    ) -> None:
        if device_ids is not None or output_device is not None:
            record.redirect("DistributedDataParallel(device_ids)")
            requested_devices.note(None, device_ids[0] if device_ids else output_device)
        original(self, module, None, None, *args, **kwargs)

    parallel.__init__ = initialized


def _mesh(module: Any) -> None:
    mesh = module.DeviceMesh
    mesh.__init__ = redirect.with_any_device("DeviceMesh", mesh.__init__)
    original = module.init_device_mesh

    @functools.wraps(original)
    def init_device_mesh(device_type: Any, *args: Any, **kwargs: Any) -> Any:
        if redirect.is_redirected(device_type):
            record.redirect("init_device_mesh")
            device_type = "cpu"
        return original(device_type, *args, **kwargs)

    module.init_device_mesh = init_device_mesh


def fully_sharded(module: Any) -> None:
    """Give FSDP the CPU by name, since it refuses it otherwise."""
    sharded = module.FullyShardedDataParallel
    original = sharded.__init__

    @functools.wraps(original)
    def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
        record.redirect("FullyShardedDataParallel")
        kwargs["device_id"] = device("cpu")
        original(self, *args, **kwargs)

    device = module.fully_sharded_data_parallel.torch.device
    sharded.__init__ = initialized
