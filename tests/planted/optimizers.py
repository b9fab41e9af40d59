"""The optimizers of the planted trainings, and what may be wrong in them.

A plant is "optimizer CHANGE": a hyperparameter and its factor or value ("lr *2", "betas 0.5,0.999"), or one of "skipped
parameter", "missing zero_grad", "clip 0.1" (by that share of the gradient's norm), "coupled decay".
"""

from __future__ import annotations

import re
from typing import Any

import torch

KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "": (torch.optim.SGD, {"lr": 0.1}),
    "sgd": (torch.optim.SGD, {"lr": 0.1}),
    "momentum": (torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 1e-3}),
    "adamw": (torch.optim.AdamW, {"lr": 0.01}),
    "adam": (torch.optim.Adam, {"lr": 0.01, "weight_decay": 1e-3}),
    "rmsprop": (torch.optim.RMSprop, {"lr": 0.003, "alpha": 0.9}),
}


class Update:
    """An optimizer and how its step is made. `change`: what is wrong, "" where nothing is."""

    def __init__(self, model: torch.nn.Module, kind: str, change: str) -> None:
        self.change = change
        factory, options = KINDS[kind]
        if change == "coupled decay":
            factory, options = torch.optim.Adam, options | {"weight_decay": 0.01}
        self.named = list(model.named_parameters())
        self.optimizer = factory([parameter for _, parameter in self.named], **options)
        for group in self.optimizer.param_groups:
            group.update(_changed(group, change))

    def zero_grad(self) -> None:
        if self.change != "missing zero_grad":
            self.optimizer.zero_grad()

    def step(self) -> None:
        clip = re.fullmatch(r"clip (\S+)", self.change)
        if clip:
            self._clip(float(clip[1]))
        if self.change == "skipped parameter":
            self.named[self._matrices()[len(self._matrices()) // 2]][1].grad = None
        self.optimizer.step()

    def _matrices(self) -> list[int]:
        return [number for number, (_, parameter) in enumerate(self.named) if parameter.dim() > 1]

    def _clip(self, share: float) -> None:
        parameters = [parameter for _, parameter in self.named]
        norm = torch.nn.utils.get_total_norm([part.grad for part in parameters if part.grad is not None])
        torch.nn.utils.clip_grad_norm_(parameters, float(norm) * share)


def _changed(group: dict[str, Any], change: str) -> dict[str, Any]:
    """Return the hyperparameters that a change names."""
    match = re.fullmatch(r"(\w+) (\*?)([\d.e,-]+|True)", change)
    if match is None or match[1] not in group:
        return {}
    name, is_factor, text = match.groups()
    if text == "True":
        return {name: True}
    numbers = tuple(float(number) for number in text.split(","))
    value = numbers if len(numbers) > 1 else numbers[0]
    return {name: group[name] * value if is_factor else value}
