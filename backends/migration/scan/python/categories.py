"""Which part of the GPU stack a canonical name belongs to."""

from __future__ import annotations

import re

_TABLE: tuple[tuple[str, str], ...] = (
    # The longest that a name begins with counts.
    ("torch.cuda", "cuda_api"),
    ("torch.cuda.amp", "amp_cuda"),
    ("torch.cuda.nccl", "nccl_api"),
    ("torch.cuda.nvtx", "nvtx"),
    ("torch.cuda.graphs", "cuda_graph"),
    ("torch.cuda.graph", "cuda_graph"),
    ("torch.cuda.CUDAGraph", "cuda_graph"),
    ("torch.cuda.make_graphed_callables", "cuda_graph"),
    ("torch.cuda.graph_pool_handle", "cuda_graph"),
    ("torch.cuda.is_current_stream_capturing", "cuda_graph"),
    ("torch.version.cuda", "cuda_version"),
    ("torch.has_cuda", "cuda_version"),
    ("torch.has_cudnn", "cudnn"),
    ("torch.backends.cuda", "backend_cuda"),
    ("torch.backends.cudnn", "cudnn"),
    ("torch.backends.cusparselt", "backend_cuda"),
    ("torch.amp.autocast", "amp_generic"),
    ("torch.amp.GradScaler", "amp_generic"),
    ("torch.amp.custom_fwd", "amp_generic"),
    ("torch.amp.custom_bwd", "amp_generic"),
    ("torch.amp.autocast_mode", "amp_generic"),
    ("torch.amp.grad_scaler", "amp_generic"),
    ("torch.autocast", "amp_generic"),
    ("torch.get_autocast_gpu_dtype", "amp_generic"),
    ("torch.set_autocast_gpu_dtype", "amp_generic"),
    ("torch.nn.DataParallel", "dataparallel"),
    ("torch.nn.parallel.DataParallel", "dataparallel"),
    ("torch.nn.parallel.data_parallel", "dataparallel"),
    ("torch.jit.script", "jit"),
    ("torch.jit.script_method", "jit"),
    ("torch.jit.script_if_tracing", "jit"),
    ("torch.jit.ScriptModule", "jit"),
    ("torch.jit.ScriptFunction", "jit"),
    ("torch.jit.RecursiveScriptModule", "jit"),
    ("torch.jit.trace", "jit"),
    ("torch.jit.trace_module", "jit"),
    ("torch.jit.load", "jit"),
    ("torch.jit.save", "jit"),
    ("torch.jit.freeze", "jit"),
    ("torch.jit.optimize_for_inference", "jit"),
    ("torch.jit.fuser", "jit"),
    ("torch.jit.set_fusion_strategy", "jit"),
    ("torch.compile", "torch_compile"),
    ("torch.compiler.compile", "torch_compile"),
    ("torch._dynamo", "torch_compile"),
    ("torch._inductor", "torch_compile"),
    ("torch.utils.cpp_extension", "cpp_extension"),
    ("torch.ops.load_library", "custom_ext_load"),
    ("torch.classes.load_library", "custom_ext_load"),
    ("torch.profiler.ProfilerActivity.CUDA", "profiler_cuda"),
    ("torch.autograd.ProfilerActivity.CUDA", "profiler_cuda"),
    ("torch.autograd.profiler.emit_nvtx", "nvtx"),
    ("torch.distributed.is_nccl_available", "nccl_api"),
    ("torch.distributed.distributed_c10d.is_nccl_available", "nccl_api"),
    ("torch.distributed.ProcessGroupNCCL", "nccl_api"),
    ("torch.distributed.distributed_c10d.ProcessGroupNCCL", "nccl_api"),
    ("torch._C._distributed_c10d.ProcessGroupNCCL", "nccl_api"),
    ("torch.distributed.Backend.NCCL", "nccl_api"),
    ("torch.distributed.distributed_c10d.Backend.NCCL", "nccl_api"),
    ("torch.Tensor.cuda", "cuda_method"),
    ("torch.Tensor.is_cuda", "is_cuda"),
    ("torch.nn.Module.cuda", "cuda_method"),
    ("torch.utils._triton", "triton_kernel"),
    ("torch.testing._internal.common_cuda", "cuda_api"),
)
_CATEGORIES = dict(_TABLE)
_TENSOR_TYPE = re.compile(
    r"torch\.cuda\.(?:sparse\.)?(?:Float|Double|Half|BFloat16|Long|Int|Short|Char|Byte|Bool)(?:Tensor|Storage)"
)
_OTHER_VENDORS = frozenset(("HIP_HOME", "ROCM_HOME", "IS_HIP_EXTENSION", "SyclExtension", "SYCL_HOME"))
_INTERNAL = re.compile(r"torch\._C\.(?:\w+\.)*_?(cuda|cudnn|nccl|nvtx)")
_INTERNAL_CATEGORIES = {"cuda": "cuda_api", "cudnn": "cudnn", "nccl": "nccl_api", "nvtx": "nvtx"}


def api_category(name: str) -> str | None:
    """Return the category of a name of torch; None for what is the same on every device, and for other libraries."""
    if not name.startswith("torch."):
        return None
    if _TENSOR_TYPE.match(name):
        return "cuda_tensor_type"
    if (internal := _INTERNAL.match(name)) is not None:
        return _INTERNAL_CATEGORIES[internal[1]]
    if name.rpartition(".")[2] in _OTHER_VENDORS:
        return None
    while name:
        if name in _CATEGORIES:
            return _CATEGORIES[name]
        name = name.rpartition(".")[0]
    return None


def is_kernel_decorator(name: str) -> bool:
    """A decorator that makes a kernel of a function."""
    return name in ("triton.jit", "triton.runtime.jit", "triton.runtime.JITFunction", "triton.runtime.jit.jit")
