"""Two dense layers, as in MindSpore's tutorials on parallel training: each a MatMul that can be sharded.

They learn what another such network, drawn once, makes of random inputs.
"""

import mindspore as ms
from mindspore import Parameter, nn, ops
from mindspore.common.initializer import HeUniform, initializer

from ascend_engine.recipe import Recipe
from ascend_engine.recipe_data.dense import HIDDEN, INPUTS, OUTPUTS, samples
from ascend_engine.shard import sharded, strategies

OPERATORS = ("matmul1", "relu", "matmul2")


class Layer(nn.Cell):
    """(batch, inputs) -> (batch, outputs): a product with a weight (inputs, outputs), without a bias."""

    def __init__(self, matmul, inputs, outputs):
        super().__init__()
        self.matmul = matmul
        # As nn.Dense begins. MindSpore counts the fans of a weight (outputs, inputs), and this one is the other way.
        begin = initializer(HeUniform(5**0.5, mode="fan_out"), (inputs, outputs), ms.float32)
        self.weight = Parameter(begin, name="weight")

    def construct(self, inputs):
        return self.matmul(inputs, self.weight)


class Activation(nn.Cell):
    def __init__(self, relu):
        super().__init__()
        self.relu = relu

    def construct(self, inputs):
        return self.relu(inputs)


class Network(nn.Cell):
    """(batch, 64) -> (batch, 16); each operator in a cell of its own, so that a pipeline can be cut between any."""

    def __init__(self, strategies_by_name):
        super().__init__()
        self.first = Layer(sharded(ops.MatMul(), "matmul1", strategies_by_name), INPUTS, HIDDEN)
        self.activation = Activation(sharded(ops.ReLU(), "relu", strategies_by_name))
        self.second = Layer(sharded(ops.MatMul(), "matmul2", strategies_by_name), HIDDEN, OUTPUTS)

    def construct(self, inputs):
        return self.second(self.activation(self.first(inputs)))


def build(config):
    return Recipe(network=Network(strategies(config, OPERATORS)), loss=nn.MSELoss(), train_data=samples())
