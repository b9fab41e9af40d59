"""Names of torch: what transfer_to_npu puts in their place, and what it leaves as CUDA's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.judgement import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.found import Place
    from backends.migration.scan.facts.facts import Facts

# Names of torch.cuda that transfer_to_npu leaves alone, by what becomes of them; the others are "not_overlaid".
LEFT = {
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
_LEFT = {name: case for case, names in LEFT.items() for name in names}
MARKS = frozenset({"mark", "range_push", "range_pop", "range_start", "range_end"})
JIT_MARKS = ("export", "ignore", "unused", "interface", "Final", "Attribute", "annotate", "is_scripting", "is_tracing")
ATTENTION = ("sdp", "SDP", "cudnn_sdp", "can_use_", "fp16_bf16_reduction_math_sdp")
PROFILER_COLUMNS = ("cuda_time", "cuda_memory", "self_cuda", "device_time")


def _rest(place: Place, base: str) -> str:
    return place.name.removeprefix(base).removeprefix(".")


def cuda_api(place: Place, facts: Facts) -> Verdict:
    rest = _rest(place, "torch.cuda")
    first = rest.partition(".")[0]
    if first in _LEFT:
        return Verdict(f"cuda_api.{_LEFT[first]}", "not_listed")
    if first == "get_device_capability":
        return Verdict("cuda_api.capability", "source_read")
    if not place.name.startswith("torch.cuda"):
        return Verdict("cuda_api.not_overlaid", "not_listed", "medium")
    if not facts.overlaid(place.name):
        is_moved = "." in rest and facts.overlaid(f"torch.cuda.{rest.rpartition('.')[2]}")
        return Verdict("cuda_api.submodule" if is_moved else "cuda_api.not_overlaid", "not_listed")
    if first == "get_device_properties":
        return Verdict("cuda_api.properties", "source_read", "medium")
    if place.context == "import" and rest:
        return Verdict("cuda_api.imported", "import_order", "medium")
    return Verdict("cuda_api.overlaid", "listed")


def cuda_tensor_type(place: Place, facts: Facts) -> Verdict:
    if place.text.lstrip("rRbBfFuU").startswith(("'", '"')):
        return Verdict("cuda_tensor_type.text", "not_listed")
    if _rest(place, "torch.cuda") == "DoubleTensor":
        return Verdict("cuda_tensor_type.double", "source_read")
    return Verdict("cuda_tensor_type.overlaid", "listed") if facts.overlaid(place.name) else cuda_api(place, facts)


def amp_cuda(place: Place, facts: Facts) -> Verdict:
    if not facts.overlaid(place.name):
        return Verdict("amp_cuda.not_overlaid", "not_listed")
    if place.context == "import" and _rest(place, "torch.cuda.amp"):
        return Verdict("amp_cuda.imported", "import_order", "medium")
    return Verdict("amp_cuda.overlaid", "listed")


def amp_generic(place: Place, facts: Facts) -> Verdict:
    if "GradScaler" in place.name or "grad_scaler" in place.name:
        return Verdict("amp_generic.scaler", "source_read", "medium")
    return Verdict("amp_generic.autocast", "wrapped")


def nccl_api(place: Place, facts: Facts) -> Verdict:
    rest = _rest(place, "torch.cuda.nccl")
    if not place.name.startswith("torch.cuda.nccl"):
        is_text = place.name.endswith(".Backend.NCCL")
        return Verdict("nccl_str.held", "flows", "medium") if is_text else Verdict("nccl_api.overlaid", "listed")
    if not rest:
        return Verdict("nccl_api.imported", "not_listed")
    is_asked = rest in ("version", "is_available", "version_suffix", "unique_id")
    return Verdict("nccl_api.version" if is_asked else "nccl_api.direct", "not_listed")


def cudnn(place: Place, facts: Facts) -> Verdict:
    last = place.name.rpartition(".")[2]
    if last in ("version", "is_available", "is_acceptable", "has_cudnn"):
        return Verdict("cudnn.asked", "source_read")
    if last == "allow_tf32" or "fp32_precision" in last:
        return Verdict("cudnn.tf32", "no_effect")
    return Verdict("cudnn.deterministic" if last == "deterministic" else "cudnn.flag", "no_effect")


def backend_cuda(place: Place, facts: Facts) -> Verdict:
    rest = _rest(place, "torch.backends.cuda")
    if "cufft_plan_cache" in rest:
        return Verdict("backend_cuda.plan_cache", "table")
    if "sdp" in rest.lower() or rest.startswith(("can_use_", "is_flash_attention_available")):
        return Verdict("backend_cuda.attention", "table")
    if "tf32" in rest or "fp32_precision" in rest:
        return Verdict("backend_cuda.tf32", "no_effect")
    if rest.startswith("is_") or "version" in rest:
        return Verdict("backend_cuda.asked", "source_read")
    return Verdict("backend_cuda.flag", "no_effect")


def dataparallel(place: Place, facts: Facts) -> Verdict:
    return Verdict("dataparallel.used", "table")


def ddp_device_ids(place: Place, facts: Facts) -> Verdict:
    return Verdict("ddp_device_ids.given", "wrapped")


def jit(place: Place, facts: Facts) -> Verdict:
    last = _rest(place, "torch.jit").partition(".")[0]
    if last.startswith(("script", "Script", "RecursiveScript")):
        return Verdict("jit.script", "source_read")
    if last in JIT_MARKS:
        return Verdict("jit.mark", "no_effect")
    return Verdict("jit.other", "absent", "medium")


def torch_compile(place: Place, facts: Facts) -> Verdict:
    return Verdict("torch_compile.call", "source_read", "medium")


def cpp_extension(place: Place, facts: Facts) -> Verdict:
    last = place.name.rpartition(".")[2]
    if last in ("load", "load_inline"):
        return Verdict("custom_ext_load.load", "no_cuda", "medium")
    is_host = last in ("CppExtension", "BuildExtension", "include_paths", "library_paths", "cpp_extension")
    return Verdict("cpp_extension.host", "absent", "medium") if is_host else Verdict("cpp_extension.cuda", "no_cuda")


def custom_ext_load(place: Place, facts: Facts) -> Verdict:
    return Verdict("custom_ext_load.load", "no_cuda", "medium")


def custom_ext_import(place: Place, facts: Facts) -> Verdict:
    return Verdict("custom_ext_import.import", "no_cuda", "medium")


def triton_kernel(place: Place, facts: Facts) -> Verdict:
    is_asked = place.name.startswith("torch.utils._triton")
    return Verdict("triton_kernel.asked", "source_read") if is_asked else Verdict("triton_kernel.kernel", "documented")


def profiler_cuda(place: Place, facts: Facts) -> Verdict:
    if place.name.endswith("ProfilerActivity.CUDA"):
        return Verdict("profiler_cuda.activity", "listed")
    if any(word in place.name for word in PROFILER_COLUMNS):
        return Verdict("profiler_cuda.column", "table")
    return Verdict("profiler_cuda.option", "not_listed")


def nvtx(place: Place, facts: Facts) -> Verdict:
    rest = _rest(place, "torch.cuda.nvtx")
    return Verdict("nvtx.call" if rest in MARKS or not rest else "nvtx.range", "not_listed")


def cuda_graph(place: Place, facts: Facts) -> Verdict:
    return Verdict("cuda_graph.use", "documented")


def cuda_version(place: Place, facts: Facts) -> Verdict:
    return Verdict("cuda_version.read", "source_read")


def cuda_method(place: Place, facts: Facts) -> Verdict:
    if place.args.get("own"):
        return Verdict("cuda_method.own", "own_method", "low" if place.args["own"] == "?" else "high")
    return Verdict("cuda_method.call", "listed")


def is_cuda(place: Place, facts: Facts) -> Verdict:
    return Verdict("is_cuda.read", "listed")


JUDGES: dict[str, Callable[[Place, Facts], Verdict]] = {
    "cuda_api": cuda_api,
    "cuda_tensor_type": cuda_tensor_type,
    "amp_cuda": amp_cuda,
    "amp_generic": amp_generic,
    "nccl_api": nccl_api,
    "cudnn": cudnn,
    "backend_cuda": backend_cuda,
    "dataparallel": dataparallel,
    "ddp_device_ids": ddp_device_ids,
    "jit": jit,
    "torch_compile": torch_compile,
    "cpp_extension": cpp_extension,
    "custom_ext_load": custom_ext_load,
    "custom_ext_import": custom_ext_import,
    "triton_kernel": triton_kernel,
    "profiler_cuda": profiler_cuda,
    "nvtx": nvtx,
    "cuda_graph": cuda_graph,
    "cuda_version": cuda_version,
    "cuda_method": cuda_method,
    "is_cuda": is_cuda,
}
