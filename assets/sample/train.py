"""Fit y = 2x + 3 with MindSpore: the smallest training that shows all the parts.

Run it with `python train.py`. It takes a few seconds, on an NPU or on the CPU.
"""

import mindspore as ms
import numpy as np
from mindspore import nn

STEPS = 200
BATCH = 32
LEARNING_RATE = 0.1


def samples(count, random):
    """Points of the line y = 2x + 3 with some noise."""
    x = random.uniform(-2, 2, (count, 1))
    y = 2 * x + 3 + random.normal(0, 0.1, (count, 1))
    return ms.Tensor(x.astype(np.float32)), ms.Tensor(y.astype(np.float32))


def main():
    ms.set_seed(1)
    random = np.random.default_rng(1)
    network = nn.Dense(1, 1)
    loss_of = nn.MSELoss()
    optimizer = nn.SGD(network.trainable_params(), learning_rate=LEARNING_RATE)

    def forward(x, y):
        return loss_of(network(x), y)

    # The gradients are those of the parameters (position 0 would be those of x).
    value_and_grad = ms.value_and_grad(forward, None, optimizer.parameters)

    # Put @ms.jit above this function to compile the step into one static graph.
    def step(x, y):
        loss, gradients = value_and_grad(x, y)
        optimizer(gradients)
        return loss

    for number in range(1, STEPS + 1):
        loss = float(step(*samples(BATCH, random)).asnumpy())
        if number % 20 == 0:
            print(f"step {number:4d}  loss {loss:.4f}", flush=True)

    weight = float(network.weight.asnumpy()[0, 0])
    bias = float(network.bias.asnumpy()[0])
    print(f"y = {weight:.3f} x + {bias:.3f}   (asked for: y = 2 x + 3)")


if __name__ == "__main__":
    main()
