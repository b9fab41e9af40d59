from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

@dataclass
class Args:
    lr: float = 1e-3
    name: str = "x"
parser = HfArgumentParser(Args, description="more")
parser.add_argument("--local-rank", type=int, default=-1)
parser.add_argument("--debug", action="store_true")
found = parser.parse_args_into_dataclasses()
