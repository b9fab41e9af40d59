"""Numbers held by tensors, read without keeping a graph alive and without waiting for a device.

A number is a float, or something with ready() and value() for what a device has still to deliver.
"""

from __future__ import annotations

import math

from ascend_studio.recording import Unrecorded

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, List, Sequence, Union

    Number = Union[float, "Late", "Scaled", "Total", "Norm"]

# Devices of which a copy to pinned memory does not wait, and whose module has Event.
ASYNCHRONOUS = ("cuda", "npu", "xpu")


def number_of(torch: ModuleType, value: Any) -> Any:
    """Return the number in a Python number or a tensor of one element; None where it cannot be had cheaply: of a
    DTensor, which would have to ask the other ranks, and on a device that every read waits for.
    """
    if isinstance(value, (int, float)):
        return float(value)
    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        return None
    kind = value.device.type
    if kind == "cpu":
        try:
            with Unrecorded():
                return float(value.item())
        except (RuntimeError, TypeError, ValueError):  # of several elements, or complex
            return None
    return _sent(torch, value) if kind in ASYNCHRONOUS and value.numel() == 1 and not value.is_complex() else None


def is_captured(torch: ModuleType, tensor: Any) -> bool:
    """Return whether a graph is being captured: a read of the device would become part of it."""
    device = getattr(torch, tensor.device.type, None)
    return bool(getattr(device, "is_current_stream_capturing", bool)())


def _sent(torch: ModuleType, value: Any) -> Any:
    if is_captured(torch, value):
        return None
    device = getattr(torch, value.device.type)
    with Unrecorded():
        host = value.detach().to("cpu", non_blocking=True)
    event = device.Event()
    event.record()
    return Late(host, event)


class Late:
    """A copy of one element on its way to the host."""

    def __init__(self, host: Any, event: Any) -> None:
        self.host = host
        self.event = event

    def ready(self) -> bool:
        return bool(self.event.query())

    def value(self) -> float:
        self.event.synchronize()
        with Unrecorded():
            return float(self.host.item())


class _Of:
    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = parts

    def ready(self) -> bool:
        return all(map(is_ready, self.parts))


class Total(_Of):
    def value(self) -> float:
        return sum(map(value_of, self.parts))


class Norm(_Of):
    """The norm of norms of disjoint parts. The very same number again is the same part, which the script has asked for
    twice.
    """

    def value(self) -> float:
        return math.sqrt(sum([norm**2 for norm in dict.fromkeys(map(value_of, self.parts))]))


class Scaled(_Of):
    """The first number divided by the second."""

    def value(self) -> float:
        number, scale = map(value_of, self.parts)
        return number / scale if scale else math.nan


def is_ready(number: Any) -> bool:
    return type(number) is float or number.ready()


def value_of(number: Any) -> float:
    return number if type(number) is float else number.value()


def total(parts: List[Any]) -> Any:
    return _plain_or(parts, Total)


def norm(parts: List[Any]) -> Any:
    return _plain_or(parts, Norm)


def scaled(number: Any, scale: Any) -> Any:
    return None if number is None or scale is None else _plain_or([number, scale], Scaled)


def _plain_or(parts: List[Any], kind: Any) -> Any:
    if len(parts) == 1:
        return parts[0]
    rebuilt = kind(parts)
    return rebuilt.value() if rebuilt.ready() else rebuilt
