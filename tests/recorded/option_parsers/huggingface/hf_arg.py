from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

from transformers.hf_argparser import HfArg
@dataclass
class Args:
    model: str = HfArg(help="the model", aliases=["--example", "-e"])
    width: int = HfArg(default=64, help="how wide")
    tags: List[str] = HfArg(default_factory=lambda: ["a"], help="tags")
    quiet: bool = HfArg(default=False, aliases="-q")
classes = (Args,)
parser = HfArgumentParser(classes)
found = parser.parse_args_into_dataclasses()
