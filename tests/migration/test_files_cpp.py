"""What C++ and CUDA sources say."""

from __future__ import annotations

import pytest

from backends.migration.scan.files import cpp


def scanned(path: str, text: str) -> list[tuple[int, str, str, str]]:
    """Line, category, source and name."""
    return sorted((p.line, p.category, p.text, p.name) for p in cpp.scan_cpp(path, text) if p.category != "cu_source")


@pytest.mark.parametrize(
    "line",
    [
        "// cudaMalloc(&a, 4); torch::kCUDA",
        "/* __global__\n cudaFree(a) */",
        'std::cout << "CUDA available! cudaMalloc torch::kCUDA";',
        'auto s = R"(cudaFree(a) "x" torch::kCUDA)";',
        "// goes on \\\ncudaFree(a);",
        "#include <torch/torch.h>",
        '#include "cubic.h"',
        "auto x = torch::relu(y);",
        "int cuda = 0; bool use_cuda = false;",
        "run_fwd_cuda<float>(params);",
        "char q = '\"'; int a = 1'000'000;",
    ],
)
def test_that_comments_strings_and_other_code_say_nothing(line: str) -> None:
    assert scanned("a.cpp", line) == []


@pytest.mark.parametrize(
    ("line", "category", "text"),
    [
        ("options.device = torch::kCUDA;", "cpp_cuda_api", "torch::kCUDA"),
        ("if (torch::cuda::is_available()) {", "cpp_cuda_api", "torch::cuda::is_available"),
        ("auto s = at::cuda::getCurrentCUDAStream();", "cpp_cuda_api", "at::cuda::getCurrentCUDAStream"),
        ("c10::cuda::CUDAGuard g;", "cpp_cuda_api", "c10::cuda::CUDAGuard"),
        ("void f(cudaStream_t stream);", "cpp_cuda_api", "cudaStream_t"),
        ("#include <c10/cuda/CUDAGuard.h>", "cpp_cuda_api", "c10/cuda/CUDAGuard.h"),
        ('  # include "cuda_runtime.h"', "cpp_cuda_api", "cuda_runtime.h"),
        ("#include <cub/block/block_load.cuh>", "cpp_cuda_api", "cub/block/block_load.cuh"),
        ("ncclAllReduce(a, b);", "cpp_cuda_api", "ncclAllReduce"),
        ("#if __CUDA_ARCH__ >= 800", "cpp_cuda_api", "__CUDA_ARCH__"),
        ("TORCH_CHECK(x.is_cuda());", "cpp_cuda_api", ".is_cuda"),
        ("x = x.cuda();", "cpp_cuda_api", ".cuda()"),
        ("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {", "cpp_binding", "PYBIND11_MODULE"),
        ("TORCH_LIBRARY(my, m) {", "cpp_binding", "TORCH_LIBRARY"),
        ("char q = '\"'; cudaFree(a); // \"", "cpp_cuda_api", "cudaFree"),
    ],
)
def test_that_what_touches_cuda_is_found_in_host_code(line: str, category: str, text: str) -> None:
    assert [row[1:3] for row in scanned("a.cpp", line)] == [(category, text)]


def test_that_a_cuda_source_is_one_place_with_its_kernels_and_one_per_line_that_matters() -> None:
    text = """// a
template <int N>
__global__ __launch_bounds__(N, max(1, 2))
void add(float* a) { a[threadIdx.x] += 1; }
__global__ void mul(float* a) {}
void launch(float* a) {
  cudaMalloc(&a, 4); cudaFree(a);
  add<2><<<1, 2>>>(a);
}
"""
    occurrences = list(cpp.scan_cpp("csrc/k.cu", text))
    (whole,) = [occurrence for occurrence in occurrences if occurrence.category == "cu_source"]
    assert (whole.line, whole.end, whole.name, whole.args) == (1, 9, "k.cu", {"kernels": ["add", "mul"]})
    assert [(p.line, p.name, p.context) for p in occurrences if p is not whole] == [
        (3, "add", "kernel"),
        (5, "mul", "kernel"),
        (7, "cudaMalloc", ""),
        (8, "<<<", "launch"),
    ]


def test_that_host_code_is_no_cuda_source() -> None:
    assert [p for p in cpp.scan_cpp("k.cpp", "cudaFree(a);") if p.category == "cu_source"] == []
