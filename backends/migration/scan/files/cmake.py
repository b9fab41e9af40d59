"""CMake: languages, packages, targets and variables of CUDA."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files.scanned_text import ScannedText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence

_HIDDEN = re.compile(r"#\[(=*)\[.*?\]\1\]|#[^\r\n]*", re.DOTALL)
_PACKAGES = r"CUDA|CUDAToolkit|CUDNN|cuDNN|NCCL|NvToolsExt|CUB|Thrust|TensorRT|NVTX"
_USE = re.compile(
    rf"\b(?:find_package|find_dependency)\s*\(\s*(?P<package>{_PACKAGES})\b"
    r"|\benable_language\s*\(\s*(?P<language>CUDA)\b"
    r"|\bproject\s*\([^()]*?\b(?P<project>CUDA)\b"
    r"|\b(?P<command>cuda_(?:add_library|add_executable|compile\w*|include_directories|select_nvcc_arch_flags))\s*\("
    r"|(?P<target>\bCUDA::\w+)"
    r"|(?P<variable>\b(?:CMAKE_CUDA_\w+|CUDA_(?:ARCHITECTURES|NVCC_FLAGS\w*|TOOLKIT_ROOT_DIR|INCLUDE_DIRS|LIBRARIES"
    r"|SEPARABLE_COMPILATION|STANDARD|ARCH_LIST)|TORCH_CUDA_ARCH_LIST)\b)",
    re.IGNORECASE,
)
_CONTEXTS = ("package", "language", "project", "command", "target", "variable")


def scan_cmake(path: str, text: str) -> Iterator[Occurrence]:
    """Yield at most one occurrence for each line; comments do not count."""
    source = ScannedText(path, text)
    code = _HIDDEN.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]), text)
    lines: set[int] = set()
    for match in _USE.finditer(code):
        context = next(name for name in _CONTEXTS if match[name])
        begin, end = match.span(context)
        line, _ = source.position(begin)
        if line not in lines:
            lines.add(line)
            yield source.occurrence(begin, end, "cmake_cuda", name=match[context], context=context)
