"""Trainings of which nothing is computed: tensors of a card have sizes and no numbers, by FakeTensor of torch.

What is on a card is such a tensor. What is on the CPU is real, so that data are read and sampled as ever, but for
parameters and for large floating tensors that are made from nothing: a model of 7 billion parameters is made there.
"""

from __future__ import annotations

import os
import types
from importlib import import_module

from ascend_studio import recording
from ascend_studio.virtual_npu import dispatch, dtype_rules, memory
from ascend_studio.virtual_npu.fake import assumed_values, silent_group

if False:
    from typing import Any, Callable, Dict, List

FAKE = "ASCEND_STUDIO_REHEARSAL_FAKE"
LARGE = 1 << 18  # elements of a floating tensor from which on it is made without numbers
_BY_VALUES = ("DynamicOutputShapeException", "DataDependentOutputException", "UnsupportedOperatorException")
_state: Dict[str, Any] = {"type": ()}
refused: List[Callable[[str, str], None]] = []
"""Called with an operator and torch's reason where it cannot be followed without numbers."""


def is_requested() -> bool:
    return os.environ.get(FAKE) == "1"


def is_fake(value: Any) -> bool:
    """Return whether a value is a tensor without numbers."""
    return isinstance(value, _state["type"])


def install(torch: Any) -> None:
    fake_tensor = import_module("torch._subclasses.fake_tensor")
    _state.update(type=fake_tensor.FakeTensor, mode=fake_tensor.FakeTensorMode(allow_non_fake_inputs=True))
    memory.is_unlimited[0] = True
    torch._C._set_only_lift_cpu_tensors(True)  # else torch.tensor would be made on the card where no mode sees it
    _make_parameters(torch)
    _know_for_lists(fake_tensor.FakeTensor)
    assumed_values.install(torch, is_fake)
    silent_group.install(torch)
    _mode_type(torch)().__enter__()


def _make_parameters(torch: Any) -> None:
    """Make all parameters without numbers: torch moves such a parameter in place, also one that modules share."""
    kind = torch.nn.Parameter
    make = kind.__new__

    def __new__(cls: Any, data: Any = None, requires_grad: bool = True) -> Any:
        if type(data) is torch.Tensor and data.is_floating_point():
            with _state["mode"]:
                data = _state["mode"].from_tensor(data)
        return make(cls, data, requires_grad)

    kind.__new__ = __new__
    # torch swaps no tensor that has weak references. Those of FakeTensor's own tables only find what is gone.
    torch.utils.weakref = types.SimpleNamespace(getweakrefs=lambda _: [])


def _know_for_lists(kind: Any) -> None:
    """Let optimizers take whole lists at once, as on a card: torch looks at the exact type, and what a list needs in
    between is much of the memory.
    """
    for module in ("torch.utils._foreach_utils", "torch.optim.optimizer"):
        import_module(module)._foreach_supported_types.append(kind)


def _mode_type(torch: Any) -> Any:
    base = import_module("torch.utils._python_dispatch").TorchDispatchMode
    is_meant = _question(torch)
    scalar, cast = torch.ops.aten._local_scalar_dense.default, torch.ops.aten._to_copy.default

    class SizesOnly(base):  # type: ignore[misc,valid-type]
        supports_higher_order_operators = True

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if func.namespace == "prim" or not is_meant(func, args, kwargs):
                return func(*args, **kwargs)
            check = dispatch.checks.get(id(func))
            if check is not None:
                check(func, args, kwargs)
            if func is scalar:
                result = assumed_values.number(args[0])
                _follow(func, args, kwargs, result)
                return result
            if func is cast:
                kwargs = dtype_rules.cast_options(args[0], kwargs)
            try:
                with _state["mode"]:
                    result = func(*args, **kwargs)
            except Exception as error:
                if type(error).__name__ in _BY_VALUES:
                    for tell in refused:
                        tell(str(func), "%s: %s" % (type(error).__name__, error))
                raise
            _follow(func, args, kwargs, result)
            return result

    return SizesOnly


def _question(torch: Any) -> Callable[[Any, Any, Any], bool]:
    """Return what says whether an operator is one of tensors without numbers."""
    fake = _state["type"]
    made_by: Dict[Any, bool] = {}

    def holds_fake(values: Any) -> bool:
        for value in values:
            if isinstance(value, fake) or (isinstance(value, (list, tuple)) and holds_fake(value)):
                return True
        return False

    def makes_large(func: Any, args: Any, kwargs: Any) -> bool:
        is_maker = made_by.get(func)
        if is_maker is None:
            is_maker = made_by[func] = _is_maker(func)
        if not is_maker or not args or not isinstance(args[0], (list, tuple)):
            return False
        dtype = kwargs.get("dtype") or torch.get_default_dtype()
        count = 1
        for size in args[0]:
            count *= int(size)
        return bool(dtype.is_floating_point and count >= LARGE)

    def is_meant(func: Any, args: Any, kwargs: Any) -> bool:
        device = kwargs.get("device")
        if device is not None and getattr(device, "type", str(device).partition(":")[0]) == "npu":
            return True
        if holds_fake(args) or (kwargs and holds_fake(kwargs.values())):
            return True
        return (device is None or str(device) == "cpu") and makes_large(func, args, kwargs)

    return is_meant


def _is_maker(func: Any) -> bool:
    """Return whether an operator makes a tensor from sizes alone."""
    arguments = func._schema.arguments
    return any(argument.name == "device" for argument in arguments) and not any(
        "Tensor" in str(argument.type) for argument in arguments
    )


def _follow(func: Any, args: Any, kwargs: Any, result: Any) -> None:
    """Count the memory of new tensors of a card, and tell whoever follows operators."""
    is_on_card = False
    for value in result if isinstance(result, (list, tuple)) else (result,):
        if is_fake(value) and value.device.type == "npu":
            is_on_card = True
            _count(value, not _has_operand(args))
    if (is_on_card or _has_operand(args)) and not recording.is_own_work():
        for observer in dispatch.observers_of(func):
            observer(func, args, kwargs, result)


def _count(tensor: Any, is_input: bool) -> None:
    storage = tensor.untyped_storage()
    if "_block" not in storage.__dict__:
        storage._block = memory.Block(tensor.device.index or 0, storage.nbytes(), is_input)


def _has_operand(values: Any) -> bool:
    for value in values:
        if isinstance(value, (list, tuple)):
            if _has_operand(value):
                return True
        elif is_fake(value) and value.device.type == "npu":
            return True
    return False
