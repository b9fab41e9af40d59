"""What a script sees of the memory of a virtual card of 1 GiB, run in a child; prints one JSON object."""

from __future__ import annotations

import json
import sys
from typing import Any

import torch
import torch_npu  # type: ignore[import-not-found]
from torch import nn
from torch.nn import functional

MIB = 1 << 20


def numbers_of_a_card() -> list[Any]:
    npu = torch_npu.npu
    tensor = torch.empty(3 * MIB, dtype=torch.uint8, device="npu")
    alive = [npu.memory_allocated(), npu.memory_reserved(), npu.memory_allocated(1)]
    free, total = npu.mem_get_info()
    stats = npu.memory_stats()
    del tensor
    gone = [npu.memory_allocated(), npu.memory_reserved(), npu.max_memory_allocated()]
    npu.reset_peak_memory_stats()
    npu.empty_cache()
    return [
        *alive, free, total, npu.get_device_properties(0).total_memory, *gone, npu.max_memory_allocated(),
        npu.memory_reserved(), stats["requested_bytes.all.current"], stats["segment.all.current"],
        npu.memory_stats_as_nested_dict()["allocated_bytes"]["all"]["current"], torch.accelerator.memory_reserved(),
    ]  # fmt: skip


def out_of_memory() -> list[Any]:
    kept = torch.empty(900 * MIB, dtype=torch.uint8, device="npu")
    words = []
    for fraction in (1.0, 0.95):
        torch_npu.npu.set_per_process_memory_fraction(fraction)
        try:
            torch.empty(200 * MIB, dtype=torch.uint8, device="npu")
        except torch.OutOfMemoryError as error:
            words.append(str(error))
    del kept
    torch_npu.npu.set_per_process_memory_fraction(1.0)
    return [
        *words,
        torch.empty(200 * MIB, dtype=torch.uint8, device="npu").numel(),
        torch_npu.npu.memory_stats()["num_ooms"],
    ]


def beyond_the_host() -> str:
    try:
        torch.empty(1 << 43, device="npu")
    except torch.OutOfMemoryError as error:
        return str(error)
    return ""


def attention() -> int:
    """Bytes that a card keeps for the backward pass beside the inputs, the result, and the host's own numbers."""
    torch_npu.npu.empty_cache()
    query = torch.randn(2, 4, 64, 32, device="npu", requires_grad=True)
    before = torch_npu.npu.memory_allocated()
    result = functional.scaled_dot_product_attention(query, query, query)
    kept = torch_npu.npu.memory_allocated() - before
    result.sum().backward()
    return kept


def recurrent() -> list[list[int]]:
    """Bytes alive beside input, weights and result: after the forward pass, and after the backward pass."""
    rows = []
    for kind in (nn.GRU, nn.LSTM, nn.RNN, nn.GRUCell, nn.LSTMCell):
        torch_npu.npu.empty_cache()
        cells, steps = kind(64, 64).npu(), torch.randn(32, 8, 64, device="npu")
        steps = steps[0] if "Cell" in kind.__name__ else steps
        before = torch_npu.npu.memory_allocated()
        found = cells(steps)
        result, *others = (found[0], *found[1]) if isinstance(found, tuple) else (found,)
        kept = torch_npu.npu.memory_allocated() - before - result.numel() * 4
        result.sum().backward()
        gradients = sum(weight.numel() * 4 + 544 for weight in cells.parameters())
        left = torch_npu.npu.memory_allocated() - before - result.numel() * 4 - gradients
        del result, others, found, cells, steps
        rows.append([kept, left])
    return rows


def training() -> None:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.BatchNorm1d(512), nn.Linear(512, 128)).npu()
    optimizer = torch.optim.AdamW(net.parameters(), foreach=False)
    for _ in range(3):
        batch = torch.randn(64, 256).npu()
        loss = net(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    print(json.dumps({name: globals()[name]() for name in sys.argv[1:]}))
