import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Args:
    sizes: List[int] = field(default_factory=lambda: [64, 64])
    names: Tuple[str, ...] = ()
    betas: Tuple[float, float] = (0.9, 0.999)
    pair: tuple[int, str] = (1, "a")
    maybe: Optional[List[int]] = None
    must: list[str] = field(kw_only=True)
    bools: Tuple[bool, bool] = (True, False)
found = tyro.cli(Args)
