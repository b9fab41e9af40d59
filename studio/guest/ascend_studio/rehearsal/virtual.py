"""A rehearsal on the virtual NPU: tensors say npu, where the other kind of rehearsal redirects them to the CPU."""

from __future__ import annotations

import os

from ascend_studio import hooks, virtual_npu
from ascend_studio.rehearsal import (
    amp,
    fake,
    inventory,
    memory_kinds,
    npu_parts,
    operators,
    record,
    redirect,
    seeds,
    standins,
)

if False:
    from typing import Any, Callable, Dict

CHOICE = "ASCEND_STUDIO_REHEARSAL_NPU_DEVICE"
CHOICES = ("auto", "virtual", "cpu")
IMPOSSIBLE = (
    "The virtual NPU needs a PyTorch whose backends can be written in Python, from %s on; this one has none. "
    "A rehearsal that redirects to the CPU runs with it."
)
_state = {"on": False}


def is_on() -> bool:
    """Return whether this process rehearses on the virtual NPU."""
    return _state["on"]


def choose(torch: Any) -> bool:
    """Decide for this process, and return whether it is the virtual NPU. Raises ValueError where that was asked for
    and cannot be had.
    """
    choice = os.environ.get(CHOICE) or "auto"
    if choice not in CHOICES:
        raise ValueError("no such kind of rehearsal: " + choice)
    is_possible = choice != "cpu" and virtual_npu.is_possible(torch)
    if choice == "virtual" and not is_possible:
        raise ValueError(IMPOSSIBLE % virtual_npu.NEEDED)
    if choice == "auto" and not is_possible:
        record.note_once("rehearsal.no_virtual_npu", version=torch.__version__, needed=virtual_npu.NEEDED)
    _state["on"] = is_possible
    record.device = "virtual_npu" if is_possible else "cpu"
    return is_possible


def prepare(torch: Any, tick: Callable[[], None]) -> None:
    """What is installed before the script imports torch_npu: CUDA is watched, operators are followed."""
    amp.install(torch)
    operators.install(torch, tick)


def members(torch: Any) -> Dict[str, Any]:
    """Return the functions of torch.npu that know the cards."""
    from ascend_studio.virtual_npu import cards, functions, tensor_types

    library = standins.redirect_library(torch)
    plain = functions.of_npu(torch)
    plain["synchronize"] = inventory.synchronized(plain["synchronize"])
    counted = {name: redirect.counted("torch.npu." + name, do, library) for name, do in plain.items()}
    # torch asks for the first two by itself; what the last does depends on its caller.
    counted.update({name: plain[name] for name in ("_is_in_bad_fork", "_lazy_init", "manual_seed_all")})
    types = tensor_types.classes(torch)
    return dict(counted, device=cards.Selected, StreamContext=standins.Device, **types)


def install(torch: Any, module: Any) -> None:
    """Make the device: torch_npu has been imported."""
    from ascend_studio.virtual_npu import cpu_fallback, dispatch, functions, memory
    from ascend_studio.virtual_npu.fake import sizes_only

    npu_parts.Properties.name, npu_parts.Properties.total_memory = functions.NAME, memory.capacity()
    memory.install(torch)
    memory_kinds.install(torch)
    inventory.install(torch)
    virtual_npu.install(torch, module)
    follow = operators.observer(torch)
    dispatch.observe(lambda _op: follow)
    count_fallback = hooks.guarded("operators")(cpu_fallback.observer(torch, record.user_location))
    dispatch.observe(lambda op: count_fallback if cpu_fallback.kind_of(op) else None)
    record.contents.append(lambda part: part.update(fallbacks=cpu_fallback.rows()))
    if sizes_only.is_requested():
        fake.install(torch)
    if seeds.requested_seed() is not None:
        dispatch.observe(lambda op: _zeroed if str(op) in seeds.UNWRITTEN else None)


def _zeroed(_op: Any, _args: Any, _kwargs: Any, result: Any) -> None:
    """Fill memory that nobody has written with zeros, as seeds does on the CPU."""
    if result.device.type == "npu":
        from ascend_studio.virtual_npu import storages

        storages.host(result).zero_()


def transfer(torch: Any) -> None:
    """What transfer_to_npu does beyond names: tensors and generators of an NPU are taken for those of CUDA."""
    from ascend_studio.virtual_npu import generators

    generators.names.add("cuda")
    torch.Tensor.is_cuda = property(lambda tensor: tensor.device.type == "npu")
