import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

from tyro import cli as run
class Trainer:
    def __init__(self, lr: float, layers: Tuple[int, ...] = (1, 2), *, quiet: bool = False) -> None:
        """Trains.

        :param lr: the rate
        :param quiet: says nothing
        """
        self.given = (lr, layers, quiet)
    def __repr__(self): return str(self.given)
found = run(Trainer)
