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
    nesterov: bool = False
@dataclass
class Args:
    optim: tyro.conf.OmitArgPrefixes[Optim] = field(default_factory=Optim)
    steps: int = 3
found = tyro.cli(Args)
