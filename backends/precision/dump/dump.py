"""A dump in columns: one step of one rank, as msprobe wrote it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

Framework = Literal["torch", "mindspore", ""]
Task = Literal["statistics", "tensor", "md5", "structure", "overflow", ""]

INPUT, KWARG, OUTPUT, PARAMETER, GRADIENT = range(5)
"""Values of `Dump.role`: an input by position, one by name, an output, a parameter of a module, the gradient of one."""
ROLES = ("input", "kwarg", "output", "parameter", "gradient")

TENSOR, SCALAR, NOTHING = range(3)
"""Values of `Dump.kind`: a tensor; a number, a text, a bool, a dtype …, as text in `value`; None."""

MAX, MIN, MEAN, NORM = range(4)
"""Columns of `Dump.stats`."""
CUT_OFF = "precision.dump.damaged"
"""`Dump.damage` where dump.json is not whole."""
STACK_DAMAGED = "precision.dump.stack_damaged"
OPTIMIZER_DAMAGED = "precision.dump.optimizer_damaged"


@dataclass(frozen=True, kw_only=True)
class DumpLocation:
    """Where a dump lies: `folder` holds `file`. `step` and `rank` None where no folder of its name says it;
    `label` is the rank's folder, such as "rank0" or "proc4711"; `root`: the capture's folder, above the steps."""

    folder: Path
    step: int | None = None
    rank: int | None = None
    label: str = ""
    file: str = "dump.json"
    root: Path | None = None


@dataclass(frozen=True, kw_only=True)
class RecordedUpdates:
    """What a record of the optimizer covers. `parameters` of the optimizer, `left_out`: those of which nothing is
    recorded; `sampled`: those of which some elements are, the others in sums; `elements` that are recorded of
    `all_elements`; `unclear`: parameters that may have more elements than an older studio's record says."""

    parameters: int = 0
    left_out: int = 0
    sampled: int = 0
    elements: int = 0
    all_elements: int = 0
    unclear: int = 0


@dataclass(frozen=True, kw_only=True)
class Dump:
    """Calls in the order in which they ended (a module after what it called), and one row for each of their tensors
    and arguments, in the order of the file.

    `calls`: their full names, such as "Functional.linear.0.forward" or "Module.1.norm1.LayerNorm.forward.0".
    Of each row (arrays of one length): `call`, index into `calls`, int32, ascending; `role` and `kind`, uint8;
    `item`, the index path or the name ("0", "0.1", "dim", "weight"); `dtype` and `shape`, int32 indices into `dtypes`
    and `shapes`, -1 where it is no tensor (dtypes without the framework's prefix, in small letters: "bfloat16");
    `stats`, float64 of (rows, 4), NaN where the dump has none; `has_stats`, uint8, bit
    1 << MAX … where the dump has a number (which may itself be NaN); `needs_grad`, bool;
    `value`, `digest` (md5 or crc32) and `file` (its tensor's, relative to `data_folder`) only of rows that have one.
    `parents`: of each call the index of the module it was called in, int32, -1 where unknown. `stacks`: of each call
    the index into `stack_lines`, int32, -1 without; of a backward that of its forward; the innermost frame first, each
    "File x, line n, in f, \\n code".
    `untraced`: before which call others ran that msprobe knows by name alone, such as "Tensor.to.0.forward": with its
    risk_level FOCUS it dumps no casts, views and copies, yet construct.json (levels mix and L0) has them.
    `damage`: a key under `precision.dump` where the file was not whole, and what was is here; `skipped`: how many calls
    and values could not be read; `is_cut`: the file ends before the list of its calls does. `updates`: what the record
    of the optimizer beside it covers.
    """

    place: DumpLocation
    framework: Framework = ""
    task: Task = ""
    level: str = ""
    calls: tuple[str, ...]
    call: NDArray[Any]
    role: NDArray[Any]
    kind: NDArray[Any]
    item: tuple[str, ...]
    dtype: NDArray[Any]
    shape: NDArray[Any]
    dtypes: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    stats: NDArray[Any]
    has_stats: NDArray[Any]
    needs_grad: NDArray[Any]
    value: dict[int, str] = field(default_factory=dict)
    digest: dict[int, str] = field(default_factory=dict)
    file: dict[int, str] = field(default_factory=dict)
    data_folder: Path | None = None
    parents: NDArray[Any]
    stacks: NDArray[Any]
    stack_lines: tuple[tuple[str, ...], ...] = ()
    untraced: dict[int, tuple[str, ...]] = field(default_factory=dict)
    damage: str = ""
    skipped: int = 0
    is_cut: bool = False
    updates: RecordedUpdates = RecordedUpdates()


@dataclass(frozen=True, kw_only=True)
class Name:
    """The parts of a call's name. `kind`: Functional, Tensor, Torch, Module, Mint, Cell, …; `api`: "linear", or for a
    module its path, "1.norm1"; `type`: of a module or a MindSpore primitive its class, else empty; `number`: the
    how-manieth call of that api; `direction`: forward, backward, or parameters_grad."""

    kind: str
    api: str
    type: str = ""
    number: int = 0
    direction: Literal["forward", "backward", "parameters_grad", ""] = ""
