"""What the inventory of operators is to find, run in a child: `inventory_probes.py KIND`."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import torch
import torch_npu  # type: ignore[import-not-found]
from torch import nn


def training() -> None:
    net = nn.Linear(8, 8).npu()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        batch = torch.randn(4 + step, 8).npu()
        loss = net(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        loss.item()
        loss.detach().cpu()
        batch[batch > 0].sum()
        torch_npu.npu.synchronize()


def masks() -> None:
    """Inputs of one shape, and results of as many elements as they have values above 0."""
    net = nn.Linear(8, 8).npu()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        net(torch.ones(4, 8).npu()).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        batch = (torch.arange(32).view(4, 8) - 8 * step).npu()
        batch[batch > 0].sum()


def casts() -> None:
    warnings.simplefilter("always")
    batch = torch.ones(4, device="npu")
    for _ in range(2):
        print(batch.double().dtype, batch.to(torch.float64).dtype)
    print(batch.to("npu", torch.float64).dtype, torch.ones(1, dtype=torch.float64).npu().dtype)


def refused() -> None:
    wide = torch.ones(4, dtype=torch.float64).npu()
    for function in (lambda: torch.sort(wide, stable=True), lambda: nn.functional.interpolate(
        wide.view(1, 1, 2, 2), scale_factor=2, mode="bilinear"
    )):  # fmt: skip
        try:
            function()
        except RuntimeError as error:
            print(error)


def many_operators() -> None:
    """A step of as many operators as the second word says, whose shapes never repeat."""
    total: Any = torch.zeros((), device="npu", requires_grad=True)
    optimizer = torch.optim.SGD([total], lr=0.1)
    for _ in range(2):
        loss = total * 1
        for number in range(int(sys.argv[2]) // 2):
            loss = loss + torch.ones(number % 7000 + 1, device="npu").sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
