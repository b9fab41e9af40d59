"""Where the function of a call is, by the prefixes that msprobe puts before names (its core/common/const.py)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from studio.errors import StudioError

if TYPE_CHECKING:
    from backends.precision.dump.dump import Name

TORCH = {
    "Functional": "torch.nn.functional", "Tensor": "torch.Tensor", "Torch": "torch", "Aten": "torch.ops.aten",
    "VF": "torch._VF", "NPU": "torch_npu",
}  # fmt: skip
MINDSPORE = {
    "Functional": "mindspore.ops", "Tensor": "mindspore.Tensor", "Mint": "mindspore.mint",
    "MintFunctional": "mindspore.mint.nn.functional",
}  # fmt: skip
MODULES = ("Module", "Cell")
PRIMITIVE = "Primitive"
_API = re.compile(r"\w+(\.\w+)*")


def function_of(name: Name, framework: str, call: str) -> str:
    """Source such as "torch.nn.functional.linear"; with MindSpore a list of what it may be. Raises StudioError where a
    dump does not say enough to call it again."""
    if name.kind in MODULES:
        raise StudioError("precision.reproduce.module", call=call)
    if "Distributed" in name.kind:
        raise StudioError("precision.reproduce.distributed", call=call)
    made = name.type or name.api.rpartition(".")[2]
    if framework == "mindspore" and name.kind == PRIMITIVE and made.isidentifier():
        return f'primitives("{made}", *inputs)'
    place = (MINDSPORE if framework == "mindspore" else TORCH).get(name.kind)
    if place is None or not _API.fullmatch(name.api):
        raise StudioError("precision.reproduce.unknown", call=call)
    function = f"{place}.{name.api}"
    return f"[{function}]" if framework == "mindspore" else function
