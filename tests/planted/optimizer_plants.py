"""What is planted in the optimizers of the planted trainings: the parameters of the step after the first update differ,
and no operator is to be blamed for it.

The first update shows at the second step (1), moments that are wrong at the third (2): of equal moments Adam's first
update is that of any beta.
"""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING

from tests.planted.plant import OF_OPTIMIZER, OptimizerAnswer, Order, Pair, Plant, pair_of

if TYPE_CHECKING:
    from collections.abc import Iterator

NOISES = ("half", "kernels", "order", "atomics", "ulp")
ROWS = (
    ("decoder", "adamw", "lr 0", 1), ("decoder", "adamw", "lr *2", 1), ("decoder", "adamw", "lr *1.2", 1),
    ("decoder", "adamw", "weight_decay *10", 1), ("decoder", "adamw", "weight_decay *100", 1),
    ("decoder", "adamw", "betas 0.5,0.999", 2), ("decoder", "adamw", "betas 0.9,0.9", 2),
    ("decoder", "adamw", "eps 1e-2", 1), ("decoder", "adamw", "skipped parameter", 1),
    ("decoder", "adamw", "missing zero_grad", 2), ("decoder", "adamw", "lr *1.05", 1),
    ("vit", "adamw", "lr *0.5", 1), ("vit", "adamw", "weight_decay *100", 1), ("vit", "adamw", "coupled decay", 1),
    ("vit", "adamw", "maximize True", 1), ("vit", "adamw", "betas 0.0,0.999", 2),
    ("resnet", "momentum", "lr 0", 1), ("resnet", "momentum", "lr *2", 1), ("resnet", "momentum", "lr *10", 1),
    ("resnet", "momentum", "momentum 0.5", 2), ("resnet", "momentum", "momentum 0", 2),
    ("resnet", "momentum", "weight_decay *100", 1), ("resnet", "momentum", "nesterov True", 1),
    ("resnet", "momentum", "missing zero_grad", 2), ("resnet", "momentum", "clip 0.1", 1),
    ("resnet", "momentum", "skipped parameter", 1), ("tcn", "momentum", "dampening 0.9", 2),
    ("scan", "adam", "lr *2", 1), ("scan", "adam", "weight_decay *100", 1), ("scan", "adam", "betas 0.9,0.5", 2),
    ("recurrent", "rmsprop", "alpha 0.5", 1), ("recurrent", "rmsprop", "lr *3", 1), ("recurrent", "sgd", "lr 0", 1),
    ("unet", "sgd", "clip 0.1", 1),
)  # fmt: skip
"""Network, optimizer, what is wrong, the first step that shows it."""


def _plants() -> Iterator[Plant]:
    noises = cycle(NOISES)
    for model, optimizer, change, step in ROWS:
        yield Plant(
            plant=f"{OF_OPTIMIZER}{change}", kind="optimizer", model=model, answers=(OptimizerAnswer(),),
            noise=next(noises), steps=3, first_step=step, optimizer=optimizer,
        )  # fmt: skip


PLANTS = tuple(_plants())


def pairs() -> Iterator[Pair]:
    """Each plant on a clean pair and on its noisy one, then the healthy pairs of the same trainings."""
    for plant in PLANTS:
        yield pair_of(plant, "")
        yield pair_of(plant, plant.noise)
    for model, optimizer in dict.fromkeys((plant.model, plant.optimizer) for plant in PLANTS):
        for noise in NOISES:  # without noise both dumps are one file, which `compare` refuses
            order = Order(model=model, steps=3, optimizer=optimizer)
            yield Pair(target=order, golden=Order(model=model, noise=noise, steps=3, optimizer=optimizer))
