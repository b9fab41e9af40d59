from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

from simple_parsing import subgroups
@dataclass
class Adam:
    lr: float = 1e-3
    beta: float = 0.9
@dataclass
class SGD:
    lr: float = 1e-2
    momentum: float = 0.0
@dataclass
class Config:
    optimizer: Union[Adam, SGD] = subgroups({"adam": Adam, "sgd": SGD}, default="adam")
    epochs: int = 3
found = parse(Config)
