"""torch.autocast("npu"): the casts that torch_npu registers, with torch's own rules for each list."""

from __future__ import annotations

import functools

from ascend_studio.virtual_npu import autocast_lists, dispatch

if False:
    from typing import Any, Callable, Dict, List, Tuple

_torch: Any = None
_libraries: List[Any] = []
_casts: Dict[Tuple[int, Any], Tuple[Any, Any]] = {}
"""The cast of each parameter, by its id and dtype, while an autocast lasts: a parameter that is used twice is cast
once, so that its gradient is added up in the lower precision, as torch's own cache has it."""


def install(torch: Any) -> None:
    global _torch
    _torch = torch
    fallback = torch.library.Library("_", "IMPL")
    fallback.fallback(torch.library.fallthrough_kernel, "AutocastPrivateUse1")
    library = torch.library.Library("aten", "IMPL")
    _libraries.extend((fallback, library))
    for policy, names in (
        (_lower, autocast_lists.LOWER), (_float, autocast_lists.FLOAT), (_widest, autocast_lists.WIDEST),
        (_float_result, autocast_lists.FLOAT_RESULT), (_norm, autocast_lists.NORM), (_unsafe, ["binary_cross_entropy"]),
    ):  # fmt: skip
        for name in names:
            op = dispatch.operator(torch, name)
            if op is not None:
                library.impl(name, _without_autocast(policy, op), "AutocastPrivateUse1")
    torch.clear_autocast_cache = _clearing(torch.clear_autocast_cache)


def _clearing(original: Callable[[], None]) -> Callable[[], None]:
    @functools.wraps(original)
    def clear_autocast_cache() -> None:
        _casts.clear()
        original()

    return clear_autocast_cache


def _without_autocast(policy: Callable[..., Any], op: Any) -> Callable[..., Any]:
    keys = _torch._C.DispatchKeySet(_torch._C.DispatchKey.AutocastPrivateUse1)
    guard = _torch._C._ExcludeDispatchKeyGuard

    def cast(*args: Any, **kwargs: Any) -> Any:
        with guard(keys):
            return policy(op, args, kwargs)

    return cast


def _lower(op: Any, args: Any, kwargs: Any) -> Any:
    dtype = _torch.get_autocast_dtype("npu")
    return op(*_cast(args, dtype), **_cast_keywords(kwargs, dtype))


def _float(op: Any, args: Any, kwargs: Any) -> Any:
    dtype = _torch.float32
    return op(*_cast(args, dtype), **_cast_keywords(kwargs, dtype))


def _float_result(op: Any, args: Any, kwargs: Any) -> Any:
    """Set the dtype of the result, unless the script has or the first argument is not cast."""
    names = [argument.name for argument in op._schema.arguments]
    place = names.index("dtype")
    is_set = kwargs.get("dtype") is not None or (len(args) > place and args[place] is not None)
    if args and _is_cast(args[0]) and not is_set:
        kwargs, args = dict(kwargs, dtype=_torch.float32), args[:place]
    return op(*args, **kwargs)


def _norm(op: Any, args: Any, kwargs: Any) -> Any:
    schema = op._schema
    if not _is_cast(args[0]):
        return op(*args, **kwargs)
    name = schema.name.partition("::")[2] + "." + schema.overload_name
    values = dict(zip([argument.name for argument in schema.arguments], args), **kwargs)
    for argument in schema.arguments:
        values.setdefault(argument.name, argument.default_value)
    with_dtype = dispatch.operator(_torch, autocast_lists.NORM[name])
    order = [argument.name for argument in schema.arguments]
    return with_dtype(*[values[key] for key in order], dtype=_torch.float32)


def _widest(op: Any, args: Any, kwargs: Any) -> Any:
    dtype = _torch.get_autocast_dtype("npu")
    for tensor in _tensors(args):
        if _is_cast(tensor) and tensor.dtype != dtype:
            dtype = _torch.promote_types(dtype, tensor.dtype)
    return op(*_cast(args, dtype), **_cast_keywords(kwargs, dtype))


def _unsafe(op: Any, args: Any, kwargs: Any) -> Any:
    raise RuntimeError(autocast_lists.UNSAFE)


def _tensors(values: Any) -> Any:
    for value in values:
        if isinstance(value, _torch.Tensor):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in _tensors(value):
                yield item


def _is_cast(value: Any) -> bool:
    return (
        isinstance(value, _torch.Tensor)
        and value.is_floating_point()
        and value.device.type == "npu"
        and value.dtype != _torch.float64
    )


def _cast(values: Any, dtype: Any) -> Any:
    return [_cast_value(value, dtype) for value in values]


def _cast_keywords(values: Any, dtype: Any) -> Any:
    return {name: _cast_value(value, dtype) for name, value in values.items()}


def _cast_value(value: Any, dtype: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return _cast(value, dtype)
    if not _is_cast(value) or value.dtype == dtype:
        return value
    if not _is_kept(value, dtype):
        return value.to(dtype)
    kept = _casts.get((id(value), dtype))
    if kept is None or kept[0] is not value:
        kept = _casts[id(value), dtype] = (value, value.to(dtype))
    return kept[1]


def _is_kept(tensor: Any, dtype: Any) -> bool:
    return (
        dtype == _torch.get_autocast_dtype("npu")
        and tensor.dtype == _torch.float32
        and tensor.requires_grad
        and tensor.is_leaf
        and not tensor._is_view()
        and _torch.is_autocast_cache_enabled()
    )
