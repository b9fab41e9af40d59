"""The processes that train together with PyTorch. So far there is one."""

from __future__ import annotations

import math

from ascend_engine.parallel.process_group import ProcessGroup


class TorchGroup(ProcessGroup):
    """Rank `rank` of `size`."""

    def agree(self, whole: bool, loss: float) -> tuple[bool, bool]:
        """Whether the gradients are whole, and the losses finite, on all ranks."""
        return whole, math.isfinite(loss)


ALONE = TorchGroup()
