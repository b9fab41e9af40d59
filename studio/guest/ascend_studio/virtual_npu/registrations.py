"""Which operators come whole to dispatch.run.

torch takes some apart on a device that has no kernel of its own for them. They are to come whole, so that their
numbers are those of the CPU and their names those that a card sees.
"""

from __future__ import annotations

import re

from ascend_studio.virtual_npu import dispatch, host_kernels, kernels
from ascend_studio.virtual_npu.fake import sizes_only

if False:
    from typing import Any, Iterator, List

_COMPOSITE = ("CompositeExplicitAutograd", "CompositeImplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_RECURRENT = [kind + "." + form for kind in ("lstm", "gru", "rnn_tanh", "rnn_relu") for form in ("input", "data")]
_RECURRENT += ["lstm_cell", "gru_cell"]  # the other cells are made of operators that a card has
# Views keep their storage by torch's own kernels; copies between devices, pinned memory and other layouts are no
# matter of a kernel of the CPU; a function of storages or names is none at all.
_OTHERWISE = re.compile(
    r"::(_pin_memory|is_pinned|scaled_dot_product_attention|_local_scalar_dense|record_stream|lift.*"
    r"|resize.*|set_data|_cufft.*|_has_.*|is_same_size|is_set_to|_fw_primal|_make_dual|_unpack_dual|_lazy_clone|_print"
    r"|_assert.*|_efficientzerotensor|_resize_output.*|set_|_nested.*|_test.*|_sparse.*|sparse.*|.*_sparse.*|to_dense"
    r"|_to_dense|.*quantize.*|q_.*|.*mkldnn.*|_foobar|.*_copy_from.*|from_file|values|indices|rename.*|_version)(\.|$)"
)
NO_SPARSE = "CAUTION: The operator '%s' is not currently supported on the NPU backend. A card takes no sparse tensor."
_libraries: List[Any] = []  # what they register goes with them


def install(torch: Any) -> None:
    _strided[:] = [torch.strided]
    everything = torch.library.Library("_", "IMPL")
    everything.fallback(lambda op, *args, **kwargs: dispatch.run(op, args, kwargs), "PrivateUse1")
    library = torch.library.Library("aten", "IMPL")
    _libraries.extend((everything, library))
    for name in _taken_apart(torch):
        op = dispatch.operator(torch, name[6:])
        if op is not None and not host_kernels.Plan(op).is_view:
            library.impl(name, dispatch.entry(op), "PrivateUse1")
    for key in ("AutogradPrivateUse1", "PrivateUse1"):
        library.impl("aten::scaled_dot_product_attention", kernels.attention, key)
    with dispatch.quiet():
        library.impl("_has_compatible_shallow_copy_type", _is_alike, "CompositeImplicitAutograd", allow_override=True)
    for name in _RECURRENT:
        op = dispatch.operator(torch, name)
        library.impl(name, kernels.as_one(op), "AutogradPrivateUse1")
        library.impl(name, dispatch.entry(op), "PrivateUse1")  # of inference, which passes autograd by
    sparse = torch.library.Library("_", "IMPL")
    sparse.fallback(_refuse_sparse, "SparsePrivateUse1")
    _libraries.append(sparse)


def _refuse_sparse(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Refuse it as the fallback of torch_npu for sparse tensors does, in VariableFallbackKernel.cpp."""
    raise RuntimeError(NO_SPARSE % op._schema.name)


def _is_alike(tensor: Any, source: Any) -> bool:
    """Return whether `tensor.data = source` keeps the tensor, as HasCompatibleShallowCopyType.cpp of torch_npu does:
    weights that two modules share are still shared after model.to("npu").
    """
    if sizes_only.is_fake(tensor) or sizes_only.is_fake(source):
        return False  # a tensor without numbers knows its device by itself
    keys, of_source = _kind(tensor), _kind(source)
    return keys == of_source or (keys in _DENSE and of_source in _DENSE)


_DENSE = ("cpu", "npu")


def _kind(tensor: Any) -> str:
    return str(tensor.device.type) + ("" if tensor.layout is _strided[0] else str(tensor.layout))


_strided: List[Any] = []


def _taken_apart(torch: Any) -> Iterator[str]:
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    for name in torch._C._dispatch_get_all_op_names():
        if not name.startswith("aten::") or _OTHERWISE.search(name):
            continue
        has_cpu_kernel = any(has_kernel(name, key) for key in ("CPU", "CompositeExplicitAutograd"))
        if has_cpu_kernel and any(has_kernel(name, key) for key in _COMPOSITE):
            yield name
