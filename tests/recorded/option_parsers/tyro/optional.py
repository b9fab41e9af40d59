import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Args:
    steps: Optional[int] = None
    name: str | None = "x"
    either: Union[int, str] = 3
    rate: int | float = 1
    flag: Optional[bool] = None
    out: Path = Path("out")
    where: Optional[Path] = None
    needed: Optional[int] = field(kw_only=True)
found = tyro.cli(Args)
