"""What each step of a torch optimizer did in the captured steps, beside msprobe's dump, which ends before it.

    <step>/<rank>/optimizer.json
        {"format": 1, "updates": [{"optimizer": "AdamW", "groups": [{"values": {"lr": 0.001, …}, "parameters": [
            {"name": "0.weight", "dtype": "float32", "size": 1024,
             "before": [max, min, mean, norm], "gradient": […], "update": […], "state": {"exp_avg": […]}}]}]}]}

The hyperparameters of each group are those that the step was taken with. The figures of a parameter are of at most
SAMPLE of its elements, the same ones on every side, since a copy of all would take the memory of another model; `state`
is there where it was asked for.
"""

from __future__ import annotations

import json
import math
import os

from ascend_studio.recording import Unrecorded

if False:
    from types import ModuleType
    from typing import Any, Dict, List, Tuple

FILE = "optimizer.json"
FORMAT = 1
SAMPLE = 4096
MAX_PARAMETERS = 4096
# How a step is computed, which does not change what is computed.
SWITCHES = ("params", "param_names", "foreach", "fused", "capturable", "differentiable", "initial_lr")
# Around the module that a script has made.
WRAPPERS = ("module.", "_orig_mod.")


class OptimizerRecord:
    """The updates of one captured step. `root`: the module whose names the parameters have, None where unknown."""

    def __init__(self, torch: ModuleType, *, with_state: bool = False) -> None:
        self.torch = torch
        self.with_state = with_state
        self.updates: List[Dict[str, Any]] = []
        self.before: Dict[int, Any] = {}

    def begin(self, optimizer: Any) -> None:
        """Keep a sample of the parameters before a step."""
        with Unrecorded(), self.torch.no_grad():
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            self.before = {id(parameter): self._sample(parameter) for parameter in parameters[:MAX_PARAMETERS]}

    def end(self, optimizer: Any, root: Any) -> None:
        """Keep what the step did."""
        if not self.before:
            return
        with Unrecorded(), self.torch.no_grad():
            names = _names_of(root)
            groups = []
            rows: List[Any] = []
            for number, group in enumerate(optimizer.param_groups):
                parameters = [
                    self._parameter(optimizer, parameter, names.get(id(parameter), "%d.%d" % (number, index)), rows)
                    for index, parameter in enumerate(group["params"])
                    if self.before.get(id(parameter)) is not None
                ]
                groups.append({"values": _values_of(group), "parameters": parameters})
            _fill(groups, self.torch.stack(rows).tolist() if rows else [])
            self.updates.append({"optimizer": type(optimizer).__name__, "groups": groups})
        self.before = {}

    def write(self, folder: str) -> None:
        """Write the updates into the folder of the step's dump, and begin anew. Raises OSError."""
        updates, self.updates = self.updates, []
        if updates:
            path = os.path.join(folder, FILE)
            with open(path + ".tmp", "w") as file:
                json.dump({"format": FORMAT, "updates": updates}, file)
            os.replace(path + ".tmp", path)

    def _parameter(self, optimizer: Any, parameter: Any, name: str, rows: List[Any]) -> Dict[str, Any]:
        """Return a parameter whose figures are indices into `rows`: the device is waited for once, at the end."""
        before, after = self.before[id(parameter)], self._sample(parameter)
        gradient = None if parameter.grad is None else self._sample(parameter.grad)
        tensors = {"before": before, "gradient": gradient, "update": None if after is None else after - before}
        state: Dict[str, Any] = {}
        if self.with_state:
            owned = optimizer.state.get(parameter) or {}
            state = {key: self._sample(value) for key, value in owned.items() if self.torch.is_tensor(value)}
        return {
            "name": name, "dtype": str(parameter.dtype).rpartition(".")[2], "size": int(before.numel()),
            **{key: self._figures(value, rows) for key, value in tensors.items()},
            "state": {str(key): self._figures(value, rows) for key, value in state.items()},
        }  # fmt: skip

    def _figures(self, value: Any, rows: List[Any]) -> Any:
        if value is None or not value.numel():
            return None
        norm = self.torch.linalg.vector_norm(value)
        rows.append(self.torch.stack([value.max(), value.min(), value.mean(), norm]).cpu())
        return len(rows) - 1

    def _sample(self, tensor: Any) -> Any:
        """Return some of a tensor's elements, evenly spread, as float32; None of what has none here: a sparse gradient,
        a parameter on no device. Of a sharded one those of this rank."""
        try:
            local = tensor.detach()
            local = local.to_local() if hasattr(local, "to_local") else local
            if local.layout is not self.torch.strided or local.is_meta or not local.is_floating_point():
                return None
            flat = local.reshape(-1)
            stride = max(1, -(-flat.numel() // SAMPLE))
            return flat[::stride].to(dtype=self.torch.float32, copy=True)
        except (AttributeError, NotImplementedError, RuntimeError):
            return None


def _names_of(root: Any) -> Dict[int, str]:
    if root is None:
        return {}
    return {id(parameter): plain_name(name) for name, parameter in root.named_parameters()}


def plain_name(name: str) -> str:
    for wrapper in WRAPPERS:
        name = name.replace(wrapper, "") if name.startswith(wrapper) else name.replace("." + wrapper, ".")
    return name


def _values_of(group: Dict[str, Any]) -> Dict[str, Any]:
    """Return the hyperparameters of a group as plain values; a learning rate may be a tensor."""
    return {str(key): _plain(value) for key, value in group.items() if key not in SWITCHES}


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return _finite(value)
    if isinstance(value, (bool, int, str)) or value is None:
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    try:
        return _finite(float(value))
    except (TypeError, ValueError, RuntimeError):
        return type(value).__name__


def _finite(number: float) -> Any:
    """Return a number, as a word where JSON has none for it."""
    if math.isfinite(number):
        return number
    return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"


def _fill(groups: List[Dict[str, Any]], rows: List[List[float]]) -> None:
    """Put the figures in the place of their indices."""
    for group in groups:
        for parameter in group["parameters"]:
            for figures, key in _places(parameter):
                figures[key] = None if figures[key] is None else [_finite(number) for number in rows[figures[key]]]


def _places(parameter: Dict[str, Any]) -> List[Tuple[Dict[str, Any], str]]:
    own = [(parameter, key) for key in ("before", "gradient", "update")]
    return own + [(parameter["state"], key) for key in parameter["state"]]
