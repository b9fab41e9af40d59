import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Base:
    seed: int = 1
    name: str = "b"
@dataclass
class More:
    depth: int = 2
    seed: int = 9
@dataclass
class Both(Base, More):
    name: str = "both"
    width: Optional[int] = None
if __name__ == "__main__":
    found = tyro.cli(Both)
