"""Whatever the source: an edit touches lines of findings only, the result parses, and undoing restores every byte."""

from __future__ import annotations

import ast
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.migration.migrate import apply, undo
from backends.migration.migrate.decided import decided
from backends.migration.migrate.plan import changes
from backends.migration.migrate.result import results
from backends.migration.scan.read import decode
from backends.migration.scan.scan import scan
from tests.migration.migrating import FACTS, lines_with, touched

if TYPE_CHECKING:
    from backends.migration.migrate.changes import Style

HEADS = (
    "import torch",
    "import torch as t",
    "from torch import cuda as c",
    "from torch.cuda.amp import autocast, GradScaler",
    "import torch.nn as nn",
    "from torch import nn, cuda",
    "import torch.cuda",
    "import os, torch",
    "import numpy as np",
    "from torch.cuda import (\n    synchronize,\n    amp)",
    "try:\n    import torch\nexcept ImportError:\n    torch = None",
    "import torch; x = torch.cuda.is_available()",
    '"""cuda"""',
    "from __future__ import annotations",
    "# cuda",
)
LINES = (
    "x = x.cuda()",
    "x = x.cuda(0, True).cuda(rank)",
    "y = (x\n     .cuda(  # cuda\n     device=gpu\n     ))",
    'd = "cuda"',
    "d = 'cu' 'da'",
    "d = ('cuda'\n     ':0')",
    "d = f'cuda:{rank}' 'x{}'",
    "d = 'cuda:%d, {}' % i",
    "d = 'cuda:{:d}'.format(i)",
    'd = "cuda:" + str(i)',
    "d = rf'{x!r:>{n}}cuda:{{}}'",
    "d = {'cuda': f(1), 'cpu': 0}[d]",
    "d = {'cuda': 1,\n     'cpu': 0}",
    "b = 'nccl' if dist.is_nccl_available() else 'gloo'",
    "p('cpu:gloo,cuda:nccl')",
    "if x.is_cuda and not y.is_cuda: pass",
    "z = -x.is_cuda",
    "if d == 'cuda' != e: pass",
    "assert d in ('cuda', 'cpu')",
    "if 'cuda' == x.device.type or 'cuda' in str(d): pass",
    'torch.cuda.nvtx.range_push(f"{x.cuda()}")',
    "s = torch.cuda.amp.GradScaler(*a)",
    "s = GradScaler(\n    enabled=x)",
    "with autocast(False, z): pass",
    "f(autocast)",
    "print(f'{torch.cuda.memory_allocated()} cuda {c.synchronize()}')",
    "c.synchronize()",
    "t.cuda.set_device(0)",
    "@torch.cuda.amp.custom_fwd\ndef g(x='cuda', *, d: Literal['cuda', 'cpu'] = 'cuda'): return x.to(rank)",
    "os.environ['CUDA_VISIBLE_DEVICES'] = e = '0'",
    "e = os.environ.get('CUDA_VISIBLE_DEVICES', '')",
    "p.add_argument('--device', default='cuda', choices=['cuda',\n    'cpu'], help='cuda')",
    "class A:\n    def cuda(self): pass",
    "match d:\n    case 'cuda' | 'cpu': pass\n    case {'a': 'cuda'}: pass",
    "lambda d='cuda': d",
    "torch.cuda.synchronize = None",
    "中文 = x.cuda()  # 中文 cuda",
    "x = '中文', x.cuda(), '中', f'中{torch.cuda.device_count()}'",
    "def f(): 'cuda'",
    "getattr(torch, 'cuda').empty_cache()",
    "n = torch.distributed.get_backend() == 'nccl'",
    "del torch.cuda.x",
    "accelerator = DEVICE_TYPE = 0",
    "e = d.startswith('cuda') or d.startswith(('cuda', 'xla'))",
    "\x0cd = 'cuda'",
)
SOURCES = st.tuples(
    st.lists(st.sampled_from(HEADS), max_size=4),
    st.lists(st.tuples(st.sampled_from(LINES), st.booleans()), max_size=8),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.sampled_from(["utf-8", "utf-8-sig", "gb18030", "utf-16"]),
)


def written(made: tuple[list[str], list[tuple[str, bool]], str, bool, str]) -> bytes:
    heads, lines, newline, ends, encoding = made
    inside = [
        "def inside(x):\n" + "\n".join("    " + row for row in line.split("\n")) if deep else line
        for line, deep in lines
    ]
    text = "\n".join([*heads, *inside]) + "\n" * ends
    return text.replace("\n", newline).encode(encoding)


def is_python(data: bytes) -> bool:
    try:
        ast.parse(decode(data).text)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("style", ["minimal", "explicit"])
@given(made=SOURCES)
@settings(max_examples=150, deadline=None)
def test_that_edits_stay_on_lines_of_findings_and_can_be_undone(
    style: Style, made: tuple[list[str], list[tuple[str, bool]], str, bool, str]
) -> None:
    data = written(made)
    with tempfile.TemporaryDirectory() as scratch:
        folder, run = Path(scratch, "project"), Path(scratch, "run")
        for one in (folder, run / "artifacts"):
            one.mkdir(parents=True)
        (folder / "a.py").write_bytes(data)
        found = scan(folder, FACTS)
        plan = changes(folder, found, style)
        for one in results(plan, folder):
            before, after = decode(one.before), decode(one.after)
            assert before.encoding == after.encoding
            assert is_python(one.after)
        for hunk in decided(plan):
            assert touched(hunk) <= lines_with(found, "a.py")
        assert all(file.withdrawn in ("", "migration.migrate.no_python") for file in plan.files)
        apply.into_copy(plan, Path(scratch, "copy"), run)
        undo.take_back(run)
        assert Path(scratch, "copy", "a.py").read_bytes() == data


@given(
    cells=st.lists(
        st.lists(st.sampled_from((*HEADS, *LINES, "!pip install torch", "%env A=1")), max_size=4), max_size=4
    ),
    indent=st.sampled_from([None, 1]),
    ascii=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_that_a_notebook_stays_one_and_other_cells_stay(
    cells: list[list[str]], indent: int | None, ascii: bool
) -> None:
    rows = ["\n".join(lines).splitlines(keepends=True) for lines in cells]
    book = {"cells": [{"cell_type": "code", "source": source, "outputs": []} for source in rows]}
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch, "a.ipynb")
        path.write_text(json.dumps(book, indent=indent, ensure_ascii=ascii), "utf-8")
        found = scan(Path(scratch), FACTS)
        named = {one.cell for one in found}
        for one in results(changes(Path(scratch), found, "explicit"), Path(scratch)):
            after = json.loads(one.after)
            for index, (source, cell) in enumerate(zip(rows, after["cells"], strict=True)):
                assert index in named or cell["source"] == source
