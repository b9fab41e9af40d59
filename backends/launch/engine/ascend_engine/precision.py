"""Mixed precision and the loss scale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mindspore as ms
from mindspore import amp, nn, ops

if TYPE_CHECKING:
    from ascend_engine.options import Config

SCALE_WINDOW = 100
DTYPES = {"fp16": ms.float16, "bf16": ms.bfloat16}


class Full(nn.Cell):
    """A network whose outputs are float32: the loss is never computed in less."""

    def __init__(self, network: nn.Cell):
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, inputs):
        return ops.cast(self.network(inputs), ms.float32)


def mixed(network: nn.Cell, config: Config) -> nn.Cell:
    """The network at the AMP level; its Parameters stay those of `network`."""
    if config.amp == "O0":
        return network
    return Full(amp.auto_mixed_precision(network, config.amp, DTYPES[config.amp_dtype]))


def make_scaler(config: Config) -> amp.LossScaler | None:
    """A dynamic scale doubles every window without an overflow, so it finds its place from below."""
    if config.loss_scale == "static":
        return amp.StaticLossScaler(config.scale)
    if config.loss_scale == "dynamic":
        return amp.DynamicLossScaler(config.scale, scale_factor=2, scale_window=SCALE_WINDOW)
    return None
