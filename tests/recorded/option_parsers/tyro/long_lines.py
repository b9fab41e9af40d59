import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

Rate = float
@dataclasses.dataclass
class Args:
    """Arguments.

    Attributes:
        lr: The rate of learning,
            in two lines.
        decay (float): The decay.
    """
    lr: Rate = 1e-3
    decay: float = 1e-2
    # Two lines
    # above it.
    workers: int = 2
    resume: Optional[pathlib.Path] = None  # beside it
    env: Dict[str, int] = field(default_factory=dict)
    rest: Optional[str] = dataclasses.field(default=None)
found = tyro.cli(Args, description="text")
