import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Train:
    lr: float = 0.1
    use_amp: bool = False
@dataclass
class EvalModel:
    checkpoint: Path
    batch_size: int = 8
found = tyro.cli(Union[Train, EvalModel])
