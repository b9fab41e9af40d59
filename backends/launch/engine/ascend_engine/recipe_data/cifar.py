"""Pictures of 32 x 32 pixels from CIFAR-10's binary files, or random numbers in their place."""

from __future__ import annotations

import numpy as np

from ascend_engine.data import Arrays
from ascend_engine.failures import Failure

TRAIN_FILES = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
TEST_FILE = "test_batch.bin"
FOLDER = "cifar-10-batches-bin"  # what the archive unpacks into
RECORDS = 10_000  # of each file
RECORD = 1 + 3 * 32 * 32  # bytes: the label, then all red, all green, all blue values
CLASSES = 10
EVALUATED = 500  # of the 10000 pictures of TEST_FILE, evenly spread: on a CPU all would take longer than the training
# Of the 50000 pictures to learn from, by colour, of values from 0 to 1.
MEAN = np.array([0.4914, 0.4822, 0.4465], np.float32).reshape(3, 1, 1)
DEVIATION = np.array([0.2470, 0.2435, 0.2616], np.float32).reshape(3, 1, 1)

RANDOM = 2048  # random pictures


class Pictures:
    """Records of CIFAR-10's files, kept as bytes; pixels are scaled when they are asked for."""

    def __init__(self, records):
        self.records = records

    def __len__(self):
        return len(self.records)

    def __getitem__(self, numbers):
        chosen = self.records[numbers]
        pixels = chosen[:, 1:].reshape(-1, 3, 32, 32).astype(np.float32) / 255
        return (pixels - MEAN) / DEVIATION, chosen[:, 0].astype(np.int32)


def random_pictures():
    """The same whatever the seed: inputs float32 (2048, 3, 32, 32) like scaled pixels, labels that mean nothing."""
    random = np.random.default_rng(0)
    pixels = random.standard_normal((RANDOM, 3, 32, 32), np.float32)
    return Arrays(pixels, random.integers(0, CLASSES, RANDOM, np.int32))


def load(folder):
    """50000 pictures to learn from, and the validation set. Raises Failure with the name of the file that is missing or
    not what it should be."""
    inner = folder / FOLDER
    folder = inner if inner.is_dir() else folder
    validation = read(folder / TEST_FILE)[:: RECORDS // EVALUATED]
    return Pictures(np.concatenate([read(folder / name) for name in TRAIN_FILES])), Pictures(validation)


def read(path):
    """The records of a file, uint8 (10000, 3073)."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise Failure("launch.images_unreadable", file=str(path), error=str(error.strerror)) from error
    if len(content) != RECORDS * RECORD:
        raise Failure("launch.images_size", file=str(path), size=len(content), expected=RECORDS * RECORD)
    records = np.frombuffer(content, np.uint8).reshape(RECORDS, RECORD)
    if records[:, 0].max() >= CLASSES:
        raise Failure("launch.images_labels", file=str(path), label=int(records[:, 0].max()))
    return records
