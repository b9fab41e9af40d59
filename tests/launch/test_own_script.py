"""Scripts as people bring them, bad ones too, run for real and unchanged."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.common import npu_devices, npu_smi
from backends.launch.capture import state
from backends.launch.own import busy_npus
from backends.launch.own.spec import OwnSpec
from studio import processes, schema, texts, worker
from studio import run as runs
from studio.command import Command
from studio.events import Ended, Finding, Journal, Metric, Note
from studio.paths import ROOT
from studio.tail import RunTail
from tests.runs import ended, events_of, wait_for, worker_log

if TYPE_CHECKING:
    from studio.events import Event
    from studio.run import Run

PYTHON = Path(sys.executable)


def start(folder: Path, *line: str, **values: Any) -> Run:
    run = prepare(folder, *line, **values)
    worker.start(run)
    return run


def prepare(folder: Path, *line: str, **values: Any) -> Run:
    """A run of a line in a folder, with the Python of the tests."""
    spec = schema.with_value(OwnSpec(), "line", line)
    for name, value in {"workdir": folder, "python": PYTHON, **values}.items():
        spec = schema.with_value(spec, name, value)
    assert schema.problems(spec) == ()
    kept = folder.parent / "runs"
    kept.mkdir(exist_ok=True)
    return runs.create(kept, "script", schema.to_json(spec))


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("_dot_", ".")).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "project")


def losses(run: Run, of: int | None = None) -> list[tuple[int, float]]:
    """Return the metrics by step, of all processes or of one rank."""
    read = [(rank, event) for _, rank, events in RunTail(run.folder).read(1 << 24) for event in events]
    found = [event for rank, event in read if isinstance(event, Metric) and of in (None, rank)]
    return sorted((event.step, float(event.values["loss"])) for event in found if "loss" in event.values)


def args_by_rule(run: Run, kind: type[Event] = Finding) -> dict[str, dict[str, Any]]:
    found = [event for event in events_of(run) if isinstance(event, kind)]
    return {event.rule if isinstance(event, Finding) else event.key: event.args for event in found}  # type: ignore[attr-defined]


ODD = r"""
import os, sys
import ascend_studio, sitecustomize

assert sitecustomize.MINE == "mine"
assert len(sys.argv) == 1, sys.argv
sys.excepthook = lambda *error: os.write(2, b"my own hook\n")
sys.stdout.buffer.write(bytes(range(256)) * 40 + b"\n")
sys.stdout.flush()
ascend_studio.metric(0, loss=1.0)
os.chdir("/")
ascend_studio.metric(1, loss=0.5)
child = os.fork()
if child == 0:
    ascend_studio.metric(2, loss=0.25)
    os._exit(0)
os.waitpid(child, 0)
os.closerange(0, 256)
ascend_studio.metric(3, loss=0.125)
here = os.path.dirname(os.path.abspath(__file__))
os.execv(sys.executable, [sys.executable, os.path.join(here, "then.py")])
"""


def test_that_a_script_may_do_what_it_likes_to_its_own_process(tmp_path: Path) -> None:
    """Binary output, another folder, a fork, closed descriptors, an exec, an own hook and an own sitecustomize, in a
    folder whose name is no word of a shell's."""
    folder = write(
        tmp_path / "a b '中文' $(touch x) 🚀\nsecond line",
        train_dot_py=ODD,
        then_dot_py="import ascend_studio\nascend_studio.metric(4, loss=0.0625)\nraise SystemExit(5)",
        sitecustomize_dot_py="MINE = 'mine'",
    )
    run = start(folder, "python", "train.py", env=(("PYTHONPATH", str(folder)),))
    glance = ended(run)
    assert (glance.code, glance.reason) == (5, ""), run.log.read_bytes()[-2000:]
    assert losses(run) == [(0, 1.0), (1, 0.5), (2, 0.25), (3, 0.125), (4, 0.0625)]
    assert bytes(range(256)) * 40 in run.log.read_bytes()
    assert sorted(path.name for path in folder.iterdir() if path.suffix == ".py") == [
        "sitecustomize.py", "then.py", "train.py",
    ]  # fmt: skip


CRASHING = "import data\n"
DATA = "import json\nVALUES = json.loads('[1, 2')\n"


def test_that_a_script_that_crashes_at_an_import_says_in_which_file_and_line(folder: Path) -> None:
    write(folder, train_dot_py=CRASHING, data_dot_py=DATA)
    run = start(folder, "python", "train.py")
    assert ended(run).code == 1
    assert args_by_rule(run)["explain.python_exception.fix"]["place"] == f"{folder / 'data.py'}:2"


def test_that_a_script_that_asks_at_a_terminal_ends_with_a_sentence(folder: Path) -> None:
    write(folder, train_dot_py="name = input('Overwrite? ')\n")
    run = start(folder, "train.py")
    assert ended(run).code == 1
    assert args_by_rule(run)["explain.no_terminal.fix"]["place"] == f"{folder / 'train.py'}:1"


MANY = """
import sys
for step in range(1_000_000):
    sys.stdout.write("a line like many others, number %d\\n" % step)
sys.stdout.write("\\riter 7: loss 0.5000, time 12.00ms, mfu 1.00%\\n")
"""


def test_that_a_million_lines_are_kept_and_their_losses_read(folder: Path) -> None:
    write(folder, train_dot_py=MANY)
    run = start(folder, "python", "train.py", env=(("PYTHONUNBUFFERED", ""),))
    assert ended(run).code == 0
    with run.log.open("rb") as log:
        assert sum(1 for _ in log) == 1_000_001
    assert (7, 0.5) in losses(run), worker_log(run)


TALKING = """
import multiprocessing
def talk(rank):
    for step in range(3000):
        print("rank", rank, "step", step)
if __name__ == "__main__":
    ranks = [multiprocessing.get_context("spawn").Process(target=talk, args=(rank,)) for rank in range(3)]
    [rank.start() for rank in ranks]
    [rank.join() for rank in ranks]
"""


def test_that_the_lines_of_ranks_that_share_a_log_are_whole(folder: Path) -> None:
    write(folder, train_dot_py=TALKING)
    run = start(folder, "python", "train.py")
    assert ended(run).code == 0
    expected = {f"rank {rank} step {step}" for rank in range(3) for step in range(3000)}
    assert set(run.log.read_text().splitlines()) == expected


WRAPPER = """#!/bin/bash
export FROM_WRAPPER=yes
for rank in 0 1; do
  RANK=$rank python train.py > rank$rank.log 2>&1 &
done
echo started
"""
RANKED = """
import os, sys, time, ascend_studio
while not os.path.exists("go"):
    time.sleep(0.05)
ascend_studio.metric(1, loss=float(os.environ["RANK"]))
print(sys.executable, os.environ["FROM_WRAPPER"])
"""


def let_go(run: Run, folder: Path) -> None:
    """Once the run has said that the program has ended and that what it left goes on."""
    found = wait_for(lambda: args_by_rule(run, Note).get("launch.own.goes_on"), worker_log(run))
    assert found["count"] >= 1
    (folder / "go").touch()


def test_that_trainings_that_a_shell_script_leaves_in_the_background_are_waited_for(folder: Path) -> None:
    write(folder, run_dot_sh=WRAPPER, train_dot_py=RANKED)
    run = start(folder, "run.sh")
    let_go(run, folder)
    assert ended(run).code == 0
    assert losses(run) == [(1, 0.0), (1, 1.0)]
    assert (folder / "rank1.log").read_text().split() == [str(PYTHON), "yes"]


def test_that_a_training_that_fails_in_the_background_fails_the_run_and_tells_why(folder: Path) -> None:
    """As msrun without --join leaves its workers, whose output is in logs of their own."""
    waiting = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.05)\n"
    write(folder, train_dot_py=waiting + "raise ValueError('wrong shape')")
    write(folder, run_dot_sh="python train.py > worker_0.log 2>&1 &\n")
    write(folder, worker_7_dot_log="RuntimeError: of last week")
    os.utime(folder / "worker_7.log", (1, 1))
    run = start(folder, "bash", "run.sh")
    let_go(run, folder)
    assert ended(run).code == 1
    assert args_by_rule(run)["launch.own.left_failed"] == {"code": 1}
    assert args_by_rule(run)["explain.python_exception.cause"]["what"] == "ValueError: wrong shape"
    assert [path.name for path in (run.folder / "logs").iterdir()] == ["worker_0.log"]


def test_that_what_is_left_gets_the_grace_where_it_is_not_waited_for(folder: Path) -> None:
    """And one that ignores being asked is gone after it."""
    left = "trap '' TERM; sleep 0.7; touch written; while :; do sleep 0.1; done"
    line = ("bash", "-c", f"setsid bash -c '{left.replace(chr(39), chr(34))}' & echo $! > left")
    run = start(folder, *line, wait_all=False, grace=5.0)
    assert ended(run).code == 0
    assert (folder / "written").exists()
    assert processes.process(int((folder / "left").read_text())) is None


TORCH = """
import os, sys
import torch
torch.manual_seed(int(os.environ["RANK"]))
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(5):
    loss = net(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("rank", os.environ["RANK"], repr(loss.item()), flush=True)
print(sys.executable)
"""


def test_that_hooks_that_reach_nobody_are_told_with_what_keeps_them_out(folder: Path) -> None:
    write(folder, train_dot_py="print('step 1')")
    for line in (("env", "PYTHONPATH=/elsewhere", "python", "train.py"), ("python", "-I", "train.py")):
        run = start(folder, *line)
        assert ended(run).code == 0
        assert args_by_rule(run)["hooks.nothing_seen"]["why"] == "launch.own.not_loaded"
    assert texts.has("launch.own.not_loaded")


def test_that_a_helper_of_a_shell_script_does_not_say_for_all_that_nothing_was_seen(folder: Path) -> None:
    metric = "import ascend_studio; ascend_studio.metric(1, loss=2.0)"
    write(folder, run_dot_sh="python -c pass\npython train.py\n", train_dot_py=metric)
    run = start(folder, "bash", "run.sh")
    assert ended(run).code == 0
    assert "hooks.nothing_seen" not in args_by_rule(run)
    write(folder, train_dot_py="import sys; sys.exit()")
    run = start(folder, "bash", "run.sh")
    assert ended(run).code == 0
    assert args_by_rule(run)["hooks.nothing_seen"]["why"] == "hooks.why.no_framework"
    write(folder, train_dot_py="import sys; sys.exit('usage: …')")
    run = start(folder, "bash", "run.sh")
    assert ended(run).code == 1
    assert "hooks.nothing_seen" not in args_by_rule(run)


def test_that_torchrun_in_a_shell_script_gives_the_curves_of_each_rank(folder: Path) -> None:
    write(folder, run_dot_sh="torchrun --standalone --nproc_per_node 2 train.py\n", train_dot_py=TORCH)
    run = start(folder, "bash", "run.sh", env=(("OMP_NUM_THREADS", "1"),))
    assert ended(run).code == 0, run.log.read_text()
    lines = run.log.read_text().splitlines()
    printed = [line.split() for line in lines if line.startswith("rank ")]
    for rank in ("0", "1"):
        captured = [value for _, value in losses(run, int(rank))]
        assert captured == [float(words[2]) for words in printed if words[1] == rank]
        assert len(captured) == 5
    assert str(PYTHON) in lines


SAVING = """
import signal, sys, time, pathlib, ascend_studio
def save(*_):
    time.sleep(1)
    ascend_studio.metric(2, loss=0.5)
    pathlib.Path("saved").touch()
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
ascend_studio.metric(1, loss=1)
pathlib.Path("ready").touch()
while True:
    time.sleep(0.05)
"""


def test_that_a_training_behind_a_shell_script_finishes_its_step_after_a_stop(folder: Path) -> None:
    """bash itself dies of the signal at once and passes nothing on."""
    write(folder, run_dot_sh="python train.py\necho never\n", train_dot_py=SAVING)
    run = start(folder, "bash", "run.sh", grace=30.0)
    wait_for((folder / "ready").exists)
    worker.stop(run)
    assert ended(run).reason == "stopped"
    assert (folder / "saved").exists()
    assert losses(run) == [(1, 1.0), (2, 0.5)]
    assert "never" not in run.log.read_text()


def test_that_a_training_survives_its_killed_worker_and_is_stopped_by_the_next_even_without_its_script(
    folder: Path,
) -> None:
    write(folder, train_dot_py=SAVING)
    run = start(folder, "python", "train.py", grace=30.0)
    wait_for((folder / "ready").exists)
    mark = processes.read_mark(run.folder / "worker.json")
    assert mark is not None
    os.kill(mark.pid, signal.SIGKILL)
    wait_for(lambda: worker.reap_started() or runs.glance(run).state == "unattended")
    (folder / "train.py").unlink()
    worker.start(run)
    wait_for(lambda: runs.glance(run).state == "running")
    worker.stop(run)
    glance = ended(run)
    assert (glance.code, glance.reason) == (0, "stopped")
    assert (folder / "saved").exists()
    assert sum(isinstance(event, Ended) for event in events_of(run)) == 1


GREEDY = """
import multiprocessing, os, time
print(len(os.sched_getaffinity(0)), flush=True)
def take():
    kept = bytearray(os.urandom(1) * 150_000_000)
    time.sleep(600)
if __name__ == "__main__":
    for _ in range(2):
        multiprocessing.Process(target=take).start()
    time.sleep(600)
"""


def test_that_limits_of_cores_and_memory_hold_for_all_processes_together(folder: Path) -> None:
    write(folder, train_dot_py=GREEDY)
    run = start(folder, "python", "train.py", cores=1, memory=250)
    glance = ended(run)
    assert glance.reason == "memory_limit"
    assert "launch.own.over_memory" in args_by_rule(run)
    assert run.log.read_text().split()[0] == "1"
    assert not processes.marked(run.folder)


@pytest.fixture
def taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An npu-smi that says what a real one said: other people's processes on a card."""
    recorded = ROOT / "tests" / "recorded" / "npu_smi" / "910B2_25.0.rc1.1_processes.txt"
    program = tmp_path / "smi" / "npu-smi"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat {recorded}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return recorded


def test_that_a_card_that_somebody_holds_is_refused_with_who_holds_it(folder: Path, taken: Path) -> None:
    holders = npu_smi.holders(taken.read_text(), ())
    holder, held = holders[0], {one.device for one in holders}
    free = next(str(card.device) for card in npu_smi.read(taken.read_text()).cards if card.device not in held)
    line = ("python", "-c", "print('ran')")
    asked = prepare(folder, *line, visible=str(holder.device))
    others = prepare(folder, *line, visible=free)
    shared = prepare(folder, *line, visible=str(holder.device), share_cards=True)
    unsaid = prepare(folder, *line)
    for run, code in ((asked, 1), (others, 0), (shared, 0), (unsaid, 0)):
        worker.start(run)
        assert ended(run).code == code
    assert str(holder.pid) in args_by_rule(asked)["launch.own.card_taken"]["holder"]
    assert not asked.log.exists()
    assert str(holder.pid) in args_by_rule(unsaid)["launch.own.cards_held"]["held"]
    assert "launch.own.cards_held" not in args_by_rule(others) | args_by_rule(shared)


def test_that_a_choice_of_cards_on_a_host_without_any_is_said_to_do_nothing(folder: Path) -> None:
    run = start(folder, "python", "-c", "print('ran')", visible="0")
    assert ended(run).code == 0
    has_card = bool(npu_devices.npu_names())
    assert ("launch.idle_options" in args_by_rule(run)) is not has_card


def test_that_an_answer_of_npu_smi_that_nobody_understands_is_said_to_be_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(npu_smi, "run_npu_smi", lambda: "| NPU  all new |\n| 0  who knows |\n")
    busy_npus.refuse_busy(Command(argv=("python",), cwd=tmp_path), Journal(tmp_path, 1))
    (file,) = tmp_path.glob("events*")
    assert "launch.own.cards_unknown" in file.read_text()


def test_that_what_is_told_of_a_holder_has_none_of_its_options() -> None:
    one = npu_smi.Holder(
        device=0, card=0, chip=0, pid=7, name="python", memory=1, user="li", command="python -u train.py --key abc",
    )  # fmt: skip
    assert busy_npus.holder_text(one) == "li pid 7 python train.py"


def test_that_a_python_that_vanished_and_a_program_that_is_none_are_sentences(folder: Path, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.touch(0o755)
    vanished = prepare(folder, "python", "-c", "1", python=python)
    python.unlink()
    not_there, is_text = prepare(folder, "no-such-program"), prepare(folder, "./notes.txt")
    write(folder, notes_dot_txt="not a program")
    expected = {"launch.rule.no_file": vanished, "launch.own.no_program": not_there, "launch.own.no_program ": is_text}
    for key, run in expected.items():
        worker.start(run)
        assert ended(run).code == 1
        assert key.strip() in args_by_rule(run)
        assert texts.has(key.strip())


def test_that_a_planned_capture_happens_by_itself(folder: Path) -> None:
    line = "for step in range(5):"
    write(folder, train_dot_py=TORCH.replace(line, "for step in range(12):"))
    run = start(folder, "RANK=0", "python", "train.py", capture="dump", capture_at=4, capture_steps=2)
    assert ended(run).code == 0, run.log.read_text()
    request = state.newest_request(run.folder)
    assert request is not None
    (rank,) = state.ranks(run.folder, request.id).values()
    assert (rank.state, rank.kind, rank.start, rank.done) == ("done", "dump", 4, 2), rank
    assert len(list((run.folder / rank.path).glob("step*/proc*/dump.json"))) == 2
    assert len(losses(run)) == 12
