"""Fine-tune a decoder by LoRA: its own weights stay, small matrices beside them learn (https://arxiv.org/abs/2106.09685).

The decoder is a local folder of Hugging Face, or a small one of the studio's whose weights are random. peft adds what
is trained; a checkpoint holds that alone.
"""

from __future__ import annotations

import hashlib
import importlib
from typing import TYPE_CHECKING, Any

import ascend_studio
import torch
from torch import nn
from torch.nn import functional

from ascend_engine.failures import Failure, first_line
from ascend_engine.pytorch import shards
from ascend_engine.pytorch.recipe import Recipe
from ascend_engine.pytorch.recipes.text import NORM_EPSILON, WIDTH, Block
from ascend_engine.recipe_data.examples import IGNORED, SHIPPED, Bytes, read_examples, tokens_of

if TYPE_CHECKING:
    from pathlib import Path

    from ascend_engine.options import Config

LAYERS = 4
TARGETS = ("query_key_value", "output", "widen", "narrow", "logits")
WRITTEN = 96  # tokens of the sample that is written after the training
ADAPTER = "adapter"


class Decoder(nn.Module):
    """(batch, length) tokens -> (batch, length, vocabulary) logits of the next."""

    def __init__(self, vocabulary: int, length: int):
        super().__init__()
        self.tokens = nn.Embedding(vocabulary, WIDTH)
        self.positions = nn.Parameter(torch.randn(length, WIDTH) * 0.02)
        self.blocks = nn.ModuleList([Block((nn.Identity(), nn.Identity())) for _ in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH, NORM_EPSILON)
        self.logits = nn.Linear(WIDTH, vocabulary)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.positions[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return self.logits(self.norm(x))


class Logits(nn.Module):
    """A causal language model of Hugging Face, as a network of tokens alone."""

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, tokens):
        # A cache of keys would grow when the activations are computed again.
        return self.model(input_ids=tokens.long(), use_cache=False).logits


def loss(logits, labels):
    """The mean over samples of the mean over each one's learned tokens: however a batch is split, the same."""
    values = functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=IGNORED, reduction="none")
    learned = labels != IGNORED
    return (values.reshape(labels.shape).sum(1) / learned.sum(1).clamp(min=1)).mean()


def build(config: Config) -> Recipe:
    peft = imported("peft")
    examples_file = config.examples or config.assets.joinpath(*SHIPPED)
    examples = read_examples(examples_file)
    if config.base_model is None:
        tokenizer: Any = Bytes()
        encode, end = tokenizer.encode, tokenizer.end
        base: nn.Module = Decoder(tokenizer.size, config.context)
        targets: Any = list(TARGETS)
        ascend_studio.note("launch.lora_random_base")
    else:
        base, tokenizer = load_base(config.base_model)
        targets = "all-linear"
        end = tokenizer.eos_token_id

        def encode(text: str) -> list[int]:
            return tokenizer.encode(text, add_special_tokens=False)

    train_data, eval_data = tokens_of(examples, encode, end, config.context)
    settings = peft.LoraConfig(r=config.lora_rank, lora_alpha=config.lora_alpha, target_modules=targets)
    adapted = peft.get_peft_model(base, settings)
    network = adapted if config.base_model is None else Logits(adapted)
    blocks = max((m for m in base.modules() if isinstance(m, nn.ModuleList)), key=len, default=())

    def finish(folder: Path) -> None:
        write_sample(network, eval_data, tokenizer, end, folder)
        write_adapter(adapted, settings, folder / ADAPTER)

    return Recipe(
        network=network,
        loss=loss,
        train_data=train_data,
        eval_data=eval_data,
        metrics={"eval_loss": loss},
        finish=finish,
        recompute=tuple(blocks),
        saves_frozen=False,
        code=base_digest(config.base_model),
    )


def imported(name: str) -> Any:
    """A package that fine-tuning alone needs. Raises Failure where the interpreter has none."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise Failure("launch.lora_needs", package=name, reason=first_line(error)) from error


def load_base(folder: Path) -> tuple[nn.Module, Any]:
    """A model and its tokenizer from a local folder: weights in safetensors, and no code of the folder's. Raises
    Failure."""
    transformers = imported("transformers")
    trusted = {"local_files_only": True, "trust_remote_code": False}
    try:
        model = transformers.AutoModelForCausalLM.from_pretrained(
            str(folder), use_safetensors=True, torch_dtype=torch.float32, **trusted
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), **trusted)
    except Exception as error:  # of many kinds
        raise Failure("launch.base_unreadable", folder=str(folder), error=first_line(error)) from error
    if tokenizer.eos_token_id is None:
        raise Failure("launch.base_unreadable", folder=str(folder), error="its tokenizer has no eos_token")
    return model, tokenizer


def base_digest(folder: Path | None) -> str:
    """sha256 of the configuration and of the names and sizes of the files: another base does not go unnoticed at a
    resume, where its weights are read again."""
    if folder is None:
        return ""
    hasher = hashlib.sha256()
    for path in sorted(path for path in folder.iterdir() if path.is_file()):
        hasher.update(f"{path.name} {path.stat().st_size}\n".encode())
        if path.name == "config.json":
            hasher.update(path.read_bytes())
    return hasher.hexdigest()


@torch.no_grad()
def write_sample(network: nn.Module, data: Any, tokenizer: Any, end: int, folder: Path) -> None:
    """What the network writes after the first prompt that was not trained with: the likeliest token each time."""
    network.train(False)
    inputs, labels = data.inputs[0], data.labels[0]
    learned = (labels != IGNORED).nonzero()[0]
    length = len(inputs)
    tokens = inputs[: learned[0] + 1].tolist() or [end]
    prompt = len(tokens)
    device = shards.part(next(network.parameters())).device
    while len(tokens) < min(length, prompt + WRITTEN):
        following = int(network(torch.tensor([tokens], dtype=torch.int32, device=device))[0, -1].argmax())
        if following == end:
            break
        tokens.append(following)
    folder.mkdir(exist_ok=True)
    text = tokenizer.decode(tokens)
    path = folder / "sample.txt"
    path.write_text(text, "utf-8")
    ascend_studio.artifact("sample", path.absolute())
    ascend_studio.note("launch.sample", text=text)


def write_adapter(adapted: Any, settings: Any, folder: Path) -> None:
    """What was trained, as peft and Hugging Face read it."""
    arrays = {name: shards.whole(tensor).cpu() for name, tensor in adapted.state_dict().items() if "lora_" in name}
    adapted.save_pretrained(str(folder), state_dict=arrays, safe_serialization=True)
    ascend_studio.artifact("adapter", (folder / "adapter_model.safetensors").absolute())
