from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

@dataclass
class Common:
    seed: int = 42
    output_dir: str = "out"
@dataclass
class Logging:
    log_every: int = field(default=10)
    seed: int = 7
@dataclass
class Train(Common, Logging):
    lr: float = 5e-5
    seed: int = 1
@dataclass
class Later(Train):
    lr: float = field(default=1e-4, metadata={"help": "changed"})
    warmup: float = 0.1
found = HfArgumentParser(Later).parse_args_into_dataclasses()
