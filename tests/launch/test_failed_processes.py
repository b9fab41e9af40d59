"""A process of a training that fails is told, although the program that started it ends well."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from backends.launch.own.failed_processes import judged_by_processes
from studio.events import Ended
from tests.command_line import last_json, studio

if TYPE_CHECKING:
    from pathlib import Path

TRAINING = """
import ascend_studio
for step in range(1, 6):
    ascend_studio.metric(step, loss=0.5)
"""
FAILING = TRAINING + "raise RuntimeError('no card answers')\n"
JOINED = """
import multiprocessing
def train(number):
    import ascend_studio
    for step in range(1, 6):
        ascend_studio.metric(step, loss=0.5)
    if number:
        raise RuntimeError("no card answers")
if __name__ == "__main__":
    processes = [multiprocessing.get_context(METHOD).Process(target=train, args=(n,)) for n in (0, 1)]
    for process in processes:
        process.start()
        process.join()
"""


def ended_by(folder: Path, *line: str, **scripts: str) -> tuple[int, dict[str, object]]:
    """Return the exit code and the answer of a line that runs in a folder with these scripts."""
    for name, text in scripts.items():
        (folder / f"{name}.py").write_text(text)
    done = studio("--no-project", "launch", "--json", "--", *line, cwd=folder)
    return done.returncode, last_json(done)


def shell(folder: Path, text: str) -> tuple[str, str]:
    (folder / "run.sh").write_text(text.replace("PYTHON", sys.executable))
    return "bash", "run.sh"


def test_that_a_training_that_fails_in_front_of_a_pipe_is_not_done(tmp_path: Path, homes: Path) -> None:
    line = shell(tmp_path, "PYTHON train.py 2>&1 | tee log.txt\n")
    code, answer = ended_by(tmp_path, *line, train=FAILING)
    assert (code, answer["code"]) == (1, 1)
    assert "RuntimeError: no card answers" in str(answer["message"])


def test_that_a_rehearsal_that_fails_in_front_of_a_pipe_is_not_done(tmp_path: Path, homes: Path) -> None:
    (tmp_path / "train.py").write_text(FAILING)
    line = shell(tmp_path, "PYTHON train.py 2>&1 | tee log.txt\n")
    done = studio("--no-project", "rehearse", "--as", "cuda", "--json", "--", *line, cwd=tmp_path)
    assert (done.returncode, last_json(done)["code"]) == (1, 1)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_that_a_failed_child_whose_exit_code_nobody_looks_at_is_told(tmp_path: Path, homes: Path, method: str) -> None:
    code, answer = ended_by(tmp_path, sys.executable, "train.py", train=JOINED.replace("METHOD", repr(method)))
    assert (code, "exit code 1" in str(answer["message"])) == (1, True)


def test_that_a_training_that_is_tried_again_is_done(tmp_path: Path, homes: Path) -> None:
    line = shell(tmp_path, "PYTHON train.py || PYTHON again.py\n")
    assert ended_by(tmp_path, *line, train=FAILING, again=TRAINING)[0] == 0


def test_that_a_failure_of_a_process_that_trained_nothing_is_the_script_s_own_affair(
    tmp_path: Path, homes: Path
) -> None:
    line = shell(tmp_path, "PYTHON -c 'import nothing_of_that_name' || PYTHON train.py\n")
    assert ended_by(tmp_path, *line, train=TRAINING)[0] == 0


def left(folder: Path, rank: int, pid: int, time: int, error: str = "exit code 1") -> None:
    (folder / f"failed.a1.r{rank}.p{pid}.json").write_text(json.dumps({"time": time, "error": error}))


def test_that_a_program_that_failed_or_was_stopped_keeps_its_own_end(tmp_path: Path) -> None:
    left(tmp_path, 0, 7, 10)
    for ended in (Ended(code=7), Ended(code=0, reason="stopped")):
        assert judged_by_processes(tmp_path, 1, ended) == (ended, [])


def test_that_the_first_failure_is_named_and_one_of_another_attempt_is_not(tmp_path: Path) -> None:
    left(tmp_path, 1, 8, 10, "ValueError: b")
    left(tmp_path, 0, 7, 20)
    _, (finding,) = judged_by_processes(tmp_path, 1, Ended(code=0))
    assert finding.args == {"rank": 1, "error": "ValueError: b"}
    assert judged_by_processes(tmp_path, 2, Ended(code=0)) == (Ended(code=0), [])


@pytest.mark.parametrize("text", ["", "{", "[]", '{"time": "x"}'])
def test_that_a_damaged_file_is_a_failure_too(tmp_path: Path, text: str) -> None:
    """A full disk may have cut it off; only a process that failed makes one."""
    (tmp_path / "failed.a1.r0.p7.json").write_text(text)
    ended, (finding,) = judged_by_processes(tmp_path, 1, Ended(code=0))
    assert (ended.code, finding.args["rank"]) == (1, 0)


EXITS = {
    "sys.exit": "import sys; sys.exit(3)",
    "exit": "exit(3)",
    "SystemExit by hand": "raise SystemExit(3)",
    "SystemExit with a text": "def main():\n    raise SystemExit('no card answers')\nmain()",
    "SystemExit after one that was caught": "try:\n    exit(0)\nexcept SystemExit:\n    pass\nraise SystemExit(45)",
    "a crash behind the last line": """
import os
class Library:
    def __del__(self, kill=os.kill, pid=os.getpid()):
        kill(pid, 11)
library = Library()
""",
    "os._exit": "import os; os._exit(3)",
    "an uncaught error": "raise RuntimeError('no card answers')",
    "SIGKILL": "import os; os.kill(os.getpid(), 9)",
    "SIGSEGV": "import os; os.kill(os.getpid(), 11)",
}


@pytest.mark.parametrize("way", EXITS)
@pytest.mark.parametrize("trains", [True, False], ids=["trained", "without a step"])
def test_that_no_failure_in_front_of_a_pipe_is_done(tmp_path: Path, homes: Path, way: str, trains: bool) -> None:
    line = shell(tmp_path, "PYTHON train.py 2>&1 | tee log.txt\n")
    code, answer = ended_by(tmp_path, *line, train=(TRAINING if trains else "") + EXITS[way] + "\n")
    assert (code, answer["code"]) == (1, 1), answer


@pytest.mark.parametrize("way", EXITS)
def test_that_a_started_python_whose_exit_code_nobody_looks_at_is_told(tmp_path: Path, homes: Path, way: str) -> None:
    starting = "import subprocess, sys\nsubprocess.Popen([sys.executable, 'child.py']).wait()\n"
    child = TRAINING + EXITS[way] + "\n"
    code, _ = ended_by(tmp_path, sys.executable, "train.py", train=starting, child=child)
    assert code == 1


def test_that_a_python_that_could_not_be_observed_is_said(tmp_path: Path, homes: Path) -> None:
    line = shell(tmp_path, "PYTHON -I train.py 2>&1 | tee log.txt\n")
    script = "for step in range(3): print(f'step {step} loss 0.5')\nraise SystemExit(3)\n"
    (tmp_path / "train.py").write_text(script)
    done = studio("--no-project", "launch", "--json", "--", *line, cwd=tmp_path)
    assert done.returncode == 0
    assert "No Python of this program could be observed" in done.stderr


def test_that_a_started_training_that_fails_behind_the_last_step_of_its_parent_is_told(
    tmp_path: Path, homes: Path
) -> None:
    """The parent's last steps are written as it ends, after the child's failure."""
    parent = "import subprocess, sys\n" + TRAINING + "subprocess.run([sys.executable, 'child.py'])\n" + TRAINING
    child = TRAINING.replace("range(1, 6)", "range(1, 10)") + "raise SystemExit(3)\n"
    code, _ = ended_by(tmp_path, sys.executable, "train.py", train=parent, child=child)
    assert code == 1


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("end", ["raise SystemExit(3)", "import os; os.kill(os.getpid(), 9)", "import os; os._exit(3)"])
def test_that_a_child_that_ends_badly_is_told(tmp_path: Path, homes: Path, method: str, end: str) -> None:
    script = JOINED.replace("METHOD", repr(method)).replace('raise RuntimeError("no card answers")', end)
    assert ended_by(tmp_path, sys.executable, "train.py", train=script)[0] == 1


HEALTHY = {
    "an exit that is caught": """
import sys
try:
    sys.exit(3)
except SystemExit:
    pass
""",
    "an exit in a function that is caught": """
import sys
def leave():
    try:
        sys.exit(3)
    except SystemExit:
        pass
leave()
""",
    "SystemExit by hand of nothing": "def main():\n    return\nraise SystemExit(main())\n",
    "SystemExit by hand of 0": "raise SystemExit(0)\n",
    "SystemExit by hand that is caught": "try:\n    raise SystemExit(3)\nexcept SystemExit:\n    pass\n",
    "an end at once behind the last line": """
import os
class Library:
    def __del__(self, end=os._exit):
        end(0)
library = Library()
""",
    "sys.exit of nothing": "import sys; sys.exit()\n",
    "sys.exit of 0 at the end": "import sys; sys.exit(0)\n",
    "an exit of a thread": """
import sys, threading
thread = threading.Thread(target=sys.exit, args=(3,))
thread.start()
thread.join()
""",
    "a forked child that leaves at once": "import os; os.fork() or os._exit(0); os.wait()\n",
    "a worker that is ended": """
import multiprocessing, time
def train():
    import ascend_studio
    ascend_studio.metric(1, other=0.5)
    time.sleep(60)
process = multiprocessing.get_context("fork").Process(target=train)
process.start()
time.sleep(0.5)
process.terminate()
process.join()
""",
    "a program that is ended": """
import subprocess, sys, time
open("server.py", "w").write("import ascend_studio, time; ascend_studio.metric(1, other=0.5); time.sleep(60)")
server = subprocess.Popen([sys.executable, "server.py"])
time.sleep(1)
server.kill()
server.wait()
""",
    "a helper that fails": "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import nothing_here'])\n",
    "a helper script that fails": """
import subprocess, sys
open("probe.py", "w").write("raise SystemError(1)")
subprocess.run([sys.executable, "probe.py"])
""",
    "a program that replaces itself": """
import os, sys
if "again" not in sys.argv:
    os.execv(sys.executable, [sys.executable, "train.py", "again"])
""",
}


@pytest.mark.parametrize("name", HEALTHY)
@pytest.mark.parametrize("trains", [True, False], ids=["trained", "without a step"])
def test_that_a_healthy_end_is_done(tmp_path: Path, homes: Path, name: str, trains: bool) -> None:
    script = (TRAINING if trains else "") + HEALTHY[name]
    code, answer = ended_by(tmp_path, sys.executable, "train.py", train=script)
    assert (code, answer["code"]) == (0, 0), answer


def test_that_a_probe_that_fails_before_another_python_is_the_scripts_own_affair(tmp_path: Path, homes: Path) -> None:
    line = shell(tmp_path, "PYTHON probe.py || PYTHON other.py\n")
    assert ended_by(tmp_path, *line, probe="raise SystemError(1)\n", other="print('fine')\n")[0] == 0


def test_that_a_process_that_goes_on_and_is_ended_by_the_studio_did_not_fail(tmp_path: Path, homes: Path) -> None:
    line = shell(tmp_path, "PYTHON server.py >/dev/null 2>&1 &\nPYTHON train.py\nsleep 1\n")
    server = TRAINING + "import time\ntime.sleep(600)\n"
    (tmp_path / "train.py").write_text(TRAINING)
    (tmp_path / "server.py").write_text(server)
    options = ("--grace", "1", "--no-wait-all")
    done = studio("--no-project", "launch", "--json", *options, "--", *line, cwd=tmp_path)
    assert (done.returncode, last_json(done)["code"]) == (0, 0), done.stderr


IN_THREAD = """
import threading, torch
weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.1)
def train(first, last):
    for step in range(first, last):
        optimizer.zero_grad()
        weight.sum().backward()
        optimizer.step()
    if last == 5:
        raise RuntimeError("no card answers")
thread = threading.Thread(target=train, args=(0, LENGTH))
thread.start()
thread.join()
"""


def test_that_a_training_whose_thread_dies_is_not_done(tmp_path: Path, homes: Path) -> None:
    code, answer = ended_by(tmp_path, sys.executable, "train.py", train=IN_THREAD.replace("LENGTH", "5"))
    assert (code, "RuntimeError: no card answers" in str(answer["message"])) == (1, True)


@pytest.mark.parametrize("end", ["", "train(5, 9)\n"])
def test_that_a_training_in_a_thread_that_ends_well_or_that_the_script_goes_on_with_is_done(
    tmp_path: Path, homes: Path, end: str
) -> None:
    text = IN_THREAD.replace("LENGTH", "5" if end else "4") + end
    assert ended_by(tmp_path, sys.executable, "train.py", train=text)[0] == 0


TOGETHER = """
import sys
import torch
import torch.distributed as dist
dist.init_process_group("gloo")
net = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for step in range(8):
    optimizer.zero_grad()
    net(torch.ones(2, 4)).square().mean().backward()
    optimizer.step()
    if dist.get_rank() == 1 and step == 4:
        sys.exit(3)
"""


def test_that_the_rank_that_left_first_is_named_where_the_log_tells_of_another_one_s_failure(
    tmp_path: Path, homes: Path
) -> None:
    (tmp_path / "train.py").write_text(TOGETHER)
    words = (sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "train.py")
    done = studio("--no-project", "launch", "--", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert "Failed first: rank 1." in done.stderr + done.stdout
    assert "Failed first: rank 0." not in done.stderr + done.stdout


def test_that_more_cores_than_the_host_has_are_told(tmp_path: Path, homes: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINING)
    words = ("launch", "--cores", "4000", "--", sys.executable, "train.py")
    done = studio("--no-project", *words, cwd=tmp_path)
    assert "4000 cores were chosen, and this host has" in done.stderr + done.stdout


INFINITE = """
import torch
weight = torch.nn.Parameter(torch.ones(2))
optimizer = torch.optim.SGD([weight], lr=0.1)
for step in range(20):
    optimizer.zero_grad()
    (weight.sum() * VALUE).backward()
    if STEPS and torch.isfinite(weight.grad).all():
        optimizer.step()
"""


def test_that_losses_without_any_update_are_told_where_they_are_no_numbers(tmp_path: Path, homes: Path) -> None:
    text = INFINITE.replace("VALUE", "float('inf')").replace("STEPS", "True")
    code, answer = ended_by(tmp_path, sys.executable, "train.py", train=text)
    assert (code, answer["reason"]) == (3, "nonfinite")


def test_that_finite_losses_without_any_update_are_no_curve(tmp_path: Path, homes: Path) -> None:
    text = INFINITE.replace("VALUE", "1.0").replace("STEPS", "False")
    code, answer = ended_by(tmp_path, sys.executable, "train.py", train=text)
    assert (code, answer["reason"], answer["metrics"]) == (0, "", {})
