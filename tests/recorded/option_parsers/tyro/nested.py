import dataclasses
import enum
import pathlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Dict, List, Literal, Optional, Tuple, Union
import tyro

@dataclass(frozen=True)
class OptimizerConfig:
    learning_rate: float = 3e-4
    weight_decay: float = 1e-2
    use_nesterov: bool = False
@dataclass(frozen=True)
class Inner:
    depth: int = 2
@dataclass(frozen=True)
class ModelConfig:
    inner: Inner = field(default_factory=Inner)
    hidden_size: int = 128
@dataclass(frozen=True)
class Config:
    optimizer: OptimizerConfig
    model: ModelConfig = ModelConfig()
    max_steps: int = 100
found = tyro.cli(Config)
