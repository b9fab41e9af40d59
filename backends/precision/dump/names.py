"""What a call's name says, and whose line called it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from backends.precision.dump.dump import Name

if TYPE_CHECKING:
    from collections.abc import Sequence

TYPED = ("Module", "Cell", "Primitive")
DIRECTIONS = ("forward", "backward", "parameters_grad")

FRAME = re.compile(
    r"File (?P<file>(?:(?!, \n ).)+), line (?P<number>\d{1,9}), in (?P<function>(?:(?!, \n ).)*), \n ?(?P<code>.*)",
    re.DOTALL,
)
LIBRARIES = re.compile(r"[/\\](?:site-packages|dist-packages|lib[/\\]python3[.\d]*|msprobe|ascend_studio)[/\\]|^<")
FRAMEWORKS = re.compile(r"[/\\](?:torch|torch_npu|mindspore|mindtorch)[/\\]")


@lru_cache(maxsize=1 << 17)
def name_of(call: str) -> Name:
    """The parts of "Functional.linear.0.forward", "Module.1.norm1.LayerNorm.forward.0",
    "Module.1.norm1.LayerNorm.parameters_grad[.0]",
    "Primitive.matmul.MatMul.0.forward". A name of another form is an api without number and direction."""
    kind, _, rest = call.partition(".")
    parts = rest.split(".")
    for at in (-1, -2):
        if len(parts) >= -at and parts[at] in DIRECTIONS:
            return _name(kind, [*parts[:at]], parts[at], parts[-1] if at == -2 else "")
    return Name(kind=kind, api=rest)


def _name(kind: str, parts: list[str], direction: str, number: str) -> Name:
    if not number and parts and parts[-1].isdecimal() and direction != "parameters_grad":
        number = parts.pop()
    type_ = parts.pop() if kind in TYPED and parts and not parts[-1].isdecimal() else ""
    return Name(
        kind=kind,
        api=".".join(parts),
        type=type_,
        number=int(number) if number.isdecimal() and len(number) < 10 else 0,
        direction=direction,  # type: ignore[arg-type]
    )


@dataclass(frozen=True, kw_only=True)
class Frame:
    file: str
    number: int
    function: str
    code: str


def frames(lines: Sequence[str]) -> tuple[Frame, ...]:
    """A stack's frames, the innermost first; lines of another form are left out."""
    frames = (FRAME.fullmatch(line) for line in lines)
    return tuple(
        Frame(file=frame["file"], number=int(frame["number"]), function=frame["function"], code=frame["code"].strip())
        for frame in frames
        if frame
    )


def source_of(lines: Sequence[str]) -> str:
    """The innermost frame in the user's own code, as "path:line"; empty where there is none. Code in a folder that is
    called as a framework counts only where nothing else does."""
    own = [frame for frame in frames(lines) if not LIBRARIES.search(frame.file)]
    best = next((frame for frame in own if not FRAMEWORKS.search(frame.file)), own[0] if own else None)
    return f"{best.file}:{best.number}" if best else ""
