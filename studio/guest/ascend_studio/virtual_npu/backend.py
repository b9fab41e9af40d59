"""Puts the device into torch: its name, torch.npu, the kernels and all that asks torch for a device."""

from __future__ import annotations

from importlib import import_module

from ascend_studio.virtual_npu import (
    NAME,
    accelerator,
    autocast,
    cards,
    compiled,
    dispatch,
    generators,
    hccl,
    host_kernels,
    kernels,
    pinned,
    placement,
    registrations,
    sharded_random,
    sharing,
    storage_type,
    storages,
    tensor_types,
)

if False:
    from typing import Any

UNSET = "privateuseone"


def install(torch: Any, module: Any) -> None:
    """Make the device; `module` becomes torch.npu. Raises RuntimeError in torch's words where a script has given
    PrivateUse1 another name.
    """
    _register(torch, module)
    cards.mark_used()
    cards.follow_forks()
    for part in (storages, host_kernels, kernels, generators):
        part.install(torch)
    dispatch.install(kernels.own(), host_kernels.kernel)
    registrations.install(torch)
    autocast.install(torch)
    for part in (storage_type, placement, pinned, tensor_types, sharing, accelerator, compiled, hccl, sharded_random):
        part.install(torch)


def _register(torch: Any, module: Any) -> None:
    registration = import_module("torch.utils.backend_registration")
    core = torch._C._acc

    class Hooks(core.PrivateUse1Hooks):  # type: ignore[misc,name-defined]
        def is_available(self) -> bool:
            return bool(cards.count())

        def has_primary_context(self, _index: int) -> bool:
            return True

        def is_built(self) -> bool:
            return True

    registration._setup_privateuseone_for_python_backend(NAME, module, Hooks())
