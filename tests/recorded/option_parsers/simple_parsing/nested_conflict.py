from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class Side:
    lr: float = 0.1
    steps: int = 5
@dataclass
class Config:
    gen: Side = field(default_factory=Side)
    disc: Side = field(default_factory=Side)
    seed: int = 0
found = parse(Config)
