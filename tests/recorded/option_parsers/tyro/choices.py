import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

class Color(enum.Enum):
    RED = "red"
    GREEN = "green"
class Size(enum.IntEnum):
    SMALL = 1
    LARGE = enum.auto()
@dataclass
class Args:
    color: Color = Color.RED
    size: Size = Size.SMALL
    kind: Literal["a", "b"] = "a"
    bits: Literal[4, 8] = 8
    maybe: Optional[Literal["x", "y"]] = None
    mix: Literal["on", 3, None] = "on"
    must: Color = field(kw_only=True)
    several: Tuple[Literal["p", "q"], ...] = ("p",)
found = tyro.cli(Args)
