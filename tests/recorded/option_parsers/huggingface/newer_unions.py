from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

@dataclass
class Args:
    device: str | None = None
    steps: int | None = field(default=None, metadata={"help": "steps"})
    save: Union[float, str] = 500
    rope: Optional[float] = field(default=None)
    resume: bool | None = None
    names: list[str] | None = None
found = HfArgumentParser(Args).parse_args_into_dataclasses()
