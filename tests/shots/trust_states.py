"""Trust in the pictures: whose code runs, who goes on with a run without a worker, who reads the runs."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QApplication

from backends.launch.own.spec import OwnSpec
from studio import processes, schema
from studio import run as runs
from studio.project import Project, make_runs_folder
from studio.security import ledger, trust
from tests.bench.stage import wait
from tests.ui.looks import settle

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from studio.run import Run
    from tests.shots.stage import Stage
    from ui.shell.window import Shell

NEVER = 1 << 22
"""A pid that no process has: of a worker that was killed."""
LINE = ("torchrun", "--nproc-per-node", "8", "pretrain.py", "--config", "config/llama_7b.yaml", "--lr", "3e-4")
TRAINING = """\
{"type":"progress","time":1763660000000000000,"done":0,"total":400,"phase":"train"}
{"type":"metric","time":1763660001000000000,"step":1,"values":{"loss":10.81}}
{"type":"metric","time":1763660002000000000,"step":2,"values":{"loss":9.42}}
{"type":"metric","time":1763660003000000000,"step":3,"values":{"loss":8.77}}
{"type":"progress","time":1763660003000000000,"done":3,"total":400,"phase":"train"}
"""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A project: whether it is trusted, whether its group writes in it and was allowed to read its runs."""

    name: str
    is_trusted: bool = False
    is_group_writing: bool = False
    is_shared: bool = False


RESTRICTED = Place(name="llama-from-colleague")
TRUSTED = Place(name="llama-on-npu", is_trusted=True)
ASKED = Place(name="lab-llama", is_group_writing=True)
SHARED = Place(name="lab-shared-llama", is_trusted=True, is_group_writing=True, is_shared=True)


def build(folder: Path) -> None:
    """Projects, each with a run that nobody began and one whose training goes on by itself."""
    for place in (RESTRICTED, TRUSTED, ASKED, SHARED):
        project = folder / place.name
        project.mkdir()
        (project / "pretrain.py").touch()
        project.chmod(0o775 if place.is_group_writing else 0o755)
        if place in (RESTRICTED, TRUSTED):
            _make_run(folder, project, "interrupted")
            _make_run(folder, project, "unattended")


def _make_run(folder: Path, project: Path, state: str) -> None:
    spec = schema.with_value(OwnSpec(), "line", LINE)
    spec = schema.with_value(schema.with_value(spec, "workdir", project), "python", sys.executable)
    run = runs.create(make_runs_folder(Project(folder=project)), "script", schema.to_json(spec), project)
    processes.write_mark(run.folder / "worker.json", NEVER)
    if state == "unattended":
        processes.write_mark(run.folder / "training.json", NEVER)
        (run.folder / "exit.a1").write_text("0\n", encoding="ascii")
        (run.folder / "events.a1.r0.p1.jsonl").write_text(TRAINING, encoding="utf-8")
    (folder / "names" / f"{project.name}-{state}").symlink_to(run.folder)


def _open(shell: Shell, stage: Stage, place: Place) -> None:
    if (popup := QApplication.activePopupWidget()) is not None:
        popup.close()
    while shell.strip.messages:
        shell.strip.close_message()
    folder = stage.folder / place.name
    trust.set_trust(folder, place.is_trusted)
    if place.is_shared:
        trust.set_sharing(folder, True)
    if shell.session.project is None or shell.session.project.folder != folder:
        shell.session.open_project(folder)


def _without_worker(place: Place, state: str, workers: int = 0) -> Callable[[Shell, Stage], None]:
    """`workers`: how many of them this user started for the run, as the ledger says; 0 for somebody else's run."""

    def show(shell: Shell, stage: Stage) -> None:
        run = stage.run(f"{place.name}-{state}")
        _keep_in_ledger(run, workers)
        _open(shell, stage, place)
        page = shell.page_widget("curves")
        shell.session.choose_run(run)
        wait(lambda: page.watcher is not None and page.watcher.is_loaded, 60)

    return show


def _keep_in_ledger(run: Run, workers: int) -> None:
    ledger.forget(run.folder)
    for _ in range(workers):
        ledger.record(run.folder, NEVER)


def _sheet(place: Place) -> Callable[[Shell, Stage], None]:
    def show(shell: Shell, stage: Stage) -> None:
        _open(shell, stage, place)
        shell.show_page("home")
        settle()  # the sheet opens below the chip, which has found its place by then
        shell.explain_trust()

    return show


def _question(shell: Shell, stage: Stage) -> None:
    _open(shell, stage, ASKED)
    shell.show_page("home")


def _help(shell: Shell, stage: Stage) -> None:
    _open(shell, stage, TRUSTED)
    shell.session.show_help("help.what_is_run")


STATES: tuple[tuple[str, Callable[[Shell, Stage], None]], ...] = (
    ("trust-sheet-restricted", _sheet(RESTRICTED)),
    ("trust-sheet-group", _sheet(ASKED)),
    ("trust-sheet-shared", _sheet(SHARED)),
    ("trust-sharing-question", _question),
    ("trust-start-foreign", _without_worker(TRUSTED, "interrupted")),
    ("trust-start-restricted", _without_worker(RESTRICTED, "interrupted", workers=1)),
    ("trust-start-again", _without_worker(TRUSTED, "interrupted", workers=ledger.MOST_WORKERS)),
    ("trust-take-over-foreign", _without_worker(TRUSTED, "unattended")),
    ("trust-take-over-restricted", _without_worker(RESTRICTED, "unattended", workers=1)),
    ("trust-help", _help),
)
