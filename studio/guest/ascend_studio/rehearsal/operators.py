"""Every aten operator that ran: where, on what, and how often. It costs about 20 µs per operator, which a rehearsal can
afford.

A dispatch mode sees one thread. On the CPU the backward pass runs in the thread that asked for it, so the main thread
sees all of it.
"""

from __future__ import annotations

import bisect
import os
import sys
import threading
import weakref
from importlib import import_module

from ascend_studio import hooks, recording
from ascend_studio.rehearsal import record, seeds

if False:
    from types import ModuleType
    from typing import Any, Callable, Dict, List, Optional, Tuple

MAX_ROWS = 20000  # different rows; shapes that never repeat are counted together after that
REMEMBERED = 200000
_OF_CURVES = os.path.join("ascend_studio", "torch_")
_OF_TRACE = (os.path.join("rehearsal", "trace.py"), os.path.join("contract", "batches.py"))
LAST = 1 << 62  # sequence numbers from here on belong to no forward pass

_counts: Dict[Tuple[str, ...], List[int]] = {}
"""How often each row came, as a list of one number."""
_counts_by_call: Dict[Tuple[Any, ...], List[int]] = {}
"""The same lists by what tells a call apart without a text."""
_own_paths: Dict[str, bool] = {}
_beyond = {"rows": 0}  # calls that would have been rows of their own
new_rows: List[Callable[[Tuple[str, ...]], None]] = []
"""Called with each row that has not been there before."""
_names: Any = weakref.WeakKeyDictionary()
_stack: List[str] = [""]
# Which module was in its forward pass from which sequence number of autograd on.
_numbers: List[int] = [-1]
_modules: List[str] = [""]
_state = {"optimizer": 0}
_node_of: List[Callable[[], Any]] = [lambda: None]
_ticks: List[Any] = []  # what the virtual NPU's operators call; empty where operators are followed by a mode
_on_device = {"operators": 0}


def install(torch: ModuleType, tick: Callable[[], None]) -> None:
    record.contents.append(_fill)
    _node_of[:] = [getattr(torch._C, "_current_autograd_node", _node_of[0])]
    follow_modules(torch)
    _follow_optimizers(torch)
    is_seeded = seeds.requested_seed() is not None
    if record.device == "virtual_npu":
        _ticks[:] = [tick]
    if record.device != "virtual_npu" or is_seeded:
        _mode_type(torch, tick, is_seeded)().__enter__()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_forget)


def _forget() -> None:
    _counts.clear()
    _counts_by_call.clear()


def _fill(part: Dict[str, Any]) -> None:
    part["operators"] = [[*row, count[0]] for row, count in _counts.items()]
    part["calls_together"] = _beyond["rows"]
    part["device_operators"] = _on_device["operators"]


def modules() -> List[Any]:
    """Return all modules that ran, and those they are made of, in the order of their names in each."""
    return list(_names)


def named_modules() -> List[Tuple[Any, str]]:
    """Return the same modules with their names."""
    return list(_names.items())


def place() -> Tuple[str, str]:
    """Return the phase that runs now, forward, backward or optimizer, and the module that it is in."""
    node = _node_of[0]()
    if node is not None:
        return "backward", _module_of(node)
    return ("optimizer" if _state["optimizer"] else "forward"), _stack[-1]


def _mode_type(torch: Any, tick: Callable[[], None], is_seeded: bool) -> Any:
    base = import_module("torch.utils._python_dispatch").TorchDispatchMode
    tensor = torch.Tensor
    count = hooks.guarded("operators")(_count)

    class Inventory(base):  # type: ignore[misc,valid-type]
        # Else torch refuses what takes functions, flex_attention for one, under any mode.
        supports_higher_order_operators = True

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            result = func(*args, **(kwargs or {}))
            if is_seeded:
                seeds.fill(func, result)
            is_training = not _ticks and getattr(func, "namespace", "") != "profiler" and not recording.is_own_work()
            if is_training and not _is_ours(sys._getframe(1)):
                count(tensor, func, args, kwargs, result)
                tick()
            return result

    return Inventory


def observer(torch: Any) -> Callable[..., None]:
    """Return what follows the operators of a virtual NPU."""
    tensor = torch.Tensor
    count = hooks.guarded("operators")(_count)

    def observe(op: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not _is_ours(sys._getframe(3)):
            count(tensor, op, args, kwargs, result)
            _on_device["operators"] += 1
            _ticks[0]()

    return observe


def _is_ours(frame: Any) -> bool:
    """Return whether an operator is ours: norms and losses that the curves and the trace compute are not the
    script's."""
    for _ in range(4):
        if frame is None:
            return False
        path = frame.f_code.co_filename
        is_ours = _own_paths.get(path)
        if is_ours is None:
            is_ours = _own_paths[path] = _is_own(path)
        if is_ours:
            return True
        frame = frame.f_back
    return False


def _is_own(path: str) -> bool:
    """Return whether a file computes for the curves or the trace; torch_hooks.py calls the script's own functions."""
    return path.endswith(_OF_TRACE) or (_OF_CURVES in path and not path.endswith("torch_hooks.py"))


def _count(tensor: Any, func: Any, args: Any, kwargs: Any, result: Any) -> None:
    phase, module = place()
    call_key: List[Any] = [id(func), phase, module]  # operators are never freed
    _see(tensor, args, call_key)
    if kwargs:
        _see(tensor, kwargs.values(), call_key)
    if isinstance(result, tensor):
        call_key += (None, result.dtype, result.shape)
    else:
        call_key.append(None)
        _see(tensor, (result,), call_key)
    call = tuple(call_key)
    count = _counts_by_call.get(call)
    if count is not None:
        count[0] += 1
    else:
        _remember(call, _add(_row(tensor, func, phase, module, args, kwargs, result)))


def _see(tensor: Any, values: Any, seen: List[Any]) -> None:
    """Add dtype and shape of each tensor, which tell calls apart without a text."""
    for value in values:
        if isinstance(value, tensor):
            seen += (value.dtype, value.shape)
        elif isinstance(value, (list, tuple)):
            _see(tensor, value, seen)


def _remember(call: Tuple[Any, ...], count: Optional[List[int]]) -> None:
    if count is not None:
        if len(_counts_by_call) >= REMEMBERED:
            _counts_by_call.clear()
        _counts_by_call[call] = count


def _row(tensor: Any, func: Any, phase: str, module: str, args: Any, kwargs: Any, result: Any) -> Tuple[str, ...]:
    ins: List[Tuple[str, str]] = []
    _tensors(tensor, args, ins)
    if kwargs:
        _tensors(tensor, kwargs.values(), ins)
    outs: List[Tuple[str, str]] = []
    _tensors(tensor, (result,), outs)
    return (str(func), phase, module, _joined(ins, 0), _joined(ins, 1), _joined(outs, 0), _joined(outs, 1))


def _add(row: Tuple[str, ...]) -> Optional[List[int]]:
    """Count a call and return its row's count; None where it is counted with others, as there are too many rows."""
    count = _counts.get(row)
    if count is not None:
        count[0] += 1
        return count
    if len(_counts) >= MAX_ROWS:
        _beyond["rows"] += 1
        _counts.setdefault((*row[:3], "", "", "", ""), [0])[0] += 1
        return None
    count = _counts[row] = [1]
    for tell in new_rows:
        tell(row)
    return count


def _tensors(tensor: Any, values: Any, tensors: List[Tuple[str, str]]) -> None:
    for value in values:
        if isinstance(value, tensor):
            shape = "x".join([str(size) for size in value.shape])
            tensors.append((str(value.dtype)[6:], shape or "scalar"))
        elif isinstance(value, (list, tuple)):
            _tensors(tensor, value, tensors)


def _joined(tensors: List[Tuple[str, str]], which: int) -> str:
    """Return shapes as '8x3 8x4'; a list of more than four equal ones, as foreach operators and stack take, is
    '8x3*64'.
    """
    if len(tensors) > 4 and tensors.count(tensors[0]) == len(tensors):
        return "%s*%d" % (tensors[0][which], len(tensors))
    return " ".join([tensor[which] for tensor in tensors])


def _module_of(node: Any) -> str:
    """Return the module whose forward pass made a node of the graph, by the sequence number that both share."""
    number = node._sequence_nr()
    if number >= LAST:
        return ""
    return _modules[bisect.bisect_right(_numbers, number) - 1]


def follow_modules(torch: Any) -> None:
    """Keep the names of modules that run, and which of them is in its forward pass."""
    module = torch.nn.modules.module
    if not hasattr(torch.autograd, "_get_sequence_nr"):
        return
    number = torch.autograd._get_sequence_nr
    # The compiler takes its own answer for a constant, and follows the modules past these hooks.
    is_compiling = getattr(getattr(torch, "compiler", None), "is_compiling", bool)
    main = threading.get_ident()

    def entered(entered_module: Any, _args: Any) -> None:
        if not is_compiling() and threading.get_ident() == main:
            if len(_stack) == 1:
                _name_all(entered_module)
            _stack.append(_names.get(entered_module) or type(entered_module).__name__)
            _turn(number())

    def left(_module: Any, _args: Any, _result: Any) -> None:
        if not is_compiling() and threading.get_ident() == main and len(_stack) > 1:
            _stack.pop()
            _turn(number())

    module.register_module_forward_pre_hook(hooks.guarded("operators")(entered))
    try:
        module.register_module_forward_hook(hooks.guarded("operators")(left), always_call=True)
    except TypeError:  # torch before 2.1
        module.register_module_forward_hook(hooks.guarded("operators")(left))


def _turn(number: int) -> None:
    if _numbers[-1] > number:  # another thread's count, or a graph captured anew
        return
    if _numbers[-1] == number:
        _modules[-1] = _stack[-1]
        return
    _numbers.append(number)
    _modules.append(_stack[-1])
    if len(_numbers) > REMEMBERED:
        del _numbers[: REMEMBERED // 2], _modules[: REMEMBERED // 2]


def _name_all(root: Any) -> None:
    if root in _names:
        return
    top = type(root).__name__
    for name, module in root.named_modules():
        _names[module] = top + "." + name if name else top


def _follow_optimizers(torch: Any) -> None:
    optimizer = import_module("torch.optim.optimizer")
    if not hasattr(optimizer, "register_optimizer_step_pre_hook"):  # torch before 2.0
        return

    def begun(*_args: Any) -> None:
        _state["optimizer"] = 1

    def done(*_args: Any) -> None:
        _state["optimizer"] = 0

    optimizer.register_optimizer_step_pre_hook(begun)
    optimizer.register_optimizer_step_post_hook(done)
