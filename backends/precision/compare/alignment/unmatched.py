"""Calls that only one side has or has elsewhere, and which of them say something of the program."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.precision.compare.alignment.fused import FusedCalls, find_fused
from backends.precision.compare.alignment.tokens import BACKWARD
from backends.precision.dump.dump import CUT_OFF
from backends.precision.dump.names import name_of
from backends.precision.dump.optimizer import OPTIMIZER
from studio import files

_LEFT_OUT = """
    squeeze unsqueeze reshape reshape_as view view_as flatten unflatten expand expand_as repeat repeat_interleave
    tile transpose permute moveaxis movedim swapaxes swapdims chunk unsafe_chunk split split_with_sizes unsafe_split
    unsafe_split_with_sizes tensor_split hsplit vsplit dsplit unbind stack cat concat concatenate hstack vstack
    dstack column_stack row_stack align_as align_to atleast_1d atleast_2d atleast_3d ravel clamp unfold type_as to
    float double int long half bfloat16 byte char bool cfloat numpy empty empty_like zeros zeros_like ones ones_like
    full full_like arange linspace logspace eye identity diag diagflat diag_embed triu tril triu_indices
    tril_indices clone __bool__ stride
"""
_Group = tuple[bool, bool, bool, bool]
LEFT_OUT = frozenset(_LEFT_OUT.split())
"""What msprobe 26.2 captures only with "risk_level": "ALL" (its LOW_RISK_API_SET): casts and changes of shape."""

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.precision.compare.judgement.state import Judgement
    from backends.precision.compare.values.joined import JoinedDumps
    from backends.precision.dump.dump import Dump, Name


@dataclass(frozen=True, kw_only=True)
class UnmatchedCalls:
    """Indices into the alignment. `one_sided`: calls that the other side should have; `moved`: calls that are elsewhere
    in the other's order; `uncaptured`: what only one side captured at all; `uncovered`: those of these that a verdict
    lacks, since nothing else was compared in their place. `notes`: keys and their arguments."""

    one_sided: tuple[int, ...]
    moved: tuple[int, ...]
    uncaptured: frozenset[int]
    uncovered: frozenset[int]
    notes: tuple[tuple[str, dict[str, object]], ...]


def find_unmatched(joined: JoinedDumps, judgement: Judgement) -> UnmatchedCalls:
    alone = [n for n, (i, j) in enumerate(_pairs(joined)) if i < 0 or j < 0]
    if not alone and not joined.calls.moved.any():
        return UnmatchedCalls(one_sided=(), moved=(), uncaptured=frozenset(), uncovered=frozenset(), notes=())
    common = _common_groups(joined)
    outside = frozenset(n for n in alone if _group(joined.names[n]) not in common or _is_cut_off(joined, n))
    inside = [n for n in alone if n not in outside]
    fused = find_fused(joined, judgement, inside)
    explained = frozenset(call for calls in fused for call in calls.calls)
    left = [n for n in inside if n not in explained]
    is_other_program = _are_programs_different(joined, left)
    otherwise = frozenset(left) if is_other_program else _of_other_kernels(joined, left)
    one_direction = _of_absent_directions(joined, alone)
    cut_off = frozenset(n for n in alone if _is_cut_off(joined, n))
    moved = (n for n, is_moved in enumerate(joined.calls.moved.tolist()) if is_moved and _is_forward(joined.names[n]))
    return UnmatchedCalls(
        one_sided=tuple(n for n in inside if n not in otherwise | explained), moved=tuple(moved),
        uncaptured=outside | otherwise | explained,
        uncovered=one_direction | cut_off | (otherwise if is_other_program else frozenset()),
        notes=(
            *_notes(joined, outside - one_direction - cut_off, one_direction, otherwise, is_other_program),
            *_fused_notes(joined, fused),
        ),
    )  # fmt: skip


def _pairs(joined: JoinedDumps) -> list[tuple[int, int]]:
    return list(zip(joined.calls.target.tolist(), joined.calls.golden.tolist(), strict=True))


def _is_forward(name: Name) -> bool:
    return name.direction not in BACKWARD


def _group(name: Name) -> _Group:
    """A level captures modules or functions or both; a capture may leave out the backward, torch's casts, and what the
    optimizer does."""
    is_cast = name.kind in ("Tensor", "Torch") and name.api in LEFT_OUT
    return bool(name.type), _is_forward(name), is_cast, name.kind == OPTIMIZER


def _common_groups(joined: JoinedDumps) -> set[_Group]:
    """Return the groups that both sides captured."""
    target, golden = (_groups(side) for side in (joined.target, joined.golden))
    if joined.target.framework != "torch":
        return target & golden | {group for group in target | golden if group[2]}
    return target & golden


def _groups(side: Dump) -> set[_Group]:
    groups = {_group(name_of(call)) for call in side.calls}
    return groups | {(False, forward, True, False) for forward in (True, False)} if _captured_casts(side) else groups


def _captured_casts(side: Dump) -> bool:
    """Our own captures say so in a file next to their steps; a small model may call no cast."""
    state = files.read_json(side.place.folder.parent.parent / f"rank{side.place.rank or 0}.json")
    return isinstance(state, dict) and state.get("casts") is True


def _is_cut_off(joined: JoinedDumps, call: int) -> bool:
    """Whether the other side's file was damaged, and ends before the call."""
    other = joined.target if joined.calls.target[call] < 0 else joined.golden
    return other.damage == CUT_OFF


def _of_absent_directions(joined: JoinedDumps, alone: list[int]) -> frozenset[int]:
    """Return the calls of a forward, or of a backward, of which the other side captured nothing at all."""
    target, golden = ({_is_forward(name_of(call)) for call in side.calls} for side in (joined.target, joined.golden))
    sides = [(n, target if joined.calls.target[n] < 0 else golden) for n in alone]
    return frozenset(n for n, others in sides if _is_forward(joined.names[n]) not in others)


def _are_programs_different(joined: JoinedDumps, alone: list[int]) -> bool:
    """Whether the two have little in common."""
    forward = [n for n in alone if _is_forward(joined.names[n])]
    total = sum(_is_forward(name) for name in joined.names)
    return len(forward) > joined.tolerances.other_program_share * total


def _of_other_kernels(joined: JoinedDumps, alone: list[int]) -> frozenset[int]:
    """Other kernels call other functions, everywhere."""
    counts = Counter((joined.calls.target[n] < 0, _api(joined.names[n])) for n in alone)
    shared = {_api(name) for name, (i, j) in zip(joined.names, _pairs(joined), strict=True) if i >= 0 and j >= 0}
    enough = joined.tolerances.other_kernel_calls
    often = {key for key, count in counts.items() if count >= enough and key[1] not in shared}
    return frozenset(n for n in alone if (joined.calls.target[n] < 0, _api(joined.names[n])) in often)


def _api(name: Name) -> tuple[str, str, bool]:
    return name.kind, name.type or name.api, _is_forward(name)


def _notes(
    joined: JoinedDumps, outside: frozenset[int], one_direction: frozenset[int], otherwise: frozenset[int],
    is_other_program: bool,
) -> Iterator[tuple[str, dict[str, object]]]:  # fmt: skip
    if outside:
        yield "precision.compare.one_side", {"count": len(outside)}
    if one_direction:
        yield "precision.compare.one_direction", {"count": len(one_direction)}
    if otherwise:
        apis = sorted({_api(joined.names[n])[1] for n in otherwise})
        key = "precision.compare.other_program" if is_other_program else "precision.compare.other_calls"
        yield key, {"count": len(otherwise), "names": ", ".join(apis[:5])}


def _fused_notes(joined: JoinedDumps, fused: tuple[FusedCalls, ...]) -> Iterator[tuple[str, dict[str, object]]]:
    if fused:
        yield "precision.compare.fused", {"count": len(fused), "names": _names_of_fused(joined, fused)}


def _names_of_fused(joined: JoinedDumps, fused: tuple[FusedCalls, ...]) -> str:
    """Return each kind of fusion once: "scaled_dot_product_attention = matmul, softmax, matmul"."""
    names = ((joined.names[calls.whole].api, (joined.names[part].api for part in calls.parts)) for calls in fused)
    return "; ".join(dict.fromkeys(f"{whole} = {', '.join(parts)}" for whole, parts in names))
