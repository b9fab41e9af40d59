"""Which operator of which comparison is run by itself, and on what."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.precision.reproduce.spec import Chosen, has_comparison
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class Alone:
    """`acc_side`: whose inputs it is run with. `device`: what acc_check finds here; `against`: a folder with the
    details of an acc_check on the other kind of device, such as another run of this command; empty for none."""

    acc_side: Literal["target", "golden"] = option("target", flag_name="side")
    device: Literal["auto", "npu", "gpu"] = option("auto")
    against: Path = option(Path(), names_runs=True)
    check_python: Path = option(Path(), wants="file")


def _device_exists(spec: AccSpec) -> Iterable[Problem]:
    """Asked before anything starts: acc_check on a CPU ends in an error of its own."""
    if spec.chosen.comparison == Path():
        return
    from backends.precision.msprobe import acc_check

    cards = acc_check.npu_devices()
    if not cards:
        yield Problem(field="device", rule="precision.msprobe.no_device")
    elif spec.alone.device not in ("auto", *cards):
        yield Problem(field="device", rule="precision.acc.no_such_card", args={"device": spec.alone.device.upper()})


def _other_side_exists(spec: AccSpec) -> Iterable[Problem]:
    against = spec.alone.against
    if against == Path():
        return
    from backends.precision.msprobe import acc_check

    if acc_check.details_in(against) is None:
        yield Problem(field="against", rule="precision.acc.no_details", args={"place": str(against)})


@dataclass(frozen=True, kw_only=True)
class AccSpec:
    chosen: Chosen = field(default_factory=Chosen)
    alone: Alone = field(default_factory=Alone)

    RULES = (_device_exists, has_comparison, _other_side_exists)
