"""Recognise what is on a picture of 32 x 32 pixels: ResNet-50 (arXiv 1512.03385), with the small stem that CIFAR-10
is usually given: a 3 x 3 convolution and no pooling, since there is nothing to spare.

The pictures are CIFAR-10's binary files, https://www.cs.toronto.edu/~kriz/cifar.html, from a folder that the user
has. Without one, random numbers stand for them: the speed is the same, and there is nothing to learn.
"""

import ascend_studio
from mindspore import nn

from ascend_engine.recipe import Recipe
from ascend_engine.recipe_data.cifar import CLASSES, RANDOM, load, random_pictures

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
