"""CANN's own tool as a second opinion.

The tool is not available here: a small script stands in for it that asks questions and writes tables with the columns
of msfmktransplt (Ascend-mstt @99c2e0f990).
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.migration.official.opinion import OpinionRow, compare_findings, read_rows
from backends.migration.official.tool import SCRIPT, find_tool, tool_line
from studio.paths import MAIN
from tests.migration.finding_examples import finding

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

HEAD = "File,Start Line,End Line,OP,Tips\n"
TOOL = """#!/bin/bash
while [ $# -gt 0 ]; do case $1 in -i) in=$2;; -o) out=$2;; -v) version=$2;; -m) mode=$2;; esac; shift 2; done
[ -d "$out" ] || { echo "not a valid directory"; exit 1; }
read -r -p "The output path is insecure. Do you want to continue?" said
[ "$said" = c ] || exit 1
to="$out/$(basename "$in")_analysis"
mkdir "$to"
echo "File,Start Line,End Line,OP,Tips" > "$to/unsupported_api.csv"
echo "train.py,3,3,torch.foo,$version $mode" >> "$to/unsupported_api.csv"
echo "train.py,9,9,torch.bar," >> "$to/unsupported_api.csv"
echo "File,Start Line,End Line,OP,Tips" > "$to/api_performance_advice.csv"
echo "NA,0,0,torch.optim.Adam,use a fused one" >> "$to/api_performance_advice.csv"
"""


def tables(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        (folder / f"{name}.csv").write_text(HEAD + text, encoding="utf-8")
    return folder


def test_that_rows_of_all_its_tables_are_read(tmp_path: Path) -> None:
    tables(tmp_path, unknown_api='b.py,2,4,torch.relu,"a, b"\n', unsupported_api=f"{tmp_path}/a.py,7,7,torch.x,\n")
    assert read_rows(tmp_path, tmp_path) == (
        OpinionRow(table="unsupported_api", path="a.py", line=7, end=7, name="torch.x", tips=""),
        OpinionRow(table="unknown_api", path="b.py", line=2, end=4, name="torch.relu", tips="a, b"),
    )


@pytest.mark.parametrize(
    "text", ["", "a.py\n", "a.py,x,y,z,t\n", "NA,1,1,o,t\n", '"\n', "\0", "a.py," + "9" * 5000 + ",1,o,t\n"]
)
def test_that_rows_that_say_no_line_are_left_out(tmp_path: Path, text: str) -> None:
    assert read_rows(tables(tmp_path, unknown_api=text), tmp_path) == ()


@given(st.binary(max_size=200))
def test_that_no_table_makes_it_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    folder = tmp_path_factory.mktemp("tables")
    (folder / "unknown_api.csv").write_bytes(HEAD.encode() + data)
    compare_findings(read_rows(folder, folder), (finding(),), "2.8.0")


def row(path: str, begin: int, end: int) -> OpinionRow:
    return OpinionRow(table="unknown_api", path=path, line=begin, end=end, name="x", tips="")


def test_that_rows_and_findings_meet_by_line() -> None:
    findings = (
        finding(line=3, end=5), finding(line=3, rule="b.b", kind="advice"), finding(path="b.py", line=1),
        finding(path="n.ipynb", cell=1, line=8, end=8),
    )  # fmt: skip
    opinion = compare_findings((row("train.py", 5, 6), row("train.py", 8, 8), row("n.ipynb", 8, 8)), findings, "2.8.0")
    assert [matched.rules for matched in opinion.rows] == [("cuda_api.overlaid",), (), ()]
    assert (opinion.matched, opinion.unmatched) == (1, 2)
    assert opinion.unmentioned == 2


def test_that_the_tool_is_looked_for_where_cann_puts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASCEND_TOOLKIT_HOME", str(tmp_path))
    assert find_tool() is None or not find_tool().is_relative_to(tmp_path)  # type: ignore[union-attr]
    (tmp_path / SCRIPT).parent.mkdir(parents=True)
    (tmp_path / SCRIPT).write_text("", encoding="utf-8")
    assert find_tool() == tmp_path / SCRIPT


def test_that_no_path_becomes_part_of_a_shells_text(tmp_path: Path) -> None:
    hostile = tmp_path / "$(touch pwned); 'x"
    words = tool_line(hostile, hostile, hostile, "2.8.0")
    assert [word for word in words if "pwned" in word] == [str(hostile)] * 3


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-I", str(MAIN), "--no-project", "--language", "en", "second-opinion", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False, cwd="/")


def answer(lines: Sequence[str]) -> dict[str, Any]:
    return dict(json.loads(lines[-1]))


def test_that_its_questions_are_answered_and_its_rows_matched(tmp_path: Path) -> None:
    project, tool = tmp_path / "my project", tmp_path / "pytorch_analyse.sh"
    project.mkdir()
    (project / "train.py").write_text('import torch\n\nx = torch.device("cuda")\n', encoding="utf-8")
    tool.write_text(TOOL, encoding="utf-8")
    done = command(str(project), "--tool", str(tool), "--api-version", "2.7.1", "--json")
    assert done.returncode == 0, done.stderr
    opinion = answer(done.stdout.splitlines())
    assert (opinion["both"], opinion["theirs"], opinion["ours"]) == (1, 1, 0)
    assert opinion["rows"][0]["tips"] == "2.7.1 torch_apis"
    assert opinion["rows"][0]["rules"][0].startswith("device_str.")
    assert "Both name 1 findings" in done.stderr


@pytest.mark.parametrize(("script", "code"), [("exit 1", 1), ("true", 1)])
def test_that_a_tool_that_fails_or_says_nothing_is_told(tmp_path: Path, script: str, code: int) -> None:
    (tmp_path / "tool.sh").write_text(script, encoding="utf-8")
    done = command(str(tmp_path), "--tool", str(tmp_path / "tool.sh"))
    assert done.returncode == code


def test_that_without_the_tool_the_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    done = command(str(tmp_path))
    assert done.returncode == 2
    assert "set_env.sh" in done.stderr
