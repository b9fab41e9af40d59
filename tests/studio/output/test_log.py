"""`log`: any log, whole, in constant memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.output.log import LONGEST_STATE, json_pieces, terminal_pieces
from studio.paths import MAIN
from tests.command_line import studio
from tests.runs import prepare

if TYPE_CHECKING:
    from pathlib import Path

LOGS = st.lists(st.binary(max_size=4) | st.sampled_from([b"\r\n", b"\n", b"\r", "中".encode(), b"\xff", b'"\\']))


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []), (b"\n", [""]), (b"a", ["a"]), (b"a\n", ["a"]), (b"a\n\nb", ["a", "", "b"]),
        (b"10%\r20%\r\nend\r", ["10%", "20%", "end"]), (b'"\\n\x00\xff', ['"\\n\x00\ufffd']),
    ],
)  # fmt: skip
def test_that_the_lines_of_a_log_are_a_json_list(data: bytes, lines: list[str]) -> None:
    assert lines_of([data]) == lines


@given(LOGS)
def test_that_lines_are_the_same_wherever_they_are_split(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert lines_of(pieces) == lines_of([whole]) == lines_of([whole[at : at + 1] for at in range(len(whole))])


def lines_of(pieces: list[bytes]) -> list[str]:
    return list(json.loads(f"[{''.join(json_pieces(pieces))}]"))


@given(LOGS)
def test_that_a_terminal_gets_the_same_wherever_a_log_is_split(pieces: list[bytes]) -> None:
    whole = b"".join(pieces)
    assert "".join(terminal_pieces(pieces)) == "".join(terminal_pieces([whole]))


def test_that_of_a_progress_bar_the_last_state_is_shown_and_a_line_without_an_end_is_whole() -> None:
    bar = [f"\r{percent} %".encode() * 1000 for percent in range(100)]
    assert "".join(terminal_pieces([b"begin\r\n", *bar, b"\r100 %\nend"])) == "begin\n100 %\nend"
    long = [b"x" * 1000] * (LONGEST_STATE // 500)
    assert "".join(terminal_pieces(long)) == (b"".join(long)).decode()


@pytest.mark.parametrize("words", [(), ("--json",)])
def test_that_a_log_of_200_mb_takes_no_more_memory_than_a_small_one(tmp_path: Path, words: tuple[str, ...]) -> None:
    run = prepare(tmp_path / "runs")
    with run.log.open("wb") as file:
        file.write(b"a line of text\n" * 100_000)
        file.seek(200_000_000)  # a hole: one line of zeros
        file.write(b"\nthe end\n")
    line = [sys.executable, "-I", str(MAIN), "log", str(run.folder), *words]
    # Between pytest and the command: a child begins with the peak of the process that forks it.
    code = (
        "import resource, subprocess, sys\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)\n"
        "print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code, *line], capture_output=True, text=True, check=True)
    returncode, peak = map(int, done.stdout.split())
    assert (returncode, peak < 100_000) == (0, True), peak


def test_that_what_is_no_log_ends_at_once(tmp_path: Path) -> None:
    run = prepare(tmp_path / "runs")
    for make in (lambda: os.mkfifo(run.log), lambda: run.log.symlink_to("/dev/zero"), run.log.mkdir):
        make()
        assert studio("log", str(run.folder), cwd=tmp_path).stdout == ""
        assert json.loads(studio("log", str(run.folder), "--json", cwd=tmp_path).stdout)["lines"] == []
        run.log.rmdir() if run.log.is_dir() else run.log.unlink()
    assert studio("log", str(run.folder), cwd=tmp_path).returncode == 0
