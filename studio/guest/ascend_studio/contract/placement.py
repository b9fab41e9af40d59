"""Devices and their indices: which were used, where the parameters are, what was moved to the host."""

from __future__ import annotations

import functools
from importlib import import_module

from ascend_studio.contract import log
from ascend_studio.rehearsal import record, requested_devices

if False:
    from typing import Any, Callable

_places: Any = None
"""The device that was asked for a tensor, in a rehearsal that puts all of them on the CPU."""


def install(torch: Any) -> None:
    global _places
    weak = import_module("torch.utils.weak")
    _places = weak.WeakIdKeyDictionary()
    requested_devices.listeners.append(_placed)
    torch.Tensor.cpu = _to_host("Tensor.cpu", torch.Tensor.cpu, 0)
    torch.nn.Module.cpu = _to_host("Module.cpu", torch.nn.Module.cpu, 0)
    torch.Tensor.to = _to_host("Tensor.to", torch.Tensor.to, 1)
    torch.nn.Module.to = _to_host("Module.to", torch.nn.Module.to, 1)
    for space in ("cuda", "accelerator"):
        _follow_choices(getattr(torch, space, None), space)
    if record.device == "virtual_npu":
        from ascend_studio.virtual_npu import dispatch

        observer = _observer(torch)
        dispatch.observe(lambda _op: observer)


def follow_npu(torch: Any) -> None:
    _follow_choices(torch.npu, "npu")


def _observer(torch: Any) -> Callable[..., None]:
    """Return what sees the cards that operators of a virtual NPU run on."""
    cards = {-1}

    def observe(_op: Any, _args: Any, _kwargs: Any, result: Any) -> None:
        if isinstance(result, (list, tuple)) and result:
            result = result[0]
        if isinstance(result, torch.Tensor) and result.device.type == "npu" and result.device.index not in cards:
            cards.add(result.device.index)
            log.add("devices", "npu:%d" % (result.device.index or 0))

    return observe


def _placed(owner: Any, device: str) -> None:
    if log.is_compiling():
        return
    log.add("devices", device)
    if isinstance(owner, log.torch.nn.Module):
        for tensor in (*owner.parameters(), *owner.buffers()):
            _places[tensor] = device
    elif isinstance(owner, log.torch.Tensor):
        _places[owner] = device


def place_of(tensor: Any) -> str:
    """Return the device of a tensor, as asked for; "" where that is not known."""
    if tensor.device.type == "npu":
        return "npu:%d" % (tensor.device.index or 0)
    if tensor.device.type != "cpu" or record.device == "virtual_npu" or record.stance == "cpu":
        return str(tensor.device)
    return str(_places.get(tensor, ""))


def _to_host(name: str, original: Any, argument: int) -> Any:
    """Count what the script moves to the host; `argument`: whether a device is among its arguments."""

    @functools.wraps(original)
    def moved(self: Any, *args: Any, **kwargs: Any) -> Any:
        if not log.is_compiling() and (not argument or _names_host(args, kwargs)) and log.is_from_script():
            log.add("host_moves", name.partition(".")[0] + " to cpu")
        return original(self, *args, **kwargs)

    return moved


def _names_host(args: Any, kwargs: Any) -> bool:
    device = kwargs.get("device", args[0] if args else None)
    return isinstance(device, (str, log.torch.device)) and str(device) == "cpu"


def _follow_choices(module: Any, name: str) -> None:
    """Follow the calls that choose a card."""
    for function in () if module is None else ("set_device", "set_device_index", "set_device_idx"):
        if function in vars(module):
            setattr(module, function, _choosing(getattr(module, function), name))


def _choosing(original: Any, name: str) -> Any:
    @functools.wraps(original)
    def chosen(device: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(device, *args, **kwargs)
        text = requested_devices.resolved(device)
        if text:
            requested_devices.select(text)
            log.append("selected", text)
        return result

    return chosen
