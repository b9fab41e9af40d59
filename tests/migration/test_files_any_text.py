"""Whatever the text is, no reader raises, and what a place says stands where it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.migration.finding import Occurrence
from backends.migration.scan.files import (
    config_files,
    cpp,
    dockerfile,
    notebook,
    requirements,
    setup_script,
    shell,
)

scan_config = partial(config_files.scan_config, scan_shell=shell.scan_shell)
Scanner = Callable[[str, str], Iterator[Occurrence]]
SCANNERS: dict[str, Scanner] = {
    "run.sh": shell.scan_shell_script,
    "Makefile": shell.scan_makefile,
    "Dockerfile": dockerfile.scan_dockerfile,
    "a.yaml": scan_config,
    "a.json": scan_config,
    "a.toml": scan_config,
    "a.cfg": scan_config,
    "requirements.txt": requirements.scan_requirements,
    "setup.py": setup_script.scan_setup_script,
    "a.cu": cpp.scan_cpp,
    "a.cpp": cpp.scan_cpp,
}
_PIECES = """
cuda cuda:0 nccl gpu torch torch==2.1 flash-attn nvidia-smi --device --backend= device: device= run: env: - | >
[ ] { } , : ; & && || ( ) $( ${ } `  ' " \\ # // /* */ << <<EOF EOF <<- <<< >> = == export CUDA_VISIBLE_DEVICES=0
NCCL_DEBUG: $NCCL_DEBUG /usr/local/cuda/lib https://a.org/whl/cu118 pip install FROM ENV RUN ARG nvidia/cuda:12
__global__ cudaMalloc( <<<1>>> #include <cuda.h> torch::kCUDA R"( )" install_requires=[ dependencies dependencies:
python -c - import torch;torch.cuda.init() %%bash !ls 模型 \U0001f600 \x00 \x0c \u2028 ''' \"\"\" [[ ]] ? & * ! % @
case in esac cuda)
"""
PHRASES = (
    "python t.py --device cuda",
    "export NCCL_DEBUG=$(nvidia-smi)",
    'A="--backend nccl"',
    "python - <<EOF\nimport torch\ntorch.cuda.init()\nEOF",
    "FROM nvidia/cuda:12.1",
    "RUN nvidia-smi \\\n && pip install torch",
    "\tnvidia-smi",
    "device: cuda",
    "- run: |\n    nvidia-smi\n    python t.py --device cuda",
    '"device": "cuda",',
    'device = "cuda"',
    'dependencies = ["torch", "numpy"]',
    "setup(install_requires=['torch'])",
    "torch>=2.1  # x",
    "cudaFree(a);",
    "!nvidia-smi",
)
PIECES = st.sampled_from(re.split(r"[ \n]+", _PIECES))
BLANKS = st.sampled_from([" ", "\n", "\r\n", "\r", "\t", "\n  ", "\\\n"])
WHOLE = st.sampled_from(PHRASES).map("\n{}\n".format)
TEXT = st.lists(PIECES | BLANKS | WHOLE | st.text(max_size=6)).map("".join)
LINES = re.compile(r"\r\n|\r|\n")


def cut(text: str, occurrence: Occurrence) -> str:
    """What stands between a place's first and last character."""
    starts = [0, *(line_break.end() for line_break in LINES.finditer(text))]
    return text[starts[occurrence.line - 1] + occurrence.column : starts[occurrence.end - 1] + occurrence.end_column]


@pytest.mark.parametrize("path", SCANNERS)
@given(text=TEXT)
@settings(max_examples=150, deadline=None)
def test_that_any_text_is_read_and_each_place_is_cut_out_of_it(path: str, text: str) -> None:
    for occurrence in SCANNERS[path](path, text):
        if not occurrence.args.get("unparsed"):
            assert cut(text, occurrence)[:200] == occurrence.text
        assert 1 <= occurrence.line <= occurrence.end <= len(LINES.split(text))


@given(sources=st.lists(TEXT, max_size=4))
@settings(max_examples=150, deadline=None)
def test_that_any_notebook_is_read_and_each_place_is_cut_out_of_its_cell(sources: list[str]) -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]})
    for occurrence in notebook.scan_notebook("a.ipynb", text):
        assert occurrence.cell is not None
        if not occurrence.args.get("unparsed"):
            assert cut(sources[occurrence.cell], occurrence)[:200] == occurrence.text


@given(text=TEXT)
@settings(max_examples=150, deadline=None)
def test_that_a_comment_in_front_of_every_line_silences_a_script(text: str) -> None:
    commented = "\n".join("# " + line for line in LINES.split(text))
    assert [
        occurrence for occurrence in shell.scan_shell_script("run.sh", commented) if occurrence.kind == "place"
    ] == []
    assert list(scan_config("a.yaml", commented)) == []
    assert list(requirements.scan_requirements("requirements.txt", commented.replace("\\", ""))) == []
