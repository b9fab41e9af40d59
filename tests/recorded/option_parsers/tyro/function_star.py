import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

def train(lr: float, /, steps: int, *, quiet: bool = False, tags: List[str] = []) -> tuple:
    """Train it.

    Args:
        lr: rate
        steps: how
            many
        quiet: nothing is said
    """
    return lr, steps, quiet, tags
if __name__ == "__main__":
    found = tyro.cli(train)
