from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

from simple_parsing import field as sfield, flag, subparsers
from simple_parsing.helpers import Serializable
@dataclass
class Options(Serializable):
    lr: float = sfield(default=0.1, alias="-l", help="the rate")
    out: str = sfield(default="o", alias=["--output", "-o"])
    verbose: bool = sfield(default=False, action="store_true")
    quick: bool = flag(default=False)
    secret: str = sfield(default="s", cmd=False)
    level: str = sfield(default="a", choices=["a", "b"])
    hidden: int = field(default=1, init=False)
    path: str = sfield(positional=True, default="here")
found = parse(Options, args=None)
