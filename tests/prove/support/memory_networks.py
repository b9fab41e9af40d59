"""Ten small networks whose peak of memory is predicted: `memory_networks.py NAME npu|tracker|fake|cuda|cudnn`.

On the virtual NPU it prints the peak that its allocator counted; on the CPU, that of torch's own tracker. Both train
the same two steps; optimizers say whether they take lists, since torch chooses that by the device. On a GPU it prints
the peak of torch's allocator, with torch's own kernels alone (cuda) or also those of cuDNN, whose workspaces count.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = 2


class Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mixed, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, hidden: torch.Tensor) -> Any:
        batch, length, width = hidden.shape
        parts = self.mixed(self.first(hidden)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value)
        hidden = hidden + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return hidden + self.down(functional.gelu(self.up(self.second(hidden))))


class Encoder(nn.Module):
    """Attention without a mask: with one, a card keeps 4 MiB for each call that no tracker sees. `is_shared`: the
    weights of words and output are one; `is_checkpointed`: blocks are computed twice.
    """

    def __init__(self, *, is_shared: bool = False, is_checkpointed: bool = False) -> None:
        super().__init__()
        self.words, self.out = nn.Embedding(2000, 192), nn.Linear(192, 2000, bias=False)
        self.blocks = nn.ModuleList(Block(192, 6) for _ in range(3))
        self.is_checkpointed = is_checkpointed
        if is_shared:
            self.out.weight = self.words.weight

    def forward(self, tokens: torch.Tensor) -> Any:
        hidden = self.words(tokens)
        for block in self.blocks:
            hidden = checkpoint(block, hidden, use_reentrant=False) if self.is_checkpointed else block(hidden)
        return self.out(hidden).flatten(0, 1)


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, padding=1), nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, images: torch.Tensor) -> Any:
        return functional.relu(images + self.body(images))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.cells, self.out = nn.Embedding(1000, 256), nn.GRU(256, 256, 2), nn.Linear(256, 1000)

    def forward(self, tokens: torch.Tensor) -> Any:
        return self.out(self.cells(self.words(tokens))[0]).flatten(0, 1)


def layers() -> nn.Module:
    return nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10))


def images_net() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2), Residual(32), Residual(32),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    )  # fmt: skip


def plain_images() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25),
        nn.Flatten(), nn.Linear(9216, 128), nn.ReLU(), nn.Dropout(0.5), nn.Linear(128, 10),
    )  # fmt: skip


def pixels(*shape: int) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    return lambda: (torch.randn(shape), torch.randint(0, 10, (shape[0],)))


def words(batch: int, length: int, vocabulary: int = 2000) -> Callable[[], tuple[torch.Tensor, torch.Tensor]]:
    return lambda: tuple(torch.randint(0, vocabulary, (batch, length)) for _ in range(2))  # type: ignore[return-value]


def adam(weights: Any, *, foreach: bool = False) -> Any:
    return torch.optim.AdamW(weights, foreach=foreach)


def momentum(weights: Any) -> Any:
    return torch.optim.SGD(weights, 0.01, momentum=0.9, foreach=False)


NETWORKS: dict[str, tuple[Callable[[], nn.Module], Callable[..., Any], Any, dict[str, Any]]] = {
    "layers": (layers, adam, pixels(256, 784), {}),
    "layers, lists": (layers, lambda weights: adam(weights, foreach=True), pixels(256, 784), {}),
    "mnist": (plain_images, momentum, pixels(64, 1, 28, 28), {}),
    "residual": (images_net, adam, pixels(16, 3, 32, 32), {}),
    "residual, accumulated": (images_net, momentum, pixels(8, 3, 32, 32), {"micro_steps": 3}),
    "encoder": (Encoder, adam, words(4, 96), {}),
    "encoder, shared": (lambda: Encoder(is_shared=True), momentum, words(4, 96), {}),
    "encoder, bfloat16": (Encoder, adam, words(4, 96), {"dtype": torch.bfloat16}),
    "encoder, checkpointed": (lambda: Encoder(is_checkpointed=True), adam, words(4, 96), {}),
    "recurrent": (Recurrent, adam, words(40, 16, 1000), {}),
}


def train(name: str, device: str, follow: Callable[[nn.Module, Any], Any]) -> None:
    make, optimize, data, options = NETWORKS[name]
    torch.manual_seed(0)
    net = make().to(device)
    optimizer = optimize(net.parameters())
    followed, before_forward = follow(net, optimizer)
    with followed:
        for _ in range(STEPS):
            optimizer.zero_grad()
            for _ in range(options.get("micro_steps", 1)):
                before_forward()
                inputs, targets = (tensor.to(device, copy=True) for tensor in data())
                dtype = options.get("dtype")
                with torch.autocast(device, dtype=dtype, enabled=dtype is not None):
                    loss = functional.cross_entropy(net(inputs), targets.flatten())
                loss.backward()
            optimizer.step()


def tracked(name: str) -> int:
    """The most bytes of torch's tracker, of which each storage counts as it is."""
    from torch.distributed._tools.mem_tracker import MemTracker

    tracker = MemTracker()

    def follow(net: nn.Module, optimizer: Any) -> Any:
        tracker.track_external(net, optimizer)
        return tracker, tracker.reset_mod_stats  # it takes one forward pass of a module, but for this

    train(name, "cpu", follow)
    (numbers,) = [
        numbers for device, numbers in tracker.get_tracker_snapshot("peak").items() if device.type == "cpu"
    ]  # fmt: skip
    return int(numbers["Total"])


def counted(name: str) -> int:
    import contextlib

    import torch_npu  # type: ignore[import-not-found]

    train(name, "npu", lambda *_: (contextlib.nullcontext(), lambda: None))
    return int(torch_npu.npu.max_memory_allocated())


def measured(name: str, *, has_cudnn: bool) -> int:
    import contextlib

    torch.backends.cudnn.enabled = has_cudnn
    train(name, "cuda", lambda *_: (contextlib.nullcontext(), lambda: None))
    return torch.cuda.max_memory_allocated()


if __name__ == "__main__":
    network, way = sys.argv[1:3]
    if way in ("cuda", "cudnn"):
        print(measured(network, has_cudnn=way == "cudnn"))
    else:
        print((tracked if way == "tracker" else counted)(network))
