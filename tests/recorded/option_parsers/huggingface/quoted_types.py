from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

DEFAULT_NAME = "base"
SIZES = [1, 2]
@dataclass
class Args:
    name: "str" = DEFAULT_NAME
    steps: "Optional[int]" = 1000
    ratio: float = 1 / 4
    neg: int = -1
    scientific: float = 1e-8
    big: int = 1_000_000
    empty: str = ""
    flag: "bool" = False
    text: str = field(default="a b", metadata={"help": "with %% and (default: 3) and " "more"})
found = HfArgumentParser((Args,)).parse_args_into_dataclasses()
