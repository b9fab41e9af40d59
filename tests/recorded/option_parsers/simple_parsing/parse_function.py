from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class TrainConfig:
    workers: int = 8  # The number of workers for training
    exp_name: str = "default_exp"  # The experiment name
    out: Path = Path("exp")
found = parse(TrainConfig)
