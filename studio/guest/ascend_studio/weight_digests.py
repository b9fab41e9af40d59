"""Digests of the weights after each optimizer step, and once more when the training ends: whether two runs of the same
line still have the same weights, also behind the last update.

    <run>/artifacts/weights.r<rank>.jsonl
        {"step": 3, "final": false, "weights": {"fc.weight": "…", …}, "state": "…",
         "buffers": {"bn.running_mean": "…", …}}

`weights`: what the optimizers update, by its name where the framework knows one, else by the numbers of its optimizer,
its group and itself. `state`: what the optimizers keep besides. `buffers`: what the modules of torch that hold these
weights have besides them, by name: buffers, saved or not, and, after the first and the last of the watched steps and at
the end, parameters that no optimizer updates, also those of other models, such as a moving average or a frozen teacher
(a model whose weights are mostly frozen is large); of MindSpore then the parameters of all cells that no optimizer has,
such as moving means. Reading a tensor changes nothing and draws no random number; it waits for the device and copies
every weight to the host, so this is for a proof, not for a training.
"""

from __future__ import annotations

import atexit
import gc
import hashlib
import json
import os
import sys
import weakref

import ascend_studio
from ascend_studio import hooks
from ascend_studio.writer import process_rank

if False:  # typing costs more at the start than all the rest
    from typing import Any, Dict, Iterator, List, Tuple

NAME = "weight_digests"
FILE = os.path.join("artifacts", "weights.r%d.jsonl")


def begin(steps: str) -> None:
    """Watch the first so many steps. This listener comes before the one of captures: a dump is held while an optimizer
    steps, and none of our own calls is in it."""
    hooks.step_listeners.insert(0, hooks.guarded(NAME)(Digests(int(steps)).stepped))


class Digests:
    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.last = 0
        self.pid = 0
        self.optimizers: List[Any] = []

    def stepped(self, step: int) -> None:
        if self.pid != os.getpid():
            self.pid = os.getpid()
            atexit.register(hooks.guarded(NAME)(self.end))
        self.last = step
        if step <= self.steps:
            self._write(final=False)

    def end(self) -> None:
        if self.pid == os.getpid():
            self._write(final=True)

    def _write(self, final: bool) -> None:
        weights, state = self._digests()
        if not weights:
            return
        is_all = final or self.last in (1, self.steps)
        optimizers = self._live_optimizers()
        buffers = {name: _digest(tensor) for name, tensor in _other_tensors(optimizers, is_all)}
        if is_all:
            buffers.update((name, _digest(parameter)) for name, parameter in _mindspore_besides(optimizers))
        record = {"step": self.last, "final": final, "weights": weights, "state": state, "buffers": buffers}
        path = os.path.join(os.environ[ascend_studio.RUN], FILE % process_rank.rank())
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(path, flags, ascend_studio.mode_in(os.environ[ascend_studio.RUN]))
        try:
            os.write(descriptor, (json.dumps(record) + "\n").encode("utf-8", "replace"))
        finally:
            os.close(descriptor)

    def _digests(self) -> Tuple[Dict[str, str], str]:
        weights: Dict[str, str] = {}
        state = hashlib.blake2b(digest_size=8)
        for number, optimizer in enumerate(self._live_optimizers()):
            tensors = _torch_tensors if _is_torch(optimizer) else _mindspore_tensors
            for name, tensor, is_weight in tensors(optimizer, "%d." % number):
                if is_weight:
                    weights[name] = _digest(tensor)
                else:
                    state.update(name.encode("utf-8", "replace"))
                    state.update(_bytes(tensor))
        return weights, state.hexdigest()

    def _live_optimizers(self) -> List[Any]:
        """Return all optimizers in the order in which they were first seen; a training may make one later."""
        known = [optimizer for optimizer in (reference() for reference in self.optimizers) if optimizer is not None]
        classes = _optimizer_classes()
        fresh = [item for item in gc.get_objects() if issubclass(type(item), classes) and not _has(known, item)]
        fresh.sort(key=_shapes)
        known += fresh
        self.optimizers = [weakref.ref(optimizer) for optimizer in known]
        return known


def _has(items: List[Any], item: Any) -> bool:
    return any(other is item for other in items)


def _optimizer_classes() -> Tuple[Any, ...]:
    names = ("torch.optim.optimizer", "mindspore.nn.optim.optimizer", "mindspore.experimental.optim.optimizer")
    return tuple(sys.modules[name].Optimizer for name in names if name in sys.modules)


def _is_torch(optimizer: Any) -> bool:
    """Return whether an optimizer is torch's; one of MindSpore may have param_groups too."""
    module: Any = sys.modules.get("torch.optim.optimizer")
    return module is not None and isinstance(optimizer, module.Optimizer)


def _shapes(optimizer: Any) -> str:
    """Return a key that does not depend on where an object lies in memory."""
    weights = (
        [weight for group in optimizer.param_groups for weight in group["params"]]
        if _is_torch(optimizer)
        else optimizer.parameters
    )
    return "%s %s" % (type(optimizer).__name__, [tuple(weight.shape) for weight in weights])


def _torch_tensors(optimizer: Any, prefix: str) -> Iterator[Tuple[str, Any, bool]]:
    torch = sys.modules["torch"]
    for group_number, group in enumerate(optimizer.param_groups):
        for number, weight in enumerate(group["params"]):
            name = "%s%d.%d" % (prefix, group_number, number)
            yield name, weight, True
            for key, value in sorted(optimizer.state.get(weight, {}).items(), key=str):
                if isinstance(value, torch.Tensor):
                    yield "%s.%s" % (name, key), value, False


def _other_tensors(optimizers: List[Any], with_parameters: bool) -> Iterator[Tuple[str, Any]]:
    """Yield what the outermost modules of torch hold besides the weights of optimizers: those that hold such a weight,
    and those with parameters of the same shapes. `with_parameters`: not the buffers alone, and of all others too."""
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return
    groups = [group for optimizer in optimizers if _is_torch(optimizer) for group in optimizer.param_groups]
    weights = {id(weight) for group in groups for weight in group["params"]}
    tops = _outermost([item for item in gc.get_objects() if issubclass(type(item), torch.nn.Module)])
    holders = [module for module in tops if any(id(weight) in weights for weight in module.parameters())]
    shapes = {_parameter_shapes(module) for module in holders}
    twins = [module for module in tops if module not in holders and _parameter_shapes(module) in shapes]
    others = [module for module in tops if module not in holders + twins] if with_parameters else []
    counts: Dict[str, int] = {}
    for module in holders + twins + _ordered(others):
        for name, tensor in _held_tensors(module):
            if id(tensor) not in weights and (with_parameters or not isinstance(tensor, torch.nn.Parameter)):
                yield _counted(counts, name), tensor


def _counted(counts: Dict[str, int], name: str) -> str:
    """Return a name that was not used before."""
    counts[name] = counts.get(name, 0) + 1
    return name if counts[name] == 1 else "%s (%d)" % (name, counts[name])


def _ordered(modules: List[Any]) -> List[Any]:
    """Return modules in an order that does not depend on where they lie in memory: by class and shapes, and where these
    are the same, by what they hold."""
    keys = [(type(module).__name__, str(_parameter_shapes(module))) for module in modules]
    rows = []
    for number, (module, key) in enumerate(zip(modules, keys)):
        content = [_digest(tensor) for _, tensor in _held_tensors(module)] if keys.count(key) > 1 else []
        rows.append((key, content, number))
    return [modules[number] for _, _, number in sorted(rows)]


def _outermost(modules: List[Any]) -> List[Any]:
    """Return the modules with parameters that are in no other one."""
    inner = {id(child) for module in modules for child in module.children()}
    return [module for module in modules if id(module) not in inner and any(True for _ in module.parameters())]


def _parameter_shapes(module: Any) -> Tuple[Tuple[int, ...], ...]:
    return tuple(sorted(tuple(parameter.shape) for parameter in module.parameters()))


def _held_tensors(top: Any) -> Iterator[Tuple[str, Any]]:
    """Yield the parameters of a module, and its buffers, those too that its state_dict leaves out."""
    for path, module in top.named_modules():
        own = list(module._buffers.items()) + list(module._parameters.items())
        for key, tensor in sorted(own, key=lambda pair: str(pair[0])):
            if tensor is not None and _has_values(tensor):
                yield "%s.%s" % (path, key) if path else key, tensor


def _has_values(tensor: Any) -> bool:
    """Return whether a tensor is on a device, and its size is known."""
    return not hasattr(tensor, "materialize") and not tensor.is_meta


def _mindspore_besides(optimizers: List[Any]) -> Iterator[Tuple[str, Any]]:
    """Yield the parameters of cells that no optimizer updates or keeps, by name."""
    mindspore: Any = sys.modules.get("mindspore")
    if mindspore is None or not hasattr(mindspore, "nn"):
        return
    of_optimizers = [optimizer for optimizer in optimizers if not _is_torch(optimizer)]
    known = {id(parameter) for optimizer in of_optimizers for parameter in optimizer.parameters}
    known.update(id(parameter) for optimizer in of_optimizers for parameter in optimizer.get_parameters())
    cells = [item for item in gc.get_objects() if issubclass(type(item), mindspore.nn.Cell)]
    others = {}
    for cell in cells:
        for parameter in cell._params.values():
            if parameter is not None and id(parameter) not in known and not getattr(parameter, "has_init", False):
                others[id(parameter)] = parameter
    rows = sorted((parameter.name, _digest(parameter), key) for key, parameter in others.items())
    counts: Dict[str, int] = {}
    for name, _, key in rows:
        yield _counted(counts, name), others[key]


def _mindspore_tensors(optimizer: Any, prefix: str) -> Iterator[Tuple[str, Any, bool]]:
    weights = list(optimizer.parameters)
    yield from ((weight.name, weight, True) for weight in weights)
    for parameter in optimizer.get_parameters():
        if not _has(weights, parameter):
            yield prefix + parameter.name, parameter, False


def _digest(tensor: Any) -> str:
    return hashlib.blake2b(_bytes(tensor), digest_size=8).hexdigest()


def _bytes(tensor: Any) -> bytes:
    """Return the elements as they lie in memory, in C order."""
    if hasattr(tensor, "asnumpy"):
        try:
            return bytes(tensor.asnumpy().tobytes())
        except TypeError:  # a dtype that numpy lacks
            return bytes(tensor.float().asnumpy().tobytes())
    torch: Any = sys.modules["torch"]
    with torch.no_grad():
        local = tensor.to_local() if hasattr(tensor, "to_local") else tensor  # this rank's part of it
        local = local.int_repr() if local.is_quantized else local
        local = local if local.layout is torch.strided else local.to_dense()
        plain = local.detach().cpu().contiguous().reshape(-1).view(torch.uint8)
    return bytes(plain.numpy().tobytes())
