"""C++ and CUDA sources: one coarse occurrence per line that touches CUDA, and one for a whole .cu file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.scan.files.scanned_text import ScannedText

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.migration.finding import Occurrence

HIDDEN = re.compile(
    r"//(?:[^\r\n\\]|\\(?:\r\n|.))*|/\*.*?(?:\*/|\Z)"
    r"|(?<!\w)R\"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)\"|\Z)"
    r"|\"(?:[^\"\\\r\n]|\\(?:\r\n|.))*\"?|(?<![0-9A-Fa-f])'(?:[^'\\\r\n]|\\.){1,8}'",
    re.DOTALL,
)
INCLUDE = re.compile(r"[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\r\n]+)[>\"]")
CUDA_HEADER = re.compile(
    r"(?:.*/)?(?:(?:cuda|cublas|cudnn|cusparse|cufft|curand|cusolver|nccl|nvml|nvrtc|nvToolsExt|nvtx)|(?:cub|thrust|cutlass|cute)/)"
)
BINDING = re.compile(r"\b(?:PYBIND11_MODULE|TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?)\b")
KERNEL = re.compile(r"\b__global__\b")
LAUNCH = re.compile(r"<<<")
API = re.compile(
    r"(?:(?<![\w:])(?:::)?(?:at|c10|torch)::(?:cuda|cudnn|native::cuda)::\w+|\bcuda::(?:std|experimental|ptx)\b"
    r"|\b(?:torch|at|c10)?(?:::)?(?:DeviceType::CUDA|Backend::CUDA|DispatchKey::CUDA)\b|\b(?:\w+::)*kCUDA\b"
    r"|\bcuda[A-Z]\w*|\bCUDA_(?:CHECK|KERNEL|ERROR|CALL|1D_KERNEL|DRIVER|RUNTIME|HOST|DEVICE)\w*"
    r"|\bC10_CUDA_\w+|\bAT_CUDA_\w+|\bTORCH_CUDA_\w+|\b(?:cublas|cudnn|cusparse|cufft|curand|cusolver|cuRAND)[A-Z]\w*"
    r"|\bnccl[A-Z]\w*|\bcu(?:Launch|Mem|Ctx|Device|Module|Stream|Event|Init|Func|Tensor|Get)[A-Z]?\w*(?=\s*\()"
    r"|\b__CUDA(?:_ARCH__|CC__|CC_\w+)\b|\bCHECK_CUDA\w*)"
)
IS_CUDA = re.compile(r"(?:\.|->)is_cuda\b")
METHOD = re.compile(r"(?:\.|->)cuda\(\s*\)")
KERNEL_NAME = re.compile(
    r"\b__global__\b(?:\s*__launch_bounds__\s*\((?:[^()]|\([^()]*\))*\))?[^;{}()]{0,300}?(\w+)\s*(?:<[^;(){}]{0,300}>)?\s*\("
)
DEVICE_SOURCE = (".cu", ".cuh")
RULES = (
    (BINDING, "cpp_binding"),
    (KERNEL, "cpp_cuda_api"),
    (LAUNCH, "cpp_cuda_api"),
    (API, "cpp_cuda_api"),
    (IS_CUDA, "cpp_cuda_api"),
    (METHOD, "cpp_cuda_api"),
)
NAMED_KERNELS = 50


def scan_cpp(path: str, text: str) -> Iterator[Occurrence]:
    """Scan a C++ source; comments and strings do not count."""
    source = ScannedText(path, text)
    code = _blank_hidden(text)
    if path.lower().endswith(DEVICE_SOURCE):
        yield _file_occurrence(source, code)
    yield from _scan_includes(source, code)
    lines: set[int] = set()
    for line, begin, end, category in sorted(_find_uses(source, code)):
        if line not in lines:
            lines.add(line)
            name, context = _name_and_context(code, begin, end)
            yield source.occurrence(begin, end, category, name=name, context=context)


def _blank_hidden(text: str) -> str:
    """The text with comments and strings blanked, every offset kept."""
    return HIDDEN.sub(lambda match: re.sub(r"[^\r\n]", " ", match[0]), text)


def _file_occurrence(source: ScannedText, code: str) -> Occurrence:
    kernels = [match[1] for match in KERNEL_NAME.finditer(code)][:NAMED_KERNELS]
    name = source.path.rsplit("/", 1)[-1]
    return source.occurrence(
        0, len(source.text.rstrip()), "cu_source", name=name, context="file", args={"kernels": kernels}
    )


def _scan_includes(source: ScannedText, code: str) -> Iterator[Occurrence]:
    for match in re.compile(r"^[ \t]*#[ \t]*include[^\r\n]*", re.MULTILINE).finditer(code):
        header = INCLUDE.match(source.text, match.start())
        if header and CUDA_HEADER.match(header[1]):
            yield source.occurrence(*header.span(1), "cpp_cuda_api", name=header[1], context="include")


def _name_and_context(code: str, begin: int, end: int) -> tuple[str, str]:
    """Name and context: a kernel has its own name, the rest is what is written."""
    if code.startswith("__global__", begin):
        kernel = KERNEL_NAME.match(code, begin)
        return (kernel[1] if kernel else "__global__"), "kernel"
    return code[begin:end].lstrip(".->"), "launch" if code.startswith("<<<", begin) else ""


def _find_uses(source: ScannedText, code: str) -> Iterator[tuple[int, int, int, str]]:
    for pattern, category in RULES:
        for match in pattern.finditer(code):
            yield source.position(match.start())[0], match.start(), match.end(), category
