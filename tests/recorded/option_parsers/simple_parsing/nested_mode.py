from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class Optim:
    lr: float = 0.1
    use_nesterov: bool = False
@dataclass
class Config:
    optim: Optim = field(default_factory=Optim)
    batch_size: int = 4
parser = ArgumentParser(argument_generation_mode=simple_parsing.ArgumentGenerationMode.NESTED,
                        nested_mode=simple_parsing.NestedMode.WITHOUT_ROOT,
                        add_option_string_dash_variants=simple_parsing.DashVariant.DASH)
parser.add_arguments(Config, "config")
found = parser.parse_args()
