from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class Options:
    """Help string for this group"""
    log_dir: str  # where
    learning_rate: float = 1e-4  # rate of it
    # Comment above.
    epochs: int = 10
    name: str = "x"
    """Text below."""
parser = ArgumentParser()
parser.add_argument("--foo", type=int, default=123, help="foo help")
parser.add_arguments(Options, dest="options")
found = parser.parse_args()
