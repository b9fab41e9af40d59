import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Args:
    use_amp: bool = False
    steps: int = 1
found = tyro.cli(Args, config=(tyro.conf.FlagConversionOff,))
