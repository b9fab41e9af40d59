from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

@dataclass
class Flags:
    fp16: bool = False
    shuffle: bool = True
    given_up: bool = field(default=True, metadata={"help": "whether"})
    needed: bool = field(metadata={"help": "no default"}, kw_only=True)
    maybe: Optional[bool] = None
    maybe_on: Optional[bool] = True
    maybe_off: Optional[bool] = field(default=False)
found = HfArgumentParser(Flags).parse_args_into_dataclasses()
