"""The command line, run as a person would: real processes, real exit codes."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from backends import features
from studio.command_line import command_in
from studio.paths import MAIN
from tests.command_line import last_json, studio
from tests.runs import prepare, wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Make = Callable[[str], Path]


def test_that_help_imports_neither_qt_nor_numpy(tmp_path: Path) -> None:
    code = (
        "import sys; sys.argv = ['ascend-studio', '--help']\n"
        "from studio.__main__ import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "print([name for name in ('PySide6', 'numpy', 'pyqtgraph', 'mindspore') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_that_a_launch_prints_one_json_object_last_and_nothing_else_on_stdout(
    tmp_path: Path, interpreter: Make
) -> None:
    script = "python3 -c \"import ascend_studio; ascend_studio.metric(1, loss=0.5, odd=float('nan'))\""
    done = studio("launch", "--recipe", "linear", "--python", str(interpreter(script)), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    result = last_json(done)
    assert len(done.stdout.splitlines()) == 1
    assert (result["state"], result["code"], result["metrics"]) == ("ended", 0, {"loss": 0.5, "odd": "NaN"})


def test_that_a_failed_training_gives_1_and_one_ended_by_a_signal_128_and_its_number(
    tmp_path: Path, interpreter: Make
) -> None:
    failed = studio("launch", "--python", str(interpreter("exit 7")), "--json", cwd=tmp_path)
    assert (failed.returncode, last_json(failed)["code"]) == (1, 7)
    assert studio("launch", "--python", str(interpreter("kill -9 $$")), cwd=tmp_path).returncode == 137


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--recipe", "resnet"], "--recipe: 'resnet' is not one of"),
        (["--steps", "0"], "--steps: At least 1."),
        (["--lr", "fast"], "--lr: 'fast' is not a number."),
        (["--lr", "nan"], "--lr: 'nan' is not a number."),
        (["--batch", "1.5"], "--batch: '1.5' is not a whole number."),
        (["--env", "NOVALUE"], "--env: 'NOVALUE' does not have the form KEY=VALUE."),
        (["--env", "API_TOKEN=abc"], "--env: "),
        (["--steps", "5", "--epochs", "1"], "--epochs: "),
    ],
)
def test_that_wrong_use_is_said_at_its_flag_and_makes_no_run(tmp_path: Path, words: list[str], said: str) -> None:
    done = studio("launch", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(studio("runs", "--json", cwd=tmp_path).stdout) == {"runs": [], "damaged": []}


def test_that_a_project_keeps_its_runs_and_hides_them_from_git(tmp_path: Path, interpreter: Make) -> None:
    project = tmp_path / "我的 项目 🚀\nsecond line"
    project.mkdir()
    done = studio("--project", str(project), "launch", "--python", str(interpreter("exit 0")), "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert last_json(done)["run"].startswith(str(project / ".ascend-studio" / "runs"))
    assert (project / ".ascend-studio" / ".gitignore").read_text() == "*\n"
    listed = studio("runs", "--json", cwd=project)
    assert [entry["run"] for entry in last_json(listed)["runs"]] == [last_json(done)["run"]]


def test_that_a_detached_run_can_be_watched_stopped_and_its_log_read(tmp_path: Path, interpreter: Make) -> None:
    script = "trap 'echo bye; exit 143' TERM; echo hello; while :; do sleep 0.1; done"
    started = studio("launch", "--python", str(interpreter(script)), "--detach", "--json", cwd=tmp_path)
    assert started.stderr == ""
    run = last_json(started)["run"]
    wait_for(lambda: "hello" in studio("log", run, cwd=tmp_path).stdout)
    watching = subprocess.Popen(
        [sys.executable, "-I", str(MAIN), "watch", run, "--json"], cwd=tmp_path, stdout=subprocess.PIPE
    )
    stopped = studio("stop", run, "--json", cwd=tmp_path)
    assert (last_json(stopped)["reason"], last_json(stopped)["code"]) == ("stopped", 143)
    assert json.loads(watching.communicate(timeout=300)[0].splitlines()[-1])["reason"] == "stopped"
    assert studio("log", run, cwd=tmp_path).stdout == "hello\nbye\n"


@pytest.fixture
def heard() -> Iterator[None]:
    """Whoever runs the tests in the background of a shell script has SIGINT ignored, and children inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_that_ctrl_c_stops_the_run_that_this_command_started(tmp_path: Path, interpreter: Make, heard: None) -> None:
    script = "trap 'exit 143' TERM; touch ready; while :; do sleep 0.1; done"
    line = [sys.executable, "-I", str(MAIN), "launch", "--python", str(interpreter(script)), "--json"]
    child = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    runs_folder = tmp_path / "home" / "state" / "ascend-studio" / "runs"
    wait_for(lambda: list(runs_folder.glob("*/ready")))
    child.send_signal(signal.SIGINT)
    stdout, stderr = child.communicate(timeout=300)
    assert json.loads(stdout.splitlines()[-1])["reason"] == "stopped", stderr
    assert child.returncode == 143


def test_that_the_texts_follow_the_language(tmp_path: Path) -> None:
    assert "训练" in studio("--help", cwd=tmp_path, language="zh_CN").stdout
    assert "训练" in studio("--language", "zh", "launch", "--help", cwd=tmp_path).stdout
    assert "Train" in studio("--language=en", "--help", cwd=tmp_path, language="zh_CN").stdout


def test_that_a_run_to_go_on_from_is_found_by_a_part_of_its_name(tmp_path: Path, interpreter: Make) -> None:
    python = str(interpreter("mkdir -p artifacts/checkpoints; touch artifacts/checkpoints/last"))
    first = last_json(studio("launch", "--python", python, "--json", cwd=tmp_path))["run"]
    done = studio("launch", "--python", python, "--resume", first[-4:], "--json", cwd=tmp_path)
    assert json.loads(Path(last_json(done)["run"], "options.json").read_text())["paths"]["resume"] == first
    unknown = studio("launch", "--python", python, "--resume", "nothing", cwd=tmp_path)
    assert (unknown.returncode, "nothing" in unknown.stderr) == (2, True)


def test_that_a_program_behind_two_dashes_runs_in_the_current_folder_with_all_its_words(tmp_path: Path) -> None:
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "train.py").write_text("import os, sys; print(os.getcwd(), *sys.argv, sep='\\n'); sys.exit(3)")
    own = ("--json", "--language", "zh", "", "--", "*", "a b", "--grace=1")
    done = studio("launch", "--json", "--grace", "5", "--", sys.executable, "train.py", *own, cwd=folder)
    assert (done.returncode, last_json(done)["command"], last_json(done)["code"]) == (3, "script", 3), done.stderr
    run = Path(last_json(done)["run"])
    assert (run / "output.log").read_text().split("\n")[:-1] == [str(folder), "train.py", *own]
    assert json.loads((run / "run.json").read_text())["values"]["ending"]["grace"] == 5
    log = studio("log", run.name[-4:], cwd=tmp_path).stdout
    assert log == (run / "output.log").read_text()


def test_that_a_line_that_cannot_be_started_makes_no_run(tmp_path: Path) -> None:
    for words, said in (
        (("launch", "--"), "--: Say what to run"),
        (("launch", "--", "python", "no.py"), f"--: {tmp_path / 'no.py'} is not a file."),
        (("launch", "--recipe", "digits", "--", "python", "x.py"), "--recipe digits"),
        (("launch", "--workdir", "/no/such", "--", "ls"), "--workdir: /no/such is not a folder."),
        (("launch", "--nope", "--", "ls"), "--nope. 'ascend-studio launch --help --' shows"),
        (("launch", "--nope"), "--nope. 'ascend-studio launch --help' shows"),
    ):
        done = studio(*words, cwd=tmp_path)
        assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
    assert json.loads(studio("runs", "--json", cwd=tmp_path).stdout) == {"runs": [], "damaged": []}


def test_that_a_name_that_no_file_system_takes_is_a_sentence(tmp_path: Path) -> None:
    long = "x" * 300
    for words in (("log", long), ("watch", long), ("scan", long), ("timeline", long), ("--project", long, "runs"),
                  ("launch", "--", "python", f"{long}.py"), ("launch", "--python", f"/{long}")):  # fmt: skip
        done = studio(*words, cwd=tmp_path)
        assert done.returncode in (1, 2), words
        assert "Traceback" not in done.stderr, words
        assert long in done.stderr or "File name too long" in done.stderr, words


def test_that_help_shows_the_options_of_both_ways_to_launch(tmp_path: Path) -> None:
    ours, own = studio("launch", "--help", cwd=tmp_path).stdout, studio("launch", "--help", "--", cwd=tmp_path).stdout
    assert "--recipe" in ours
    assert "launch --help --" in " ".join(ours.split())
    assert "--recipe" not in own
    assert "-- PROGRAM [ARGUMENT …]" in own
    assert "--log-pattern" in own


def test_that_an_unknown_run_is_a_sentence(tmp_path: Path) -> None:
    done = studio("watch", "nothing", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("There is no run nothing")


def test_that_watching_a_run_that_nobody_began_ends_with_a_sentence(tmp_path: Path) -> None:
    run = prepare(tmp_path / "runs")
    asked = json.loads((run.folder / "run.json").read_text()) | {"time": 1}
    (run.folder / "run.json").write_text(json.dumps(asked))
    done = studio("watch", str(run.folder), cwd=tmp_path)
    assert done.returncode == 2
    assert "left no reason" in done.stderr
    (run.folder / "worker.log").write_text("no module named numpy\n")
    assert str(run.folder / "worker.log") in studio("watch", str(run.folder), cwd=tmp_path).stderr


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ([], ""), (["--help"], ""), (["timeline", "x"], "timeline"), (["--json"], ""),
        (["--project", "launch", "--language", "zh", "--no-project", "scan", "timeline"], "scan"),
        (["--language=zh", "runs"], "runs"),
    ],
)  # fmt: skip
def test_that_the_command_is_the_first_word_that_no_option_takes(words: list[str], command: str) -> None:
    assert command_in(words) == command


def test_that_a_command_with_a_feature_of_its_own_needs_no_other() -> None:
    assert [one.id for one in features("timeline")] == ["timeline"]
    for command in ("", "common", "curves", "precision", "scan", "nobody"):
        assert features(command) == features(), command


def test_that_damaged_runs_are_listed_as_such(tmp_path: Path) -> None:
    folder = tmp_path / "home" / "state" / "ascend-studio" / "runs"
    (folder / "torn").mkdir(parents=True)
    (folder / "torn" / "run.json").write_text('{"form')
    listed = studio("runs", cwd=tmp_path)
    assert str(folder / "torn") in listed.stderr
    assert last_json(studio("runs", "--json", cwd=tmp_path)) == {"runs": [], "damaged": ["torn"]}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("scan", "--nonsense"), "没有 --nonsense 这个选项或参数"),
        (("watch",), "缺少 RUN"),
        (("launch", "--steps"), "缺少取值"),
        (("runs", "--language", "fr"), "可选："),
        (("launch", "--json=1"), "不需要取值"),
    ],
)
def test_that_wrong_use_is_told_in_chinese_alone(tmp_path: Path, words: tuple[str, ...], reason: str) -> None:
    done = studio(words[0], "--language", "zh", *words[1:], cwd=tmp_path)
    assert done.returncode == 2
    assert reason in done.stderr
    assert not re.search(r"argument|expected|invalid|required", done.stderr)


def test_that_a_detached_start_prints_its_folder_alone(tmp_path: Path, interpreter: Make) -> None:
    started = studio("launch", "--python", str(interpreter("exit 0")), "--detach", cwd=tmp_path)
    assert (started.returncode, started.stderr) == (0, "")
    assert Path(started.stdout.strip(), "run.json").exists()
