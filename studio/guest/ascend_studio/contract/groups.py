"""Process groups, their backends, what wraps a network for several ranks, and the order of collectives."""

from __future__ import annotations

import functools

from ascend_studio.contract import dtypes, log

if False:
    from typing import Any, Dict

_COLLECTIVES = (
    "all_reduce", "reduce", "broadcast", "all_gather", "all_gather_into_tensor", "all_gather_object",
    "reduce_scatter", "reduce_scatter_tensor", "gather", "gather_object", "scatter", "scatter_object_list",
    "broadcast_object_list", "all_to_all", "all_to_all_single", "barrier", "monitored_barrier", "send", "recv", "isend",
    "irecv",
)  # fmt: skip
_PARALLEL = (
    "find_unused_parameters", "gradient_as_bucket_view", "broadcast_buffers", "static_graph", "bucket_bytes_cap",
)  # fmt: skip
_depth = [0]


def install(torch: Any) -> None:
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available():
        return
    spaces = (distributed, distributed.distributed_c10d)
    _replace(spaces, "init_process_group", lambda original: _group(original, 0, "init_process_group"))
    _replace(spaces, "new_group", lambda original: _group(original, 2, "new_group"))
    for name in _COLLECTIVES:
        _replace(spaces, name, functools.partial(_collective, name))
    _parallel(torch.nn.parallel.DistributedDataParallel)


def _replace(spaces: Any, name: str, wrap: Any) -> None:
    """Replace a function wherever it is by one wrapper of it: torch asks whether the `op` of a P2POp is its own
    isend or irecv."""
    wrappers: Dict[Any, Any] = {}
    for space in spaces:
        original = getattr(space, name, None)
        if original is not None:
            if original not in wrappers:
                wrappers[original] = wrap(original)
            setattr(space, name, wrappers[original])


def _group(original: Any, position: int, name: str) -> Any:
    @functools.wraps(original)
    def made(*args: Any, **kwargs: Any) -> Any:
        _depth[0] += 1
        try:
            backend = args[position] if len(args) > position else kwargs.get("backend")
            location = log.record.user_location()
            result = original(*args, **kwargs)
        finally:
            _depth[0] -= 1
        if not _depth[0]:
            ranks = (args[0] if args else kwargs.get("ranks")) if name == "new_group" else None
            size = "ranks %s" % ranks if ranks is not None else "%d ranks" % log.torch.distributed.get_world_size()
            log.append("groups", "%s(%s), %s" % (name, backend or "no backend", size), location)
        return result

    return made


def _collective(name: str, original: Any) -> Any:
    @functools.wraps(original)
    def called(*args: Any, **kwargs: Any) -> Any:
        if not _depth[0] and not log.is_compiling():
            values = [_value(value) for value in args]
            values += ["%s=%s" % (key, _value(kwargs[key])) for key in sorted(kwargs)]
            log.append("collectives", "%s(%s)" % (name, ", ".join(values)))
        _depth[0] += 1
        try:
            return original(*args, **kwargs)
        finally:
            _depth[0] -= 1

    return called


def _value(value: Any) -> str:
    torch = log.torch
    if isinstance(value, torch.Tensor):
        return "%s[%s]" % (dtypes.name_of(value.dtype), "x".join(map(str, value.shape)))
    if isinstance(value, (list, tuple)):
        return "[%s]" % ", ".join([_value(item) for item in value[:16]])
    if isinstance(value, torch.distributed.ProcessGroup):
        return "group of %d" % value.size()
    if value is None or isinstance(value, (bool, int, float, str)):
        return str(value)
    return str(value) if type(value).__name__ in ("RedOpType", "ReduceOp") else type(value).__name__


def _parallel(parallel: Any) -> None:
    original = parallel.__init__

    @functools.wraps(original)
    def initialized(self: Any, *args: Any, **kwargs: Any) -> None:
        location = log.record.user_location()
        _depth[0] += 1
        try:
            original(self, *args, **kwargs)
        finally:
            _depth[0] -= 1
        values = ["%s=%s" % (name, getattr(self, name)) for name in _PARALLEL if hasattr(self, name)]
        log.append("groups", "DistributedDataParallel(%s)" % ", ".join(values), location)

    parallel.__init__ = initialized
