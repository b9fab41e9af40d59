"""A torch training that is seeded or is not."""

from __future__ import annotations

TORCH = """
import sys, torch
if "--seed" in sys.argv:
    torch.manual_seed(1)
nn = torch.nn
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(inplace=True), nn.Dropout(0.1), nn.Linear(16, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
random = torch.Generator().manual_seed(1)
for step in range(1_000_000):
    loss = net(torch.randn(4, 8, generator=random)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
