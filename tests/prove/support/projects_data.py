"""Data in the right shape for the projects of `prove scripts`, made here: nothing of it is downloaded."""

from __future__ import annotations

import pickle
import random
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

TRAIN, TEST = 64, 24
"""Images, at least two of each digit: siamese_network looks for another one for ever."""


def mnist(folder: Path) -> None:
    """As torchvision has it when it was downloaded and unpacked."""
    chance = random.Random(1)
    raw = folder / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name, count in (("train", TRAIN), ("t10k", TEST)):
        images = struct.pack(">4I", 0x803, count, 28, 28) + chance.randbytes(count * 28 * 28)
        (raw / f"{name}-images-idx3-ubyte").write_bytes(images)
        labels = struct.pack(">2I", 0x801, count) + bytes(number % 10 for number in range(count))
        (raw / f"{name}-labels-idx1-ubyte").write_bytes(labels)


def words(folder: Path) -> None:
    """As word_language_model reads them."""
    chance = random.Random(2)
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("train", 400), ("valid", 60), ("test", 60)):
        text = "".join(" ".join(f"w{chance.randrange(200)}" for _ in range(9)) + "\n" for _ in range(lines))
        (folder / f"{name}.txt").write_text(text, "utf-8")


def characters(folder: Path) -> None:
    """As nanoGPT's data/shakespeare_char/prepare.py leaves them."""
    chance = random.Random(3)
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("train", "val"):
        (folder / f"{name}.bin").write_bytes(struct.pack("<20000H", *(chance.randrange(65) for _ in range(20000))))
    (folder / "meta.pkl").write_bytes(pickle.dumps({"vocab_size": 65}))
