from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

@dataclass
class Lists:
    files: List[str] = field(default_factory=list, metadata={"help": "files"})
    betas: List[float] = field(default_factory=lambda: [0.9, 0.999])
    modules: Optional[List[str]] = field(default=None, metadata={"help": "e.g. q_proj v_proj"})
    sizes: list[int] = field(default_factory=lambda: [1, 2])
    layers: List[int] = field(metadata={"help": "required"}, kw_only=True)
found = HfArgumentParser([Lists]).parse_args_into_dataclasses()
