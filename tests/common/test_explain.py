"""Why a training failed, told from what real ones printed (tests/recorded/logs)."""

from __future__ import annotations

import re
import shutil
import string
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.common import errors, explain
from backends.common.logs import LogEnd, by_rank, log_ends
from studio import texts
from studio.events import Ended, Finding, Journal, Metric
from studio.paths import MAIN, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

if sys.version_info >= (3, 11):
    from re import _parser as parser
else:
    import sre_parse as parser

RECORDED = ROOT / "tests" / "recorded" / "logs"
CAUSES = {
    "bus": "crashed",
    "dataset_batch": "dataset_shapes",
    "dataset_error": "dataset_error",
    "dataset_missing": "dataset_folder",
    "disk": "disk_full",
    "hooked_backward": "python_exception",
    "hooked_forward": "python_exception",
    "import_error": "missing_module",
    "lib_other": "missing_library",
    "memory_ms": "out_of_memory",
    "memory_numpy": "out_of_memory",
    "memory_python": "out_of_memory",
    "memory_torch": "out_of_memory",
    "missing_ascend": "missing_cann",
    "msrun_late": "comm_timeout",
    "no_terminal": "no_terminal",
    "no_terminal_device": "no_terminal",
    "no_terminal_termios": "no_terminal",
    "port_msrun": "port_in_use",
    "port_python": "port_in_use",
    "port_store": "port_in_use",
    "shape_dense_jit": "shape_mismatch",
    "shape_ms": "shape_mismatch",
    "syntax_module": "syntax_error",
    "syntax_script": "syntax_error",
    "torch_cuda": "missing_device",
    "torch_capability": "no_capability",
    "torch_dtype": "unsupported",
    "torch_killed": "killed",
    "torch_loader": "dataset_error",
    "torch_npu_missing": "missing_device",
    "torch_rank1": "python_exception",
    "torch_shape": "shape_mismatch",
    "torch_timeout": "comm_timeout",
    "undefined_symbol": "undefined_symbol",
    "unregistered": "unsupported",
    "unsupported_bf16": "unsupported",
    "user_error": "python_exception",
}
IDS = [*(one.id for one in errors.known_errors()), explain.PYTHON, explain.LIBRARY, explain.SYNTAX]
SAYS = [(one.id, says) for one in errors.known_errors() for says in one.says]
FAILED = Ended(code=1)


def end_of(name: str) -> list[LogEnd]:
    lines = (RECORDED / f"{name}.log").read_text("utf-8").split("\n")
    return list(by_rank(LogEnd(name="output.log", lines=tuple(enumerate(lines, 1)))))


def told(logs: list[LogEnd], code: int = 1) -> explain.Explanation:
    found = explain.explain(logs, Ended(code=code), [])
    assert found is not None
    return found


def of_text(text: str) -> explain.Explanation | None:
    lines = tuple(enumerate(text.split("\n"), 1))
    return explain.explain([LogEnd(name="output.log", lines=lines)], FAILED, [])


@pytest.mark.parametrize(("name", "cause"), CAUSES.items())
def test_that_a_recorded_failure_is_known(name: str, cause: str) -> None:
    assert told(end_of(name)).id == cause


def test_that_every_recorded_log_is_looked_at() -> None:
    assert {path.stem for path in RECORDED.glob("*.log")} == {*CAUSES, "killed", "engine_ok"}


def test_that_the_users_own_line_is_named_not_the_librarys() -> None:
    assert told(end_of("torch_shape")).args["place"] == "/tmp/exp/s/torch_shape.py:2"
    found = told(end_of("dataset_error"))
    assert found.args == {"what": "ValueError: picture 5 is empty", "place": "/tmp/exp/s/dataset_error.py:10"}


@pytest.mark.parametrize(
    ("name", "place"), [("hooked_forward", "in_forward.py:17"), ("hooked_backward", "in_backward.py:5")]
)
def test_that_the_line_of_a_hook_is_never_called_the_users(name: str, place: str) -> None:
    """The studio's wrappers stand between the user's frames and PyTorch's."""
    found = told(end_of(name))
    assert found.args["place"] == f"/tmp/exp/s/{place}"
    assert not any("ascend_studio" in text for _, text in found.lines)


@pytest.mark.parametrize("name", ["syntax_script", "syntax_module"])
def test_that_a_file_that_cannot_be_read_is_no_line_that_was_running(name: str) -> None:
    found = told(end_of(name))
    assert (found.id, found.args["place"]) == ("syntax_error", "/tmp/exp/s/syntax_error.py:3")


ENGINE_ONLY = """Traceback (most recent call last):
  File "/opt/ascend-studio/backends/launch/engine/ascend_engine/__main__.py", line 31, in main
    return work(config, stop)
  File "/opt/ascend-studio/backends/launch/engine/ascend_engine/step.py", line 93, in finish
    if not finite:
RuntimeError: odd"""


def test_that_frames_of_the_engine_alone_name_no_line_of_the_user() -> None:
    found = of_text(ENGINE_ONLY)
    assert found is not None
    assert (found.id, found.args["place"]) == ("library_exception", "output.log:6")
    assert [number for number, _ in found.lines] == [6]


def test_that_a_library_under_the_engine_is_named_as_that() -> None:
    library = '  File "/opt/venv/lib/python3.11/site-packages/mindspore/ops/a.py", line 7, in b\n    c()\n'
    found = of_text(ENGINE_ONLY.replace("RuntimeError", f"{library}RuntimeError"))
    assert found is not None
    assert found.id == "library_exception"
    assert found.args["place"].endswith("mindspore/ops/a.py:7")


def test_that_under_jit_the_line_of_the_network_is_named() -> None:
    found = told(end_of("shape_dense_jit"))
    assert found.args["place"] == "/tmp/exp/s/shape_dense_jit.py:11"
    assert [number for number, _ in found.lines] == [52, 68, 69]


def test_that_the_lines_that_say_it_are_given_with_their_numbers() -> None:
    assert told(end_of("user_error")).lines == (
        (5, '  File "/tmp/exp/s/user_error.py", line 5, in rate'),
        (6, '    return config["lr"] / config["warmup"]'),
        (8, "ZeroDivisionError: float division by zero"),
    )


@pytest.mark.parametrize(("code", "cause"), [(137, "killed"), (143, "terminated"), (139, "crashed"), (134, "crashed")])
def test_that_an_end_by_a_signal_is_known_without_a_word(code: int, cause: str) -> None:
    assert told(end_of("killed"), code).id == cause


def test_that_what_was_printed_long_before_a_kill_is_not_its_cause() -> None:
    assert told(end_of("user_error"), 137).id == "killed"


@pytest.mark.parametrize("ended", [Ended(code=0), Ended(code=143, reason="stopped"), Ended(code=1, reason="lost")])
def test_that_a_run_that_did_not_fail_by_itself_is_not_explained(ended: Ended) -> None:
    assert explain.explain(end_of("user_error"), ended, []) is None


def run_of(name: str, folder: Path) -> Path:
    shutil.copytree(RECORDED / name, folder / name)
    return folder / name


@pytest.mark.parametrize(("name", "cause", "log"), [
    ("msrun_rank1", "python_exception", "ranks/worker_1.log"), ("msrun_kill", "killed", "output.log"),
])  # fmt: skip
def test_that_of_several_processes_the_first_to_fail_is_told(tmp_path: Path, name: str, cause: str, log: str) -> None:
    found = told(log_ends(run_of(name, tmp_path)))
    assert (found.id, found.log) == (cause, log)


def test_that_the_rank_that_failed_first_is_named(tmp_path: Path) -> None:
    found = {finding.rule: finding for finding in explain.findings(run_of("msrun_rank1", tmp_path), FAILED)}
    assert found["explain.first_rank"].args == {"rank": 1}
    assert found["explain.python_exception.cause"].args["what"] == "KeyError: 1"
    assert found["explain.python_exception.fix"].path == "ranks/worker_1.log"


def test_that_torch_ranks_in_one_log_are_told_apart() -> None:
    found = told(end_of("torch_rank1"))
    assert (found.rank, found.args["what"]) == (1, "KeyError: 1")


def test_that_the_rank_that_said_so_first_is_asked_first(tmp_path: Path) -> None:
    folder = run_of("msrun_rank1", tmp_path)
    event = '{"type":"finding","time":%d,"rule":"launch.nan","severity":"error","args":{}}\n'
    (folder / "events.a1.r0.p1.jsonl").write_text(event % 2)
    (folder / "events.a1.r3.p2.jsonl").write_text(event % 1)
    assert explain.findings(folder, FAILED) == [
        Finding(rule="explain.first_rank", args={"rank": 3}, time=pytest.approx(0, abs=1e30))
    ]


def test_that_what_the_training_said_itself_is_not_said_again(tmp_path: Path) -> None:
    (tmp_path / "output.log").write_text((RECORDED / "missing_ascend.log").read_text())
    Journal(tmp_path, 1).write(Finding(rule="launch.device_unavailable", severity="error"))
    assert explain.findings(tmp_path, FAILED) == []


def test_that_an_exception_that_was_told_gets_its_fix_alone(tmp_path: Path) -> None:
    (tmp_path / "output.log").write_text((RECORDED / "user_error.log").read_text())
    Journal(tmp_path, 1).write(Finding(rule="launch.python_error", severity="error"))
    (fix,) = explain.findings(tmp_path, FAILED)
    assert (fix.rule, fix.severity, fix.line) == ("explain.python_exception.fix", "info", 8)


def test_that_what_an_earlier_attempt_said_is_over(tmp_path: Path) -> None:
    (tmp_path / "output.log").write_text((RECORDED / "user_error.log").read_text())
    Journal(tmp_path, 1).write(Finding(rule="launch.device_unavailable", severity="error"))
    Journal(tmp_path, 2).write(Metric(step=1, values={"loss": 0.5}))
    assert next(finding.rule for finding in explain.findings(tmp_path, FAILED)) == "explain.python_exception.cause"


def test_that_numbers_count_from_the_beginning_of_a_long_log(tmp_path: Path) -> None:
    before = "step 1  loss 0.5\n" * 100_000
    (tmp_path / "output.log").write_text(before + (RECORDED / "user_error.log").read_text())
    assert told(log_ends(tmp_path)).lines[-1] == (100_008, "ZeroDivisionError: float division by zero")


def test_that_colours_and_progress_bars_do_not_hide_it(tmp_path: Path) -> None:
    (tmp_path / "output.log").write_bytes(
        b"Traceback (most recent call last):\r\n"
        b'  File "/home/a/train.py", line 3, in <module>\r\n'
        b"50%|#####\r\x1b[31mKeyError: 'lr'\x1b[0m\r\n"
    )
    assert told(log_ends(tmp_path)).args == {"what": "KeyError: 'lr'", "place": "/home/a/train.py:3"}


def test_that_a_folder_without_logs_says_nothing(tmp_path: Path) -> None:
    assert explain.findings(tmp_path, FAILED) == []


@pytest.mark.parametrize("says", [says for _, says in SAYS], ids=[f"{cause}-{n}" for n, (cause, _) in enumerate(SAYS)])
def test_that_a_pattern_finds_its_example(says: errors.Says) -> None:
    assert says.pattern.search(says.example)
    assert says.source.startswith("https://") != says.is_observed


@pytest.mark.parametrize(("cause", "says"), SAYS, ids=[f"{cause}-{n}" for n, (cause, _) in enumerate(SAYS)])
def test_that_an_example_alone_is_explained(cause: str, says: errors.Says) -> None:
    found = of_text(says.example)
    assert found is not None
    assert found.id == cause
    assert found.lines == ((1, says.example[: explain.LONGEST]),)


def test_that_what_was_measured_here_stands_in_a_recorded_log() -> None:
    logs = "\n".join(path.read_text("utf-8") for path in RECORDED.rglob("*.log"))
    assert not [says.example for _, says in SAYS if says.is_observed and says.example[:110] not in logs]


def test_that_nothing_in_a_training_that_succeeded_looks_like_a_failure(tmp_path: Path) -> None:
    logs = [*end_of("engine_ok"), *log_ends(run_of("msrun_ok", tmp_path))]
    assert len(logs) == 5
    for _, text in (line for log in logs for line in log.lines):
        assert not [says.pattern for _, says in SAYS if says.pattern.search(text)], text


def repeats(pattern: Any, inside: bool = False) -> Iterator[bool]:
    """For each quantifier without a bound, whether it stands inside another that repeats."""
    for kind, value in pattern:
        name = str(kind)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            many = value[1] > 1
            if many:
                yield inside
            yield from repeats(value[2], inside or many)
        elif name == "SUBPATTERN":
            yield from repeats(value[3], inside)
        elif name == "BRANCH":
            for branch in value[1]:
                yield from repeats(branch, inside)


@pytest.mark.parametrize("pattern", [says.pattern.pattern for _, says in SAYS])
def test_that_no_quantifier_stands_inside_another(pattern: str) -> None:
    assert not any(repeats(parser.parse(pattern)))


def first_of(pattern: Any) -> str:
    """The kind of the first thing in a pattern, looked for inside its groups."""
    kind, value = pattern[0]
    return first_of(value[3]) if str(kind) == "SUBPATTERN" else str(kind)


@pytest.mark.parametrize("pattern", [says.pattern.pattern for _, says in SAYS])
def test_that_no_pattern_begins_with_a_quantifier(pattern: str) -> None:
    assert "REPEAT" not in first_of(parser.parse(pattern))


def test_that_the_walk_sees_a_nested_quantifier() -> None:
    assert any(repeats(parser.parse(r"x(?:a+b)+")))
    assert any(repeats(parser.parse(r"x(?:a|(b*))+")))


PIECES = st.sampled_from([
    "Traceback (most recent call last):", '  File "/a/b.py", line 3, in f', "    x = 1", "ValueError: no", "KeyError",
    "During handling of the above exception, another exception occurred:", "[rank1]: ValueError", "Error code: -9", "",
    *(says.example for _, says in SAYS),
])  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=200), max_size=40), st.integers(0, 255))
def test_that_junk_does_no_harm(lines: list[str], code: int) -> None:
    logs = list(by_rank(LogEnd(name="output.log", lines=tuple(enumerate(lines, 1)))))
    found = explain.explain(logs, Ended(code=code), [])
    assert found is None or (found.id in IDS and all(number <= len(lines) for number, _ in found.lines))


@pytest.mark.parametrize("language", texts.LANGUAGES)
def test_that_every_cause_has_its_sentences_and_they_can_be_filled(language: texts.Language) -> None:
    catalogue = texts.all_texts(language)
    keys = {f"explain.{cause}.{part}" for cause in IDS for part in ("cause", "fix")}
    assert keys == {key for key in catalogue if re.fullmatch(r"explain\..*\.(cause|fix)", key)}
    for cause, says in SAYS:
        found = of_text(says.example)
        assert found is not None
        for part in ("cause", "fix"):
            asked = {name for _, name, _, _ in string.Formatter().parse(catalogue[f"explain.{cause}.{part}"]) if name}
            assert asked <= found.args.keys()


def test_that_metrics_are_no_errors(tmp_path: Path) -> None:
    (tmp_path / "output.log").write_text((RECORDED / "shape_ms.log").read_text())
    Journal(tmp_path, 1).write(Metric(step=1, values={"loss": 0.5}))
    assert [finding.rule for finding in explain.findings(tmp_path, FAILED)] == [
        "explain.shape_mismatch.cause",
        "explain.shape_mismatch.fix",
    ]


def test_that_the_command_line_says_the_cause_and_the_fix(tmp_path: Path, interpreter: Callable[[str], Path]) -> None:
    python = interpreter(f"cat {RECORDED}/port_store.log\nexit 1\n")
    line = [sys.executable, "-I", str(MAIN), "launch", "--python", str(python), "--json"]
    done = subprocess.run(line, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    cause = texts.t("explain.port_in_use.cause", what="port: 29517")
    assert done.stderr.count(cause) == 1
    assert done.stderr.count(texts.t("explain.port_in_use.fix")) == 1
