from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

from simple_parsing import choice
class Color(Enum):
    blue = "BLUE"
    red = "RED"
@dataclass
class Choices:
    color: Color = Color.red
    kind: Literal["a", "b"] = "a"
    bits: Literal[4, 8] = 8
    opt: str = choice("adam", "sgd", default="sgd")
    model: str = choice({"small": 1, "large": 2}, default="small")
    maybe: Optional[Literal["x", "y"]] = None
found = parse(Choices)
