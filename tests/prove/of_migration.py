"""Other people's projects, migrated in both styles and certified: nanoGPT and what trains of pytorch/examples.

The projects, their data and what is needed beside PyTorch are those of `prove scripts`. Each folder is copied,
migrated with `migrate` and proven with `certify`, by the line of a host with CUDA. An original that names CUDA must be
refused where it stands for its own migration; one that asks torch for its accelerator names none, and passes as it is.
What was migrated in the explicit style is certified as its own original too: it still runs on a GPU.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.prove import projects_data
from tests.prove.of_scripts import FOLDER, NOT_THERE, ONLY, SECONDS, SITE
from tests.prove.projects import PROJECTS, Project

if TYPE_CHECKING:
    from collections.abc import Iterator

STYLES = ("minimal", "explicit")
# Two processes that train the same weights without a lock: no two runs of it are equal, migrated or not.
LEFT_OUT = ("mnist_hogwild, 2 processes",)
# By its plain line it asks torch for its accelerator, and names CUDA only where that line does not lead.
ASKS_FOR_ANY = "imagenet --dummy"
SPAWNS = " --multiprocessing-distributed --world-size 1 --rank 0 --dist-url tcp://127.0.0.1:29871"
# An LSTM on images, beside the one on words.
RECURRENT = Project(
    name="mnist_rnn", folder="examples/mnist_rnn",
    cuda="python main.py --batch-size 8 --epochs 1 --log-interval 1 --accel",
)  # fmt: skip
# In a host's own words, not in comments.
NAMES_CUDA = re.compile(r"^[^#]*(torch\.cuda\.(?!manual_seed)|[\"'](?:cuda|nccl)\b|\.cuda\()", re.MULTILINE)


def prove() -> dict[str, Any]:
    projects = Path(os.environ.get(FOLDER, "")).absolute()
    if not os.environ.get(FOLDER) or not all((projects / name).is_dir() for name in ("examples", "nanoGPT")):
        print(NOT_THERE, file=sys.stderr)
        return {"passed": False, "error": "no projects"}
    chosen = [one for one in candidates() if re.search(os.environ.get(ONLY, ""), one.name)]
    table = [tried(project, projects) for project in chosen]
    print(drawn(table), file=sys.stderr)
    return {"passed": bool(table) and not any(row["wrong"] for row in table), "projects": table}


def candidates() -> Iterator[Project]:
    """Those of `prove scripts`, and one more; imagenet also as it names CUDA: one process for each card."""
    for one in PROJECTS:
        if one.name not in LEFT_OUT:
            yield one
        if one.name == ASKS_FOR_ANY:
            yield replace(one, name=f"{one.name}, spawned", cuda=one.cuda + SPAWNS)
    yield RECURRENT


def tried(project: Project, projects: Path) -> dict[str, Any]:
    """A row of the table; `wrong`: what was expected of it and is not so."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        row = Trial(project, projects, Path(name)).row()
    row["seconds"] = round(time.monotonic() - begun, 1)
    print(json.dumps(row, ensure_ascii=False), file=sys.stderr, flush=True)
    return row


class Trial:
    def __init__(self, project: Project, projects: Path, folder: Path) -> None:
        self.project = project
        self._folder = folder
        self._wrong: list[str] = []
        self._original = self._copy(projects)

    def row(self) -> dict[str, Any]:
        names_cuda = self._names_cuda()
        alone = self._certified(self._original, self._original)
        self._expect(alone["granted"] is not names_cuda, f"unmigrated: {told(alone)}: {failures(alone)}")
        row = {"project": self.project.name, "names_cuda": names_cuda, "unmigrated": told(alone)}
        for style in STYLES:
            migrated = self._folder / style / self._original.name
            self._migrate(style, migrated)
            found = self._certified(self._original, migrated)
            self._expect(found["granted"], f"{style}: {told(found)}: {failures(found)}")
            row[style] = told(found)
            row[f"{style}_edits"] = sum(one["added"] + one["removed"] for one in found["edits"])
            row["losses"], row["operators"] = len(found["losses"]), kinds(found)
        shared = self._original.parent / "data"
        if shared.exists():
            (migrated.parent / "data").symlink_to(shared)
        both = self._certified(migrated, migrated)
        self._expect(both["granted"], f"explicit, on a GPU: {told(both)}: {failures(both)}")
        return row | {"explicit_on_gpu": told(both), "wrong": self._wrong}

    def _expect(self, right: bool, what: str) -> None:
        if not right:
            self._wrong.append(what)

    def _copy(self, projects: Path) -> Path:
        """The project's folder of its own, with data in it or beside it."""
        place = self._folder / "original" / Path(self.project.folder).name
        shutil.copytree(projects / self.project.folder, place, ignore=shutil.ignore_patterns(".git", "*.bin", "*.pkl"))
        if self.project.folder == "nanoGPT":
            projects_data.characters(place / "data" / "tiny")
        else:
            projects_data.mnist(place.parent / "data")
            projects_data.mnist(place / "data")
            projects_data.words(place / "data" / "wikitext-2")
        for old, new in self.project.seeds:
            script = place / self.project.file
            script.write_text(script.read_text("utf-8").replace(old, new), "utf-8")
        return place

    def _names_cuda(self) -> bool:
        """Whether the script that is run does: others of the folder may."""
        if self.project.name == ASKS_FOR_ANY:
            return False
        scripts = [word for word in shlex.split(self.project.cuda) if word.endswith(".py")]
        return any(NAMES_CUDA.search((self._original / script).read_text("utf-8")) for script in scripts)

    def _migrate(self, style: str, out: Path) -> None:
        done = self._studio("migrate", str(self._original), "--style", style, "--out", str(out), "--json")
        self._expect(done.returncode == 0, f"migrate {style}: {done.returncode}: {done.stderr[-500:]}")

    def _certified(self, original: Path, migrated: Path) -> dict[str, Any]:
        """What `certify` answers; nothing granted where it gave no answer."""
        words = ["certify", str(original), str(migrated), "--cards", str(self.project.cards), "--json"]
        words += ["--steps", str(self.project.steps)]
        words += ["--env", f"PYTHONPATH={os.environ[SITE]}"] if os.environ.get(SITE) else []
        line = shlex.split(self.project.cuda)
        done = self._studio(*words, "--", *line)
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1]) if done.stdout.strip() else {}
        if "granted" not in answer:
            self._wrong.append(f"certify: {done.returncode}: {done.stderr[-500:]}")
            return {"granted": False, "checks": [], "edits": [], "losses": [], "operators": []}
        self._expect(done.returncode == (0 if answer["granted"] else 3), f"certify ended with {done.returncode}")
        return answer

    def _studio(self, *words: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "XDG_STATE_HOME": str(self._folder / "state"), "PYTHONDONTWRITEBYTECODE": "1"}
        env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
        command = (sys.executable, "-m", "studio", "--no-project", "--language", "en", *words)
        return subprocess.run(
            command, cwd=self._folder, env=env, capture_output=True, text=True, timeout=SECONDS, check=False
        )


def told(found: dict[str, Any]) -> str:
    """ "granted 9/10"; of one that is refused the first check that failed."""
    checks = found["checks"]
    failed = [one["name"] for one in checks if one["state"] == "fail"]
    passed = f"{sum(one['state'] == 'pass' for one in checks)}/{len(checks)}"
    return f"granted {passed}" if found["granted"] else f"refused {passed}: {', '.join(failed)}"


def failures(found: dict[str, Any]) -> list[Any]:
    return [(one["name"], one["reason"]["args"], one["path"], one["line"]) for one in found["checks"]
            if one["state"] != "pass" and one["name"] not in ("npu", "operators")]  # fmt: skip


def kinds(found: dict[str, Any]) -> dict[str, int]:
    return dict(Counter(one["kind"] for one in found["operators"]))


def drawn(table: list[dict[str, Any]]) -> str:
    head = ("project", "names_cuda", "unmigrated", *STYLES, "explicit_on_gpu", "losses")
    rows = [head, *(tuple(str(row.get(name, "")) for name in head) for row in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
