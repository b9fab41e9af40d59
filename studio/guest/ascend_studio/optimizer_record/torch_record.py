"""The record of a torch optimizer."""

from __future__ import annotations

from ascend_studio import optimizer_record as form
from ascend_studio.recording import Unrecorded

if False:
    from types import ModuleType
    from typing import Any, Dict, List


class Sampler:
    """Samples and sums of torch tensors as float32. `count`: elements of a sample, and sums."""

    def __init__(self, torch: ModuleType) -> None:
        self.torch = torch
        self.count = form.SAMPLE
        self._signs: Dict[Any, Any] = {}
        self._positions: Dict[Any, Any] = {}

    def sample(self, tensor: Any) -> Any:
        """Return a tensor's sample, None of what has none here: a sparse gradient, a parameter on no device."""
        flat = self._flat(tensor)
        if flat is None:
            return None
        if flat.numel() > self.count:
            flat = flat[self._position(flat)]
        return flat.to(dtype=self.torch.float32, copy=True)

    def size(self, tensor: Any) -> int:
        flat = self._flat(tensor)
        return 0 if flat is None else int(flat.numel())

    def sums(self, tensor: Any) -> Any:
        """Return the sums of all elements with their signs, None where the sample has all of them."""
        flat = self._flat(tensor)
        if flat is None or flat.numel() <= self.count:
            return None
        pattern = self._sign(flat)
        total = self.torch.zeros(self.count, dtype=self.torch.float32, device=flat.device)
        for number, begin in enumerate(range(0, flat.numel(), form.BLOCK)):
            part = flat[begin : begin + form.BLOCK].to(self.torch.float32)
            part = part * pattern[: part.numel()]
            whole = part.numel() // self.count * self.count
            own = part[:whole].reshape(-1, self.count).sum(0)
            own[: part.numel() - whole] += part[whole:]
            total += own * form.sign_of_block(number)
        return total

    def _flat(self, tensor: Any) -> Any:
        """Return the elements; of a sharded tensor those of this rank."""
        try:
            local = tensor.detach()
            local = local.to_local() if hasattr(local, "to_local") else local
            if local.layout is not self.torch.strided or local.is_meta or not local.is_floating_point():
                return None
            return local.reshape(-1)
        except (AttributeError, NotImplementedError, RuntimeError):
            return None

    def _position(self, flat: Any) -> Any:
        key = (flat.numel(), self.count, flat.device)
        if key not in self._positions:
            self._positions[key] = self.torch.tensor(form.positions(*key[:2]), device=flat.device)
        return self._positions[key]

    def _sign(self, flat: Any) -> Any:
        if flat.device not in self._signs:
            self._signs[flat.device] = self.torch.tensor(form.signs(), dtype=self.torch.float32, device=flat.device)
        return self._signs[flat.device]


class OptimizerRecord:
    """The updates of one captured step. `root`: the module whose names the parameters have, None where unknown."""

    def __init__(self, torch: ModuleType, *, with_state: bool = False) -> None:
        self.torch = torch
        self.with_state = with_state
        self.sampler = Sampler(torch)
        self.updates: List[Dict[str, Any]] = []
        self.before: Dict[int, Any] = {}

    def begin(self, optimizer: Any) -> None:
        """Keep a sample of the parameters before a step, and their sums."""
        with Unrecorded(), self.torch.no_grad():
            parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
            self.sampler.count = form.sample_size(len(parameters))
            recorded = parameters[: form.MAX_PARAMETERS]
            samples = [(parameter, self.sampler.sample(parameter)) for parameter in recorded]
            self.before = {
                id(parameter): (sample, self.sampler.sums(parameter))
                for parameter, sample in samples
                if sample is not None
            }

    def end(self, optimizer: Any, root: Any) -> None:
        """Keep what the step did."""
        with Unrecorded(), self.torch.no_grad():
            names = _names_of(root)
            groups = []
            rows: List[Any] = []
            for number, group in enumerate(optimizer.param_groups):
                parameters = [
                    self._parameter(optimizer, parameter, names.get(id(parameter), "%d.%d" % (number, index)), rows)
                    for index, parameter in enumerate(group["params"])
                    if id(parameter) in self.before
                ]
                left_out = len(group["params"]) - len(parameters)
                groups.append({"values": form.values_of(group), "left_out": left_out, "parameters": parameters})
            form.fill(groups, self._numbers(rows))
            self.updates.append({"optimizer": type(optimizer).__name__, "groups": groups})
        self.before = {}

    def write(self, folder: str) -> None:
        """Write the updates into the folder of the step's dump. Raises OSError."""
        form.write_updates(self.updates, folder)

    def _parameter(self, optimizer: Any, parameter: Any, name: str, rows: List[Any]) -> Dict[str, Any]:
        """Return a parameter whose figures are indices into `rows`: the device is waited for once, at the end."""
        before, sums_before = self.before[id(parameter)]
        gradient = parameter.grad
        slope = None if gradient is None else self.sampler.sample(gradient)
        update = _difference(self.sampler.sample(parameter), before)
        tensors = {
            "before": before, "gradient": slope, "update": update,
            "gradient_sums": None if gradient is None else self.sampler.sums(gradient),
            "update_sums": _difference(self.sampler.sums(parameter), sums_before),
            "direction": self._cosine(update, slope),
        }  # fmt: skip
        state: Dict[str, Any] = {}
        if self.with_state:
            owned = optimizer.state.get(parameter) or {}
            state = {key: self.sampler.sample(value) for key, value in owned.items() if self.torch.is_tensor(value)}
        return {
            "name": name, "dtype": str(parameter.dtype).rpartition(".")[2], "size": self.sampler.size(parameter),
            "sampled": int(before.numel()), **{key: self._figures(value, rows) for key, value in tensors.items()},
            "state": {str(key): self._figures(value, rows) for key, value in state.items()},
        }  # fmt: skip

    def _cosine(self, update: Any, slope: Any) -> Any:
        """Return the cosine of two samples as a tensor of one element, NaN where one of them is nothing but zeros."""
        if update is None or slope is None or update.numel() != slope.numel():
            return None
        norms = [self.torch.linalg.vector_norm(value) for value in (update, slope)]
        return ((update / norms[0]) * (slope / norms[1])).sum().reshape(1)

    def _figures(self, value: Any, rows: List[Any]) -> Any:
        if value is None or not value.numel():
            return None
        norm = self.torch.linalg.vector_norm(value)
        rows.append(self.torch.stack([value.max(), value.min(), value.mean(), norm]))
        return len(rows) - 1

    def _numbers(self, rows: List[Any]) -> List[List[float]]:
        """Return the figures of all rows, asked of each device once."""
        numbers: List[List[float]] = [[] for _ in rows]
        for device in {row.device for row in rows}:
            chosen = [number for number, row in enumerate(rows) if row.device == device]
            figures = self.torch.stack([rows[number] for number in chosen]).tolist()
            for number, values in zip(chosen, figures):
                numbers[number] = values
        return numbers


def _difference(after: Any, before: Any) -> Any:
    return None if after is None or before is None or after.numel() != before.numel() else after - before


def _names_of(root: Any) -> Dict[int, str]:
    if root is None:
        return {}
    return {id(parameter): form.plain_name(name) for name, parameter in root.named_parameters()}
