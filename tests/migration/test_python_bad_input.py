"""Sources that do not parse, that are hostile, or that are made up: nothing is ever raised but Unparsable."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from backends.migration.scan.files.shell import scan_python
from backends.migration.scan.python import token_scanner
from backends.migration.scan.python.module import (
    ProjectExports,
    UnparsableSource,
    module_exports,
    parse_module,
    try_parse_module,
)
from backends.migration.scan.python.occurrences import MAX_TEXT
from backends.migration.scan.python.positions import Span, lines_of, source_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from backends.migration.finding import Occurrence

EXPRESSIONS = [
    'torch.device("cuda")',
    'f"cuda:{变量}"',
    '"cuda:%d" % 变量',
    "x.cuda(non_blocking=True)",
    "x.to(rank)",
    'getattr(torch, "cuda").is_available()',
    'print(f"中文 {torch.cuda.memory_allocated():.2f} {x.is_cuda}")',
    'f"""\n  {torch.cuda.device_count()} 中\n{x["cuda"]}"""',
    'os.system("nvidia-smi -L")',
    'subprocess.run(["nvidia-smi", "--device", "cuda"])',
    'exec("torch.cuda.synchronize()")',
    'os.environ["CUDA_VISIBLE_DEVICES"]',
    'dict(CUDA_VISIBLE_DEVICES="0", device="cuda")',
    "DDP(x, device_ids=[rank])",
    'p.add_argument("--设备", default="cuda", choices=["cuda", "cpu"])',
    '("cu" "da", "nccl")',
    "(\n  x\n  .cuda()\n)",
    "lambda: torch.cuda",
    "[c for c in (torch.cuda, 1)]",
]
STATEMENTS = [
    "import torch",
    "from torch import cuda as c",
    "from torch.cuda.amp import (\n    autocast,\n    GradScaler as G,\n)",
    "import apex, flash_attn.layers",
    "from . import *",
    "from ...a.b import c",
    "c = torch.cuda",
    "c.synchronize()",
    "global c",
    "del c",
    "with autocast(): pass",
    'x: str = "cuda"',
    'def f(d="cuda", *a, c=torch.cuda, **k): return d',
    "class K:\n    def cuda(self): self.c = torch.cuda; return self.c.x",
    'match x:\n    case {"device": "cuda", **rest}: pass\n    case ["cuda", *c]: pass\n    case K() as c: pass',
    "try:\n    import x\nexcept* E as c:\n    pass",
    "@torch.jit.script\nasync def g(): await c",
    "# cuda 中",
    "\f",
    '"""cuda"""',
]
OPERATORS = [" == ", " + ", " in ", " % "]
BREAKS = ["\n", "\r\n", "\r"]

source = st.lists(
    st.one_of(
        st.sampled_from(STATEMENTS),
        st.sampled_from(EXPRESSIONS),
        st.tuples(st.sampled_from(["变量", "c", "x", "torch"]), st.sampled_from(EXPRESSIONS)).map(" = ".join),
        st.tuples(
            st.sampled_from(EXPRESSIONS), st.sampled_from([" == ", " + ", " in ", " % "]), st.sampled_from(EXPRESSIONS)
        ).map("".join),
    ),
    max_size=8,
)


def check(occurrences: list[Occurrence], lines: Sequence[str]) -> None:
    """Each place's span, cut out of the source, is its text."""
    for occurrence in occurrences:
        span = Span(occurrence.line, occurrence.column, occurrence.end, occurrence.end_column)
        assert source_in(lines, span)[:MAX_TEXT] == occurrence.text != ""


@given(parts=source, line_break=st.sampled_from(BREAKS), mark=st.booleans())
@settings(max_examples=300, deadline=None)
def test_that_spans_cut_out_of_generated_sources_are_the_texts(parts: list[str], line_break: str, mark: bool) -> None:
    text = "\n".join(parts).replace("\n", line_break)
    exports = ProjectExports({"train.py": module_exports("train.py", text), "a/b.py": module_exports("a/b.py", text)})
    module = try_parse_module("train.py", "\ufeff" * mark + text, exports)
    check(list(scan_python(module)) if module else list(token_scanner.scan_tokens("train.py", text)), lines_of(text))


@given(parts=source, at=st.integers(0, 400), junk=st.text(max_size=4))
@settings(max_examples=300, deadline=None)
def test_that_half_written_sources_never_raise(parts: list[str], at: int, junk: str) -> None:
    text = "\n".join(parts)
    text = text[:at] + junk
    module_exports("train.py", text)
    try:
        module = parse_module("train.py", text, ProjectExports())
    except UnparsableSource:
        check(list(token_scanner.scan_tokens("train.py", text)), lines_of(text))
    else:
        check(list(scan_python(module)), module.lines)


@given(st.text())
@example("'''cuda" * 3)
@example("x = '\\")
@example("\ud800 = 'cuda'")
@example("a\x00b")
@settings(deadline=None)
def test_that_any_text_is_read_without_an_exception(text: str) -> None:
    module_exports("x.py", text)
    module = try_parse_module("x.py", text, ProjectExports())
    list(scan_python(module)) if module else None
    check(list(token_scanner.scan_tokens("x.py", text)), lines_of(text))


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 10_000 + ")" * 10_000 + '\ny = "cuda"',
        "x = " + "[" * 10_000 + '\ny = "cuda"',
        "x = " + "-" * 100_000 + '1\ny = "cuda"',
        "x = 1\0\ny = 'cuda'",
        'y = "cuda"\nprint "cuda"\nexec "x"',
        'cdef int x = 3\ny = "cuda"',
        'y = "cuda"\ndef f(:\n',
        'y = "cuda"\nx = """never closed',
        'y = "cuda"\nif x:\n\tz\n        t',
        '<<<<<<< HEAD\ny = "cuda"\n=======\n',
        "lambda: " * 10_000 + '\ny = "cuda"',
    ],
)
def test_that_what_does_not_parse_still_shows_its_devices(text: str) -> None:
    with pytest.raises(UnparsableSource):
        parse_module("x.py", text, ProjectExports())
    found = list(token_scanner.scan_tokens("x.py", text))
    assert [(occurrence.category, occurrence.name) for occurrence in found] == [("device_str", "cuda")]
    assert found[0].args == {"unparsed": True}


def test_that_a_deep_tree_that_parses_is_read_in_full() -> None:
    deep = "x = " + " + ".join(['"a"'] * 900) + "\nz" + ".a" * 900 + "\n" + 'y = "cuda"\n'
    module = parse_module("x.py", deep, ProjectExports())
    assert [occurrence.name for occurrence in scan_python(module)] == ["cuda"]


def test_that_the_reason_and_the_line_of_what_does_not_parse_are_told() -> None:
    with pytest.raises(UnparsableSource) as raised:
        parse_module("x.py", "x = 1\nprint 'a'\n", ProjectExports())
    assert raised.value.line == 2
    assert "print" in raised.value.reason


def test_that_python_2_shows_names_methods_and_imports_but_no_comment_or_message() -> None:
    text = """
import torch.cuda as tc  # cuda "cuda"
from apex import amp
print "cuda", torch.cuda.is_available()
raise ValueError, "cuda"
tc.synchronize(); x.cuda(); x.is_cuda
p.add_argument("--x", help="cuda", default="cuda")
'''
torch.cuda and "cuda"
'''
"""
    found = list(token_scanner.scan_tokens("x.py", text))
    assert [(occurrence.line, occurrence.name) for occurrence in found] == [
        (2, "torch.cuda"),
        (3, "apex.amp"),
        (4, "torch.cuda.is_available"),
        (6, "torch.cuda.synchronize"),
        (6, ".cuda()"),
        (6, ".is_cuda"),
        (7, "cuda"),
    ]


@pytest.mark.parametrize("space", ["\f", "\u2028", "\x85", "\x1c", "\v"])
def test_that_only_line_breaks_of_python_count_as_lines(space: str) -> None:
    text = f'a = "{space}"\r\nb = 1\rc = "cuda"\nd = "nccl"'
    module = parse_module("x.py", text, ProjectExports())
    assert [(occurrence.line, occurrence.text) for occurrence in scan_python(module)] == [(3, '"cuda"'), (4, '"nccl"')]


def test_that_columns_count_characters() -> None:
    (occurrence,) = scan_python(parse_module("x.py", '设备 = "中文😀"; 设备 = "cuda"', ProjectExports()))
    assert (occurrence.column, occurrence.end_column) == (17, 23)
