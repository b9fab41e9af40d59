"""Recognise what is on a picture of 32 x 32 pixels: ResNet-50 (arXiv 1512.03385), with the small stem that CIFAR-10
is usually given: a 3 x 3 convolution and no pooling, since there is nothing to spare.

The pictures are CIFAR-10's binary files, https://www.cs.toronto.edu/~kriz/cifar.html, from a folder that the user
has. Without one, random numbers stand for them: the speed is the same, and there is nothing to learn.
"""

import ascend_studio
import numpy as np
from mindspore import nn

from ascend_engine.data import Arrays
from ascend_engine.failures import Failure
from ascend_engine.recipe import Recipe

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
STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))  # blocks, width inside a block, stride of the first
WIDENING = 4  # a block's outputs by its width inside


def convolution(before, after, size, stride=1):
    return nn.Conv2d(before, after, size, stride, pad_mode="same", weight_init="HeNormal")


class Bottleneck(nn.Cell):
    """(batch, before, h, w) -> (batch, 4 width, h / stride, w / stride)."""

    def __init__(self, before, width, stride):
        super().__init__()
        after = WIDENING * width
        self.conv1, self.norm1 = convolution(before, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = convolution(width, width, 3, stride), nn.BatchNorm2d(width)
        # Begins at 0, so that a block passes on what it gets (arXiv 1706.02677, 5.1).
        self.conv3, self.norm3 = convolution(width, after, 1), nn.BatchNorm2d(after, gamma_init="zeros")
        self.relu = nn.ReLU()
        self.shortcut = nn.SequentialCell()
        if before != after:
            self.shortcut = nn.SequentialCell(convolution(before, after, 1, stride), nn.BatchNorm2d(after))

    def construct(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.relu(self.norm2(self.conv2(y)))
        return self.relu(self.norm3(self.conv3(y)) + self.shortcut(x))


class Network(nn.Cell):
    """(batch, 3, 32, 32) float32 -> (batch, 10) logits."""

    def __init__(self):
        super().__init__()
        self.stem = nn.SequentialCell(convolution(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU())
        self.blocks = nn.SequentialCell(*make_blocks())
        self.logits = nn.Dense(WIDENING * STAGES[-1][1], CLASSES)

    def construct(self, images):
        features = self.blocks(self.stem(images))
        return self.logits(features.mean((2, 3)))


def make_blocks():
    blocks, before = [], 64
    for count, width, stride in STAGES:
        for number in range(count):
            blocks.append(Bottleneck(before, width, 1 if number else stride))
            before = WIDENING * width
    return blocks


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


def accuracy(logits, labels):
    return (logits.argmax(axis=1) == labels).float().mean()


def build(config):
    if config.images is None:
        ascend_studio.finding("launch.random_data", "warning", samples=RANDOM)
        print("random numbers instead of pictures: nothing can be learned, no accuracy is measured")
        data = {"train_data": random_pictures()}
    else:
        train_data, eval_data = load(config.images)
        data = {"train_data": train_data, "eval_data": eval_data, "metrics": {"accuracy": accuracy}}
    network = Network()
    return Recipe(network=network, loss=nn.CrossEntropyLoss(), recompute=tuple(network.blocks), **data)


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
