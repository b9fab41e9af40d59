"""A device "npu" that PyTorch takes for one: tensors that say `npu:0`, kernels of the CPU, rules of a card.

    cards        how many there are, which of them the process sees, which one is current
    storages     the memory of a card: host memory under a handle that says npu
    dispatch     the call through which each operator on a card passes, with its arguments and its result
    host_kernels the CPU's kernel for an operator, and what torch says of tensors on two devices
    kernels      operators that torch takes apart in another way on a device than on the CPU
    cpu_fallback operators that torch_npu has no kernel for, counted by line
    autocast     the lists of torch_npu
    functions    torch.npu

Everything else holds one part of torch that asks for a device. torch's own backend in Python is of 2.13; nothing is
imported before the training imports torch.
"""

from __future__ import annotations

if False:
    from typing import Any

NAME = "npu"
NEEDED = "2.13"  # the first release that has a backend in Python with all that is needed below
_NEEDED_OF_C = ("_acc", "_construct_storage_from_data_pointer", "_dispatch_tls_local_include_set")
_NEEDED_OF_ACC = ("register_python_privateuseone_hook", "register_python_privateuseone_device_guard")


def is_possible(torch: Any) -> bool:
    """Return whether this torch lets a device be written in Python."""
    core = torch._C
    names_of_acc = dir(getattr(core, "_acc", None))
    return (
        all(hasattr(core, name) for name in _NEEDED_OF_C)
        and all(name in names_of_acc for name in _NEEDED_OF_ACC)
        and hasattr(torch.library.Library, "fallback")
        and hasattr(torch.library, "get_kernel")
    )


def install(torch: Any, module: Any) -> None:
    """Make the device; `module` becomes torch.npu. Raises RuntimeError, in torch's words, where another backend has
    taken the place of PrivateUse1.
    """
    from ascend_studio.virtual_npu import backend

    backend.install(torch, module)
