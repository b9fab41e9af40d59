"""A training that is rehearsed with numbers and without, run in a child: `fake_probes.py KIND`."""

from __future__ import annotations

import math
import os
import sys
from typing import Any

import torch
import torch_npu  # type: ignore[import-not-found]
from torch import distributed, nn
from torch.distributed.fsdp import fully_shard
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

WORDS, WIDTH = 600, 64


class Net(nn.Module):
    """Shared weights, attention, a recurrent layer, and a mask of the host."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.norm = nn.LayerNorm(WIDTH)
        self.heads = nn.Linear(WIDTH, 3 * WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.out = nn.Linear(WIDTH, WORDS, bias=False)
        self.out.weight = self.words.weight
        self.register_buffer("scale", torch.ones(WIDTH))

    def forward(self, tokens: torch.Tensor) -> Any:
        batch, length = tokens.shape
        hidden = self.norm(self.words(tokens)) * self.scale
        query, key, value = self.heads(hidden).view(batch, length, 3, 4, WIDTH // 4).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        hidden = hidden + mixed.transpose(1, 2).reshape(batch, length, WIDTH)
        return self.out(hidden + self.down(functional.gelu(self.up(hidden))))


def train(net: Any, steps: int = 3) -> None:
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    data = TensorDataset(torch.randint(0, WORDS, (24, 32)), torch.randint(0, WORDS, (24, 32)))
    for step, (tokens, targets) in enumerate(DataLoader(data, batch_size=8, shuffle=True)):
        if step == steps:
            return
        logits = net(tokens.npu())
        loss = functional.cross_entropy(logits.view(-1, WORDS), targets.npu().view(-1))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        optimizer.step()
        print(f"loss {loss.item():.3f} perplexity {math.exp(loss.item()):.3f}")


def decoder() -> None:
    torch.manual_seed(0)
    train(Net().npu())


def scaled() -> None:
    net = Net().npu()
    optimizer, scaler = torch.optim.AdamW(net.parameters()), torch.amp.GradScaler("npu")
    for _ in range(2):
        with torch.autocast("npu", dtype=torch.float16):
            loss = net(torch.zeros(2, 8, dtype=torch.long).npu()).float().mean()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    print(len(optimizer.state), net.out.weight is net.words.weight, net.out.weight.device)


def deciding() -> None:
    net = Net().npu()
    loss = net(torch.zeros(2, 8, dtype=torch.long).npu()).mean()
    if loss.item() > 0.5:
        print("branch")
    print(torch.zeros(int(loss.item()) + 1).shape)


def by_values() -> None:
    chosen = torch.ones(4).npu().nonzero()
    print(chosen.shape)


def real_data() -> None:
    """What is on the host has its numbers."""
    numbers = torch.arange(6).float()
    print(numbers.sum().item(), [int(number) for number in torch.randperm(3).sort().values], numbers.npu().device)


def sharded() -> None:
    torch.npu.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("hccl")
    net = Net().npu()
    for layer in (net.heads, net.up, net.down, net):
        fully_shard(layer)
    held = torch_npu.npu.memory_allocated()
    train(net, 1)
    objects: list[Any] = [None] * distributed.get_world_size()
    distributed.all_gather_object(objects, "same")
    print(distributed.get_world_size(), distributed.get_rank(), held, objects[-1])


def other_backend() -> None:
    distributed.init_process_group("nccl")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
