"""What a framework does not do: refused before a training begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.spec import LaunchSpec

AUTOCAST = ("O0", "O1")
"""The levels of mixed precision that PyTorch has: none, and autocast."""


def _torch_has_autocast(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.what.framework == "torch" and spec.precision.amp not in AUTOCAST:
        yield Problem(field="amp", rule="launch.rule.torch_amp")


def _torch_trains_alone(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.what.framework == "torch" and spec.parallel.parallel != "none":
        yield Problem(field="parallel", rule="launch.rule.torch_alone")


RULES = (_torch_has_autocast, _torch_trains_alone)
