from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class Optim:
    lr: float = 0.1
    momentum: float = 0.9
@dataclass
class Model:
    width: int = 64
    depth: int = 2
@dataclass
class Config:
    optim: Optim = field(default_factory=Optim)
    model: Model = field(default_factory=Model)
    seed: int = 0
found = parse(Config)
