from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

from simple_parsing import field as sfield
from simple_parsing import list_field, mutable_field
@dataclass
class Lists:
    some: List[int] = list_field(1, 2, 3)
    names: List[str] = field(default_factory=list)
    betas: Tuple[float, float] = (0.9, 0.999)
    many: Tuple[int, ...] = (1, 2)
    mixed: Tuple[str, int] = ("a", 1)
    opt: Optional[List[int]] = None
    must: List[float] = field(kw_only=True)
found = parse(Lists)
