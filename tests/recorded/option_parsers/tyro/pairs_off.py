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
    shuffle: bool = True
    verbose: bool = field(kw_only=True)
found = tyro.cli(tyro.conf.FlagCreatePairsOff[Args])
