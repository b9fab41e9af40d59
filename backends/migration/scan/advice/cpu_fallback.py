"""Torch APIs for the judge to look up, and operators without a kernel for the NPU."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from backends.migration.scan.advice.module_view import may_be_tensor_method

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence
    from backends.migration.scan.advice.module_view import ModuleView


_LINALG = {
    "cholesky_ex": "linalg_cholesky_ex.L", "det": "_linalg_det.result", "eig": "linalg_eig",
    "eigh": "_linalg_eigh.eigenvalues", "eigvals": "_linalg_eigvals", "eigvalsh": "_linalg_eigh.eigenvalues",
    "householder_product": "linalg_householder_product", "inv": "linalg_inv_ex.inverse",
    "inv_ex": "linalg_inv_ex.inverse", "ldl_factor": "linalg_ldl_factor_ex", "ldl_solve": "linalg_ldl_solve",
    "lstsq": "linalg_lstsq.out", "lu": "linalg_lu", "lu_factor": "linalg_lu_factor_ex",
    "lu_factor_ex": "linalg_lu_factor_ex", "lu_solve": "linalg_lu_solve", "matrix_exp": "linalg_matrix_exp",
    "slogdet": "_linalg_slogdet.sign", "solve": "_linalg_solve_ex.result",
}  # fmt: skip
_BOTH = {
    "cholesky": "cholesky", "cholesky_inverse": "cholesky_inverse", "copysign": "copysign.Tensor",
    "det": "_linalg_det.result",
    "digamma": "digamma", "fmax": "fmax", "fmin": "fmin", "frexp": "frexp.Tensor_out", "geqrf": "geqrf",
    "heaviside": "heaviside", "histogram": "histogram.bins_tensor", "hypot": "hypot", "i0": "i0", "igamma": "igamma",
    "igammac": "igammac", "index_reduce": "index_reduce", "inverse": "linalg_inv_ex.inverse", "lcm": "lcm",
    "lgamma": "lgamma", "logdet": "_linalg_slogdet.sign", "matrix_exp": "linalg_matrix_exp", "mode": "mode",
    "mvlgamma": "lgamma", "nextafter": "nextafter", "ormqr": "ormqr", "polygamma": "polygamma",
    "slogdet": "_linalg_slogdet.sign",
}  # fmt: skip
_TORCH = {"binomial": "binomial", "lu_unpack": "lu_unpack", "poisson": "poisson", "segment_reduce": "segment_reduce"}
_SPECIAL = {
    "airy_ai": "special_airy_ai", "bessel_j0": "special_bessel_j0", "bessel_j1": "special_bessel_j1",
    "digamma": "digamma", "entr": "special_entr", "erfcx": "special_erfcx", "gammainc": "igamma",
    "gammaincc": "igammac", "gammaln": "lgamma", "i0": "i0", "i0e": "special_i0e", "i1": "special_i1",
    "i1e": "special_i1e", "log_ndtr": "special_log_ndtr", "multigammaln": "lgamma", "ndtri": "special_ndtri",
    "polygamma": "polygamma", "psi": "digamma", "xlog1py": "special_xlog1py", "zeta": "special_zeta",
}  # fmt: skip
_LOSSES = {
    "torch.nn.HuberLoss": "huber_loss", "torch.nn.functional.huber_loss": "huber_loss",
    "torch.nn.MultiMarginLoss": "multi_margin_loss", "torch.nn.functional.multi_margin_loss": "multi_margin_loss",
    "torch.nn.FractionalMaxPool2d": "fractional_max_pool2d.output",
    "torch.nn.FractionalMaxPool3d": "fractional_max_pool3d.output",
    "torch.nn.functional.fractional_max_pool2d": "fractional_max_pool2d.output",
    "torch.nn.functional.fractional_max_pool3d": "fractional_max_pool3d.output",
}  # fmt: skip
_TENSORS_ONLY = {
    "cauchy_": "cauchy_",
    "geometric_": "geometric_",
    "log_normal_": "log_normal_",
    "index_reduce_": "index_reduce_",
}

OPERATORS = {
    **{f"torch.linalg.{name}": operator for name, operator in _LINALG.items()},
    **{f"torch.{name}": operator for name, operator in {**_BOTH, **_TORCH}.items()},
    **{f"torch.Tensor.{name}": operator for name, operator in {**_BOTH, **_TENSORS_ONLY}.items()},
    **{f"torch.special.{name}": operator for name, operator in _SPECIAL.items()},
    **_LOSSES,
}
# Objects other than tensors have these too: a DataFrame has mode(), a Fraction of sympy det().
METHODS = frozenset({*_BOTH, *_TENSORS_ONLY}) - {
    "mode",
    "det",
    "histogram",
    "cholesky",
    "lcm",
    "fmax",
    "fmin",
    "inverse",
}


# These have categories of their own, whatever the tables say of them.
SEPARATE_CATEGORIES = (
    "torch.cuda.",
    "torch.backends.",
    "torch.jit.",
    "torch.utils.cpp_extension.",
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.data_parallel",
    "torch.autograd.profiler.emit_nvtx",
)


def advise_cpu_fallback(view: ModuleView) -> Iterator[Occurrence]:
    """Yield the first call of each API in a file; `count` says how many there are."""
    first: dict[str, ast.expr] = {}
    count: dict[str, int] = {}
    for call, name in view.module.calls:
        api = (
            name
            if name and name.startswith("torch.")
            else _tensor_method(view, call)
            if may_be_tensor_method(name)
            else ""
        )
        if api and not api.startswith(SEPARATE_CATEGORIES) and not view.module.is_message(call):
            first.setdefault(api, call.func)
            count[api] = count.get(api, 0) + 1
    for name, node in first.items():
        yield view.make_occurrence(node, "", name, {"count": count[name]})
        if operator := OPERATORS.get(name):
            yield from view.advise(node, "advice.cpu_fallback", name, operator=operator, count=count[name])


def _tensor_method(view: ModuleView, call: ast.Call) -> str:
    """Methods that nothing but a tensor has."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in METHODS and view.uses_torch:
        return f"torch.Tensor.{call.func.attr}"
    return ""
