"""The device that a training runs on."""

from __future__ import annotations

import mindspore as ms

from ascend_engine.failures import Failure, first_line


def select(device: str) -> str:
    """Make "auto", "cpu" or "ascend" the current device; returns "cpu" or "ascend".

    Raises Failure `launch.device_unavailable` where an asked-for NPU cannot be used.
    """
    if device == "auto":
        return _select_any()
    if device == "ascend":
        _select_ascend()
    else:
        ms.set_device("CPU")
    return device


def _select_any() -> str:
    if _counts_ascend():
        try:
            _select_ascend()
        except Failure:
            pass  # a driver without a usable card: the choice was ours, so the CPU it is
        else:
            return "ascend"
    ms.set_device("CPU")
    return "cpu"


def _counts_ascend() -> bool:
    """Asking for the count is the one question that logs no warnings where there is no NPU."""
    try:
        return ms.device_context.ascend.device_count() > 0
    except (AttributeError, RuntimeError):  # AttributeError: before MindSpore 2.5
        return False


def _select_ascend() -> None:
    try:
        ms.set_device("Ascend")
    except (RuntimeError, ValueError) as error:
        reason = unavailable_reason(str(error))
        raise Failure("launch.device_unavailable", device="ascend", reason=reason) from error


def unavailable_reason(message: str) -> str:
    """MindSpore's own reason out of a message of many lines.

    The section "Device load error message" names the library that is missing;
    the text before it only says that the device is not supported.
    """
    _, _, details = message.partition("Device load error message:\n")
    return first_line(details or message)
