"""Other people's scripts, not a line of them changed: their curves, and a rehearsal as a host with CUDA.

The projects are no part of the repository; ASCEND_STUDIO_PROJECTS names a folder that has them,
ASCEND_STUDIO_PROJECTS_ONLY may name some by a pattern. They are copied, and get data that is made here. The log is not
read for curves, so that a loss that equals a printed one was captured.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio import run as runs
from studio.events import Metric
from studio.tail import RunTail
from tests.prove.support import projects_data
from tests.prove.support.projects import PROJECTS, Edits, Project
from tests.runs import wait_for, worker_log

if TYPE_CHECKING:
    from studio.run import Run

FOLDER, SITE = "ASCEND_STUDIO_PROJECTS", "ASCEND_STUDIO_PROJECTS_SITE"
ONLY = "ASCEND_STUDIO_PROJECTS_ONLY"
SECONDS = 900.0
NOT_THERE = f"""\
{FOLDER} names no folder with the projects. Clone github.com/pytorch/examples as examples/ and
github.com/karpathy/nanoGPT as nanoGPT/ into a folder and set {FOLDER} to it. torchvision and numpy 2 are needed
beside this environment's PyTorch: pip install --no-deps --target SITE torchvision numpy pillow, for the same build of
PyTorch, and set {SITE} to that folder."""

OPERATORS = """\
import torch.library
_library = torch.library.Library("torchvision", "DEF")
for _name in ("nms", "qnms"):
    _library.define(_name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""

Losses = dict[int, list[float | str]]


def prove() -> dict[str, Any]:
    projects = Path(os.environ.get(FOLDER, "")).absolute()
    if not os.environ.get(FOLDER) or not all((projects / name).is_dir() for name in ("examples", "nanoGPT")):
        print(NOT_THERE, file=sys.stderr)
        return {"passed": False, "error": "no projects"}
    only = os.environ.get(ONLY, "")
    with tempfile.TemporaryDirectory() as name:
        sites = prepare_sites(Path(name))
        table = [tried(project, projects, sites) for project in PROJECTS if re.search(only, project.name)]
    return {"passed": bool(table) and not any(row["wrong"] for row in table), "projects": table}


def prepare_sites(folder: Path) -> tuple[str, str]:
    """PYTHONPATH of launches and of rehearsals. PyPI's torchvision is built for CUDA and is not importable beside a
    PyTorch without; a rehearsal has it as it is, launches a copy that knows the names of the operators it misses."""
    site = os.environ.get(SITE, "")
    version = Path(site, "torchvision", "version.py")
    if not site or not version.exists() or "+cu" not in version.read_text():
        return site, site
    for path in Path(site).iterdir():
        if path.name != "torchvision":
            (folder / path.name).symlink_to(path)
    shutil.copytree(version.parent, folder / "torchvision")
    init = folder / "torchvision" / "__init__.py"
    init.write_text(OPERATORS + init.read_text("utf-8"), "utf-8")
    # Else a rehearsal's hooks, which a spawned child of a run on the CPU has too, define the operators once more.
    text = re.sub(r"\+cu\d+", "+cpu", version.read_text("utf-8"))
    (folder / "torchvision" / "version.py").write_text(text, "utf-8")
    return str(folder), site


def tried(project: Project, projects: Path, sites: tuple[str, str]) -> dict[str, Any]:
    """A row of the table; `wrong`: what was expected of it and is not so."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        row = Trial(project, projects, sites, Path(name)).row()
    row["seconds"] = round(time.monotonic() - begun, 1)
    print(json.dumps(row, ensure_ascii=False), file=sys.stderr, flush=True)
    return row


class Trial:
    def __init__(self, project: Project, projects: Path, sites: tuple[str, str], folder: Path) -> None:
        self.project = project
        self._projects = projects
        self._sites = sites
        self._folder = folder
        self._wrong: list[str] = []

    def row(self) -> dict[str, Any]:
        project = self.project
        launched = self._launched(project.cpu, "cpu", ()) if project.cpu else None
        report, rehearsed = self._rehearsed("cuda", ())
        seen = launched or rehearsed
        equal = self._bit_equal(launched, rehearsed)
        return {
            "project": project.name,
            "curves": self._curves(seen),
            "curves_of": "launch" if launched else "rehearsal",
            "points": max(map(len, losses_of(seen).values()), default=0),
            "losses_equal_printed": self._as_printed(launched, rehearsed),
            "rehearsal": {"steps": report.get("steps"), "processes": report.get("processes"),
                          "redirected": sum(report.get("redirected", {}).values())},
            "bit_equal": equal,
            "why": project.why,
            "wrong": self._wrong,
        }  # fmt: skip

    def _expect(self, right: bool, what: str) -> None:
        if not right:
            self._wrong.append(what)

    def _copy(self, name: str, edits: Edits) -> Path:
        """The project of its own, with data; where the line is started."""
        home = self._folder / name
        top = self.project.folder.split("/", maxsplit=1)[0]
        place = home / self.project.folder
        shutil.copytree(self._projects / self.project.folder, place, ignore=shutil.ignore_patterns("*.bin", "*.pkl"))
        if top == "nanoGPT":
            projects_data.characters(place / "data" / "tiny")
        else:
            projects_data.mnist(place.parent / "data")
            projects_data.mnist(place / "data")
            projects_data.words(place / "data" / "wikitext-2")
        script = place / self.project.file
        for old, new in edits:
            text = script.read_text("utf-8")
            self._expect(old in text, f"{script.name} has no {old!r}")
            script.write_text(text.replace(old, new), "utf-8")
        return place

    def _launched(self, line: str, name: str, edits: Edits) -> Run:
        place = self._copy(name, edits)
        words = ("launch", "--log-pattern", "off", "--grace", "10", *_env(self._sites[0]), "--detach", "--json")
        done = self._studio((*words, "--", *shlex.split(line)), place)
        self._expect(done.returncode == 0, f"launch: {done.stderr[-1000:]}")
        run = runs.open_run(Path(json.loads(done.stdout.splitlines()[-1])["run"]))
        if most := self.project.points:
            wait_for(lambda: _is_over(run) or _points(run) >= most, worker_log(run), SECONDS)
            self._studio(("stop", str(run.folder)), place)
        wait_for(lambda: _is_over(run), worker_log(run), SECONDS)
        code = runs.glance(run).code
        self._expect(code == 0 or bool(most), f"{line}: {code}: {_log(run)[-1000:]}")
        return run

    def _rehearsed(self, name: str, edits: Edits) -> tuple[dict[str, Any], Run]:
        place = self._copy(name, edits)
        chosen = ("--cards", str(self.project.cards), "--steps", str(self.project.steps), "--minutes", "10")
        words = ("rehearse", *chosen, *_env(self._sites[1]), "--json")
        done = self._studio((*words, "--", *shlex.split(self.project.cuda)), place)
        report = json.loads(done.stdout.splitlines()[-1])
        run = runs.open_run(Path(report["run"]))
        self._expect(done.returncode == 0, f"rehearsal: {done.returncode}: {done.stderr[-500:]} {_log(run)[-1000:]}")
        self._expect(report.get("steps") == self.project.steps, f"rehearsal: {report.get('steps')} steps")
        return report, run

    def _studio(self, words: tuple[str, ...], place: Path) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "XDG_STATE_HOME": str(self._folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"}
        env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
        command = (sys.executable, "-m", "studio", "--no-project", "--language", "en", *words)
        return subprocess.run(command, cwd=place, env=env, capture_output=True, text=True, timeout=SECONDS, check=False)

    def _curves(self, run: Run) -> list[str]:
        names = {name for _, metric in metrics_of(run) for name in metric.values}
        missing = set(self.project.metrics) - names
        self._expect(not missing, f"no curve of {', '.join(sorted(missing))}")
        return sorted(names)

    def _as_printed(self, *tried: Run | None) -> dict[str, int]:
        """How many printed losses equal the captured ones of the same process in the script's own format."""
        if not self.project.told:
            return {}
        found = {}
        for kind, run in zip(("launch", "rehearsal"), tried, strict=True):
            if run is not None:
                right, printed = self._same(run)
                self._expect(right == printed and printed > 0, f"{kind}: {right} of {printed} printed losses equal")
                found[kind] = right
        return found

    def _same(self, run: Run) -> tuple[int, int]:
        captured = losses_of(run)
        printed: dict[int, list[str]] = {}
        for match in re.finditer(self.project.told, _log(run), re.MULTILINE):
            *process, text = match.groups()
            printed.setdefault(int(process[0]) if process else 0, []).append(text)
        if 0 in printed:  # of the only process that prints: the first rank
            captured = {0: next(iter(captured.values()), [])}
        right = count = 0
        for pid, texts in printed.items():
            shown = self.project.shown([float(loss) for loss in captured.get(pid, [])])
            right += sum(one == other for one, other in zip(texts, shown, strict=False))
            count += min(len(texts), len(shown)) if self.project.points else len(texts)  # stopped: the last is lost
        return right, count

    def _bit_equal(self, launched: Run | None, rehearsed: Run) -> str:
        """Return the other side, "" where there is nothing to compare to, "no" where it is not so."""
        project = self.project
        if not project.equal:
            return ""
        one, other = rehearsed, launched
        if project.equal == "seeded":
            one = self._rehearsed("seeded", project.seeds)[1]
        if project.equal != "own":
            other = self._launched(project.cuda, "copy", (*project.seeds, *project.on_cpu))
        assert other is not None
        few, many = _first(one), _first(other)
        bits = [float(loss).hex() for loss in few[: project.steps]]
        is_equal = len(bits) == project.steps and bits == [float(loss).hex() for loss in many[: project.steps]]
        is_equal = is_equal and all(math.isfinite(float(loss)) for loss in few[: project.steps])
        self._expect(is_equal, f"not bit-equal: {few[: project.steps]} {many[: project.steps]}")
        return project.equal if is_equal else "no"


def _env(site: str) -> tuple[str, ...]:
    return ("--env", f"PYTHONPATH={site}") if site else ()


def _first(run: Run) -> list[float | str]:
    return next(iter(losses_of(run).values()), [])


def losses_of(run: Run) -> Losses:
    """Return the losses by process, those of the first ranks first, and of several optimizers in the order of
    their steps."""
    found: Losses = {}
    for pid, metric in metrics_of(run):
        for name in sorted(metric.values):
            if name.partition(".")[0] == "loss":
                found.setdefault(pid, []).append(metric.values[name])
    return found


def metrics_of(run: Run) -> list[tuple[int, Metric]]:
    found = []
    for path in sorted(run.folder.glob("events.*.jsonl"), key=lambda path: int(path.name.split(".")[2][1:])):
        for line in path.read_bytes().splitlines():
            event = json.loads(line)
            if event["type"] == "metric":
                metric = Metric(step=event["step"], values=event["values"])
                found.append((int(path.name.split(".")[3][1:]), metric))
    return found


def _points(run: Run) -> int:
    return sum(isinstance(event, Metric) for _, _, events in RunTail(run.folder).read(1 << 24) for event in events)


def _is_over(run: Run) -> bool:
    return runs.glance(run).state not in ("queued", "running")


def _log(run: Run) -> str:
    return run.log.read_text(errors="replace") if run.log.exists() else ""
