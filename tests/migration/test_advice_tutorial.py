"""Calls and command lines of tutorials that never worked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.migration.scan.advice import advise_command_lines
from tests.migration.advice_runs import advised, advised_lines, advised_rules


def lines(text: str) -> list[tuple[int, str]]:
    return [(occurrence.line, occurrence.rule) for occurrence in advise_command_lines("run.sh", text)]


def test_that_names_that_do_not_exist_are_told_where_they_are_imported_and_used() -> None:
    source = """
        import torch_npu
        from msprobe.pytorch import ApiProfiler, PrecisionDebugger
        from torch_npu.contrib import transfer_to_npu
        profiler = ApiProfiler(model)
        device = transfer_to_npu.get_npu_device()
        with torch_npu.profiler.Profiler() as prof:
            pass
        config = torch_npu.profiler.ExperimentalConfig(level=1)
    """
    assert advised_lines(source) == [
        (2, "tutorial.api_profiler"),
        (4, "tutorial.api_profiler"),
        (5, "tutorial.get_npu_device"),
        (6, "tutorial.npu_profiler"),
        (8, "tutorial.experimental_config"),
    ]


def test_that_the_right_calls_are_not_told() -> None:
    source = """
        import torch, torch_npu
        from msprobe.pytorch import PrecisionDebugger
        from torch_npu.contrib import transfer_to_npu
        from torch_npu.testing.common_utils import get_npu_device
        with torch_npu.profiler.profile(
            experimental_config=torch_npu.profiler._ExperimentalConfig(
                profiler_level=torch_npu.profiler.ProfilerLevel.Level1
            )
        ) as prof:
            device = torch.device("npu"), get_npu_device()
    """
    assert not advised_rules(source)


def test_that_names_of_others_are_not_told() -> None:
    assert not advised_rules(
        "from lightning import Profiler\nfrom mine import ApiProfiler\nApiProfiler(), Profiler()  # msprobe\n"
    )


@pytest.mark.parametrize(
    "line",
    [
        'os.environ["MSPROBE_PATH"] = "/opt"',
        'path = os.getenv("MSPROBE_PATH")',
        'subprocess.run("MSPROBE_PATH=/opt python train.py", shell=True)',
    ],
)
def test_that_the_variable_that_nothing_reads_is_told(line: str) -> None:
    assert advised_lines(f"import os, subprocess\n{line}\n") == [(2, "tutorial.msprobe_path")]


def test_that_command_lines_in_python_are_read() -> None:
    source = """
        import os, subprocess
        os.system("msprobe -f pytorch compare -b a.json -c b.json -l api -o out")
        subprocess.run(["msprobe", "-f", framework, "compare", "-i", path])
        subprocess.run(["msprof-analyze", "-d", "./logs", "-i", "./report"])
        subprocess.run(["msprobe", "compare", "-tp", target, "-gp", golden])
        print("msprobe -f pytorch compare")
    """
    assert advised_lines(source) == [
        (2, "tutorial.msprobe_level"),
        (3, "tutorial.msprobe_framework"),
        (4, "tutorial.msprof_input"),
    ]


def test_that_a_jit_level_that_jit_refuses_is_told() -> None:
    source = """
        import mindspore as ms
        from mindspore import jit
        @jit(jit_level="O2")
        def f(x):
            return x
        @ms.jit(jit_level="O1")
        def g(x):
            return x
        h = ms.jit(f, jit_level="O2")
        ms.set_context(jit_config={"jit_level": "O2"})
        k = numba.jit(jit_level="O2")
    """
    assert advised_lines(source) == [
        (3, "tutorial.jit_level"), (9, "tutorial.jit_level"), (10, "tutorial.jit_config_level"),
    ]  # fmt: skip


def test_that_a_flat_communication_fusion_is_told() -> None:
    source = """
        import mindspore as ms
        ms.set_auto_parallel_context(comm_fusion={"allreduce": 8})
        net.comm_fusion(config={"allreduce": {"mode": "size", "config": 8}})
        fusion = {"allgather": 4}
        net.comm_fusion(fusion)
        ms.set_auto_parallel_context(comm_fusion={"openstate": True})
        options = {"comm_fusion": {"reducescatter": 8}, "gradients_mean": True}
    """
    assert advised_lines(source) == [(line, "tutorial.comm_fusion") for line in (2, 5, 7)]


def test_that_gradients_in_tuple_to_array_are_told() -> None:
    source = """
        from mindspore import ops
        a = ops.tuple_to_array(grads)
        b = ops.TupleToArray()(self.grad(x))
        c = ops.tuple_to_array((1, 2, 3))
        d = ops.tuple_to_array(shape)
        step = grad_fn(x)
        e = ops.tuple_to_array(step)
    """
    assert advised_lines(source) == [(line, "tutorial.tuple_to_array") for line in (2, 3, 7)]


def test_that_wrong_lines_of_a_shell_script_are_told() -> None:
    script = """#!/bin/bash
# msprobe -f pytorch compare -l api
export MSPROBE_PATH=/opt/msprobe
python $MSPROBE_PATH/run.py
msprobe -f pytorch compare -b bench -c npu \\
    -l api -o out
nohup msprobe -f pytorch run_ut -api_info dump.json > log 2>&1 &
cd logs && /usr/bin/msprof-analyze -d ./profiler_logs -i ./analysis_report | tee log
echo "msprobe -f pytorch compare -l api"
pip install msprobe -i https://pypi.org/simple
msprobe compare -tp npu -gp gpu -o out -fm -lm map.yaml   # not -l api
msprobe acc_check -api_info dump.json
python3 -m msprobe --framework=mindspore graph -i c.json
msprof-analyze advisor all -d ./profiler_logs -o out
"""
    assert lines(script) == [
        (3, "tutorial.msprobe_path"),
        (4, "tutorial.msprobe_path"),
        (5, "tutorial.msprobe_level"),
        (7, "tutorial.msprobe_framework"),
        (8, "tutorial.msprof_input"),
        (13, "tutorial.msprobe_framework"),
    ]


def test_that_a_place_of_a_script_is_where_the_words_are() -> None:
    (occurrence,) = advise_command_lines("run.sh", "cd a; msprobe -f pytorch \\\n  run_ut\n")
    assert (occurrence.line, occurrence.column, occurrence.end, occurrence.end_column) == (1, 6, 2, 8)
    assert occurrence.text == "msprobe -f pytorch \\\n  run_ut"


PARTS = [
    "msprobe",
    "msprof-analyze",
    "-f",
    "-i",
    "-l",
    "compare",
    "MSPROBE_PATH=",
    "'",
    '"',
    "\\",
    "\n",
    "#",
    ";",
    "|",
    " ",
    "é",
]


@given(st.lists(st.sampled_from(PARTS)).map("".join) | st.text())
def test_that_no_text_raises_and_every_place_is_cut_out_of_it(text: str) -> None:
    for occurrence in advise_command_lines("run.sh", text):
        assert occurrence.text in text


SOURCES = [
    "import torch",
    "from torch.utils.data import DataLoader",
    "for batch in loader:\n    loss.backward()",
    "if a: pass",
    "for b in c:\n    loss.backward(); print(loss.item())",
    "def forward(self, x):\n    return x.double()[x > 0]",
    "class F(torch.autograd.Function):\n    pass",
    "x = torch.nonzero(x)",
    "DataLoader(*a)",
    "DataLoader(d)",
    "y = {'cuda': 1}[x.device.type == 'cuda']",
    "from msprobe.pytorch import ApiProfiler",
    "@torch.jit.script\ndef f(): ...",
    "comm_fusion(config=q, comm_fusion={**a, 'allreduce': 1})",
    "os.system('msprobe -f')",
    "['msprobe', *x]",
    "torch.compile",
    "a.forward(b)",
    "\u00e9 = '\U0001f600'; torch.unique(\u00e9)",
]


@given(st.lists(st.sampled_from(SOURCES), min_size=1, max_size=12))
def test_that_each_rule_is_said_once_per_line_and_cut_out_of_it(parts: list[str]) -> None:
    source = "\n".join(parts)
    occurrences = advised(source)
    keys = [(occurrence.line, occurrence.rule) for occurrence in occurrences]
    assert len(keys) == len(set(keys))
    for occurrence in occurrences:
        line = source.split("\n")[occurrence.line - 1]
        assert occurrence.end > occurrence.line or line[occurrence.column : occurrence.end_column] == occurrence.text
