"""Projects, runs and profiles of others, with words that no line holds and what would reorder or hide a text."""

from __future__ import annotations

import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

from backends.common.rehearsal import FILE, Blocked, Report
from backends.launch.own.spec import OwnSpec
from backends.launch.rehearse.spec import RehearseSpec
from backends.launch.spec import LaunchSpec
from backends.migration.scan.spec import ScanSpec
from backends.precision.compare.spec import CompareSpec
from studio import files, schema, worker
from studio import run as runs
from studio.events import Ended, Finding, Journal, Metric, Note, Progress
from studio.project import Project, make_runs_folder
from tests.runs import ended, write_worker
from tests.shots.precision_states import RECORDED

if TYPE_CHECKING:
    from pathlib import Path

    from studio.events import Event
    from studio.run import Run

NAME = "loss_" + "q" * 295
PATH = "/srv/" + "p" * 290 + ".py"
ODD = "\x1b]0;owned\x07od\u202ed"
LOG = b"".join(b"2026-11-23 [ERROR] " + bytes([97 + number % 26]) * 200 + b"\n" for number in range(30))
LOGS = {
    "200": LOG, "20k": LOG + b"z" * 20_000 + b"\n", "1m": LOG + b"y" * 1_000_000 + b"\n", "no-end": b"y" * 1_000_000,
}  # fmt: skip
CODE = f"""\
import torch, flash_attn, {"z" * 200}
x = torch.cuda.{"q" * 250}(torch.cuda.amp.GradScaler(enabled={"y" * 200}))
torch.distributed.init_process_group("nccl", {"k" * 300}={"v" * 300})
{"a" * 200} = torch.cuda.FloatTensor({"b" * 300})
torch.jit.script({"c" * 300})
"""
OPTIONS = f"""\
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--{"k" * 200}", type=float, default=0.5, help="{NAME}")
parser.add_argument("--choice", choices=["{"c" * 200}", "{"d" * 150}"], default="{"c" * 200}", help="{"h" * 300}")
parser.add_argument("--text", default="{"t" * 300}")
parser.add_argument("--config", default="{"z" * 100}.yaml")
parser.add_argument("{"pos" * 60}")
"""
GLOBALS = f"{'g' * 150} = '{'v' * 300}'  # {'n' * 300}\nexec(open('configurator.py').read())\n"
SETTINGS = f"{'y' * 200}:\n  {'u' * 200}: {'x' * 300}\n"


def project_in(folder: Path, name: str) -> Path:
    project = folder / f"{name}_{'w' * 200}"
    project.mkdir(parents=True)
    return project


def spec_with(spec: Any, **values: Any) -> Any:
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    return spec


def recorded(project: Path, command: str, spec: Any, *events: Event, log: bytes = b"") -> Run:
    run = runs.create(make_runs_folder(Project(folder=project)), command, schema.to_json(spec), project)
    Journal(run.folder, 1).write(*events)
    run.log.write_bytes(log)
    return run


def worked(project: Path, command: str, spec: Any) -> Run:
    """A run that really runs."""
    run = runs.create(make_runs_folder(Project(folder=project)), command, schema.to_json(spec), project)
    worker.start(run)
    ended(run)
    return run


def curves_runs(project: Path) -> dict[str, Run]:
    """Runs as the Curves page shows them, by what is odd about each."""
    metrics = [
        Metric(step=step, values={"loss": 1 / step, NAME: 2.0, ODD: 3.0, f"a {NAME}": 1.0}) for step in range(1, 9)
    ]
    args = {"what": NAME, "place": f"{PATH}:1", "said": [[1, "k" * 200], [200, "j" * 5000], [3, "short"]]}
    why = [
        Finding(rule="run.unknown_command", severity="error", args={"command": NAME}),
        Finding(rule="explain.python_exception.cause", severity="error", args=args),
        Finding(rule="explain.python_exception.fix", path=PATH, args=args),
    ]
    warning = Finding(rule="launch.nan", severity="warning", args={"step": 1, "what": NAME, "value": NAME})
    nothing = Finding(rule="hooks.nothing_seen", severity="warning", args={"why": NAME})
    summary = {
        "recipe": NAME, "mode": "jit", "device": NAME, "steps": 8, "compile_seconds": 2.0, "train_seconds": 4.0,
        "step_seconds": 0.04, "samples_per_second": 800.0, "metrics": {"loss": 0.25, NAME: 0.95},
    }  # fmt: skip
    learned = (Note(key="launch.summary", args=summary), Note(key="launch.sample", args={"text": NAME * 3}))
    own = spec_with(OwnSpec(), line=("python", PATH, NAME))
    failed = {name: recorded(project, "launch", LaunchSpec(), Ended(code=1), log=log) for name, log in LOGS.items()}
    running = recorded(project, "script", own, *metrics, warning, Progress(done=3, total=9, phase=NAME), log=LOGS["1m"])
    write_worker(running.folder)
    asked = spec_with(RehearseSpec(), line=("python", PATH))
    rehearsed = recorded(project, "rehearse", asked, Ended(code=3, reason="no"))
    report = Report(
        stance="npu", steps=1, losses=(1.0,), redirected={NAME: 1, f"torch.{NAME}": 2}, operators=1, processes=1,
        blocked=(Blocked(name=NAME, message=NAME, kind="raised", path=PATH, line=1),), ended="script", answer=False,
    )  # fmt: skip
    files.write_json(rehearsed.folder / FILE, report)
    return failed | {
        "explained": recorded(project, "script", own, *metrics, *why, warning, nothing, Ended(code=1), log=LOGS["1m"]),
        "done": recorded(project, "launch", LaunchSpec(), *metrics, *learned, warning, Ended(code=0)),
        "nothing seen": recorded(project, "script", own, nothing, Ended(code=0)),
        "newer": recorded(project, f"newer_{NAME}"[:180], OwnSpec(), Ended(code=1)),
        "rehearsed": rehearsed,
        "running": running,
    }


def scripts(project: Path) -> dict[str, tuple[str, ...]]:
    """Command lines for the Launch page, by what is odd about each."""
    (project / "opts.py").write_text(OPTIONS)
    (project / "globals.py").write_text(GLOBALS)
    long, config = project / f"{'s' * 200}.py", project / f"{'c' * 200}.yaml"
    long.write_text(OPTIONS)
    config.write_text(SETTINGS)
    python = project / ("v" * 180) / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (python.parent.parent / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.2\n")
    return {
        "options": ("python", "opts.py", "--text", NAME, "a" * 200), "globals": ("python", "globals.py"),
        "script": ("python", str(long), NAME), "config": ("python", "opts.py", "--config", str(config)),
        "no file": ("python", PATH), "program": (NAME, NAME),
    }  # fmt: skip


def scanned(project: Path) -> None:
    """A project to migrate, scanned for real."""
    (project / f"{'t' * 200}.py").write_text(CODE)
    deep = project / ("d" * 120) / ("e" * 120)
    deep.mkdir(parents=True)
    (deep / "model.py").write_text(CODE)
    (project / "requirements.txt").write_text(f"torch==2.4.0+cu121\n{'r' * 200}-cu12==1.0\nflash-attn\n")
    (project / "run.sh").write_text(f"export CUDA_VISIBLE_DEVICES=0\nnvidia-smi {'n' * 300}\n")
    worked(project, "scan", spec_with(ScanSpec(), path=project))


def compared(project: Path) -> None:
    """Two recorded sides whose operators and modules have long names, compared for real."""
    sides = {}
    for side in ("target", "golden"):
        run = recorded(project, "script", spec_with(OwnSpec(), line=("python", f"{'x' * 200}.py")), Ended(code=0))
        dump = run.folder / "artifacts" / "captures" / "101112-dump-ab12"
        shutil.copytree(RECORDED, dump)
        for path in dump.rglob("*.json"):
            text = path.read_text().replace("Functional.linear", f"Functional.linear{'q' * 200}")
            path.write_text(text.replace("Module.", f"Module{'m' * 200}."))
        sides[side] = run.folder
    _bend(sides["target"])
    worked(project, "compare", spec_with(CompareSpec(), **sides))


def _bend(target: Path) -> None:
    (path,) = target.rglob("dump.json")
    dump = json.loads(path.read_text())
    name = next(call for call in dump["data"] if call.startswith("Functional.linear") and call.endswith("forward"))
    for entry in dump["data"][name]["output"]:
        entry |= {figure: entry[figure] * 1.5 for figure in ("Max", "Min", "Mean", "Norm")}
    path.write_text(json.dumps(dump))


def profile(folder: Path) -> Path:
    """A trace with long names of everything."""
    names = [
        {"ph": "M", "pid": 1, "tid": thread, "name": kind, "args": {"name": kind + "p" * 300}}
        for thread, kind in ((0, "process_name"), (1, "thread_name"), (2, "thread_name"))
    ]
    args = {f"argument_{'a' * 200}": "v" * 1000, "stack": f"{'f' * 500}.py(12): {'g' * 300}"}
    slices = [
        {"ph": "X", "pid": 1, "tid": 1 + number % 3, "ts": 1000 * number, "dur": 900, "cat": "cpu_op",
         "name": f"kernel_{'q' * 300}{number % 5}", "args": args}
        for number in range(50)
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"trace_{'w' * 190}.json"
    path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": names + slices}))
    return path
