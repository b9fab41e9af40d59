from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

class Strategy(str, Enum):
    NO = "no"
    STEPS = "steps"
    EPOCH = "epoch"
class Level(Enum):
    low = 1
    high = 2
@dataclass
class Choices:
    strategy: Strategy = Strategy.NO
    level: Level = field(default=Level.low, metadata={"help": "the level"})
    kind: Literal["lora", "full", "freeze"] = field(default="lora", metadata={"help": "Which."})
    bits: Literal[4, 8] = 8
    stage: Optional[Literal["sft", "dpo"]] = None
    must: Literal["a", "b"] = field(kw_only=True)
    evaluation: Union[Strategy, str] = field(default="no")
    scheduler: str = field(default="linear", metadata={"help": "x", "choices": ["linear", "cosine"]})
found = HfArgumentParser(Choices).parse_args_into_dataclasses()
