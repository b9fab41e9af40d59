"""Ends of trainings, and why they failed: planted faults with healthy twins."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import partial
from typing import TYPE_CHECKING

from studio import processes
from studio.paths import MAIN, ROOT
from tests.command_line import last_json
from tests.planted.verdicts.case import Observation, VerdictCase
from tests.planted.verdicts.ended_runs import new_run, observed_cause, observed_end, write_event, write_rows

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.planted.verdicts.ended_runs import Row

NAN_END = Observation(state="nonfinite", exit_code=3, success=False)
EARLY_END = Observation(state="incomplete", exit_code=3, success=False)
DONE = Observation(state="done", exit_code=0, success=True)
LOGS = ROOT / "tests" / "recorded" / "logs"
STEPS = 40


def case(name: str, verdict: str, expected: Observation, observe: Callable[[Path], Observation]) -> VerdictCase:
    return VerdictCase(name=name, verdict=verdict, expected=expected, observe=observe)


# Ends


def rows(name: str, bad: range | tuple[int, ...] = (), value: str = "NaN", **more: float | str) -> list[Row]:
    """Steps with a loss, which is `value` in the steps of `bad`."""
    return [(step, {name: value if step in bad else 1.0 / step, "lr": 0.1, **more}) for step in range(1, STEPS + 1)]


def end_of(folder: Path, *processes: list[Row]) -> Observation:
    """A run of these ranks, each with its steps, whose program ended with 0."""
    run = new_run(folder)
    for rank, of_rank in enumerate(processes):
        write_rows(run, of_rank, rank=rank, pid=100 + rank)
    return observed_end(run)


def skipping(folder: Path, losses: list[Row], skipped: int) -> Observation:
    """A recipe with `--on-nan skip`, and what its summary counts."""
    run = new_run(folder)
    write_rows(run, losses)
    args = {"step": 4, "what": "loss", "value": "NaN"}
    write_event(run, "finding", rule="launch.nan_skipped", severity="warning", args=args)
    write_event(run, "note", key="launch.summary", args={"steps": STEPS, "skipped": skipped})
    return observed_end(run)


def going_on(folder: Path) -> Observation:
    """A recipe with `--on-nan go_on` whose gradients were NaN in its last step."""
    run = new_run(folder)
    write_rows(run, rows("loss"))
    args = {"step": STEPS, "what": "gradient", "value": "NaN"}
    write_event(run, "finding", rule="launch.nan", severity="warning", args=args)
    return observed_end(run)


def second_attempt(folder: Path, last: list[Row]) -> Observation:
    """A run whose first attempt had NaN, and that was started again."""
    run = new_run(folder)
    write_rows(run, rows("loss", range(20, 41)), attempt=1)
    write_rows(run, last, attempt=2, pid=200)
    processes.write_mark(run.folder / "training.json", os.getpid(), attempt=2)
    return observed_end(run)


def announced(folder: Path, done: int, total: int, last: str = "train") -> Observation:
    """A training that knows how many steps it is to do, and told last that it had done this many."""
    run = new_run(folder)
    write_rows(run, rows("loss")[:done])
    for phase in dict.fromkeys(("train", last)):
        write_event(run, "progress", pid=100, done=done, total=total, phase=phase)
    return observed_end(run)


NAMES = ("loss", "loss.1", "train_loss", "Loss/train", "eval_loss", "val_loss", "tensorboard/loss", "Loss_D")
WHERE: dict[str, range | tuple[int, ...]] = {
    "all": range(1, 41), "most": range(26, 41), "first": (1,), "middle": (17,), "last": (40,),
}  # fmt: skip
VALUES = ("NaN", "Infinity", "-Infinity")
SCALED = {"loss_scale": 65536.0}


def skipped_rows(count: int, value: str) -> list[Row]:
    """The first steps are left out by a loss scaler, whose scale begins too high."""
    first: list[Row] = [(step, {"loss": value, "skipped": 1, **SCALED}) for step in range(1, count + 1)]
    return [*first, *((step, {"loss": 0.5, "skipped": 0, **SCALED}) for step in range(count + 1, STEPS + 1))]


def endless_skips() -> list[Row]:
    return [(step, {"loss": "NaN", "skipped": 1, **SCALED}) for step in range(1, STEPS + 1)]


def scaled_rows(count: int, skipped: range, loss: float | str = 0.5) -> list[Row]:
    """Steps under a loss scaler that leaves out those of `skipped`, whose loss is `loss`."""
    return [
        (n, {"loss": loss if n in skipped else 0.5, "skipped": int(n in skipped), **SCALED})
        for n in range(1, count + 1)
    ]


UNJUDGED = (
    *((name, value) for name in ("loss_scale", "throughput", "lr.group1") for value in VALUES[:2]),
    ("grad_norm", "Infinity"), ("perplexity", "Infinity"),
)  # fmt: skip
END = "end of a run"
ENDS = (
    *(case(f"{name} is NaN from step 26", END, NAN_END, partial(_end, name, range(26, 41), "NaN"))
      for name in NAMES for _end in [lambda name, bad, value, folder: end_of(folder, rows(name, bad, value))]),
    *(case(f"loss is {value}, {where} of its steps", END, NAN_END, partial(_end, bad, value))
      for where, bad in WHERE.items() for value in VALUES
      for _end in [lambda bad, value, folder: end_of(folder, rows("loss", bad, value))]),
    *(case(f"NaN on rank {rank} of 4", END, NAN_END, partial(_end, rank))
      for rank in range(4)
      for _end in [lambda rank, folder: end_of(folder, *(rows("loss", (9,) if n == rank else ()) for n in range(4)))]),
    *(case(f"{name} is NaN at the end, beside a finite loss", END, NAN_END, partial(_end, name))
      for name in ("grad_norm", "Gradient norm", "perplexity", "train/ppl")
      for _end in [lambda name, folder: end_of(folder, rows("loss", **{name: "NaN"}))]),
    *(case(f"a loss called {name} is NaN", END, NAN_END, partial(_end, name))
      for name in ("mse", "val_nll", "train/ce", "elbo", "cost")
      for _end in [lambda name, folder: end_of(folder, rows(name, (9,)))]),
    case("a scaler skips every step of a NaN loss", END, NAN_END, lambda folder: end_of(folder, endless_skips())),
    *(case(f"a scaler skips steps {skipped[0]} to {skipped[-1]} of {count}, with a loss of {loss}", END, NAN_END,
           partial(_end, count, skipped, loss))
      for count, skipped, loss in ((60, range(46, 61), "NaN"), (60, range(60, 61), "Infinity"), (40, range(1, 41), 0.5),
                                   (400, range(301, 401), 0.5), (6, range(1, 7), 0.5))
      for _end in [lambda count, skipped, loss, folder: end_of(folder, scaled_rows(count, skipped, loss))]),
    case("on-nan skip: every step from the ninth", END, NAN_END,
         lambda folder: skipping(folder, rows("loss", range(9, 41), "Infinity"), 32)),
    case("on-nan skip: half of the updates", END, NAN_END, lambda folder: skipping(folder, rows("loss", (4,)), 20)),
    case("on-nan skip: the last step", END, NAN_END, lambda folder: skipping(folder, rows("loss", (4, 40)), 2)),
    case("on-nan go_on with a gradient of NaN", END, NAN_END, going_on),
    *(case(f"step {done} of {STEPS} is the last", END, EARLY_END, partial(announced, done=done, total=STEPS))
      for done in (0, 1, 8, 39)),
    *(case(f"rank {rank} of 4 ends at step {last}", END, EARLY_END, partial(_end, rank, last))
      for rank, last in ((0, 8), (1, 8), (3, 38), (2, 1))
      for _end in [lambda rank, last, folder: end_of(folder, *(rows("loss")[: last if n == rank else STEPS]
                                                               for n in range(4)))]),
    case("NaN in the second attempt", END, NAN_END, lambda folder: second_attempt(folder, rows("loss", (3,)))),
)  # fmt: skip
HEALTHY_ENDS = (
    *(case(f"{name} is finite", END, DONE, partial(_end, name))
      for name in NAMES for _end in [lambda name, folder: end_of(folder, rows(name))]),
    *(case(f"{name} may be {value}", END, DONE, partial(_end, name, value))
      for name, value in UNJUDGED
      for _end in [lambda name, value, folder: end_of(folder, rows("loss", **{name: value}))]),
    *(case(f"{name} was NaN on the way", END, DONE, partial(_end, name))
      for name in ("grad_norm", "perplexity")
      for _end in [lambda name, folder: end_of(folder, [*rows("loss", **{name: "NaN"}), (STEPS + 1, {name: 0.5})])]),
    *(case(f"a scaler skips {count} steps with a loss of {value}", END, DONE, partial(_end, count, value))
      for count in (1, 2, 8, 16) for value in VALUES[:2]
      for _end in [lambda count, value, folder: end_of(folder, skipped_rows(count, value))]),
    *(case(f"{count} ranks with finite losses", END, DONE, partial(_end, count))
      for count in (1, 2, 4, 8) for _end in [lambda count, folder: end_of(folder, *[rows("loss")] * count)]),
    *(case(f"a scaler skips steps {skipped[0]} to {skipped[-1]} of {count}, with finite losses", END, DONE,
           partial(_end, count, skipped))
      for count, skipped in ((400, range(390, 401)), (40, range(1, 18)), (3, range(1, 3)))
      for _end in [lambda count, skipped, folder: end_of(folder, scaled_rows(count, skipped))]),
    case("on-nan skip: one step of forty", END, DONE, lambda folder: skipping(folder, rows("loss", (4,)), 1)),
    case("on-nan skip: a tenth of the updates", END, DONE,
         lambda folder: skipping(folder, rows("loss", (4, 9, 11, 20)), 4)),
    case("a trainer that ends early as it was told", END, DONE, partial(announced, done=8, total=STEPS, last="finish")),
    case("all steps that were announced", END, DONE, partial(announced, done=STEPS, total=STEPS)),
    case("a rank with one batch less", END, DONE, lambda folder: end_of(folder, rows("loss"), rows("loss")[:-1])),
    case("a rank that records every tenth step", END, DONE,
         lambda folder: end_of(folder, rows("loss"), rows("loss")[9::10])),
    case("no loss at all", END, DONE, lambda folder: end_of(folder, [(1, {"lr": 0.1})])),
    case("no metric at all", END, DONE, lambda folder: end_of(folder)),
    case("NaN in an attempt before", END, DONE, lambda folder: second_attempt(folder, rows("loss"))),
)  # fmt: skip


# Explanations

CAUSES = {
    "bus": "crashed", "dataset_batch": "dataset_shapes", "dataset_error": "dataset_error",
    "dataset_missing": "dataset_folder", "disk": "disk_full", "hooked_backward": "python_exception",
    "hooked_forward": "python_exception", "import_error": "missing_module", "lib_other": "missing_library",
    "memory_ms": "out_of_memory", "memory_numpy": "out_of_memory", "memory_torch": "out_of_memory",
    "missing_ascend": "missing_cann", "no_terminal": "no_terminal", "port_python": "port_in_use",
    "shape_dense_jit": "shape_mismatch", "syntax_module": "syntax_error", "syntax_script": "syntax_error",
    "torch_cuda": "missing_device", "torch_dtype": "unsupported", "torch_loader": "dataset_error",
    "undefined_symbol": "undefined_symbol", "user_error": "python_exception",
}  # fmt: skip
LINES = {
    "107002": ("RuntimeError: SetDevice NPU function error: aclrtSetDevice, error code is 107002", "null_context"),
    "EH9999": ("EH9999: Inner Error!", "cann_inner_error"),
    "E39999": ("E39999: 2024-10-20-22:34:40.965.193  An exception occurred during AICPU execution", "cann_inner_error"),
    "EZ9999": ("EZ9999: Inner Error!", "cann_inner_error"),
    "GLIBCXX": ("ImportError: /lib64/libstdc++.so.6: version `GLIBCXX_3.4.29' not found (required by a.so)",
                "old_system_library"),
    "GLIBC": ("ImportError: /lib64/libm.so.6: version `GLIBC_2.27' not found (required by b.so)", "old_system_library"),
    "NumPy 2": ("A module that was compiled using NumPy 1.x cannot be run in", "numpy_two"),
    "nothing that is known": ("giving up", "unknown"),
    "only a number": ("9", "unknown"),
}  # fmt: skip
EXPLAINED = "explanation"


def ended_with(folder: Path, text: str, code: int) -> Observation:
    run = new_run(folder)
    run.log.write_text(text)
    write_rows(run, rows("loss"))
    return observed_cause(run, code)


def recorded_end(folder: Path, name: str, code: int) -> Observation:
    return ended_with(folder, (LOGS / f"{name}.log").read_text("utf-8"), code)


def cause(state: str) -> Observation:
    return Observation(state=state, exit_code=1, success=False)


EXPLANATIONS = (
    *(case(f"a failure that prints {name}", EXPLAINED, cause(state), partial(_end, name))
      for name, state in CAUSES.items() for _end in [lambda name, folder: recorded_end(folder, name, 1)]),
    *(case(f"a failure that prints {name}", EXPLAINED, cause(state), partial(_end, text))
      for name, (text, state) in LINES.items() for _end in [lambda text, folder: ended_with(folder, text + "\n", 1)]),
    # The same lines of a program that went on, and ended well.
    *(case(f"a success that prints {name}", EXPLAINED, DONE, partial(_end, name))
      for name in (*CAUSES, "engine_ok") for _end in [lambda name, folder: recorded_end(folder, name, 0)]),
    *(case(f"a success that prints {name}", EXPLAINED, DONE, partial(_end, text))
      for name, (text, _) in LINES.items() for _end in [lambda text, folder: ended_with(folder, text + "\n", 0)]),
)  # fmt: skip


# Trainings that really run


def trained(script: str, folder: Path, *, is_piped: bool = False) -> Observation:
    """A script of a person's own, from the command line: its state and exit code. `is_piped`: in a shell script, in
    front of a pipe."""
    (folder / "train.py").write_text(script)
    (folder / "run.sh").write_text(f"{sys.executable} train.py 2>&1 | tee log.txt\n")
    words = ["bash", "run.sh"] if is_piped else [sys.executable, "train.py"]
    homes = {f"XDG_{name}_HOME": str(folder / name) for name in ("CONFIG", "STATE", "CACHE")}
    line = [sys.executable, "-I", str(MAIN), "--no-project", "launch", "--json", "--", *words]
    environment = {**os.environ, **homes, "OMP_NUM_THREADS": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run(
        line, cwd=folder, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    answer = last_json(done)
    state = answer["reason"] or ("failed" if answer["code"] else "done")
    shutil.rmtree(folder / "STATE", ignore_errors=True)
    return Observation(state=state, exit_code=done.returncode, success=state == "done" and done.returncode == 0)


TORCH = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(4, 1)
optimizer = OPTIMIZER
for step in range(30):
    x = torch.randn(8, 4)
    def loss_of():
        optimizer.zero_grad()
        loss = (net(x) - x.sum(1, keepdim=True)).square().mean() * FACTOR
        loss.backward()
        return loss
    optimizer.step(loss_of) if CLOSURE else (loss_of(), optimizer.step())
"""
SGD, LBFGS = "torch.optim.SGD(net.parameters(), lr=0.01)", "torch.optim.LBFGS(net.parameters(), max_iter=4)"


def torch_script(optimizer: str = SGD, factor: str = "1.0", closure: bool = False) -> str:
    return TORCH.replace("OPTIMIZER", optimizer).replace("FACTOR", factor).replace("CLOSURE", str(closure))


NAN_FROM_20 = "(float('nan') if step >= 20 else 1.0)"
PRINTS = "for step in range(30): print(f'step {step} loss: {VALUE}', flush=True)"
VALIDATES = """
for step in range(30):
    print(f"step {step}: train loss 0.5, val loss {'VALUE' if step > 9 else 0.4}, best val loss inf", flush=True)
"""
FAILED = Observation(state="failed", exit_code=1, success=False)
RECORDS = """
import ascend_studio, multiprocessing, os, signal, sys
for step in range(1, 21):
    ascend_studio.metric(step, loss=1.0 / step)
    if step == 8:
        END
"""
CHILD = """
import multiprocessing, subprocess, sys
def train():
    import ascend_studio
    for step in range(1, 9):
        ascend_studio.metric(step, loss=0.5)
    END
if __name__ == "__main__":
    process = multiprocessing.get_context("METHOD").Process(target=train)
    process.start()
    process.join()
"""
STARTED = """
import subprocess, sys
child = "import ascend_studio; ascend_studio.metric(1, loss=0.5); raise SystemExit(3)"
open("child.py", "w").write(child)
subprocess.call([sys.executable, "child.py"])
"""
KILLED = "import os; os.kill(os.getpid(), 9)"


def records(end: str) -> str:
    return RECORDS.replace("END", end)


def child(end: str, method: str = "fork") -> str:
    return CHILD.replace("END", end).replace("METHOD", method)


TRAININGS = {
    "PyTorch with a loss of NaN": (torch_script(factor=NAN_FROM_20), NAN_END),
    "PyTorch with a loss that is infinite": (torch_script(factor="float('inf')"), NAN_END),
    "PyTorch at a learning rate that diverges": (torch_script(SGD.replace("0.01", "1e6")), NAN_END),
    "LBFGS with a loss of NaN": (torch_script(LBFGS, NAN_FROM_20, closure=True), NAN_END),
    "a log with a loss of NaN": (PRINTS.replace("VALUE", 'float("nan") if step > 9 else 0.5'), NAN_END),
    "a script with a bracket that is not closed": ("x = [1, 2\n", FAILED),
    "a script that raises": ("raise RuntimeError('no data')\n", FAILED),
    "a log with a validation loss of NaN": (VALIDATES.replace("VALUE", "nan"), NAN_END),
    "os._exit(0) in the middle": (records("os._exit(0)"), EARLY_END),
    "os._exit(0) at step 8 of 20": (records("ascend_studio.progress(8, 20, 'train'); os._exit(0)"), EARLY_END),
    "sys.exit(0) at step 8 of 20": (records("ascend_studio.progress(8, 20, 'train'); sys.exit(0)"), EARLY_END),
    "a joined child that exits with 3": (child("raise SystemExit(3)"), FAILED),
    "a joined child that is killed": (child(KILLED), FAILED),
    "a spawned child that is killed": (child(KILLED, "spawn"), FAILED),
    "a started script that exits with 3": (STARTED, FAILED),
    "a joined child": (child("pass"), DONE),
    "a child that leaves at once": (records("os.fork() or os._exit(0)"), DONE),
    "an exit that is caught": ("import sys\ntry:\n    sys.exit(3)\nexcept SystemExit:\n    print('goes on')\n", DONE),
    "PyTorch": (torch_script(), DONE),
    "LBFGS": (torch_script(LBFGS, closure=True), DONE),
    "PyTorch with Adam": (torch_script(SGD.replace("SGD", "Adam")), DONE),
    "a log with a finite validation loss": (VALIDATES.replace("VALUE", "0.3"), DONE),
    "a log with a finite loss": (PRINTS.replace("VALUE", "1 / (step + 1)"), DONE),
    "a script without a framework": ("print('nothing to train')\n", DONE),
}
PIPED = {
    "sys.exit(3)": (records("sys.exit(3)"), FAILED),
    "os._exit(3)": (records("os._exit(3)"), FAILED),
    "SIGKILL": (records("os.kill(os.getpid(), 9)"), FAILED),
    "SIGSEGV": (records("os.kill(os.getpid(), 11)"), FAILED),
    "sys.exit(3) without a step": ("import sys; sys.exit(3)\n", FAILED),
    "SIGKILL without a step": (KILLED + "\n", FAILED),
    "a module that is missing": ("import nothing_of_that_name\n", FAILED),
    "a regular end": (records("pass"), DONE),
    "sys.exit(0)": (records("pass") + "sys.exit(0)\n", DONE),
}
REAL = tuple(
    VerdictCase(name=f"{kind}: {name}", verdict=END, expected=expected, needs_training=True,
                observe=partial(trained, script, is_piped=kind == "piped"))
    for kind, scripts in (("real", TRAININGS), ("piped", PIPED))
    for name, (script, expected) in scripts.items()
)  # fmt: skip

CASES = (*ENDS, *HEALTHY_ENDS, *EXPLANATIONS, *REAL)
