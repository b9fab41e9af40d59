"""What came of it, as it is kept, shown and printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from studio import files

if TYPE_CHECKING:
    from studio.run import Run

OVERFLOW_FILE = "artifacts/overflow.json"
OverflowPlace = Literal["input", "output", "argument"]


class Overflow(msgspec.Struct, frozen=True, kw_only=True):
    """The first call of one step and rank with a NaN or an Inf, by our reader. `is_made`: the call made it, of finite
    inputs or, where `has_infinite_inputs`, of inputs with an Inf and without a NaN; else it came in with an input, and
    nothing traced before had made it, or it is a number among the arguments. `value`: "NaN", "Inf" or "-Inf";
    `item`: of which input, output or argument; `source`: as "model.py:88"."""

    step: int
    rank: int
    call: str
    is_made: bool
    value: str
    has_infinite_inputs: bool = False
    place: OverflowPlace = "output"
    item: str = "0"
    source: str = ""


class Named(msgspec.Struct, frozen=True, kw_only=True):
    """The call that msprobe's overflow check names; `modules`: those it was called in, outermost first."""

    step: int
    rank: int
    call: str
    source: str = ""
    modules: tuple[str, ...] = ()


class OverflowResult(msgspec.Struct, frozen=True, kw_only=True):
    """`found` and `named` by step and rank, empty where all is finite. `passes`: how many steps of a rank were looked
    through, `calls`: their calls, `infinite`: those with an Inf in an output, as a mask has, `inputs`: those with an
    Inf in an input. `damaged` and `unread`: of
    the passes, those with entries that could not be read, and those without statistics; `blind`: tensors without,
    of the other passes; `empty`: ranks without a dump, as "step0/rank1", or without the
    record of the optimizer that other steps have. `problem`: a key, its sentence takes
    `args`, where msprobe could not look."""

    passes: int
    calls: int
    infinite: int = 0
    inputs: int = 0
    damaged: int = 0
    unread: int = 0
    blind: int = 0
    empty: tuple[str, ...] = ()
    found: tuple[Overflow, ...] = ()
    named: tuple[Named, ...] = ()
    problem: str = ""
    args: dict[str, Any] = {}

    @property
    def is_whole(self) -> bool:
        """Return whether all that was dumped could be looked at."""
        return not (self.damaged or self.unread or self.blind or self.empty)

    @property
    def first(self) -> Overflow | None:
        return self.found[0] if self.found else None


def read_overflow(run: Run) -> OverflowResult | None:
    return files.read_as(run.folder / OVERFLOW_FILE, OverflowResult)


def overflow_answer(run: Run) -> dict[str, Any]:
    """For `--json`."""
    result = read_overflow(run)
    if result is None:
        return {}
    plain: dict[str, Any] = msgspec.to_builtins(result)
    first = plain["found"][0] if plain["found"] else None
    return {
        "first_overflow": first, "passes": result.passes, "calls": result.calls,
        "infinite": result.infinite, "infinite_inputs": result.inputs, "damaged": result.damaged,
        "unread": result.unread,
        "blind": result.blind, "empty": list(result.empty), "found": plain["found"],
        "msprobe": {"named": plain["named"], "problem": result.problem},
    }  # fmt: skip
