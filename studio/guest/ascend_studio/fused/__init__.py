"""Fused operators and optimizers of torch_npu, by the formulas of its documentation.

`_op_plugin_docs.py` and `optim/` of the wheel say what each computes, `op_plugin/meta` what it returns. They are made
of operators of PyTorch, so that they have gradients and run on any device; a card rounds otherwise.
"""

from __future__ import annotations

from ascend_studio.fused import activations, attention, layouts, normalizations

if False:
    from typing import Any, Callable, Dict


def operators(torch: Any) -> Dict[str, Callable[..., Any]]:
    """Return the operators that have a formula here, by their names in torch_npu."""
    found: Dict[str, Callable[..., Any]] = {}
    for part in (activations, normalizations, attention, layouts):
        part.use(torch)
        found.update({name: getattr(part, name) for name in part.NAMES})
    return found
