from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Literal, Optional, Tuple, Union
from transformers import HfArgumentParser

@dataclass
class ModelArguments:
    """Arguments pertaining to which model to fine-tune."""
    model_name_or_path: str = field(metadata={"help": "Path to pretrained model or model identifier"})
    config_name: Optional[str] = field(default=None, metadata={"help": "Pretrained config name or path"})
    cache_dir: Optional[str] = field(default=None, metadata={"help": "Where to store the models"})
    use_fast_tokenizer: bool = field(default=True, metadata={"help": "Whether to use a fast tokenizer or not."})
    model_revision: str = field(default="main", metadata={"help": "The specific model version to use."})
    use_auth_token: bool = field(default=False, metadata={"help": "Use the token of the CLI."})
@dataclass
class DataTrainingArguments:
    train_file: Optional[str] = field(default=None, metadata={"help": "The input training data file."})
    max_seq_length: int = field(default=128, metadata={"help": "The maximum total input sequence length."})
    pad_to_max_length: bool = field(default=True, metadata={"help": "Pad all samples."})
    max_train_samples: Optional[int] = field(default=None, metadata={"help": "Truncate the number."})
parser = HfArgumentParser((ModelArguments, DataTrainingArguments))
found = parser.parse_args_into_dataclasses()
