"""Trainings as people write them for MindSpore, none of which knows of the studio: `mindspore_trainings.py name …`.

Each prints one line: its name, the losses as it sees them itself, a sum over the bits of its final weights.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, amp, nn, ops
from mindspore.experimental import optim

STEPS = 6
norms = []  # of the gradients, where a script looks at them
kept = []  # the optimizers: a second one gets curves of its own only while the first is there


def data():
    random = np.random.default_rng(5)
    x = random.standard_normal((32, 8)).astype(np.float32)
    return x, (x @ random.standard_normal((8, 1))).astype(np.float32)


X, Y = data()
x, y = Tensor(X), Tensor(Y)
mse = nn.MSELoss()


def network():
    random = np.random.default_rng(6)
    net = nn.SequentialCell(nn.Dense(8, 16), nn.ReLU(), nn.Dense(16, 1))
    for weights in net.get_parameters():
        weights.set_data(Tensor(random.standard_normal(weights.shape).astype(np.float32) / 4))
    return net


def forward_of(net):
    def forward(a, b):
        return mse(net(a), b)

    return forward


def functional():
    net = network()
    optimizer = nn.Adam(net.trainable_params(), 1e-2)
    kept.append(optimizer)
    grad = ms.value_and_grad(forward_of(net), None, optimizer.parameters)
    losses = []
    for _ in range(STEPS):
        loss, gradients = grad(x, y)
        norms.append(float(np.sqrt(sum(np.square(one.asnumpy()).sum() for one in gradients))))
        optimizer(ops.clip_by_global_norm(gradients, 0.1))
        losses.append(float(loss.asnumpy()))
    return net, losses


def compiled(capture):
    net = network()
    schedule = nn.ExponentialDecayLR(0.02, 0.9, 2)
    optimizer = nn.Momentum(net.trainable_params(), schedule, 0.9)
    kept.append(optimizer)
    grad = ms.value_and_grad(forward_of(net), None, optimizer.parameters)

    def step(a, b):
        loss, gradients = grad(a, b)
        optimizer(gradients)
        return loss

    step = ms.jit(step, capture_mode=capture)
    losses = [float(step(x, y).asnumpy()) for _ in range(STEPS)]
    return net, losses


def jit():
    return compiled("ast")


def bytecode():
    return compiled("bytecode")


def one_step_cell():
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), [0.01, 0.02, 0.03, 0.04, 0.05, 0.06], 0.9)
    kept.append(optimizer)
    cell = nn.TrainOneStepCell(nn.WithLossCell(net, mse), optimizer)
    cell.set_train()
    return net, [float(cell(x, y).asnumpy()) for _ in range(STEPS)]


class OwnCell(nn.Cell):
    def __init__(self, net, optimizer):
        super().__init__()
        self.net = nn.WithLossCell(net, nn.MSELoss())
        self.net.set_grad()
        self.optimizer = optimizer
        self.grad = ops.GradOperation(get_by_list=True)
        self.weights = optimizer.parameters

    def construct(self, a, b):
        loss = self.net(a, b)
        gradients = self.grad(self.net, self.weights)(a, b)
        return ops.depend(loss, self.optimizer(gradients))


def own_cell():
    net = network()
    optimizer = nn.SGD(net.trainable_params(), 1e-2)
    kept.append(optimizer)
    cell = OwnCell(net, optimizer)
    cell.set_train()
    return net, [float(cell(x, y).asnumpy()) for _ in range(STEPS)]


class Seen(ms.Callback):
    def __init__(self):
        self.losses = []

    def on_train_step_end(self, run_context):
        self.losses.append(float(run_context.original_args().net_outputs.asnumpy()))


def model(method="train"):
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9)
    kept.append(optimizer)
    rows = ms.dataset.NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False).batch(16)
    seen = Seen()
    trained = ms.Model(net, mse, optimizer)
    getattr(trained, method)(STEPS // 2, rows, callbacks=seen, dataset_sink_mode=False)
    return net, seen.losses


def model_fit():
    return model("fit")


def accumulation():
    """The loss is divided by the number of micro batches, so the sum of what is printed is that of the step."""
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9)
    kept.append(optimizer)

    def forward(a, b):
        return mse(net(a), b) / 4

    grad = ms.value_and_grad(forward, None, optimizer.parameters)
    losses = []
    for _ in range(STEPS):
        total, sums = 0.0, None
        for micro in range(4):
            part = slice(8 * micro, 8 * micro + 8)
            loss, gradients = grad(Tensor(X[part]), Tensor(Y[part]))
            total += float(loss.asnumpy())
            sums = gradients if sums is None else tuple(a + b for a, b in zip(sums, gradients, strict=True))
        optimizer(sums)
        losses.append(total)
    return net, losses


def experimental():
    net = network()
    optimizer = optim.Adam(net.trainable_params(), lr=1e-2)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
    kept.append(optimizer)
    grad = ms.value_and_grad(forward_of(net), None, net.trainable_params())
    losses = []
    for _ in range(STEPS):
        loss, gradients = grad(x, y)
        optimizer(gradients)
        scheduler.step()
        losses.append(float(loss.asnumpy()))
    return net, losses


def scaler():
    """The third step overflows: it is not made, and the scale is halved."""
    net = network()
    optimizer = nn.Adam(net.trainable_params(), 1e-2)
    kept.append(optimizer)
    loss_scaler = amp.DynamicLossScaler(1024, 2, 100)
    factor = Parameter(Tensor(1.0, ms.float32), name="factor")

    def forward(a, b):
        return loss_scaler.scale(mse(net(a), b) * factor)

    grad = ms.value_and_grad(forward, None, optimizer.parameters)
    losses = []
    for number in range(STEPS):
        factor.set_data(Tensor(np.inf if number == 2 else 1.0, ms.float32))
        loss, gradients = grad(x, y)
        gradients = loss_scaler.unscale(gradients)
        finite = amp.all_finite(gradients)
        if finite:
            optimizer(gradients)
        loss_scaler.adjust(finite)
        losses.append(str(float((loss / (1024 if number < 3 else 512)).asnumpy())))
    return net, losses


def checkpoint():
    """Saves net and optimizer; what it prints for losses are the names in the files."""
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9)
    cell = nn.TrainOneStepCell(nn.WithLossCell(net, mse), optimizer)
    cell(x, y)
    names = []
    for number, saved in enumerate((cell, optimizer, list(optimizer.get_parameters()))):
        file = f"saved{os.getpid()}-{number}.ckpt"
        ms.save_checkpoint(saved, file)
        names.append(sorted(ms.load_checkpoint(file)))
    kept.append(optimizer)
    return net, names


def parallel():
    from mindspore.communication import get_rank, init

    init()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 1e-2, 0.9)
    kept.append(optimizer)
    reduce = nn.DistributedGradReducer(optimizer.parameters)
    grad = ms.value_and_grad(forward_of(net), None, optimizer.parameters)
    part = slice(16 * get_rank(), 16 * get_rank() + 16)
    a, b = Tensor(X[part]), Tensor(Y[part])
    losses = []
    for _ in range(STEPS):
        loss, gradients = grad(a, b)
        optimizer(reduce(gradients))
        losses.append(float(loss.asnumpy()))
    # Workers share the standard output of msrun: each leaves its own file.
    Path(f"rank{get_rank()}.json").write_text(json.dumps(said("parallel", net, losses)))
    return net, losses


def said(name, net, losses):
    weights = hashlib.sha256(b"".join(one.asnumpy().tobytes() for one in net.get_parameters())).hexdigest()
    return {"name": name, "losses": losses, "norms": norms, "weights": weights}


if __name__ == "__main__":
    ms.set_device("CPU")
    for name in sys.argv[1:]:
        if name == "graph":
            ms.set_context(mode=ms.GRAPH_MODE)
        else:
            print(json.dumps(said(name, *globals()[name]())), flush=True)
