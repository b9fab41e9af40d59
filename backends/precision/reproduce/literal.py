"""Arguments of a call as Python source. What msprobe keeps of each kind: its data_processor/*.py, `_analyze_builtin`
and its neighbours; a list may have been a tuple, which every function of the frameworks takes as well."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from studio.errors import StudioError

TENSOR_TYPES = ("torch.Tensor", "mindspore.Tensor", "torch.nn.parameter.Parameter", "Parameter", "DTensor")
_DTYPE = re.compile(r"(torch|mindspore)\.[a-z0-9_]{3,20}")
_KEY = re.compile(r"[A-Za-z_]\w*")


@dataclass(kw_only=True)
class Literals:
    """`files`: the names of the tensors that were met; a tensor without a file raises StudioError."""

    call: str
    files: list[str] = field(default_factory=list)

    def of(self, value: Any) -> str:
        if value is None:
            return "None"
        if isinstance(value, list):
            return "(" + "".join(f"{self.of(element)}, " for element in value).rstrip() + ")"
        if isinstance(value, dict):
            return self._typed(value) if "type" in value else self._named(value)
        return _plain(value)

    def _named(self, values: dict[str, Any]) -> str:
        return "{" + ", ".join(f"{name!r}: {self.of(element)}" for name, element in values.items()) + "}"

    def arguments(self, values: dict[str, Any]) -> str:
        """Keyword arguments. Raises StudioError for a name that is none."""
        wrong = next((name for name in values if not _KEY.fullmatch(name)), None)
        if wrong is not None:
            raise StudioError("precision.reproduce.argument", call=self.call, kind=wrong[:40])
        return self._named(values)

    def _typed(self, entry: dict[str, Any]) -> str:
        kind, value = str(entry["type"]), entry.get("value")
        if kind in TENSOR_TYPES or "data_name" in entry:
            return self._tensor(entry)
        if kind == "slice" and isinstance(value, list):
            return "slice(" + ", ".join(_plain(element) for element in value[:3]) + ")"
        if kind == "ellipsis" or (value == "..." and kind != "str"):
            return "..."
        if "dtype" in kind and _DTYPE.fullmatch(str(value)):
            return str(value)
        if "device" in kind:
            return "DEVICE"
        if kind in ("torch.Size", "tuple", "list") and isinstance(value, list):
            return self.of(value)
        if value is None or (isinstance(value, (bool, int, float, str)) and kind not in ("ProcessGroup", "P2POp")):
            return _plain(value)
        raise StudioError("precision.reproduce.argument", call=self.call, kind=kind[:40])

    def _tensor(self, entry: dict[str, Any]) -> str:
        name = entry.get("data_name")
        if not isinstance(name, str) or "/" in name or name.startswith("."):
            raise StudioError("precision.reproduce.no_tensors", call=self.call)
        self.files.append(name)
        return f"tensor({name!r}, grad={bool(entry.get('requires_grad'))})"


def _plain(value: Any) -> str:
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)
