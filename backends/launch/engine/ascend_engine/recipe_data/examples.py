"""Examples to fine-tune a language model with: prompts and what should follow them, from a file of JSON lines."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import ascend_studio
import numpy as np

from ascend_engine.failures import Failure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHIPPED = ("lora", "examples.jsonl")
"""Where they are among the studio's assets: its own options and what each does, in English and Chinese."""
LARGEST = 64 << 20  # bytes of the file
EVALUATED_EVERY = 10
IGNORED = -100
"""The label of a token that is not to be learned: one of a prompt, or behind the end."""


class Tokens:
    """Samples of one length: (samples, length) int32 tokens, and as labels the token that follows each of them."""

    def __init__(self, inputs: np.ndarray, labels: np.ndarray):
        self.inputs = inputs
        self.labels = labels

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.inputs[numbers], self.labels[numbers]


class Bytes:
    """The tokens of a text are its bytes in UTF-8, and one that ends it."""

    end = 256
    size = 257

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: list[int]) -> str:
        return bytes(token for token in tokens if token < self.end).decode(errors="replace")


def read_examples(path: Path) -> list[tuple[str, str]]:
    """(prompt, completion) of each line: {"prompt", "completion"}, {"instruction", "input", "output"}, or {"text"},
    which has no prompt. Raises Failure, which names the line."""
    try:
        if path.stat().st_size > LARGEST:
            raise Failure("launch.examples_large", file=str(path), largest=LARGEST >> 20)
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure("launch.examples_unreadable", file=str(path), error=str(error)) from error
    examples = [example_of(line, path, number) for number, line in enumerate(lines, 1) if line.strip()]
    if len(examples) < EVALUATED_EVERY:
        raise Failure("launch.examples_few", file=str(path), count=len(examples), needed=EVALUATED_EVERY)
    return examples


def example_of(line: str, path: Path, number: int) -> tuple[str, str]:
    try:
        values = json.loads(line)
        if "text" in values:
            pair = "", values["text"]
        elif "instruction" in values:
            pair = "\n".join(filter(None, (values["instruction"], values.get("input", "")))), values["output"]
        else:
            pair = values["prompt"], values["completion"]
        if not all(isinstance(text, str) for text in pair) or not pair[1]:
            raise ValueError("its texts")
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise Failure("launch.example_wrong", file=str(path), line=number) from error
    return pair


def tokens_of(
    examples: list[tuple[str, str]], encode: Callable[[str], list[int]], end: int, length: int
) -> tuple[Tokens, Tokens]:
    """Samples to learn from, and every tenth to evaluate with. What is longer than `length` is cut; an example of
    which nothing is left to learn is passed over."""
    rows = []
    cut = 0
    for prompt, completion in examples:
        first = encode(prompt + "\n") if prompt else []
        whole = [*first, *encode(completion), end]
        cut += len(whole) > length + 1
        labels = [IGNORED] * len(first) + whole[len(first) :]
        rows.append((padded(whole[:-1], length, end), padded(labels[1:], length, IGNORED)))
    learned = [row for row in rows if (row[1] != IGNORED).any()]
    if len(learned) < EVALUATED_EVERY:
        raise Failure("launch.examples_cut_away", length=length, count=len(learned), needed=EVALUATED_EVERY)
    if cut:
        ascend_studio.note("launch.examples_cut", count=cut, length=length, passed=len(rows) - len(learned))
    is_evaluated = np.arange(len(learned)) % EVALUATED_EVERY == EVALUATED_EVERY - 1
    inputs, labels = (np.stack(arrays) for arrays in zip(*learned, strict=True))
    return Tokens(inputs[~is_evaluated], labels[~is_evaluated]), Tokens(inputs[is_evaluated], labels[is_evaluated])


def padded(tokens: list[int], length: int, filler: int) -> np.ndarray:
    row = np.full(length, filler, np.int32)
    tokens = tokens[:length]
    row[: len(tokens)] = tokens
    return row
