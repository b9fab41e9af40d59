"""Verdicts on names of torch: which of them transfer_to_npu replaces, and which it leaves to CUDA."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.finding import Occurrence
    from backends.migration.scan.facts.facts import Facts

# Names of torch.cuda that transfer_to_npu leaves alone, by what becomes of them; the others are "not_overlaid".
NOT_OVERLAID = {
    "allocator": ("CUDAPluggableAllocator",),
    "build": (
        "get_arch_list", "get_gencode_flags", "has_half", "has_magma", "is_tf32_supported", "check_error", "cudaStatus",
        "CudaError",
    ),
    "comm": ("comm",),
    "jiterator": ("jiterator",),
    "monitor": (
        "memory_usage", "device_memory_used", "temperature", "power_draw", "clock_rate", "list_gpu_processes",
    ),
    "runtime": ("cudart", "profiler"),
}  # fmt: skip
_NOT_OVERLAID_CASE = {name: case for case, names in NOT_OVERLAID.items() for name in names}
MARKS = frozenset({"mark", "range_push", "range_pop", "range_start", "range_end"})
JIT_MARKS = ("export", "ignore", "unused", "interface", "Final", "Attribute", "annotate", "is_scripting", "is_tracing")
ATTENTION = ("sdp", "SDP", "cudnn_sdp", "can_use_", "fp16_bf16_reduction_math_sdp")
# A device rather than its number: torch.device(…), "cuda:0", self.device.
_DEVICE = re.compile(r"\A(?:torch\.device\(|[\"']|f[\"'])|(?:\A|[._])dev(?:ice)?\Z")
PROFILER_COLUMNS = ("cuda_time", "cuda_memory", "self_cuda", "device_time")


def _name_below(occurrence: Occurrence, base: str) -> str:
    return occurrence.name.removeprefix(base).removeprefix(".")


def judge_cuda_api(occurrence: Occurrence, facts: Facts) -> Verdict:
    rest = _name_below(occurrence, "torch.cuda")
    first = rest.partition(".")[0]
    if first in _NOT_OVERLAID_CASE:
        return Verdict(f"cuda_api.{_NOT_OVERLAID_CASE[first]}", "not_listed")
    if first == "get_device_capability":
        return Verdict("cuda_api.capability", "source_read")
    if not occurrence.name.startswith("torch.cuda"):
        return Verdict("cuda_api.not_overlaid", "not_listed", "medium")
    if not facts.is_overlaid(occurrence.name):
        is_moved = "." in rest and facts.is_overlaid(f"torch.cuda.{rest.rpartition('.')[2]}")
        return Verdict("cuda_api.submodule" if is_moved else "cuda_api.not_overlaid", "not_listed")
    if first == "get_device_properties":
        return Verdict("cuda_api.properties", "source_read", "medium")
    if occurrence.context == "import" and rest:
        return Verdict("cuda_api.imported", "import_order", "medium")
    return Verdict("cuda_api.overlaid", "listed")


def judge_cuda_tensor_type(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.text.lstrip("rRbBfFuU").startswith(("'", '"')):
        return Verdict("cuda_tensor_type.text", "not_listed")
    if _name_below(occurrence, "torch.cuda") == "DoubleTensor":
        return Verdict("cuda_tensor_type.double", "source_read")
    return (
        Verdict("cuda_tensor_type.overlaid", "listed")
        if facts.is_overlaid(occurrence.name)
        else judge_cuda_api(occurrence, facts)
    )


def judge_amp_cuda(occurrence: Occurrence, facts: Facts) -> Verdict:
    if not facts.is_overlaid(occurrence.name):
        return Verdict("amp_cuda.not_overlaid", "not_listed")
    if occurrence.context == "import" and _name_below(occurrence, "torch.cuda.amp"):
        return Verdict("amp_cuda.imported", "import_order", "medium")
    return Verdict("amp_cuda.overlaid", "listed")


def judge_amp_generic(occurrence: Occurrence, facts: Facts) -> Verdict:
    if "GradScaler" in occurrence.name or "grad_scaler" in occurrence.name:
        return Verdict("amp_generic.scaler", "source_read", "medium")
    return Verdict("amp_generic.autocast", "wrapped")


def judge_nccl_api(occurrence: Occurrence, facts: Facts) -> Verdict:
    rest = _name_below(occurrence, "torch.cuda.nccl")
    if not occurrence.name.startswith("torch.cuda.nccl"):
        is_text = occurrence.name.endswith(".Backend.NCCL")
        return Verdict("nccl_str.held", "flows", "medium") if is_text else Verdict("nccl_api.overlaid", "listed")
    if not rest:
        return Verdict("nccl_api.imported", "not_listed")
    is_query = rest in ("version", "is_available", "version_suffix", "unique_id")
    return Verdict("nccl_api.version" if is_query else "nccl_api.direct", "not_listed")


def judge_cudnn(occurrence: Occurrence, facts: Facts) -> Verdict:
    last = occurrence.name.rpartition(".")[2]
    if last in ("version", "is_available", "is_acceptable", "has_cudnn"):
        return Verdict("cudnn.asked", "source_read")
    if last == "allow_tf32" or "fp32_precision" in last:
        return Verdict("cudnn.tf32", "no_effect")
    return Verdict("cudnn.deterministic" if last == "deterministic" else "cudnn.flag", "no_effect")


def judge_backend_cuda(occurrence: Occurrence, facts: Facts) -> Verdict:
    rest = _name_below(occurrence, "torch.backends.cuda")
    if "cufft_plan_cache" in rest:
        return Verdict("backend_cuda.plan_cache", "table")
    if "sdp" in rest.lower() or rest.startswith(("can_use_", "is_flash_attention_available")):
        return Verdict("backend_cuda.attention", "table")
    if "tf32" in rest or "fp32_precision" in rest:
        return Verdict("backend_cuda.tf32", "no_effect")
    if rest.startswith("is_") or "version" in rest:
        return Verdict("backend_cuda.asked", "source_read")
    return Verdict("backend_cuda.flag", "no_effect")


def judge_dataparallel(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("dataparallel.used", "table")


def judge_ddp_device_ids(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("ddp_device_ids.given", "wrapped")


def judge_jit(occurrence: Occurrence, facts: Facts) -> Verdict:
    last = _name_below(occurrence, "torch.jit").partition(".")[0]
    if last.startswith(("script", "Script", "RecursiveScript")):
        return Verdict("jit.script", "source_read")
    if last in JIT_MARKS:
        return Verdict("jit.mark", "no_effect")
    return Verdict("jit.other", "absent", "medium")


def judge_torch_compile(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("torch_compile.call", "source_read", "medium")


def judge_cpp_extension(occurrence: Occurrence, facts: Facts) -> Verdict:
    last = occurrence.name.rpartition(".")[2]
    if last in ("load", "load_inline"):
        return Verdict("custom_ext_load.load", "no_cuda", "medium")
    is_host = last in ("CppExtension", "BuildExtension", "include_paths", "library_paths", "cpp_extension")
    return Verdict("cpp_extension.host", "absent", "medium") if is_host else Verdict("cpp_extension.cuda", "no_cuda")


def judge_custom_ext_load(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("custom_ext_load.load", "no_cuda", "medium")


def judge_custom_ext_import(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("custom_ext_import.import", "no_cuda", "medium")


def judge_triton_kernel(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.name.startswith("torch.utils._triton"):
        return Verdict("triton_kernel.asked", "source_read")
    for kind in ("refused", "unknown", "limited", "taken"):
        if kind in occurrence.args:
            return Verdict(f"triton_kernel.{kind}", "documented", "high" if kind == "refused" else "medium")
    return Verdict("triton_kernel.kernel", "absent", "low")


def judge_profiler_cuda(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.name.endswith("ProfilerActivity.CUDA"):
        return Verdict("profiler_cuda.activity", "listed")
    if any(word in occurrence.name for word in PROFILER_COLUMNS):
        return Verdict("profiler_cuda.column", "table")
    return Verdict("profiler_cuda.option", "not_listed")


def judge_nvtx(occurrence: Occurrence, facts: Facts) -> Verdict:
    rest = _name_below(occurrence, "torch.cuda.nvtx")
    return Verdict("nvtx.call" if rest in MARKS or not rest else "nvtx.range", "not_listed")


def judge_cuda_graph(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("cuda_graph.use", "documented")


def judge_cuda_version(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("cuda_version.read", "source_read")


def judge_cuda_method(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.args.get("own"):
        return Verdict("cuda_method.own", "own_method", "low" if occurrence.args["own"] == "?" else "high")
    if _DEVICE.search(str(occurrence.args.get("device", ""))):
        return Verdict("cuda_method.device", "source_read")
    return Verdict("cuda_method.call", "listed")


def judge_is_cuda(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("is_cuda.read", "listed")


API_JUDGES: dict[str, Callable[[Occurrence, Facts], Verdict]] = {
    "cuda_api": judge_cuda_api,
    "cuda_tensor_type": judge_cuda_tensor_type,
    "amp_cuda": judge_amp_cuda,
    "amp_generic": judge_amp_generic,
    "nccl_api": judge_nccl_api,
    "cudnn": judge_cudnn,
    "backend_cuda": judge_backend_cuda,
    "dataparallel": judge_dataparallel,
    "ddp_device_ids": judge_ddp_device_ids,
    "jit": judge_jit,
    "torch_compile": judge_torch_compile,
    "cpp_extension": judge_cpp_extension,
    "custom_ext_load": judge_custom_ext_load,
    "custom_ext_import": judge_custom_ext_import,
    "triton_kernel": judge_triton_kernel,
    "profiler_cuda": judge_profiler_cuda,
    "nvtx": judge_nvtx,
    "cuda_graph": judge_cuda_graph,
    "cuda_version": judge_cuda_version,
    "cuda_method": judge_cuda_method,
    "is_cuda": judge_is_cuda,
}
