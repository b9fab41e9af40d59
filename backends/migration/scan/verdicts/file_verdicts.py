"""Verdicts on scripts, containers, configurations, requirements, libraries and C++ sources."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.facts import libraries, releases
from backends.migration.scan.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.finding import Occurrence
    from backends.migration.scan.facts.facts import Facts

# Their values mean the same under the other name; the torch_npu 2.13.0 wheel and CANN read them.
RENAMED = frozenset(
    {
        "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF", "NCCL_SOCKET_IFNAME", "NCCL_ASYNC_ERROR_HANDLING",
        "NCCL_BLOCKING_WAIT", "TORCH_NCCL_ASYNC_ERROR_HANDLING", "TORCH_NCCL_BLOCKING_WAIT",
    }
)  # fmt: skip
NO_EFFECT = re.compile(
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


def judge_cuda_env(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.name == "CUDA_VISIBLE_DEVICES":
        return Verdict("cuda_env.visible", "documented")
    if occurrence.name.startswith("NVIDIA_") and not NO_EFFECT.fullmatch(occurrence.name):
        return Verdict("docker_cuda.runtime", "no_cuda")
    if occurrence.name in RENAMED:
        return Verdict("cuda_env.renamed", "listed")
    if TOOLKIT.fullmatch(occurrence.name):
        return Verdict("cuda_env.toolkit", "no_cuda")
    if NO_EFFECT.fullmatch(occurrence.name):
        return Verdict("cuda_env.idle", "no_effect")
    return Verdict("cuda_env.nccl" if "NCCL" in occurrence.name else "cuda_env.other", "no_effect", "medium")


def judge_nvidia_smi(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("nvidia_smi.call", "no_cuda")


def judge_shell_cuda(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.context == "scheduler":
        return Verdict("shell_cuda.cluster", "contract", "medium")
    if occurrence.context == "container":
        return Verdict("docker_cuda.runtime", "no_cuda")
    if DEVICES.match(occurrence.name):
        return Verdict("device_str.launch", "contract")
    if occurrence.name in COMPILERS:
        return Verdict("shell_cuda.compiler", "no_cuda")
    if occurrence.context in ("module", "path", "package", "address"):
        return Verdict("shell_cuda.toolkit", "no_cuda")
    return Verdict("shell_cuda.other", "no_cuda", "medium")


def judge_cmake_cuda(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("cmake_cuda.build", "no_cuda")


def judge_docker_cuda(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.context in ("container", "resource") or occurrence.context.startswith("key:services"):
        return Verdict("docker_cuda.runtime", "no_cuda")
    if occurrence.context == "image" or occurrence.context.startswith("key:"):
        return Verdict("docker_cuda.image", "no_cuda")
    return judge_shell_cuda(occurrence, facts)


def judge_config_device(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.context.startswith("unresolved:"):
        return Verdict("config_device.unresolved", "unresolved", "low")
    if occurrence.name.lower().startswith(("cuda", "multi_gpu")):
        return Verdict("config_device.value", "contract")
    return Verdict("config_device.accelerator", "contract", "medium")


def judge_req_torch(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.name not in ("torch", "pytorch", ""):
        return Verdict("req_torch.companion", "documented", "medium")
    allowed = releases.matching_releases(str(occurrence.args.get("asks", "")))
    return Verdict("req_torch.torch" if allowed else "req_torch.unmatched", "documented")


def judge_req_cuda(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("req_cuda.package", "no_cuda")


def judge_pip_index(occurrence: Occurrence, facts: Facts) -> Verdict:
    is_torch = re.search(r"/whl/(?:\w+/)?cu", occurrence.name or occurrence.text) is not None
    return Verdict("pip_index.cuda" if is_torch else "pip_index.other", "no_cuda")


def judge_cpp_cuda_api(occurrence: Occurrence, facts: Facts) -> Verdict:
    """Judge a use of CUDA in C++. Lines of a CUDA source count with their file."""
    if occurrence.path.lower().endswith(DEVICE_SOURCES):
        return Verdict("cpp_cuda_api.inside", "no_cuda")
    return Verdict("cpp_cuda_api.use", "no_cuda")


def judge_cpp_binding(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("cpp_binding.bound", "no_cuda", "medium")


def judge_cu_source(occurrence: Occurrence, facts: Facts) -> Verdict:
    return Verdict("cu_source.kernel", "no_cuda")


def judge_library(occurrence: Occurrence, facts: Facts) -> Verdict:
    """Judge an occurrence of a category lib_<name>: an import, a requirement, or a command that installs it."""
    facts_of_library = libraries.library_of_category(occurrence.category, occurrence.name)
    if facts_of_library is None:
        return Verdict("library.unknown", "absent", "low")
    because = "inferred" if facts_of_library.confidence == "low" else "documented"
    return Verdict(facts_of_library.rule, because, facts_of_library.confidence)


FILE_JUDGES: dict[str, Callable[[Occurrence, Facts], Verdict]] = {
    "cuda_env": judge_cuda_env,
    "nvidia_smi": judge_nvidia_smi,
    "shell_cuda": judge_shell_cuda,
    "cmake_cuda": judge_cmake_cuda,
    "docker_cuda": judge_docker_cuda,
    "config_device": judge_config_device,
    "req_torch": judge_req_torch,
    "req_cuda": judge_req_cuda,
    "pip_index": judge_pip_index,
    "cpp_cuda_api": judge_cpp_cuda_api,
    "cpp_binding": judge_cpp_binding,
    "cu_source": judge_cu_source,
}
