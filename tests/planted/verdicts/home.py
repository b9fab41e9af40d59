"""Planted endings of runs, and what Home says of them; and healthy twins.

The state is that of the step under test: its mark ("problem", "stopped", "working"), else its state ("done", "next",
"open", "later"). Success is "Everything is set up".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from backends.common.device_use import uses_gpu
from studio import run as runs
from studio.events import Ended, Journal
from studio.project import Project, make_runs_folder
from tests.planted.verdicts.case import Observation, VerdictCase
from tests.runs import write_worker
from ui.home.journey_steps import sentence_of, steps

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DONE = Ended(code=0)
STEP_OF = {"launch": "launch", "script": "launch", "compare": "precision", "certify": "migration"}


@dataclass(frozen=True, kw_only=True)
class History:
    """Runs of a project, oldest first, with their ends (None: at work); the first training was watched. `step`: the one
    under test; `code`: of the project's train.py."""

    runs: tuple[tuple[str, Ended | None], ...]
    step: str
    code: str = "import mindspore\n"


def observe(history: History, folder: Path) -> Observation:
    """Write the runs and ask Home."""
    project = Project(folder=folder / "project")
    project.folder.mkdir()
    (project.folder / "train.py").write_text(history.code)
    session: Any = SimpleNamespace(project=project, listed=[], run=None)
    for number, (command, end) in enumerate(history.runs):
        session.listed.insert(0, _written(project, number, command, end))
    trainings = [run for run, _ in session.listed if run.request.command in ("launch", "script")]
    session.run = trainings[-1] if trainings else None
    shown = steps(session, uses_gpu=uses_gpu(project.folder))
    step = next(step for step in shown if step.id == history.step)
    is_set_up = sentence_of(shown, session.listed)[0] == "home.sentence_done"
    return Observation(state=step.mark or step.state, success=is_set_up)


def _written(project: Project, number: int, command: str, end: Ended | None) -> tuple[runs.Run, runs.Glance]:
    created = runs.create(make_runs_folder(project), command, {}, project.folder)
    run = runs.open_run(created.folder.rename(project.runs / f"20260101-0000{number:02d}-{command}"))
    if end is None:
        write_worker(run.folder)
    else:
        Journal(run.folder, 1).write(end)
    return run, runs.glance(run)


def case(name: str, history: Sequence[tuple[str, Ended | None]], step: str, state: str, **more: Any) -> VerdictCase:
    told = Observation(state=state, success=more.pop("success", False))
    history_of = History(runs=tuple(history), step=step, **more)
    return VerdictCase(name=f"home: {name}", verdict="Home", expected=told, observe=partial(observe, history_of))


def _healthy_name(command: str, count: int, *, is_compared: bool, is_proved: bool, had_failed: bool) -> str:
    more = (", compared" * is_compared, ", proved" * is_proved, ", after a failure" * had_failed)
    return f"{count} times {command}{''.join(more)}"


FIRST = ("launch", DONE)
BAD_ENDS = {
    "exit code 1": Ended(code=1),
    "exit code 7": Ended(code=7),
    "SIGKILL": Ended(code=137),
    "SIGSEGV": Ended(code=139),
    "a worker that was lost": Ended(code=1, reason="lost"),
    "losses that are NaN": Ended(code=3, reason="nonfinite"),
    "steps that are missing": Ended(code=3, reason="incomplete"),
    "a start that failed": Ended(code=1, reason="failed_to_start"),
    "a time limit": Ended(code=1, reason="hang"),
}
ANSWERS = {
    "no": Ended(code=3, reason="no"),
    "incomplete": Ended(code=3, reason="incomplete"),
    "exit code 1": Ended(code=1),
    "SIGKILL": Ended(code=137),
    "a worker that was lost": Ended(code=1, reason="lost"),
}
CUDA = ("net.cuda()", "x.to('cuda')", "torch.cuda.amp.autocast()", 'device = "cuda:0"', "init('nccl')", "import cupy")
NPU = ("net.npu()", "x.to('npu')", "import torch_npu", "device = 'cpu'", "init('hccl')", "# a comment on barracuda")
OTHERS = ("check-first", "shapes", "preview", "scan", "migrate", "export", "as-script", "rehearse")

FAULTS = (
    *(
        case(f"{command} ended with {name}, {after}", [*former, (command, end)], "launch", "problem")
        for command in ("launch", "script")
        for name, end in BAD_ENDS.items()
        for after, former in (("the first", []), ("after one that was done", [FIRST]))
    ),
    *(
        case(f"{command} answered {name}, {after}", [FIRST, *former, (command, end)], STEP_OF[command], "problem")
        for command in ("compare", "certify")
        for name, end in ANSWERS.items()
        for after, former in (("the first", []), ("after one that was done", [(command, DONE)]))
    ),
    *(
        case(f"{command} is at work, {after}", [*former, (command, None)], "launch", "working")
        for command in ("launch", "script")
        for after, former in (("the first", []), ("after one that was done", [FIRST]))
    ),
    *(
        case(f"{command} is at work, {after}, and its curves", [*former, (command, None)], "curves", "working")
        for command in ("launch", "script")
        for after, former in (("the first", []), ("after one that was done", [FIRST]))
    ),
    case("no training runs, and none was looked at", [("scan", None)], "curves", "later"),
    *(case(f"a project with {code}", [FIRST], "migration", "next", code=code + "\n") for code in CUDA),
    *(
        case(f"{command} failed after a training that was done", [FIRST, (command, Ended(code=1))], "launch", "next")
        for command in OTHERS[:6]
    ),
    case("nothing was started", [], "launch", "next"),
    case("a first training was stopped", [("launch", Ended(code=0, reason="stopped"))], "launch", "stopped"),
    case("only a rehearsal was done", [("rehearse", DONE)], "launch", "next"),
    case("a scan has findings", [FIRST, ("scan", Ended(code=3, reason="no"))], "migration", "next"),
    case(
        "a migration was not proved",
        [FIRST, ("compare", Ended(code=3, reason="no")), ("compare", None)],
        "precision",
        "working",
    ),
)

# A problem that was solved, or none: the newest run of each kind is done.
HEALTHY = (
    *(
        case(
            _healthy_name(command, count, is_compared=is_compared, is_proved=is_proved, had_failed=had_failed),
            [
                *([(command, Ended(code=1))] if had_failed else []),
                *([(command, DONE)] * count),
                *([("compare", ANSWERS["no"]), ("compare", DONE)] if is_compared else []),
                *([("certify", ANSWERS["no"]), ("certify", DONE)] if is_proved else []),
            ],
            "launch",
            "next",
            success=True,
        )
        for command in ("launch", "script")
        for count in (1, 2, 3, 4)
        for is_compared in (False, True)
        for is_proved in (False, True)
        for had_failed in (False, True)
    ),
    *(case(f"a project with {code}", [FIRST], "migration", "open", code=code + "\n", success=True) for code in NPU),
    *(
        case(f"{command} was done after a training", [FIRST, (command, DONE)], "launch", "next", success=True)
        for command in ("check-first", "shapes", "preview", "rehearse")
    ),
    case("compared and equal", [FIRST, ("compare", DONE)], "precision", "done", success=True),
    case("a training was looked at, and none runs", [FIRST], "curves", "done", success=True),
    case("proved", [FIRST, ("certify", DONE)], "migration", "done", success=True),
)

CASES = (*FAULTS, *HEALTHY)
