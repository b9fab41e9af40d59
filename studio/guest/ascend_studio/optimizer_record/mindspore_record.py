"""The record of a MindSpore optimizer, of mindspore.nn or mindspore.experimental, as PyNative calls it."""

from __future__ import annotations

import sys

from ascend_studio import optimizer_record as form
from ascend_studio.recording import Unrecorded

if False:
    from types import ModuleType
    from typing import Any, Dict, List

# What MindSpore's optimizers keep of their arguments, where a script may have changed it since.
SETTINGS = (
    "alpha", "beta1", "beta2", "centered", "dampening", "decay", "eps", "epsilon", "lambd", "loss_scale", "lr_power",
    "momentum", "nesterov", "rho", "t0", "use_amsgrad", "use_nesterov",
)  # fmt: skip
# Arguments that each group has for itself, or that do not change what is computed.
NO_SETTINGS = ("learning_rate", "weight_decay", "use_locking", "use_lazy", "use_offload")


class OptimizerRecord:
    """The updates of one captured step. A tensor is looked at on the host: its kernels may lack there."""

    def __init__(self, mindspore: ModuleType) -> None:
        self.mindspore = mindspore
        self.count = form.SAMPLE
        self.updates: List[Dict[str, Any]] = []
        self.before: Dict[int, Any] = {}
        self.gradients: List[Any] = []
        self.groups: List[Dict[str, Any]] = []
        self.optimizer: Any = None
        self._signs: Any = None

    def begin(self, optimizer: Any, args: Any) -> None:
        """Keep the hyperparameters, the gradients, and a sample of the parameters before a step, and their sums."""
        with Unrecorded():
            parameters = list(optimizer.parameters)
            self.count = form.sample_size(len(parameters))
            self.groups, self.optimizer = groups_of(optimizer), optimizer
            self.gradients = list(args[0]) if args and isinstance(args[0], (tuple, list)) else []
            kept = [(parameter, self._flat(parameter)) for parameter in parameters[: form.MAX_PARAMETERS]]
            self.before = {
                id(parameter): (self._sample(flat), self._sums(flat)) for parameter, flat in kept if flat is not None
            }

    def end(self) -> None:
        """Keep what the step did, once."""
        optimizer, self.optimizer = self.optimizer, None
        if optimizer is None:
            return
        with Unrecorded():
            gradients = dict(zip(map(id, optimizer.parameters), self.gradients))
            groups = []
            for group in self.groups:
                recorded = [parameter for parameter in group["params"] if id(parameter) in self.before]
                parameters = [self._parameter(parameter, gradients.get(id(parameter))) for parameter in recorded]
                left_out = len(group["params"]) - len(parameters)
                groups.append({"values": group["values"], "left_out": left_out, "parameters": parameters})
            self.updates.append({"optimizer": type(optimizer).__name__, "groups": groups})
        self.before, self.groups, self.gradients = {}, [], []

    def write(self, folder: str) -> None:
        """Write the updates into the folder of the step's dump. Raises OSError."""
        form.write_updates(self.updates, folder)

    def _parameter(self, parameter: Any, gradient: Any) -> Dict[str, Any]:
        before, sums_before = self.before[id(parameter)]
        flat, slope = self._flat(parameter), self._flat(gradient)
        gradient_sample, update = self._sample(slope), _difference(self._sample(flat), before)
        tensors = {
            "before": before, "gradient": gradient_sample, "update": update,
            "gradient_sums": self._sums(slope), "update_sums": _difference(self._sums(flat), sums_before),
            "direction": _cosine(update, gradient_sample),
        }  # fmt: skip
        return {
            "name": str(parameter.name), "dtype": str(parameter.dtype).lower(), "size": int(flat.size),
            "sampled": int(before.size), **{key: _figures(value) for key, value in tensors.items()}, "state": {},
        }  # fmt: skip

    def _flat(self, tensor: Any) -> Any:
        """Return the elements as numbers of numpy, None of what has none here: a sparse gradient, whole numbers."""
        if not isinstance(tensor, self.mindspore.Tensor):
            return None
        if "BFloat16" in str(tensor.dtype):
            tensor = tensor.astype(self.mindspore.float32)
        array = tensor.asnumpy().reshape(-1)
        return array if array.dtype.kind == "f" else None

    def _sample(self, flat: Any) -> Any:
        if flat is None:
            return None
        chosen = flat[form.positions(flat.size, self.count)] if flat.size > self.count else flat
        return chosen.astype("float32")  # a copy: on a CPU it may be the parameter itself

    def _sums(self, flat: Any) -> Any:
        if flat is None or flat.size <= self.count:
            return None
        if self._signs is None:
            self._signs = sys.modules["numpy"].array(form.signs(), "float32")
        total = self._signs[: self.count] * 0
        for number, begin in enumerate(range(0, flat.size, form.BLOCK)):
            part = flat[begin : begin + form.BLOCK].astype("float32")
            part = part * self._signs[: part.size]
            whole = part.size // self.count * self.count
            own = part[:whole].reshape(-1, self.count).sum(0)
            own[: part.size - whole] += part[whole:]
            total += own * form.sign_of_block(number)
        return total


def _difference(after: Any, before: Any) -> Any:
    return None if after is None or before is None or after.size != before.size else after - before


def _cosine(update: Any, slope: Any) -> Any:
    """Return the cosine of two samples as an array of one element, None where one of them is nothing but zeros."""
    if update is None or slope is None or update.size != slope.size:
        return None
    double, other = update.astype("float64"), slope.astype("float64")
    norms = float((double**2).sum() * (other**2).sum()) ** 0.5
    return (double * other).sum().reshape(1) / norms if norms > 0 else None


def _figures(value: Any) -> Any:
    if value is None or not value.size:
        return None
    norm = float((value.astype("float64") ** 2).sum()) ** 0.5
    return [form.finite(float(number)) for number in (value.max(), value.min(), value.mean(), norm)]


def groups_of(optimizer: Any) -> List[Dict[str, Any]]:
    """Return the groups of an optimizer: `params`, and the hyperparameters that the next step is taken with."""
    if hasattr(optimizer, "param_groups"):  # mindspore.experimental
        return [{"params": list(group["params"]), "values": form.values_of(group)} for group in optimizer.param_groups]
    rates, decays = _per_parameter(optimizer, optimizer.get_lr()), _per_parameter(optimizer, _weight_decay(optimizer))
    settings = _settings(optimizer)
    scale = float(settings.get("loss_scale") or 1.0)
    indices = {id(parameter): index for index, parameter in enumerate(optimizer.parameters)}
    groups = []
    for members in _members(optimizer):
        first = indices[id(members[0])]
        values = {**settings, "lr": _number(rates[first]), "weight_decay": _number(decays[first], 1.0 / scale)}
        groups.append({"params": members, "values": values})
    return groups


def _members(optimizer: Any) -> List[List[Any]]:
    """Return the parameters of each group, as the script has grouped them."""
    given = (getattr(optimizer, "init_params", None) or {}).get("params")
    known = {id(parameter) for parameter in optimizer.parameters}
    if isinstance(given, (list, tuple)) and given and isinstance(given[0], dict):
        lists = [list(group["params"]) for group in given if "order_params" not in group]
        if all(members and {id(member) for member in members} <= known for members in lists):
            return lists
    return [list(optimizer.parameters)]


def _weight_decay(optimizer: Any) -> Any:
    return optimizer.get_weight_decay() if hasattr(optimizer, "get_weight_decay") else 0.0


def _per_parameter(optimizer: Any, value: Any) -> List[Any]:
    """Return a hyperparameter of each parameter: one for all, or a tuple."""
    count = len(optimizer.parameters)
    return list(value) if isinstance(value, (tuple, list)) and len(value) == count else [value] * count


def _settings(optimizer: Any) -> Dict[str, Any]:
    """Return the hyperparameters that all groups share."""
    given = getattr(optimizer, "init_args", None) or {}
    values = {str(key): form.plain(value) for key, value in given.items() if key not in NO_SETTINGS}
    for name in SETTINGS:
        value = getattr(optimizer, name, None)
        if value is not None:
            values[name] = _number(value)
    return values


def _number(value: Any, factor: float = 1.0) -> Any:
    """Return a hyperparameter as a plain value, without the digits that float32 adds to it."""
    plain = form.plain(value)
    return form.finite(float("%.7g" % (plain * factor))) if isinstance(plain, float) else plain
