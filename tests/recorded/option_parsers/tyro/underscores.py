import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Optim:
    learning_rate: float = 0.1
@dataclass
class Args:
    optim_args: Optim = field(default_factory=Optim)
    use_amp: bool = False
found = tyro.cli(Args, use_underscores=True)
