"""Numbers that a script reads where nothing is computed: 1 for each, 0 for the infinities that a GradScaler looks for.

What the script does with one is followed as far as Python lets it: one that only is printed, written down or counted
with changes nothing; one that is compared or becomes a size may lead elsewhere than the real one.
"""

from __future__ import annotations

import os
import sys

if False:
    from typing import Any, Callable, Dict, List

SCALER = os.path.join("amp", "grad_scaler.py")
READ, COMPARED, SIZE = "read", "compared", "size"
readers: List[Callable[[str], None]] = []
"""Called with one of the three whenever a number is assumed or used."""


def tell(use: str) -> None:
    for reader in readers:
        reader(use)


def number(tensor: Any) -> Any:
    """Return the number that is assumed for a tensor of one element."""
    if tensor.dtype.is_complex:
        return 1j
    if str(tensor.dtype) == "torch.bool":
        return False
    return 1.0 if tensor.is_floating_point() else 1


class Assumed(float):
    """An assumed number that tells when it decides something."""

    def __bool__(self) -> bool:
        tell(COMPARED)
        return float.__bool__(self)

    def __int__(self) -> int:
        tell(SIZE)
        return int(float(self))

    __index__ = __trunc__ = __floor__ = __ceil__ = __int__


def _compared(name: str) -> Any:
    original = getattr(float, name)

    def compared(self: Any, other: Any) -> Any:
        tell(COMPARED)
        return original(self, other)

    return compared


def _carried(name: str) -> Any:
    original = getattr(float, name)

    def carried(self: Any, *others: Any) -> Any:
        result = original(self, *others)
        return Assumed(result) if isinstance(result, float) else result

    return carried


for _name in ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__"):
    setattr(Assumed, _name, _compared(_name))
for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "pow", "neg", "abs"):
    setattr(Assumed, "__%s__" % _name, _carried("__%s__" % _name))
Assumed.__hash__ = float.__hash__  # type: ignore[method-assign]


def install(torch: Any, is_fake: Callable[[Any], bool]) -> None:
    tensor = torch.Tensor
    item = tensor.item

    def read(self: Any) -> Any:
        if not is_fake(self) or self.numel() != 1:
            return item(self)
        value = item(self)
        if _is_scaler():
            return 0.0
        tell(READ)
        return Assumed(value) if self.is_floating_point() else value

    tensor.item = read
    for name, use in {"__bool__": COMPARED, "__int__": SIZE, "__index__": SIZE, "__float__": READ}.items():
        setattr(tensor, name, _told(getattr(tensor, name), use, is_fake))


def _told(original: Any, use: str, is_fake: Callable[[Any], bool]) -> Any:
    def told(self: Any) -> Any:
        if is_fake(self):
            tell(use)
        return original(self)

    return told


def _is_scaler() -> bool:
    """Return whether torch's GradScaler asks, whose answer decides whether the optimizer steps."""
    frame: Any = sys._getframe(2)
    for _ in range(4):
        if frame is None:
            return False
        if frame.f_code.co_filename.endswith(SCALER):
            return True
        frame = frame.f_back
    return False


def uses() -> Dict[str, int]:
    """Return how bad each use is."""
    return {READ: 0, COMPARED: 1, SIZE: 2}
