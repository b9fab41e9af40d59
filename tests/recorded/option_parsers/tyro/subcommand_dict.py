import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

def train(lr: float = 0.1, *, resume: bool = False) -> tuple:
    return ("train", lr, resume)
def evaluate(checkpoint: Path, k: int = 5) -> tuple:
    return ("eval", checkpoint, k)
found = tyro.extras.subcommand_cli_from_dict({"train": train, "eval": evaluate})
