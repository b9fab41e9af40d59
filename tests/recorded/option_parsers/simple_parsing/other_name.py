from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

import simple_parsing as sp
@dataclass
class Optim:
    lr: float = 0.1
@dataclass
class Config:
    """Everything.

    Args:
        seed: of the generator
    """
    seed: int = 0
    b: int = 3
    lr: float = 0.5
    optim: Optim = sp.mutable_field(Optim, lr=0.25)
    sizes: List[int] = sp.list_field(1, 2)
found = sp.parse(Config)
