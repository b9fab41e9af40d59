import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Optim:
    lr: float = 0.1
    steps: int = 5
@dataclass
class Args:
    a: Optim = field(default_factory=lambda: Optim(lr=0.5))
    b: Optim = field(default_factory=Optim)
    c: Optim = field(default_factory=lambda: Optim(0.25, steps=9))
found = tyro.cli(Args)
