"""What a card would make of the operators on a virtual NPU: whose shapes change between steps, which make the host
wait, and which casts it does not do; each with the line of the script.
"""

from __future__ import annotations

from ascend_studio import recording
from ascend_studio.rehearsal import operators, record

if False:
    from typing import Any, Callable, Dict, List, Tuple

    Location = Tuple[str, int]

MAX_LOCATIONS = 300  # of each kind; later ones are counted as left out
MAX_SHAPES = 4  # that are kept of an operator at a line
RESULT = "-> "  # before the shape of a result
# What the host learns from each; an index by a mask, and a copy to the host, are looked at by their arguments.
WAITING = frozenset((
    "aten::_local_scalar_dense", "aten::nonzero", "aten::masked_select", "aten::_unique2", "aten::_unique",
    "aten::unique_dim", "aten::unique_consecutive", "aten::equal", "aten::is_nonzero", "aten::bincount",
    "aten::repeat_interleave",
))  # fmt: skip
_MASKED = frozenset(("aten::index", "aten::_unsafe_index"))
# Whose results have as many elements as their values say.
_OUTPUT_BY_VALUES = _MASKED | WAITING - {"aten::_local_scalar_dense", "aten::equal", "aten::is_nonzero"}
_COPIES = frozenset(("aten::_to_copy", "aten::copy_"))
_OBSERVED = WAITING | _MASKED | _COPIES
_waits: Dict[Tuple[str, str, int], List[int]] = {}
_dynamic: Dict[Tuple[str, str, str, int], Dict[str, Any]] = {}
_casts: Dict[Location, int] = {}
_left_out = {"waits": 0, "dynamic": 0, "casts": 0}
_first_shapes: Dict[Tuple[str, ...], Tuple[int, str]] = {}


def install(torch: Any) -> None:
    from ascend_studio.virtual_npu import dispatch, dtype_rules

    dtype_rules.install(torch)
    dtype_rules.replaced.append(_cast)
    observer = _observer(torch)
    dispatch.observe(lambda op: observer if op._schema.name in _OBSERVED else None)
    operators.new_rows.append(_row)
    record.contents.append(_fill)


def _observer(torch: Any) -> Callable[..., None]:
    tensor, boolean, byte = torch.Tensor, torch.bool, torch.uint8

    def observe(op: Any, args: Any, kwargs: Any, result: Any) -> None:
        name = op._schema.name
        if not _waits_for(name, args, kwargs, result):
            return
        moved = 0
        if name in _COPIES or name == "aten::_local_scalar_dense":
            moved = args[0].numel() * args[0].element_size()
        wait(name[6:], moved)
        if name in _OUTPUT_BY_VALUES:
            _note_result(str(op), result[0] if isinstance(result, (tuple, list)) else result)

    def _waits_for(name: str, args: Any, kwargs: Any, result: Any) -> bool:
        if name in WAITING:
            return name != "aten::repeat_interleave" or kwargs.get("output_size") is None
        if name == "aten::copy_":
            return bool(args[0].is_cpu and not args[1].is_cpu and not (len(args) > 2 and args[2]))
        if name == "aten::_to_copy":
            return bool(result.is_cpu and not args[0].is_cpu and not kwargs.get("non_blocking"))
        return any(isinstance(index, tensor) and index.dtype in (boolean, byte) for index in args[1])

    return observe


def wait(name: str, moved: int) -> None:
    """Count a call at which the host waits for the card, with the bytes that it reads."""
    key = (name, *record.user_location())
    numbers = _waits.get(key)
    if numbers is None:
        if len(_waits) >= MAX_LOCATIONS:
            _left_out["waits"] += 1
            return
        numbers = _waits[key] = [0, 0]
    numbers[0] += 1
    numbers[1] += moved


def synchronized(original: Callable[..., Any]) -> Callable[..., Any]:
    """Return torch.npu.synchronize, counted."""

    def synchronize(*args: Any, **kwargs: Any) -> Any:
        if not recording.is_own_work():
            wait("torch.npu.synchronize", 0)
        return original(*args, **kwargs)

    return synchronize


def _row(key: Tuple[str, ...]) -> None:
    """Look whether an operator in a module had other shapes in an earlier step; outside of modules, at the same line.
    `key`: a row of the operators table that is new.
    """
    op, phase, module, _, shapes = key[:5]
    path, line = record.user_location()
    location = (op, phase, module) if module else (op, phase, path, str(line))
    _note_shapes(location, (op, module, path, line), shapes)


def _note_result(op: str, result: Any) -> None:
    """Look whether a result that has as many elements as values say had others in an earlier step; not where its
    inputs' shapes have changed already.
    """
    path, line = record.user_location()
    key = (op, "", path, line)
    entry = _dynamic.get(key)
    if entry is None or entry["shapes"][0].startswith(RESULT):
        shapes = RESULT + "x".join([str(size) for size in result.shape])
        _note_shapes((op, RESULT, path, str(line)), key, shapes)


def _note_shapes(location: Tuple[str, ...], key: Tuple[str, str, str, int], shapes: str) -> None:
    """Keep shapes that `location` did not have in an earlier step, under `key`."""
    step = record.steps()
    first_step, first_shapes = _first_shapes.setdefault(location, (step, shapes))
    if first_step == step or first_shapes == shapes:
        return
    entry = _dynamic.get(key)
    if entry is None:
        if len(_dynamic) >= MAX_LOCATIONS:
            _left_out["dynamic"] += 1
            return
        entry = _dynamic[key] = {"shapes": [first_shapes], "count": 1, "step": step}
    if shapes in entry["shapes"]:
        return
    entry["count"] += 1
    if len(entry["shapes"]) < MAX_SHAPES:
        entry["shapes"].append(shapes)


def _cast() -> None:
    if recording.is_own_work():
        return
    location = record.user_location()
    if location in _casts or len(_casts) < MAX_LOCATIONS:
        _casts[location] = _casts.get(location, 0) + 1
    else:
        _left_out["casts"] += 1


def _fill(part: Dict[str, Any]) -> None:
    part["inventory"] = {
        "waits": [
            {"operator": name, "path": path, "line": line, "calls": calls, "bytes_read": moved}
            for (name, path, line), (calls, moved) in _waits.items()
        ],
        "dynamic": [
            {"operator": op, "module": module, "path": path, "line": line, **entry}
            for (op, module, path, line), entry in _dynamic.items()
        ],
        "casts": [{"path": path, "line": line, "times": times} for (path, line), times in _casts.items()],
        "left_out": sum(_left_out.values()),
    }
