"""torch_npu.optim: PyTorch's optimizers with what the fused ones take and refuse.

A fused optimizer joins its parameters, and their gradients, in one tensor at its first step. So it takes float32 and
float16 alone, and a gradient that is replaced later is never seen: every step repeats the old one, without a word.
"""

from __future__ import annotations

from ascend_studio.rehearsal import record

if False:
    from typing import Any, Dict

FORMULAS = {
    "NpuFusedSGD": ("SGD", ("momentum", "dampening", "weight_decay", "nesterov"), {}),
    "NpuFusedAdam": ("Adam", ("betas", "eps", "weight_decay", "amsgrad"), {}),
    "NpuFusedAdamW": ("AdamW", ("betas", "eps", "weight_decay", "amsgrad"), {}),
    "NpuFusedRMSprop": ("RMSprop", ("alpha", "eps", "weight_decay", "momentum", "centered"), {}),
    "NpuFusedAdadelta": ("Adadelta", ("rho", "eps", "weight_decay"), {"lr": 1.0}),
}  # type: Dict[str, Any]
"""Of each: PyTorch's optimizer, the parameters behind params and lr in their order, and defaults that differ."""
WRONG_DTYPE = "Fused optimizer's parameters must be either float32 or float16, but received %s"
NO_NONE = "set_to_none is not supported in fused optimizers"
REPLACED = (
    "%d gradients were replaced after the first step of %s, as zero_grad of a model does. "
    "An NPU would go on with those of the first step; take zero_grad of the optimizer."
)


def classes(torch: Any) -> Dict[str, Any]:
    return {name: _fused(torch, name, *facts) for name, facts in FORMULAS.items()}


def _fused(torch: Any, name: str, base_name: str, names: Any, defaults: Any) -> Any:
    base: Any = getattr(torch.optim, base_name)

    class Fused(base):  # type: ignore[misc]
        is_fused_optimizer = True

        def __init__(self, params: Any, *values: Any, **options: Any) -> None:
            given = dict(zip(("lr", *names), values), **options)
            unknown = sorted(set(given).difference(("lr", *names)))
            if unknown:
                raise TypeError("%s.__init__() got an unexpected keyword argument %r" % (name, unknown[0]))
            self._joined: Dict[int, Any] = {}
            super().__init__(params, foreach=False, **dict(defaults, **given))

        def zero_grad(self, set_to_none: bool = False) -> None:
            if set_to_none:
                raise ValueError(NO_NONE)
            super().zero_grad(set_to_none=False)

        def step(self, closure: Any = None) -> Any:
            loss = None
            if closure is not None:
                with torch.enable_grad():
                    loss = closure()
            self._look_at_gradients()
            super().step()
            return loss

        def _look_at_gradients(self) -> None:
            params = [param for group in self.param_groups for param in group["params"] if param.grad is not None]
            for param in params:
                if param.dtype not in (torch.float32, torch.float16):
                    raise TypeError(WRONG_DTYPE % param.dtype)
            if not self._joined:
                self._joined = {id(param): param.grad for param in params}
            replaced = sum(self._joined.get(id(param)) is not param.grad for param in params)
            if replaced:
                record.block("torch_npu.optim." + name, REPLACED % (replaced, name), "disabled")

    Fused.__name__ = Fused.__qualname__ = name
    Fused.__module__ = "torch_npu.optim"
    return Fused
