"""Learn to write, character by character: a small decoder-only Transformer over a corpus."""

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops

from ascend_engine.dropout import Dropout, Position
from ascend_engine.recipe import Recipe
from ascend_engine.recipe_data.text import CONTEXT, Alphabet, read_corpus, split, write_sample

WIDTH = 64
HEADS = 4
LAYERS = 2
DROPOUT = 0.1


class Attention(nn.Cell):
    """Causal self-attention, (batch, time, WIDTH) -> the same. Query, key and value of a head stand side by side."""

    def __init__(self):
        super().__init__()
        # Attributes: the source that MindSpore writes for AMP O1 has no names of this module.
        self.width, self.heads = WIDTH, HEADS
        self.query_key_value = nn.Dense(WIDTH, 3 * WIDTH)
        self.output = nn.Dense(WIDTH, WIDTH)
        future = np.triu(np.ones((CONTEXT, CONTEXT), np.float32), 1)
        # Above -65504, the lowest float16, since AMP computes in it.
        self.mask = Tensor(future * -1e4)
        self.scale = (WIDTH // HEADS) ** -0.5

    def construct(self, x):
        batch, time, _ = x.shape
        heads = self.query_key_value(x).reshape(batch, time, self.heads, 3, self.width // self.heads)
        query, key, value = heads.transpose(3, 0, 2, 1, 4)
        scores = ops.matmul(query * self.scale, key.swapaxes(-1, -2)) + self.mask
        mixed = ops.matmul(ops.softmax(scores, -1), value)
        return self.output(mixed.swapaxes(1, 2).reshape(batch, time, self.width))


class Block(nn.Cell):
    """`dropouts`: what the attention and what the dense layers add goes through one each."""

    def __init__(self, dropouts):
        super().__init__()
        self.norm1 = nn.LayerNorm((WIDTH,))
        self.attention = Attention()
        self.norm2 = nn.LayerNorm((WIDTH,))
        self.widen = nn.Dense(WIDTH, 4 * WIDTH)
        self.gelu = nn.GELU()
        self.narrow = nn.Dense(4 * WIDTH, WIDTH)
        self.dropout1, self.dropout2 = dropouts

    def construct(self, x):
        x = x + self.dropout1(self.attention(self.norm1(x)))
        return x + self.dropout2(self.narrow(self.gelu(self.widen(self.norm2(x)))))


class Network(nn.Cell):
    """(batch, CONTEXT) int32 characters -> (batch, CONTEXT, vocabulary) logits of the next."""

    def __init__(self, vocabulary, seed):
        super().__init__()
        self.position = Position()
        dropouts = [Dropout(DROPOUT, (CONTEXT, WIDTH), seed, n, self.position) for n in range(2 * LAYERS)]
        self.characters = nn.Embedding(vocabulary, WIDTH, embedding_table="normal")
        self.places = Parameter(Tensor(np.zeros((CONTEXT, WIDTH), np.float32)), name="places")
        self.blocks = nn.SequentialCell(*[Block(dropouts[2 * n : 2 * n + 2]) for n in range(LAYERS)])
        self.norm = nn.LayerNorm((WIDTH,))
        self.logits = nn.Dense(WIDTH, vocabulary)

    def construct(self, characters):
        x = self.characters(characters) + self.places
        return self.logits(self.norm(self.blocks(x)))


def loss(logits, labels):
    return ops.cross_entropy(logits.reshape(-1, logits.shape[-1]), labels.reshape(-1))


def build(config):
    text = read_corpus(config.corpus)
    alphabet = Alphabet(text)
    codes = alphabet.encode(text)
    train_data, eval_data = split(codes)
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
    )


def predictor(network):
    """(1, CONTEXT) int32 characters -> (vocabulary,) logits of the next."""

    def next_logits(window):
        return network(window)[0, -1]

    network.set_train(False)
    # Compiled in either mode: operator by operator, one character takes 0.1 s.
    compiled = ms.jit(next_logits)

    def predict(window):
        return compiled(Tensor(window)).asnumpy()

    return predict
