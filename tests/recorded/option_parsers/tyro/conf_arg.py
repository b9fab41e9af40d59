import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Args:
    learning_rate: Annotated[float, tyro.conf.arg(name="lr", help="the rate", aliases=["-l"])] = 0.1
    batch_size: Annotated[int, tyro.conf.arg(aliases=["--bs", "-b"])] = 4
    use_amp: tyro.conf.FlagConversionOff[bool] = False
    fixed: tyro.conf.Fixed[int] = 3
    hidden: tyro.conf.Suppress[int] = 3
    source: tyro.conf.Positional[str] = "here"
    no_name: Annotated[bool, tyro.conf.arg(name="quiet")] = False
    only_on: tyro.conf.FlagCreatePairsOff[bool] = False
found = tyro.cli(Args)
