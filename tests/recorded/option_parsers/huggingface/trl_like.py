from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

class TrlParser(HfArgumentParser):
    pass
@dataclass
class ScriptArguments:
    dataset_name: str = field(default="trl", metadata={"help": "Dataset name."})
    dataset_train_split: str = field(default="train")
    gradient_checkpointing_use_reentrant: bool = field(default=False, metadata={"help": "Whether"})
    ignore_bias_buffers: bool = True
@dataclass
class ModelConfig:
    lora_r: int = 16
    lora_target_modules: Optional[List[str]] = field(default=None, metadata={"help": "LoRA target modules.", "nargs": "*"})
    torch_dtype: Optional[str] = field(default=None, metadata={"help": "dtype", "choices": ["auto", "bfloat16"]})
parser = TrlParser((ScriptArguments, ModelConfig))
found = parser.parse_args_into_dataclasses()
