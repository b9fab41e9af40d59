"""Recognise handwritten digits, 8 x 8 pixels, with a small convolutional network.

Without BatchNorm, whose statistics would depend on how a batch is split for gradient accumulation.
"""

from __future__ import annotations

from torch import nn

from ascend_engine.pytorch.recipe import Recipe
from ascend_engine.recipe_data.digits import load


class Network(nn.Module):
    """(batch, 1, 8, 8) float32 -> (batch, 10) logits."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding="same"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Conv2d(16, 32, 3, padding="same"),
            nn.ReLU(),
            nn.MaxPool2d(2, 2),
            nn.Flatten(),
            nn.Linear(32 * 2 * 2, 10),
        )

    def forward(self, images):
        return self.layers(images)


def accuracy(logits, labels):
    return (logits.argmax(dim=1) == labels).float().mean()


def build(config):
    train_data, eval_data = load(config.assets / "digits")
    return Recipe(
        network=Network(),
        loss=nn.CrossEntropyLoss(),
        train_data=train_data,
        eval_data=eval_data,
        metrics={"accuracy": accuracy},
    )
