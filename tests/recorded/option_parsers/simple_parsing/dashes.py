from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class Options:
    batch_size: int = 4
    no_cache: bool = False
parser = ArgumentParser(add_option_string_dash_variants=simple_parsing.DashVariant.UNDERSCORE_AND_DASH)
parser.add_arguments(Options, dest="options")
found = parser.parse_args()
