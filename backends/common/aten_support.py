"""What the shipped tables say of an operator on an NPU: assets/migration/aten.tsv and aten_dtypes.tsv."""

from __future__ import annotations

from functools import lru_cache

from studio.paths import ASSETS

KINDS, DTYPES = ASSETS / "migration" / "aten.tsv", ASSETS / "migration" / "aten_dtypes.tsv"
# The documentation names functions; these are the operators that they become.
FUNCTIONS = {
    "native_layer_norm": "layer_norm", "native_batch_norm": "batch_norm", "convolution": "conv2d",
    "_softmax": "softmax", "_log_softmax": "log_softmax", "nll_loss_forward": "nll_loss", "native_dropout": "dropout",
    "native_group_norm": "group_norm", "_unique2": "unique", "linalg_vector_norm": "linalg_vector_norm",
}  # fmt: skip


@lru_cache(maxsize=1)
def _kinds() -> dict[str, str]:
    rows = (line.split("\t") for line in KINDS.read_text("utf-8").splitlines())
    return {name: kind for kind, names in rows for name in names.split()}


@lru_cache(maxsize=1)
def _dtypes() -> dict[str, frozenset[str]]:
    rows = (line.split("\t") for line in DTYPES.read_text("utf-8").splitlines())
    return {name: frozenset(dtypes.split()) for dtypes, names in rows for name in names.split()}


def kernel_of(operator: str) -> str:
    """Return the kind of an operator as the rehearsal names it ("aten.add.Tensor"); "unknown" outside of the tables."""
    space, _, name = operator.partition(".")
    return _kinds().get(name.removesuffix(".default"), "unknown") if space == "aten" else "unknown"


def documented_dtypes(operator: str) -> frozenset[str]:
    """Return the dtypes that the documentation names for an operator; none where it is silent."""
    space, _, name = operator.partition(".")
    if space != "aten":
        return frozenset()
    base = name.partition(".")[0]
    function = FUNCTIONS.get(base, base)
    table = _dtypes()
    return table.get(function) or table.get(function.removesuffix("_"), frozenset())
