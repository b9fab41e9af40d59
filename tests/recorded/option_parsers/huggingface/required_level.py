from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

class Level(Enum):
    low = "l"
    high = "h"
@dataclass
class Args:
    level: Level = field(metadata={"help": "needed"})
    strategy: Level = field(default_factory=lambda: Level.low)
    name: str = field(default_factory=lambda: "made")
    size: "Literal[1, 2]" = field(default=1)
found = HfArgumentParser(Args).parse_args_into_dataclasses()
