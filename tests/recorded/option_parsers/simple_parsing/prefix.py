from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class Options:
    lr: float = 0.1
    warm_up: int = 1
parser = ArgumentParser()
parser.add_arguments(Options, dest="train", prefix="train_")
parser.add_arguments(Options, dest="valid", prefix="valid_")
found = parser.parse_args()
