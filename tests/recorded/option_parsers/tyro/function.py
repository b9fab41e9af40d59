import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

def main(data_dir: Path, learning_rate: float = 3e-4, epochs: int = 10, use_amp: bool = False, shuffle: bool = True) -> dict:
    """Train.

    Args:
        data_dir: Where the data lies.
        learning_rate: How fast.
        epochs: How long.
    """
    return dict(locals())
found = tyro.cli(main)
