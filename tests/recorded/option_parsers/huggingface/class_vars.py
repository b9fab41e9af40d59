from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

from typing import ClassVar
@dataclass
class Args:
    _argument_group_name: ClassVar[str] = "group"
    CHOICES: ClassVar[List[str]] = ["a"]
    lr: float = 0.1  # the rate
    config: Optional[str] = None
    """Where the configuration is."""
    def method(self): return 1
    @property
    def half(self): return self.lr / 2
    def __post_init__(self):
        self.lr = float(self.lr)
found = HfArgumentParser(Args).parse_args_into_dataclasses()
