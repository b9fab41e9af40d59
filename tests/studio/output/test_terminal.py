"""Nothing that a terminal would take for a command reaches it, whoever wrote it."""

from __future__ import annotations

import ast
import json
import os
import pty
import subprocess
import sys
import unicodedata
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.events import Ended, Finding, Journal, Metric, Progress
from studio.output.terminal import json_text, printable, printable_line
from studio.paths import MAIN, ROOT
from tests.command_line import studio
from tests.runs import prepare

if TYPE_CHECKING:
    from pathlib import Path

    from studio.run import Run

TITLE, CLIPBOARD, CLEAR, C1 = "\x1b]0;owned\x07", "\x1b]52;c;b3duZWQ=\x1b\\", "\x1b[2J\x1b[H", "\x9b31m\x9d0;owned\x9c"
HOSTILE = f"a{TITLE}b{CLIPBOARD}c{CLEAR}d{C1}e\x1bP1$tx\x1b\\f\u202eg\u2066h\x08\x07"
OWN = ("\r\x1b[K", "\r\n")  # clears the line of figures; a terminal ends its lines so


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\tb\nc\r\nd\re", "a\tb\nc\nd\ne"),
        (HOSTILE, "abcdefgh"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;without an end\nnext", "0;without an end\nnext"),
        ("\x1b\x1b[0m[31mtwice", "[31mtwice"),
        ("\x1b(Bcharset \x1bc reset", "charset  reset"),
        ("caf\udce9", "caf\ufffd"),
        ("中文 🚀 e\u0301", "中文 🚀 e\u0301"),
    ],
)
def test_that_a_text_is_shown_without_its_commands(text: str, shown: str) -> None:
    assert printable(text) == shown


@given(st.text(st.sampled_from("a;0m[]PX^_\\? \t\n\r\x07\x1b\x85\x90\x9b\x9c\x9d\u2028\u202e\u2069\ud800")))
def test_that_no_text_keeps_a_command(text: str) -> None:
    assert not commands_in(printable(text))
    assert not commands_in(printable_line(text))
    assert not {"\n", "\t"} & set(printable_line(text))


@given(st.recursive(st.text(st.characters()), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_that_json_says_the_same_and_holds_no_command(value: object) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert not commands_in(text)
    text.encode()


def commands_in(text: str) -> set[str]:
    """The characters that a terminal acts on, and those that no terminal gets."""
    bidi = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    return {
        one for one in text
        if (unicodedata.category(one) in ("Cc", "Cs") and one not in "\t\n") or unicodedata.bidirectional(one) in bidi
    }  # fmt: skip


@pytest.fixture
def hostile_run(tmp_path: Path) -> Run:
    run = prepare(tmp_path / "home" / "state" / "ascend-studio" / "runs")
    Journal(run.folder, 1).write(
        Metric(step=1, values={f"loss{HOSTILE}": 0.5, "loss": 0.25}),
        Progress(done=1, total=2, phase=HOSTILE),
        Finding(rule="run.unknown_command", severity="error", args={"command": HOSTILE}),
        Ended(code=1, reason=HOSTILE),
    )
    run.log.write_text(f"first {HOSTILE}\nold\rnew\n", "utf-8")
    return run


def test_that_no_command_reaches_the_terminal_from_a_run_folder(tmp_path: Path, hostile_run: Run) -> None:
    odd = hostile_run.folder.rename(hostile_run.folder.parent / f"run{TITLE}\u202e\x9b2J")
    for words in (("watch", str(odd)), ("watch", str(odd), "--json"), ("runs",), ("runs", "--json"), ("log", str(odd)),
                  ("log", str(odd), "--json"), ("stop", str(odd)), ("watch", TITLE), ("scan", f"no{TITLE}such"),
                  ("timeline", f"no{TITLE}such"), ("launch", f"--{TITLE}"), ("launch", "--", f"{TITLE}x")):  # fmt: skip
        shown = in_a_terminal(*words, cwd=tmp_path)
        for own in OWN:
            shown = shown.replace(own, "\n")
        assert not commands_in(shown), (words, shown)
        assert shown.strip(), words
    assert "lossabcdefgh 0.5" in in_a_terminal("watch", str(odd), cwd=tmp_path)


def in_a_terminal(*words: str, cwd: Path) -> str:
    """Everything that a command prints on a terminal."""
    keyboard, terminal = pty.openpty()
    line = [sys.executable, "-I", str(MAIN), *words]
    child = subprocess.Popen(line, cwd=cwd, stdin=terminal, stdout=terminal, stderr=terminal, env=dict(os.environ))
    os.close(terminal)
    shown = b""
    while piece := _read(keyboard):
        shown += piece
    child.wait()
    os.close(keyboard)
    return shown.decode()


def _read(keyboard: int) -> bytes:
    try:
        return os.read(keyboard, 1 << 16)
    except OSError:  # Linux says so where the last writer is gone
        return b""


def test_that_the_log_of_a_run_stays_as_it_is_for_a_program_and_is_clean_on_a_terminal(
    tmp_path: Path, hostile_run: Run
) -> None:
    data = hostile_run.log.read_bytes()
    line = [sys.executable, "-I", str(MAIN), "log", str(hostile_run.folder)]
    assert subprocess.run(line, cwd=tmp_path, stdout=subprocess.PIPE, check=True).stdout == data
    assert in_a_terminal("log", str(hostile_run.folder), cwd=tmp_path) == "first abcdefgh\r\nnew\r\n"


def test_that_the_folder_of_a_run_is_printed_for_a_program_as_it_is(tmp_path: Path, hostile_run: Run) -> None:
    odd = hostile_run.folder.rename(hostile_run.folder.parent / os.fsdecode(b"run\x1b[1m\xff"))
    line = [sys.executable, "-I", str(MAIN), "watch", os.fsencode(odd)]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (1, os.fsencode(odd) + b"\n"), done.stderr


def test_that_an_error_of_ours_is_printed_without_commands(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); sys.argv = ['ascend-studio', 'runs']\n"
        "from studio import __main__, command_line\n"
        f"def fail(*words): raise RuntimeError({HOSTILE!r})\n"
        "command_line.run_command = fail\n"
        "__main__.main()"
    )
    line = [sys.executable, "-I", "-c", code, str(ROOT)]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "RuntimeError: abcdefgh")
    assert not commands_in(done.stderr)


PRINTING = {"studio/command_line.py", "studio/follow.py", "studio/output/terminal.py"}


def test_that_few_places_print() -> None:
    """What prints elsewhere does so in a process of its own, whose output is a file or a pipe."""
    own = ("studio/guest/", "studio/setup/", "backends/launch/engine/", "backends/launch/script/plain.py")
    paths = [path for folder in ("studio", "backends") for path in sorted((ROOT / folder).rglob("*.py"))]
    names = {path.relative_to(ROOT).as_posix() for path in paths if "child" not in path.as_posix() and _prints(path)}
    assert {name for name in names if not name.startswith(own)} == PRINTING


def _prints(path: Path) -> bool:
    nodes = list(ast.walk(ast.parse(path.read_bytes())))
    calls = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    streams = {
        node.attr for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sys"
    }  # fmt: skip
    return "print" in calls or bool(streams & {"stdout", "stderr"})


def test_that_a_wrong_word_of_the_command_line_is_printed_without_commands(tmp_path: Path) -> None:
    assert not commands_in(studio("launch", "--recipe", HOSTILE, cwd=tmp_path).stderr)
