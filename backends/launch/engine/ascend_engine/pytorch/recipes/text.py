"""Learn to write, character by character: a small decoder-only Transformer over a corpus."""

from __future__ import annotations

import torch
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel
from torch.nn import functional

from ascend_engine.pytorch import shards
from ascend_engine.pytorch.dropout import Dropout, Position
from ascend_engine.pytorch.recipe import Recipe
from ascend_engine.recipe_data.text import CONTEXT, Alphabet, read_corpus, split, write_sample

WIDTH = 64
HEADS = 4
LAYERS = 2
DROPOUT = 0.1
NORM_EPSILON = 1e-7  # as of nn.LayerNorm in MindSpore, whose GELU is the tanh approximation

TENSOR_PARALLEL = {
    "blocks.*.attention.query_key_value": ColwiseParallel(),
    "blocks.*.attention.output": RowwiseParallel(),
    "blocks.*.widen": ColwiseParallel(),
    "blocks.*.narrow": RowwiseParallel(),
}


class Attention(nn.Module):
    """Causal self-attention, (batch, time, WIDTH) -> the same. Query, key and value of a head stand side by side, so
    that ranks can have heads of their own."""

    def __init__(self):
        super().__init__()
        self.query_key_value = nn.Linear(WIDTH, 3 * WIDTH)
        self.output = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, time, _ = x.shape
        heads = self.query_key_value(x).reshape(batch, time, -1, 3, WIDTH // HEADS)
        query, key, value = heads.permute(3, 0, 2, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.output(mixed.transpose(1, 2).reshape(batch, time, -1))


class Block(nn.Module):
    """`dropouts`: what the attention and what the dense layers add goes through one each."""

    def __init__(self, dropouts):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH, NORM_EPSILON)
        self.attention = Attention()
        self.norm2 = nn.LayerNorm(WIDTH, NORM_EPSILON)
        self.widen = nn.Linear(WIDTH, 4 * WIDTH)
        self.gelu = nn.GELU("tanh")
        self.narrow = nn.Linear(4 * WIDTH, WIDTH)
        self.dropout1, self.dropout2 = dropouts

    def forward(self, x):
        x = x + self.dropout1(self.attention(self.norm1(x)))
        return x + self.dropout2(self.narrow(self.gelu(self.widen(self.norm2(x)))))


class Network(nn.Module):
    """(batch, CONTEXT) characters -> (batch, CONTEXT, vocabulary) logits of the next."""

    def __init__(self, vocabulary, seed):
        super().__init__()
        self.position = Position()
        dropouts = [Dropout(DROPOUT, (CONTEXT, WIDTH), seed, n, self.position) for n in range(2 * LAYERS)]
        self.characters = nn.Embedding(vocabulary, WIDTH)
        nn.init.normal_(self.characters.weight, std=0.01)
        self.places = nn.Parameter(torch.zeros(CONTEXT, WIDTH))
        self.blocks = nn.Sequential(*[Block(dropouts[2 * n : 2 * n + 2]) for n in range(LAYERS)])
        self.norm = nn.LayerNorm(WIDTH, NORM_EPSILON)
        self.logits = nn.Linear(WIDTH, vocabulary)

    def forward(self, characters):
        x = self.characters(characters) + self.places
        return self.logits(self.norm(self.blocks(x)))


def loss(logits, labels):
    return functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def build(config):
    text = read_corpus(config.corpus)
    alphabet = Alphabet(text)
    train_data, eval_data = split(alphabet.encode(text))
    network = Network(len(alphabet), config.seed)

    def finish(folder):
        write_sample(predictor(network), alphabet, eval_data, config.seed, folder)

    return Recipe(
        network=network,
        loss=loss,
        train_data=train_data,
        eval_data=eval_data,
        metrics={"eval_loss": loss},
        before_batch=network.position.begin,
        finish=finish,
        recompute=tuple(network.blocks),
        tensor_parallel=TENSOR_PARALLEL,
    )


def predictor(network):
    """(1, CONTEXT) int32 characters -> (vocabulary,) logits of the next."""
    network.train(False)
    device = shards.part(network.places).device

    def predict(window):
        with torch.no_grad():
            return network(torch.from_numpy(window).to(device))[0, -1].float().cpu().numpy()

    return predict
