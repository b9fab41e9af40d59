from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class Base:
    seed: int = 1
    name: str = "b"
@dataclass
class More:
    depth: int = 2
@dataclass
class Both(Base, More):
    seed: int = 5
    width: Optional[int] = None
    scale: Union[int, float] = 1
    wait: Optional[float] = 2.5
    raw: str = None
found = parse(Both, dest="args")
