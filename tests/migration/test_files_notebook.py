"""What notebooks say to the GPU stack."""

from __future__ import annotations

import json

import pytest

from backends.migration.finding import Occurrence
from backends.migration.scan.files import notebook
from backends.migration.scan.python.module import ProjectExports, module_exports


def written(*sources: str | list[str], markdown: tuple[int, ...] = ()) -> str:
    """A notebook of these cells; those at the positions in `markdown` are text."""
    cells = [
        {"cell_type": "markdown" if at in markdown else "code", "metadata": {}, "source": source, "outputs": []}
        for at, source in enumerate(sources)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def scanned(*sources: str | list[str], markdown: tuple[int, ...] = ()) -> list[tuple[int | None, int, str, str]]:
    """Cell, line, category and source."""
    places = notebook.scan_notebook("a.ipynb", written(*sources, markdown=markdown))
    return sorted((p.cell or 0, p.line, p.category, p.text) for p in places)


def test_that_a_place_has_the_cell_among_all_cells_and_the_line_inside_it() -> None:
    rows = scanned("cuda", ["import torch\n", "x = 1\n"], "y = 2\n\ntorch.cuda.empty_cache()", markdown=(0,))
    assert rows == [(2, 3, "cuda_api", "torch.cuda.empty_cache")]


def test_that_an_import_of_one_cell_is_known_in_the_next() -> None:
    assert scanned("from torch import cuda as c", "c.synchronize()")[-1] == (1, 1, "cuda_api", "c.synchronize")


def test_that_shell_lines_are_read_as_shell_and_the_python_around_them_still_parses() -> None:
    source = "import torch\nif True:\n    !pip install torch==2.0 \\\n       xformers\nx = torch.zeros(1)\nx.cuda()\n"
    assert scanned(source) == [
        (0, 3, "req_torch", "torch==2.0"),
        (0, 4, "lib_xformers", "xformers"),
        (0, 6, "cuda_method", "x.cuda()"),
    ]


@pytest.mark.parametrize(
    ("source", "rows"),
    [
        ("!nvidia-smi", [(0, 1, "nvidia_smi", "nvidia-smi")]),
        ("out = !nvidia-smi -L", [(0, 1, "nvidia_smi", "nvidia-smi")]),
        ("%env CUDA_VISIBLE_DEVICES=0", [(0, 1, "cuda_env", "CUDA_VISIBLE_DEVICES")]),
        ("%set_env CUDA_VISIBLE_DEVICES 0", [(0, 1, "cuda_env", "CUDA_VISIBLE_DEVICES")]),
        ("%pip install flash-attn", [(0, 1, "lib_flash_attn", "flash-attn")]),
        ("%%bash\nexport NCCL_DEBUG=1", [(0, 2, "cuda_env", "NCCL_DEBUG")]),
        ("%%writefile a.sh\nnvidia-smi", [(0, 2, "nvidia_smi", "nvidia-smi")]),
        ("%%writefile a.yaml\ndevice: cuda", [(0, 2, "config_device", "cuda")]),
        ("%%writefile a.py\nimport torch\ntorch.cuda.init()", [(0, 3, "cuda_api", "torch.cuda.init")]),
        ("%%time\nimport torch\n%time torch.cuda.init()", [(0, 3, "cuda_api", "torch.cuda.init")]),
        ("import torch\ntorch.cuda?\n?torch.cuda\ntorch.cuda.init()", [(0, 4, "cuda_api", "torch.cuda.init")]),
        ("%%html\n<b>nvidia-smi</b>", []),
        ("%matplotlib inline\n# torch.cuda\n'''\n!nvidia-smi is a tool\n'''", [(0, 4, "nvidia_smi", "nvidia-smi")]),
        ("!echo using cuda", []),
    ],
)
def test_that_magics_are_understood(source: str, rows: list[tuple[int, int, str, str]]) -> None:
    assert scanned(source) == rows


def test_that_a_cell_that_does_not_parse_hides_no_other_cell() -> None:
    rows = scanned("import torch", "def broken(:", "torch.cuda.init()\nprint('a'\n      % 1)")
    assert rows == [(2, 1, "cuda_api", "torch.cuda.init")]


def test_that_columns_count_characters_of_the_cell() -> None:
    (occurrence,) = notebook.scan_notebook("a.ipynb", written("import torch", "'模型'; torch.cuda.init()"))
    assert (occurrence.column, occurrence.end_column) == (6, 21)


def test_that_other_modules_of_the_project_are_known_and_the_reader_can_be_chosen() -> None:
    exports = ProjectExports({"tools.py": module_exports("tools.py", "import torch\ntc = torch.cuda\n")})
    (occurrence,) = notebook.scan_notebook("a.ipynb", written("from tools import tc\ntc.init()"), exports)
    assert occurrence.name == "torch.cuda.init"

    def read(module: object) -> list[Occurrence]:
        return [Occurrence(path="a.ipynb", line=2, end=2, category="chosen")]

    chosen = notebook.scan_notebook("a.ipynb", written("x = 1", "y = 2"), scan_module=lambda module: iter(read(module)))
    assert [(p.cell, p.line, p.category) for p in chosen] == [(1, 1, "chosen")]


def test_that_an_old_notebook_is_read() -> None:
    sheet = {"cells": [{"cell_type": "code", "input": ["import torch\n", "torch.cuda.init()"]}]}
    (occurrence,) = notebook.scan_notebook("a.ipynb", json.dumps({"nbformat": 3, "worksheets": [sheet]}))
    assert (occurrence.cell, occurrence.line) == (0, 2)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not_json"),
        ("not json", "not_json"),
        (written("torch")[:-20], "not_json"),
        ("[" * 100_000, "not_json"),
        ("{}", "no_cells"),
        ("[]", "no_cells"),
        ('{"cells": 3}', "no_cells"),
        ('{"worksheets": [3]}', "no_cells"),
    ],
)
def test_that_a_file_that_is_no_notebook_says_why(text: str, reason: str) -> None:
    with pytest.raises(notebook.UnreadableNotebook) as raised:
        list(notebook.scan_notebook("a.ipynb", text))
    assert raised.value.reason == reason


def test_that_odd_cells_are_passed_over() -> None:
    cells = [3, None, {"cell_type": "code"}, {"cell_type": "code", "source": [1, "!nvidia-smi"]}]
    (occurrence,) = notebook.scan_notebook("a.ipynb", json.dumps({"cells": cells}))
    assert (occurrence.cell, occurrence.text) == (3, "nvidia-smi")
