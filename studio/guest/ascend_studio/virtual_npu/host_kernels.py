"""The CPU's kernel for an operator on a card: arguments become tensors of the CPU over the same memory, and what
comes back gets a handle of the card.
"""

from __future__ import annotations

from ascend_studio.virtual_npu import cards, generators, storages

if False:
    from typing import Any, Callable, Dict, List, Tuple

MIXED = (
    "Expected all tensors to be on the same device, but found at least two devices, %s and %s! "
    "(when checking argument for argument %s in method wrapper__%s)"
)
# Operators that take tensors of two devices on a card too: copies, indices, lengths.
_TAKE_MIXED = frozenset((
    "aten::copy_", "aten::_copy_from", "aten::_copy_from_and_resize", "aten::_foreach_copy_", "aten::index",
    "aten::index_put_", "aten::index_put", "aten::_index_put_impl_", "aten::_unsafe_index", "aten::_unsafe_index_put",
    "aten::_pack_padded_sequence", "aten::_ctc_loss", "aten::set_", "aten::_to_copy", "aten::resize_as_",
))  # fmt: skip
_torch: Any = None
_tensor: Any = None


def install(torch: Any) -> None:
    global _torch, _tensor
    _torch, _tensor = torch, torch.Tensor


class Plan:
    """What a schema says of an operator: where its tensors and devices stand, and what it returns."""

    def __init__(self, op: Any) -> None:
        schema = op._schema
        self.name = schema.name.partition("::")[2]
        self.takes_mixed = schema.name in _TAKE_MIXED or not schema.name.startswith("aten::")
        self.arguments = [(place, argument.name) for place, argument in enumerate(schema.arguments)]
        self.tensors = [(place, name) for place, name in self.arguments if _may_hold_tensors(schema.arguments[place])]
        self.resized = [
            argument.name for argument in schema.arguments if argument.alias_info and argument.alias_info.is_write
        ]
        if self.name.endswith("_") and _torch.Tag.inplace_view not in op.tags:
            self.resized = []  # what is written in place keeps its size
        self.returned = [_source(schema, returned) for returned in schema.returns]
        self.device_place = next((place for place, name in self.arguments if name == "device"), None)
        self.is_random = _torch.Tag.nondeterministic_seeded in op.tags
        self.is_view = any(
            returned.alias_info is not None and not returned.alias_info.is_write for returned in schema.returns
        )


def _may_hold_tensors(argument: Any) -> bool:
    return "Tensor" in str(argument.type)


def _source(schema: Any, returned: Any) -> Any:
    """Return the name of the argument that a result is, for operators in place or with out=; else None."""
    alias = returned.alias_info
    if alias is None or not alias.is_write:
        return None
    for argument in schema.arguments:
        if argument.alias_info is not None and argument.alias_info.before_set == alias.before_set:
            return argument.name
    return None


def kernel(op: Any) -> Callable[[Any, Any, Any], Any]:
    plan = Plan(op)
    if plan.is_view:
        return _as_view(op)
    if plan.device_place is not None:
        return _with_device(op, plan)
    return _computed(op, plan)


def _as_view(op: Any) -> Callable[[Any, Any, Any], Any]:
    """The CPU's kernel of a view looks at sizes alone, and keeps storage and device."""
    view, keys = op._handle.redispatch_boxed, storages.cpu_keys()

    def viewed(_op: Any, args: Any, kwargs: Any) -> Any:
        return view(keys, *args, **kwargs)

    return viewed


def _computed(op: Any, plan: Plan) -> Callable[[Any, Any, Any], Any]:
    compute = op._op

    def computed(_op: Any, args: Any, kwargs: Any) -> Any:
        index, host_args, host_kwargs = on_host(plan, args, kwargs)
        if plan.is_random:
            result = generators.drawn(index, op, host_args, host_kwargs)
        else:
            result = compute(*host_args, **host_kwargs)
        return results(plan, args, kwargs, host_args, host_kwargs, result, index)

    return computed


def _with_device(op: Any, plan: Plan) -> Callable[[Any, Any, Any], Any]:
    """The kernel of an operator with a device of its own, as empty and randn_like have it."""

    def computed(_op: Any, args: Any, kwargs: Any) -> Any:
        index, host_args, host_kwargs = on_host(plan, args, kwargs)
        is_input = index < 0
        device = host_kwargs.get("device")
        if device is not None:
            if device.type == "npu":
                index, host_kwargs["device"] = cards.index_of(device), "cpu"
            else:
                return op(*host_args, **host_kwargs)
        if index < 0:
            index = cards.current()
        if host_kwargs.get("pin_memory"):
            host_kwargs["pin_memory"] = False
        if plan.is_random:
            result = generators.drawn(index, op, host_args, host_kwargs)
        else:
            result = op(*host_args, **host_kwargs)
        if is_input and isinstance(result, _torch.Tensor) and plan.returned == [None]:
            return storages.on_card(result, index, is_input=True)
        return results(plan, args, kwargs, host_args, host_kwargs, result, index)

    return computed


def on_host(plan: Plan, args: Any, kwargs: Any) -> Tuple[int, List[Any], Dict[str, Any]]:
    """Return the index of the card, -1 where no tensor says it, and the arguments on the CPU. Raises RuntimeError
    where tensors are on two devices.
    """
    index, foreign = -1, None
    host_args, host_kwargs = list(args), dict(kwargs)
    count = len(host_args)
    host = storages.host
    for place, name in plan.tensors:
        value = host_args[place] if place < count else host_kwargs.get(name)
        if value is None:
            continue
        if isinstance(value, _tensor) and not value.is_cpu and (index < 0 or value.get_device() == index):
            if index < 0:
                index = value.get_device()
            converted = host(value)
        else:
            index, foreign, converted = _converted(value, index, foreign, name, plan)
        if place < count:
            host_args[place] = converted
        else:
            host_kwargs[name] = converted
    if foreign is not None and index >= 0 and not plan.takes_mixed:
        raise RuntimeError(MIXED % (storages.device(index), foreign[0], foreign[1], plan.name))
    return index, host_args, host_kwargs


def _converted(value: Any, index: int, foreign: Any, name: str, plan: Plan) -> Tuple[int, Any, Any]:
    if isinstance(value, _torch.Tensor):
        if value.is_cpu:
            if foreign is None and value.dim():
                foreign = (value.device, name)
            return index, foreign, value
        number = value.device.index
        if index < 0:
            index = number
        elif number != index and not plan.takes_mixed:
            raise RuntimeError(MIXED % (storages.device(index), value.device, name, plan.name))
        return index, foreign, storages.host(value)
    if isinstance(value, (list, tuple)):
        converted = []
        for item in value:
            if item is not None:
                index, foreign, item = _converted(item, index, foreign, name, plan)
            converted.append(item)
        return index, foreign, converted
    return index, foreign, value


def results(
    plan: Plan, args: Any, kwargs: Any, host_args: List[Any], host_kwargs: Dict[str, Any], result: Any, index: int
) -> Any:
    """Return what the operator returns on the card: arguments that it wrote, and new tensors."""
    for name in plan.resized:
        _follow_size(_argument(plan, name, args, kwargs), _argument(plan, name, host_args, host_kwargs))
    if len(plan.returned) == 1:
        return _result(plan, plan.returned[0], args, kwargs, result, index)
    if not plan.returned:
        return None
    return tuple(_result(plan, source, args, kwargs, part, index) for source, part in zip(plan.returned, result))


def _result(plan: Plan, source: Any, args: Any, kwargs: Any, result: Any, index: int) -> Any:
    if source is not None:
        return _argument(plan, source, args, kwargs)
    if isinstance(result, _torch.Tensor):
        return storages.on_card(result, index, is_own=True)
    if isinstance(result, (list, tuple)):
        return [storages.on_card(item, index) if isinstance(item, _torch.Tensor) else item for item in result]
    return result


def _argument(plan: Plan, name: str, args: Any, kwargs: Any) -> Any:
    if name in kwargs:
        return kwargs[name]
    for place, argument in plan.arguments:
        if argument == name:
            return args[place] if place < len(args) else None
    return None


def _follow_size(tensor: Any, written: Any) -> None:
    """Give an argument that the kernel has resized its new size, as out= does."""
    if isinstance(tensor, _torch.Tensor):
        if not tensor.is_cpu and (tensor.size() != written.size() or tensor.stride() != written.stride()):
            storages.adopt(tensor, written)
    elif isinstance(tensor, (list, tuple)):
        for item, host_item in zip(tensor, written):
            _follow_size(item, host_item)
