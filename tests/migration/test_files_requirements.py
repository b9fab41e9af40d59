"""What requirements say to the GPU stack."""

from __future__ import annotations

import pytest

from backends.migration.scan.files import requirements, setup_script


def scanned(text: str) -> list[tuple[int, str, str, str]]:
    """Line, category, source and name."""
    return [(p.line, p.category, p.text, p.name) for p in requirements.scan_requirements("requirements.txt", text)]


@pytest.mark.parametrize(
    ("line", "category", "name"),
    [
        ("torch", "req_torch", "torch"),
        ("torch>=2.7", "req_torch", "torch"),
        ('torch >= 2.7.1; sys_platform == "linux"', "req_torch", "torch"),
        ("Torch_Vision==0.2", None, None),
        ("torchvision==0.20.0", "req_torch", "torchvision"),
        ("torchaudio~=2.1", "req_torch", "torchaudio"),
        ("torchtext", None, None),
        ("torchdata==0.9.0", None, None),
        ("torch-fidelity==0.3.0", None, None),
        ("numpy", None, None),
        ("transformers", None, None),
        ("deepspeed>=0.10", None, None),
        ("torch_npu==2.1.0", None, None),
        ("triton-ascend==3.2.1", None, None),
        ("triton>=3.5.0", "lib_triton", "triton"),
        ("flash_attn==2.5", "lib_flash_attn", "flash-attn"),
        ("cupy-cuda12x", "lib_cupy", "cupy-cuda12x"),
        ("nvidia-cublas-cu12==12.1", "req_cuda", "nvidia-cublas-cu12"),
        ("onnxruntime-gpu", "lib_onnxruntime", "onnxruntime-gpu"),
        ("onnxruntime", None, None),
        ("nvidia/label/cuda-12.1.0::cuda-toolkit", "req_cuda", "cuda-toolkit"),
        ("aqlm[gpu]>=1.1.0", "req_cuda", "aqlm"),
        ("git+https://github.com/NVIDIA/apex.git@25.04", "lib_apex", "apex"),
        ("https://a.org/whl/torch-2.1.0+cu118-cp39-linux.whl", "req_torch", "torch"),
        ("mamba_ssm @ git+https://github.com/state-spaces/mamba", "lib_mamba_ssm", "mamba-ssm"),
        ("-e git+https://github.com/pytorch/pytorch_sphinx_theme.git#egg=pytorch_sphinx_theme", None, None),
        ("-e git+https://github.com/x/y.git#egg=apex", "lib_apex", "apex"),
        ("# torch", None, None),
        ("numpy  # torch", None, None),
        ("-r torch.txt", None, None),
        ("torch and torchvision are needed", None, None),
    ],
)
def test_that_a_requirement_has_its_category_by_the_distributions_name(
    line: str, category: str | None, name: str | None
) -> None:
    assert [(row[1], row[3]) for row in scanned(line + "\n")] == ([(category, name)] if category else [])


def test_that_a_requirement_is_cut_out_without_its_comment_and_keeps_what_it_asks_for() -> None:
    (occurrence,) = requirements.scan_requirements("requirements.txt", "numpy\r\n  torch>=2.0,<3  # torch\r\n")
    assert (occurrence.line, occurrence.column, occurrence.end_column, occurrence.text) == (2, 2, 15, "torch>=2.0,<3")
    assert occurrence.args == {"asks": ">=2.0,<3"}


def test_that_an_index_of_cuda_builds_is_found_and_one_of_cpu_builds_is_not() -> None:
    text = "--extra-index-url https://download.pytorch.org/whl/cu118\n-f https://download.pytorch.org/whl/cpu\n"
    assert scanned(text) == [
        (1, "pip_index", "https://download.pytorch.org/whl/cu118", "https://download.pytorch.org/whl/cu118")
    ]


def test_that_a_setup_script_is_read_for_the_strings_it_requires() -> None:
    text = '''"""torch"""
from setuptools import setup
deps = ["triton>=2.0", "tqdm"]
setup(
    name="torch",
    description="torch",
    install_requires=[
        "torch>=1.13",  # torchvision
        "numpy",
    ] + deps,
    extras_require={"gpu": ["flash-attn", "日本"], "日本": ["xformers"]},
)
'''
    row = [(p.line, p.category, p.text) for p in setup_script.scan_setup_script("setup.py", text)]
    assert sorted(row) == [
        (3, "lib_triton", "triton>=2.0"),
        (8, "req_torch", "torch>=1.13"),
        (11, "lib_flash_attn", "flash-attn"),
        (11, "lib_xformers", "xformers"),
    ]
    assert list(setup_script.scan_setup_script("setup.py", "print 'torch'\n")) == []
