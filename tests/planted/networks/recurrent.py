"""A recurrent tagger: an LSTM of two layers, a GRU cell that is called for each word, a linear layer.

Linear 0 is the tagger; the GRU cells are VF.gru_cell or a module GRUCell, by the level of the dump.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import nn

from tests.planted.networks.parts import generator_of, scaled, through, with_gradient_times

WIDTH, WORDS, TAGS, LENGTH, BATCH = 20, 50, 7, 6, 4


class Tagger(nn.Module):
    def __init__(self, plant: str) -> None:
        super().__init__()
        self.plant = plant
        self.words = nn.Embedding(WORDS, WIDTH)
        self.first = nn.LSTM(WIDTH, WIDTH, num_layers=2, batch_first=True)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-2 if plant == "eps" else 1e-5)
        self.second, self.tag = nn.GRUCell(WIDTH, WIDTH), nn.Linear(WIDTH, TAGS)

    def forward(self, words: torch.Tensor, tags: torch.Tensor) -> torch.Tensor:
        x = self.words(words)
        if self.plant == "cast":
            x = through(x, torch.float16)
        begin = None
        if self.plant == "state of ones":
            begin = (torch.full((2, len(x), WIDTH), 0.01), torch.zeros(2, len(x), WIDTH))
        x = self.norm(self.first(x, begin)[0])
        x = self._through_cells(x)
        if self.plant == "wrong backward":
            x = with_gradient_times(x, 1.1)
        scores = self.tag(torch.tanh(x) if self.plant == "tanh" else x)
        kind = "sum" if self.plant == "loss sum" else "mean"
        return F.cross_entropy(scores.flatten(0, 1), tags.flatten(), reduction=kind)

    def _through_cells(self, x: torch.Tensor) -> torch.Tensor:
        state, states = torch.zeros(len(x), WIDTH, dtype=x.dtype), []
        for number in range(LENGTH):
            if self.plant == "state scaled" and number == 3:
                state = scaled(state, 0.99)
            if self.plant == "state forgotten" and number == 4:
                state = torch.zeros_like(state)
            state = self.second(x[:, number], state)
            states.append(state)
        return torch.stack(states[::-1] if self.plant == "backwards" else states, 1)


def make(plant: str, block: int) -> nn.Module:
    torch.manual_seed(23)
    model = Tagger(plant)
    with torch.no_grad():
        for parameter in (*model.first.parameters(), *model.second.parameters()):
            parameter.mul_(2.0)
        if plant == "gates swapped":
            weight = model.first.weight_ih_l0
            weight.copy_(torch.cat([weight[WIDTH : 2 * WIDTH], weight[:WIDTH], weight[2 * WIDTH :]]).clone())
        elif plant == "forget bias":
            model.first.bias_hh_l1[WIDTH : 2 * WIDTH] += 1.0
        elif plant == "cell weight":
            model.second.weight_hh.mul_(1.01)
    return model


def batch(plant: str, step: int, rank: int) -> tuple[torch.Tensor, ...]:
    generator = generator_of(step, rank)
    words = torch.randint(0, WORDS, (BATCH, LENGTH), generator=generator)
    tags = torch.randint(0, TAGS, (BATCH, LENGTH), generator=generator)
    return words, (tags.roll(1, 1) if plant == "tags shifted" else tags)
