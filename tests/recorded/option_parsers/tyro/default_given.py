import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Args:
    lr: float
    steps: int = 3
    name: str = "x"
found = tyro.cli(Args, default=Args(lr=0.5, steps=7))
