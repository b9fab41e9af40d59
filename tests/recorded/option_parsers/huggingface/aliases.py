from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

@dataclass
class Aliases:
    learning_rate: float = field(default=5e-5, metadata={"aliases": ["--lr", "-l"], "help": "rate"})
    batch_size: int = field(default=8, metadata={"aliases": "--bs"})
    per_device_train_batch_size: int = 4
    internal: int = field(default=3, init=False)
    do_train: bool = field(default=False, metadata={"aliases": ["-t"]})
found = HfArgumentParser(dataclass_types=(Aliases,)).parse_args_into_dataclasses()
