"""A few lines with an edit in them, and what they have to mean before and after."""

from __future__ import annotations

from dataclasses import dataclass

HEAD = "import torch\n"


@dataclass(frozen=True, kw_only=True)
class Example:
    """`code`: sets `result`, behind `head`. Words of the device and the backend in `result` are compared as one word;
    `on_npu`: the result on an NPU where that is meant to differ."""

    name: str
    code: str
    head: str = HEAD
    on_npu: object = None

    @property
    def text(self) -> str:
        return f"{self.head}{self.code}\n"
