"""Recognise what is on a picture of 32 x 32 pixels: ResNet-50 (arXiv 1512.03385), with the small stem that CIFAR-10
is usually given: a 3 x 3 convolution and no pooling, since there is nothing to spare.

The pictures are CIFAR-10's binary files, from a folder that the user has. Without one, random numbers stand for them:
the speed is the same, and there is nothing to learn.
"""

from __future__ import annotations

import ascend_studio
from torch import nn
from torch.nn import functional

from ascend_engine.pytorch.recipe import Recipe
from ascend_engine.recipe_data.cifar import CLASSES, RANDOM, load, random_pictures

STAGES = ((3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2))  # blocks, width inside a block, stride of the first
WIDENING = 4  # a block's outputs by its width inside


class Convolution(nn.Conv2d):
    """Padded as with pad_mode="same" of MindSpore: (batch, before, h, w) -> (batch, after, h / stride, w / stride), for
    sizes that the stride divides. What cannot be halved stands at the end."""

    def __init__(self, before, after, size, stride=1):
        super().__init__(before, after, size, stride, bias=False)
        nn.init.kaiming_normal_(self.weight)
        begin, rest = divmod(max(0, size - stride), 2)
        self.edges = (begin, begin + rest) * 2

    def forward(self, x):
        return super().forward(functional.pad(x, self.edges))


def last_norm(width):
    """Begins at 0, so that a block passes on what it gets (arXiv 1706.02677, 5.1)."""
    norm = nn.BatchNorm2d(width)
    nn.init.zeros_(norm.weight)
    return norm


class Bottleneck(nn.Module):
    """(batch, before, h, w) -> (batch, 4 width, h / stride, w / stride)."""

    def __init__(self, before, width, stride):
        super().__init__()
        after = WIDENING * width
        self.conv1, self.norm1 = Convolution(before, width, 1), nn.BatchNorm2d(width)
        self.conv2, self.norm2 = Convolution(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.norm3 = Convolution(width, after, 1), last_norm(after)
        self.relu = nn.ReLU()
        self.shortcut = nn.Sequential()
        if before != after:
            self.shortcut = nn.Sequential(Convolution(before, after, 1, stride), nn.BatchNorm2d(after))

    def forward(self, x):
        y = self.relu(self.norm1(self.conv1(x)))
        y = self.relu(self.norm2(self.conv2(y)))
        return self.relu(self.norm3(self.conv3(y)) + self.shortcut(x))


class Network(nn.Module):
    """(batch, 3, 32, 32) float32 -> (batch, 10) logits."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(Convolution(3, 64, 3), nn.BatchNorm2d(64), nn.ReLU())
        self.blocks = nn.Sequential(*make_blocks())
        self.logits = nn.Linear(WIDENING * STAGES[-1][1], CLASSES)

    def forward(self, images):
        features = self.blocks(self.stem(images))
        return self.logits(features.mean((2, 3)))


def make_blocks():
    blocks, before = [], 64
    for count, width, stride in STAGES:
        for number in range(count):
            blocks.append(Bottleneck(before, width, 1 if number else stride))
            before = WIDENING * width
    return blocks


def accuracy(logits, labels):
    return (logits.argmax(dim=1) == labels).float().mean()


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
