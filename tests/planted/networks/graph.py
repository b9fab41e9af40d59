"""A graph network: two layers of attention over edges (as GAT's), then a mean of each graph's nodes.

Of layer b are linear 3b nodes, 3b+1 and 3b+2 the scores; linear 6 the classifier.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import generator_of, scaled, sharpened, through, with_gradient_times

WIDTH, GRAPHS, NODES, EDGES, CLASSES = 16, 4, 24, 80, 5


class Layer(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.nodes = nn.Linear(WIDTH, WIDTH)
        self.of_source, self.of_target = nn.Linear(WIDTH, 1, bias=False), nn.Linear(WIDTH, 1, bias=False)

    def forward(self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        if self.plant == "edges turned":
            source, target = target, source
        x = self.nodes(x)
        if self.plant == "cast":
            x = through(x, torch.bfloat16)
        scores = (self.of_source(x)[source] + self.of_target(x)[target]).squeeze(-1)
        scores = F.leaky_relu(scores, 0.02 if self.plant == "slope" else 0.2)
        weights = self._softmax(scores, target)
        if self.plant == "weights scaled":
            weights = scaled(weights, 1.01)
        messages = x[source] * weights[:, None]
        result = torch.zeros_like(x).index_add(0, target, messages.to(x.dtype))
        if self.plant == "wrong backward":
            result = with_gradient_times(result, 0.5)
        return F.relu(result) if self.plant == "relu" else F.elu(result)

    def _softmax(self, scores: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        """Over the edges that end in each node."""
        powers = torch.exp(scores - scores.max().detach())
        total = torch.zeros(NODES, dtype=powers.dtype).index_add(0, target, powers)
        floor = 1e-2 if self.plant == "floor" else 1e-9
        return powers / (total[target] + floor)


class Net(nn.Module):
    def __init__(self, plant: str, block: int) -> None:
        super().__init__()
        self.plant = plant
        self.layers = nn.ModuleList(Layer(plant if block == number else "") for number in range(2))
        self.out = nn.Linear(WIDTH, CLASSES)

    def forward(
        self, x: torch.Tensor, source: torch.Tensor, target: torch.Tensor, graph: torch.Tensor, labels: torch.Tensor
    ) -> torch.Tensor:
        for layer in self.layers:
            x = layer(x, source, target)
        total = torch.zeros(GRAPHS, WIDTH, dtype=x.dtype).index_add(0, graph, x)
        count = torch.bincount(graph, minlength=GRAPHS)[:, None].to(x.dtype)
        return F.cross_entropy(self.out(total if self.plant == "no mean" else total / count), labels)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(30)
    model = sharpened(Net(plant, block), 2.0)
    with torch.no_grad():
        if plant == "score weight":
            model.layers[block].of_source.weight[0, 3] += 0.02
        elif plant == "weight transposed":
            model.layers[block].nodes.weight.copy_(model.layers[block].nodes.weight.t().clone())
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    x = torch.randn((NODES, WIDTH), generator=generator)
    source, target = (torch.randint(0, NODES, (EDGES,), generator=generator) for _ in range(2))
    if plant == "edge lost":
        source, target = source[:-1].clone(), target[:-1].clone()
    graph = torch.arange(NODES) % GRAPHS
    return x, source, target, graph, torch.randint(0, CLASSES, (GRAPHS,), generator=generator)
