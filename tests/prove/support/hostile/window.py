"""The window on a hostile project: every page and tab, every run, every file that can be dropped on it."""

from __future__ import annotations

import json
import shutil
import sys
import time
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from backends import features
from tests.prove.support.hostile import data_files, projects, run_folders
from tests.prove.support.hostile.run_folders import event, request, run_folder, write
from tests.prove.support.hostile.trial import Outcome, Place, Trap, outcome_of, run_studio, snapshot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROJECT_KINDS = ("modules of our names", "environments", "build files", "links to code", "git: filter")
PAGES = ("home", "migration", "launch", "curves", "precision", "timeline", "help")
SECONDS = 240.0
SCRIPT = """
import json, sys, time
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QTabBar
from ui.app import open_window

project, opened = Path(sys.argv[1]), [Path(path) for path in json.loads(sys.argv[2])]
app, shell = open_window(project)
end = time.monotonic() + float(sys.argv[3])

def tabs(page):
    for bar in page.findChildren(QTabBar):
        for tab in range(bar.count()):
            bar.setCurrentIndex(tab)
            yield

def pages():
    for id in list(shell.page_ids):
        shell.show_page(id)
        yield
        yield from tabs(shell.page_widget(id))

def steps():
    while not shell.page:
        yield
    yield from pages()
    for run, glance in list(shell.session.listed):
        shell.session.refresh_runs()
        for show in (shell.session.watch_run, shell.session.open_run):
            show(run)
            yield
            yield
        yield from tabs(shell.stack.currentWidget())
    for path in opened:
        shell.open_path(path)
        for _ in range(6):
            yield
        yield from tabs(shell.stack.currentWidget())
    for _ in range(3):
        shell.session.refresh_runs()
        yield
    shell.switch_language()
    yield from pages()
    shell.open_palette()
    yield

walk = steps()

def step():
    if time.monotonic() > end or next(walk, app) is app:
        print("visited", len(shell._pages), "pages,", len(shell.session.listed), "runs", flush=True)
        timer.stop()
        shell.close()
        app.quit()

timer = QTimer()
timer.timeout.connect(step)
timer.start(60)
app.exec()
"""


def build_project(place: Place) -> dict[str, str]:
    """Fill a project with every trick and every run; return the materials by a word that stands in what they leave."""
    (place.hostile / "train.py").write_text(projects.CODE, encoding="utf-8")
    for kind in PROJECT_KINDS:
        projects.KINDS[kind](place)
    materials = {}
    for number, (kind, make) in enumerate(run_folders.FOREIGN.items()):
        name = f"20260101-000000-{number:03}-script-beef"
        make(place, run_folder(place, name=name))
        materials[name] = f"run: {kind}"
    for number, command in enumerate(action.name for feature in features() for action in feature.actions):
        name = f"20260102-000000-{number:03}-{command}-beef"
        _ended_run(place, run_folder(place, name=name), command)
        materials[name] = f"run: ended {command}"
    return materials


def _ended_run(place: Place, folder: Path, command: str) -> None:
    """A run that says it ended well, whose artifacts lead out or hold what no work would write."""
    values = run_folders.line_values(command, place.shell(folder.name), place.hostile)
    write(folder / "run.json", request(command, values))
    now = time.time_ns()
    for name in ("scan.json", "undo.json", "deeper.json", "weights.json", "plan.json", "certificate.json"):
        write(folder / "artifacts" / name, {run_folders.ESCAPES: [run_folders.ESCAPES] * 3})
    (folder / "artifacts" / "comparison").symlink_to(place.outside / "folder")
    (folder / "artifacts" / "captures").symlink_to(place.outside / "folder")
    for kind in ("comparison", "profile", "dump", "report", "checkpoint", "plan", "scan"):
        event(folder, {"type": "artifact", "time": now, "kind": kind, "path": "../../../../outside/profile"})
    event(folder, {"type": "ended", "time": now, "code": 0, "reason": ""})


def build_files(place: Place) -> tuple[dict[str, str], list[Path]]:
    """Make one of each file that can be dropped on the window."""
    materials: dict[str, str] = {}
    paths: list[Path] = []
    for name in data_files.PICKLED:
        path = data_files.checkpoint(place.hostile / "weights" / name, place.python(name))
        materials[name], paths = f"weights: {name}", [*paths, path]
    for kind in data_files.DUMP_KINDS:
        target, _ = data_files.dump(place, kind)
        paths.append(target.rename(place.hostile / f"dump {kind}"))
        shutil.rmtree(place.hostile / "golden")
        materials[f"dump {kind}"] = f"dump: {kind}"
    for kind in data_files.PROFILE_KINDS:
        path = data_files.profile(place, kind)
        folder = path.parent.rename(place.hostile / f"profile {kind}")
        materials[folder.name], paths = f"profile: {kind}", [*paths, folder / path.name]
    run = run_folder(place)
    run_folders.dead_worker(place, run)
    materials[run.name], paths = "run: dead worker, opened by its path", [*paths, run, run / "run.json"]
    return materials, paths


def window_outcomes(root: Path, code: Path) -> Iterator[Outcome]:
    place = Place(root / "window-project")
    materials = build_project(place)
    pages = {f"window: {page}": "project with every trick" for page in PAGES}
    yield from _watched(place, code, materials, [], pages, "window: curves")
    place = Place(root / "window-files")
    materials, paths = build_files(place)
    yield from _watched(place, code, materials, paths, {"window: home": "folder with every file"}, "window: dropped")


def _watched(
    place: Place, code: Path, materials: dict[str, str], paths: list[Path], pages: dict[str, str], command: str
) -> Iterator[Outcome]:
    """Yield an outcome for each material; what none of them explains is told for each page."""
    place.hand_over()
    try:
        words = ("-c", SCRIPT, str(place.hostile), json.dumps([str(path) for path in paths]), str(SECONDS))
        trap = Trap(words=words, cwd=place.hostile, env={"QT_QPA_PLATFORM": "offscreen"}, seconds=SECONDS + 60)
        before = snapshot(place)
        output = run_studio(trap, place, code)
        whole = outcome_of(place, trap, code, before, b"")
    finally:
        place.close()
    if f"visited {len(PAGES)} pages".encode() not in output:
        raise AssertionError(output.decode("utf-8", "replace")[-3000:])
    print(output.decode("utf-8", "replace")[-200:].strip(), file=sys.stderr, flush=True)
    for word, material in materials.items():
        yield _part(whole, command, material, partial(_names, (word,)))
    for page, material in pages.items():
        yield _part(whole, page, material, lambda detail: not _names(tuple(materials), detail))


def _names(words: tuple[str, ...], detail: str) -> bool:
    return any(word in detail for word in words)


def _part(whole: Outcome, command: str, material: str, belongs: Callable[[str], bool]) -> Outcome:
    def those(details: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(detail for detail in details if belongs(detail))

    return replace(
        whole, command=command, material=material, executed=those(whole.executed), unpickled=those(whole.unpickled),
        signalled=those(whole.signalled), written=those(whole.written),
    )  # fmt: skip
