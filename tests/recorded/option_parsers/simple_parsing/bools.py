from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Dict, List, Literal, Optional, Tuple, Union
import simple_parsing
from simple_parsing import ArgumentParser, parse

@dataclass
class Flags:
    debug: bool = False
    shuffle: bool = True
    use_amp: bool = False
    needed: bool = field(kw_only=True)
    maybe: Optional[bool] = None
found = simple_parsing.parse(config_class=Flags)
