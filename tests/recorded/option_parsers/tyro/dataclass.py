import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass
class Args:
    """Config."""
    exp_name: str = "run"
    """the name of this experiment"""
    seed: int = 1
    """seed"""
    torch_deterministic: bool = True
    """if toggled"""
    cuda: bool = True
    wandb_entity: Optional[str] = None
    total_timesteps: int = 500000  # total
    # Above it.
    gamma: float = 0.99
found = tyro.cli(Args)
