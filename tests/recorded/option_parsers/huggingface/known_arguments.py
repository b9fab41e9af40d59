from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

@dataclass
class Args:
    lr: float = 0.1
    warmup_steps: int = 0
    save_total_limit: Optional[int] = field(default=None)
    report_to: Optional[str] = field(default="none")
def main():
    parser = HfArgumentParser((Args,))
    args, rest = parser.parse_args_into_dataclasses(return_remaining_strings=True)
    return args, rest
found = main()
