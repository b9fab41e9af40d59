"""Random numbers of a tensor that is spread over cards, as DTensor has them on the CPU: each process draws its part.

On cards DTensor moves the offset of their generators, so that each part has the numbers of its place in the whole. The
CPU's generator has no offset, and a training is to draw the same numbers here and on the CPU.
"""

from __future__ import annotations

import contextlib

from ascend_studio import hooks

if False:
    from typing import Any, Iterator

MODULE = "torch.distributed.tensor._random"


def install(torch: Any) -> None:
    if torch.distributed.is_available():
        hooks.after_import(MODULE, hooks.guarded("virtual_npu")(_replace))


def _replace(module: Any) -> None:
    original = module.OffsetBasedRNGTracker

    class OffsetBasedRNGTracker(original):  # type: ignore[misc,valid-type]
        def __init__(self, device_mesh: Any, run_state_sync: bool = True) -> None:
            is_of_cards = device_mesh.device_type == "npu"
            super().__init__(device_mesh, run_state_sync and not is_of_cards)
            self.distribute_region_enabled = not is_of_cards

        @contextlib.contextmanager
        def _distribute_region(self, *args: Any, **kwargs: Any) -> Iterator[None]:
            if self._device.type == "npu":
                yield
                return
            with super()._distribute_region(*args, **kwargs):
                yield

    OffsetBasedRNGTracker.__qualname__ = original.__qualname__
    module.OffsetBasedRNGTracker = OffsetBasedRNGTracker
