"""Calls that only one side has, and which of them say something."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from backends.precision.compare.opened import CUT_OFF
from backends.precision.compare.tokens import BACKWARD
from backends.precision.dump.names import name_of
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
LEFT_OUT = frozenset(_LEFT_OUT.split())
"""What msprobe 26.2 captures only with "risk_level": "ALL" (its LOW_RISK_API_SET): casts and changes of shape."""

if TYPE_CHECKING:
    from backends.precision.compare.scene import Scene
    from backends.precision.dump.dump import Dump, Name

OFTEN = 3
"""An api that one side calls so often and the other never is another kernel, or another level of capture."""
OTHERWISE = 0.5
"""Where more of a side's forward calls have no partner, the two are not of the same program."""


@dataclass(frozen=True, kw_only=True)
class Structure:
    """Places in the alignment: `odd`, calls of one side that the other should have; `moved`, calls that are elsewhere
    in the other's order; `uncompared`: what only one side captured at all. `notes`: keys and their arguments."""

    odd: tuple[int, ...]
    moved: tuple[int, ...]
    uncompared: frozenset[int]
    notes: tuple[tuple[str, dict[str, object]], ...]


def structure(scene: Scene) -> Structure:
    alone = [n for n, (i, j) in enumerate(_pairs(scene)) if i < 0 or j < 0]
    if not alone and not scene.calls.moved.any():
        return Structure(odd=(), moved=(), uncompared=frozenset(), notes=())
    common = _common(scene)
    outside = frozenset(n for n in alone if _group(scene.names[n]) not in common or _is_cut_off(scene, n))
    left = [n for n in alone if n not in outside]
    often = _systematic(scene, left)
    uncompared = outside | often
    odd = tuple(n for n in left if n not in often)
    moved = tuple(n for n, one in enumerate(scene.calls.moved.tolist()) if one and _is_forward(scene.names[n]))
    return Structure(odd=odd, moved=moved, uncompared=uncompared, notes=tuple(_notes(scene, outside, often)))


def _pairs(scene: Scene) -> list[tuple[int, int]]:
    return list(zip(scene.calls.target.tolist(), scene.calls.golden.tolist(), strict=True))


def _is_forward(name: Name) -> bool:
    return name.direction not in BACKWARD


def _group(name: Name) -> tuple[bool, bool, bool]:
    """A level captures modules or functions or both; a capture may leave out the backward, and torch's casts."""
    return bool(name.type), _is_forward(name), name.kind in ("Tensor", "Torch") and name.api in LEFT_OUT


def _common(scene: Scene) -> set[tuple[bool, bool, bool]]:
    """The groups that both sides captured."""
    target, golden = (_groups(side) for side in (scene.target, scene.golden))
    if scene.target.framework != "torch":
        return target & golden | {group for group in target | golden if group[2]}
    return target & golden


def _groups(side: Dump) -> set[tuple[bool, bool, bool]]:
    found = {_group(name_of(call)) for call in side.calls}
    return found | {(False, forward, True) for forward in (True, False)} if _with_casts(side) else found


def _with_casts(side: Dump) -> bool:
    """Our own captures say so beside their steps; a small model may call none."""
    told = files.read_json(side.place.folder.parent.parent / f"rank{side.place.rank or 0}.json")
    return isinstance(told, dict) and told.get("casts") is True


def _is_cut_off(scene: Scene, call: int) -> bool:
    """The other side's file was damaged, and ends before."""
    return _other(scene, call).damage == CUT_OFF


def _other(scene: Scene, call: int) -> Dump:
    return scene.target if scene.calls.target[call] < 0 else scene.golden


def _systematic(scene: Scene, alone: list[int]) -> frozenset[int]:
    """Other kernels call other functions, everywhere; and two programs have little in common."""
    forward = [n for n in alone if _is_forward(scene.names[n])]
    total = sum(_is_forward(name) for name in scene.names)
    if len(forward) > OTHERWISE * total:
        return frozenset(alone)
    mine = Counter((scene.calls.target[n] < 0, _api(scene.names[n])) for n in alone)
    shared = {_api(name) for name, (i, j) in zip(scene.names, _pairs(scene), strict=True) if i >= 0 and j >= 0}
    often = {key for key, count in mine.items() if count >= OFTEN and key[1] not in shared}
    return frozenset(n for n in alone if (scene.calls.target[n] < 0, _api(scene.names[n])) in often)


def _api(name: Name) -> tuple[str, str, bool]:
    return name.kind, name.type or name.api, _is_forward(name)


def _notes(scene: Scene, outside: frozenset[int], often: frozenset[int]) -> list[tuple[str, dict[str, object]]]:
    found: list[tuple[str, dict[str, object]]] = []
    if outside:
        found.append(("precision.compare.one_side", {"count": len(outside)}))
    if often:
        apis = sorted({_api(scene.names[n])[1] for n in often})
        found.append(("precision.compare.other_calls", {"count": len(often), "names": ", ".join(apis[:5])}))
    return found
