"""A recipe: what is trained. The studio does the rest: the steps, mixed precision, checkpoints, curves.

This file trains as it is. Change one part after the other into your own.
"""

import numpy as np
from ascend_engine.recipe import Recipe
from mindspore import nn, ops

# Modules beside this file can be imported like from any script:
# from my_network import Network


class Network(nn.Cell):
    """The network: one batch of inputs in, one batch of outputs out.

    It is compiled in the modes jit and graph. So construct() uses operators of MindSpore and attributes of self; it
    neither prints nor touches numpy.
    """

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(2, 32),
            nn.ReLU(),
            nn.Dense(32, 32),
            nn.ReLU(),
            nn.Dense(32, 2),
        )

    def construct(self, points):
        return self.layers(points)


def loss(outputs, labels):
    """One number for a batch, the mean over its samples. An nn.Cell such as nn.CrossEntropyLoss() does as well."""
    return ops.cross_entropy(outputs, labels)


def accuracy(outputs, labels):
    """A metric has the form of the loss. Called accuracy, it is the better the higher; any other, the lower. "Keep the
    best" of the launch page knows loss, accuracy and eval_loss."""
    return (outputs.argmax(axis=1) == labels).float().mean()


def make_data(samples, seed):
    """A pair of numpy arrays: inputs and labels, the first dimension counts the samples.

    float64 becomes float32, int64 becomes int32. Where the data is too large for that, give an object with len(data)
    and data[numbers] instead: `numbers` is an array of sample numbers, the answer such a pair for just these. Or a
    pipeline of mindspore.dataset with two columns, or a function that returns an iterator of batches.

    Let it depend on nothing but the sample's number: then a resumed training goes on bit for bit.
    """
    random = np.random.default_rng(seed)
    points = random.uniform(-1, 1, (samples, 2))
    radius = np.hypot(points[:, 0], points[:, 1])
    return points, radius < 0.8  # inside the circle or not


def build(config):
    """The studio calls this once. `config` has all choices of the launch page, such as config.batch, config.seed."""
    points, inside = make_data(2000, seed=0)
    eval_points, eval_inside = make_data(500, seed=1)
    network = Network()
    return Recipe(
        network=network,
        loss=loss,
        # None: the optimizer, learning rate and weight decay of the launch page. Or one of your own over
        # network.trainable_params(); the learning rate of the launch page goes into it, too. Beside one of your own,
        # train_step=… may be your own step, (inputs, labels) -> loss, which updates the weights itself.
        optimizer=None,
        train_data=(points, inside.astype(np.int32)),
        # The validation set, which the metrics are measured on; leave both out if you have none.
        eval_data=(eval_points, eval_inside.astype(np.int32)),
        metrics={"accuracy": accuracy},
        # Cells whose activations may be computed again where the launch page asks for recomputation, e.g.
        # recompute=tuple(network.blocks),
    )
