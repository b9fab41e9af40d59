"""Whatever the text is, no reader raises, and what a place says stands where it says."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.migration.found import Place
from backends.migration.scan.files import (
    config,
    cpp,
    dockerfile,
    makefile,
    notebook,
    requirements,
    setup_script,
    shell,
)

Reader = Callable[[str, str], Iterator[Place]]
READERS: dict[str, Reader] = {
    "run.sh": shell.places,
    "Makefile": makefile.places,
    "Dockerfile": dockerfile.places,
    "a.yaml": config.places,
    "a.json": config.places,
    "a.toml": config.places,
    "a.cfg": config.places,
    "requirements.txt": requirements.places,
    "setup.py": setup_script.places,
    "a.cu": cpp.places,
    "a.cpp": cpp.places,
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


def cut(text: str, place: Place) -> str:
    """What stands between a place's first and last character."""
    starts = [0, *(found.end() for found in LINES.finditer(text))]
    return text[starts[place.line - 1] + place.column : starts[place.end - 1] + place.end_column]


@pytest.mark.parametrize("path", READERS)
@given(text=TEXT)
@settings(max_examples=150, deadline=None)
def test_that_any_text_is_read_and_each_place_is_cut_out_of_it(path: str, text: str) -> None:
    for place in READERS[path](path, text):
        if not place.args.get("unparsed"):
            assert cut(text, place)[:200] == place.text
        assert 1 <= place.line <= place.end <= len(LINES.split(text))


@given(sources=st.lists(TEXT, max_size=4))
@settings(max_examples=150, deadline=None)
def test_that_any_notebook_is_read_and_each_place_is_cut_out_of_its_cell(sources: list[str]) -> None:
    text = json.dumps({"cells": [{"cell_type": "code", "source": source} for source in sources]})
    for place in notebook.places("a.ipynb", text):
        assert place.cell is not None
        if not place.args.get("unparsed"):
            assert cut(sources[place.cell], place)[:200] == place.text


@given(text=TEXT)
@settings(max_examples=150, deadline=None)
def test_that_a_comment_in_front_of_every_line_silences_a_script(text: str) -> None:
    commented = "\n".join("# " + line for line in LINES.split(text))
    assert [place for place in shell.places("run.sh", commented) if place.kind == "place"] == []
    assert list(config.places("a.yaml", commented)) == []
    assert list(requirements.places("requirements.txt", commented.replace("\\", ""))) == []
