"""For any source an edit touches only lines of findings, the result parses, and undoing restores every byte."""

from __future__ import annotations

import ast
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from backends.migration.migrate import undo
from backends.migration.migrate.decisions import accepted_hunks
from backends.migration.migrate.plan import plan_changes
from backends.migration.migrate.replaced_files import edited_files
from backends.migration.migrate.work import apply_to_copy
from backends.migration.scan.project_scan import scan_project
from backends.migration.scan.text_files import decode_source
from tests.migration.plans import FACTS, lines_of_findings, touched_lines

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


def written(generated: tuple[list[str], list[tuple[str, bool]], str, bool, str]) -> bytes:
    heads, lines, newline, ends, encoding = generated
    inside = [
        "def inside(x):\n" + "\n".join("    " + row for row in line.split("\n")) if deep else line
        for line, deep in lines
    ]
    text = "\n".join([*heads, *inside]) + "\n" * ends
    return text.replace("\n", newline).encode(encoding)


def is_python(data: bytes) -> bool:
    try:
        ast.parse(decode_source(data).text)
    except SyntaxError:
        return False
    return True


@pytest.mark.parametrize("style", ["minimal", "explicit"])
@given(generated=SOURCES)
@settings(max_examples=150, deadline=None)
def test_that_edits_stay_on_lines_of_findings_and_can_be_undone(
    style: Style, generated: tuple[list[str], list[tuple[str, bool]], str, bool, str]
) -> None:
    data = written(generated)
    with tempfile.TemporaryDirectory() as scratch:
        folder, run = Path(scratch, "project"), Path(scratch, "run")
        for created in (folder, run / "artifacts"):
            created.mkdir(parents=True)
        (folder / "a.py").write_bytes(data)
        findings = scan_project(folder, FACTS)
        plan = plan_changes(folder, findings, style)
        for created in edited_files(plan, folder):
            before, after = decode_source(created.before), decode_source(created.after)
            assert before.encoding == after.encoding
            assert is_python(created.after)
        for hunk in accepted_hunks(plan):
            assert touched_lines(hunk) <= lines_of_findings(findings, "a.py")
        assert all(file.withdrawn in ("", "migration.migrate.no_python") for file in plan.files)
        apply_to_copy(plan, Path(scratch, "copy"), run)
        undo.undo_migration(run)
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
        findings = scan_project(Path(scratch), FACTS)
        named = {finding.cell for finding in findings}
        for one in edited_files(plan_changes(Path(scratch), findings, "explicit"), Path(scratch)):
            after = json.loads(one.after)
            for index, (source, cell) in enumerate(zip(rows, after["cells"], strict=True)):
                assert index in named or cell["source"] == source
