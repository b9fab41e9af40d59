"""Scripts, containers, configurations, requirements, libraries and C++ sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.facts import libraries, releases
from backends.migration.scan.judgement import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.found import Place
    from backends.migration.scan.facts.facts import Facts

# Their values mean the same under the other name; the torch_npu 2.13.0 wheel and CANN read them.
RENAMED = frozenset(
    {
        "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF", "NCCL_SOCKET_IFNAME", "NCCL_ASYNC_ERROR_HANDLING",
        "NCCL_BLOCKING_WAIT", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_BLOCKING_WAIT",
    }
)  # fmt: skip
IDLE = re.compile(
    r"CUDA_DEVICE_ORDER|CUDA_DEVICE_MAX_\w+|CUDA_MODULE_LOADING|CUDA_CACHE_\w+|CUBLAS\w*|NVIDIA_TF32_OVERRIDE"
    r"|TORCH_ALLOW_TF32_CUBLAS_OVERRIDE|TORCH_CUDNN_\w+|CUDNN_(?!HOME|PATH|ROOT|DIR|LIB|INC)\w+|CUDA_AUTO_BOOST|NVTE_\w+"
)
TOOLKIT = re.compile(
    r"CUDA_(?:HOME|PATH|ROOT|DIR|BIN_PATH|INC_PATH|LIB_PATH|TOOLKIT\w*)|CUDNN_\w+|CUDACXX|CUDAHOSTCXX|FORCE_CUDA|NVCC_\w+"
    r"|PYTORCH_NVCC|TORCH_CUDA_\w+|NCCL_(?:ROOT|HOME|INCLUDE|LIB)\w*"
)
COMPILERS = frozenset({"nvcc", "cuobjdump", "cuda-gdb", "cuda-memcheck", "compute-sanitizer"})
DEVICES = re.compile(r"(?:cuda|gpu)(?::.*)?\Z", re.IGNORECASE)
DEVICE_SOURCES = (".cu", ".cuh")


def cuda_env(place: Place, facts: Facts) -> Verdict:
    if place.name == "CUDA_VISIBLE_DEVICES":
        return Verdict("cuda_env.visible", "documented")
    if place.name.startswith("NVIDIA_") and not IDLE.fullmatch(place.name):
        return Verdict("docker_cuda.runtime", "no_cuda")
    if place.name in RENAMED:
        return Verdict("cuda_env.renamed", "listed")
    if TOOLKIT.fullmatch(place.name):
        return Verdict("cuda_env.toolkit", "no_cuda")
    if IDLE.fullmatch(place.name):
        return Verdict("cuda_env.idle", "no_effect")
    return Verdict("cuda_env.nccl" if "NCCL" in place.name else "cuda_env.other", "no_effect", "medium")


def nvidia_smi(place: Place, facts: Facts) -> Verdict:
    return Verdict("nvidia_smi.call", "no_cuda")


def shell_cuda(place: Place, facts: Facts) -> Verdict:
    if place.context == "scheduler":
        return Verdict("shell_cuda.cluster", "contract", "medium")
    if place.context == "container":
        return Verdict("docker_cuda.runtime", "no_cuda")
    if DEVICES.match(place.name):
        return Verdict("device_str.launch", "contract")
    if place.name in COMPILERS:
        return Verdict("shell_cuda.compiler", "no_cuda")
    if place.context in ("module", "path", "package", "address"):
        return Verdict("shell_cuda.toolkit", "no_cuda")
    return Verdict("shell_cuda.other", "no_cuda", "medium")


def docker_cuda(place: Place, facts: Facts) -> Verdict:
    if place.context in ("container", "resource") or place.context.startswith("key:services"):
        return Verdict("docker_cuda.runtime", "no_cuda")
    if place.context == "image" or place.context.startswith("key:"):
        return Verdict("docker_cuda.image", "no_cuda")
    return shell_cuda(place, facts)


def config_device(place: Place, facts: Facts) -> Verdict:
    if place.name.lower().startswith(("cuda", "multi_gpu")):
        return Verdict("config_device.value", "contract")
    return Verdict("config_device.accelerator", "contract", "medium")


def req_torch(place: Place, facts: Facts) -> Verdict:
    if place.name not in ("torch", "pytorch", ""):
        return Verdict("req_torch.companion", "documented", "medium")
    allowed = releases.matching(str(place.args.get("asks", "")))
    return Verdict("req_torch.torch" if allowed else "req_torch.unmatched", "documented")


def req_cuda(place: Place, facts: Facts) -> Verdict:
    return Verdict("req_cuda.package", "no_cuda")


def pip_index(place: Place, facts: Facts) -> Verdict:
    is_torch = re.search(r"/whl/(?:\w+/)?cu", place.name or place.text) is not None
    return Verdict("pip_index.cuda" if is_torch else "pip_index.other", "no_cuda")


def cpp_cuda_api(place: Place, facts: Facts) -> Verdict:
    """Lines of a CUDA source are counted with their file."""
    if place.path.lower().endswith(DEVICE_SOURCES):
        return Verdict("cpp_cuda_api.inside", "no_cuda")
    return Verdict("cpp_cuda_api.use", "no_cuda")


def cpp_binding(place: Place, facts: Facts) -> Verdict:
    return Verdict("cpp_binding.bound", "no_cuda", "medium")


def cu_source(place: Place, facts: Facts) -> Verdict:
    return Verdict("cu_source.kernel", "no_cuda")


def library(place: Place, facts: Facts) -> Verdict:
    """Of lib_<name>: an import, a requirement, a command that installs it."""
    known = libraries.of_category(place.category, place.name)
    if known is None:
        return Verdict("library.unknown", "absent", "low")
    return Verdict(known.rule, "inferred" if known.confidence == "low" else "documented", known.confidence)


JUDGES: dict[str, Callable[[Place, Facts], Verdict]] = {
    "cuda_env": cuda_env,
    "nvidia_smi": nvidia_smi,
    "shell_cuda": shell_cuda,
    "docker_cuda": docker_cuda,
    "config_device": config_device,
    "req_torch": req_torch,
    "req_cuda": req_cuda,
    "pip_index": pip_index,
    "cpp_cuda_api": cpp_cuda_api,
    "cpp_binding": cpp_binding,
    "cu_source": cu_source,
}
