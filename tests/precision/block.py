"""A small torch training, unmodified but for a cast that can be planted in one block: `--cast 1`."""

BLOCK = """\
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--cast", type=int, default=-1, help="the block that computes in bfloat16")
args = parser.parse_args()
torch.manual_seed(0)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.cast = False

    def forward(self, x):
        y = self.norm(x)
        if self.cast:
            y = y.to(torch.bfloat16).to(torch.float32)
        return x + self.down(nn.functional.gelu(self.up(y)))


class Model(nn.Module):
    def __init__(self, width=16, depth=3):
        super().__init__()
        self.embed = nn.Embedding(32, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, 32)

    def forward(self, tokens):
        x = self.embed(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


model = Model()
if args.cast >= 0:
    model.blocks[args.cast].cast = True
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(4):
    tokens = torch.randint(0, 32, (4, 8))
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
"""
