"""Migrate and certify other people's projects in both styles: nanoGPT and the trainings of pytorch/examples.

Projects, data and requirements are those of `prove scripts`. Each folder is copied, migrated with `migrate` and proven
with `certify`, using the command line of a host with CUDA. An original that names CUDA must be refused as its own
migration; one that asks torch for its accelerator names none and passes unchanged. The result of the explicit style is
also certified as its own original: it still runs on a GPU.
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

from tests.prove.scripts import FOLDER, NOT_THERE, ONLY, SECONDS, SITE
from tests.prove.support import projects_data
from tests.prove.support.projects import PROJECTS, Project

if TYPE_CHECKING:
    from collections.abc import Iterator

STYLES = ("minimal", "explicit")
# Two processes train the same weights without a lock, so no two runs are equal, migrated or not.
EXCLUDED = ("mnist_hogwild, 2 processes",)
# With this command line it asks torch for its accelerator; it names CUDA only on paths that are not taken.
ANY_ACCELERATOR = "imagenet --dummy"
SPAWN_OPTIONS = " --multiprocessing-distributed --world-size 1 --rank 0 --dist-url tcp://127.0.0.1:29871"
# An LSTM on images, in addition to the one on words.
RECURRENT = Project(
    name="mnist_rnn", folder="examples/mnist_rnn",
    cuda="python main.py --batch-size 8 --epochs 1 --log-interval 1 --accel",
)  # fmt: skip
# CUDA named in code, not in comments.
NAMES_CUDA = re.compile(r"^[^#]*(torch\.cuda\.(?!manual_seed)|[\"'](?:cuda|nccl)\b|\.cuda\()", re.MULTILINE)


def prove() -> dict[str, Any]:
    projects = Path(os.environ.get(FOLDER, "")).absolute()
    if not os.environ.get(FOLDER) or not all((projects / name).is_dir() for name in ("examples", "nanoGPT")):
        print(NOT_THERE, file=sys.stderr)
        return {"passed": False, "error": "no projects"}
    chosen = [candidate for candidate in candidates() if re.search(os.environ.get(ONLY, ""), candidate.name)]
    table = [try_project(project, projects) for project in chosen]
    print(format_table(table), file=sys.stderr)
    return {"passed": bool(table) and not any(row["wrong"] for row in table), "projects": table}


def candidates() -> Iterator[Project]:
    """Yield the projects of `prove scripts` and one more; imagenet also with a process per device, which names CUDA."""
    for project in PROJECTS:
        if project.name not in EXCLUDED:
            yield project
        if project.name == ANY_ACCELERATOR:
            yield replace(project, name=f"{project.name}, spawned", cuda=project.cuda + SPAWN_OPTIONS)
    yield RECURRENT


def try_project(project: Project, projects: Path) -> dict[str, Any]:
    """Return a row of the table; `wrong` lists the expectations that failed."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        row = Trial(project, projects, Path(name)).row()
    row["seconds"] = round(time.monotonic() - begun, 1)
    print(json.dumps(row, ensure_ascii=False), file=sys.stderr, flush=True)
    return row


class Trial:
    """One project, migrated in both styles and certified."""

    def __init__(self, project: Project, projects: Path, folder: Path) -> None:
        self.project = project
        self._folder = folder
        self._wrong: list[str] = []
        self._original = self._copy(projects)

    def row(self) -> dict[str, Any]:
        names_cuda = self._names_cuda()
        unmigrated = self._certify(self._original, self._original)
        self._expect(
            unmigrated["granted"] is not names_cuda, f"unmigrated: {verdict_text(unmigrated)}: {failures(unmigrated)}"
        )
        row = {"project": self.project.name, "names_cuda": names_cuda, "unmigrated": verdict_text(unmigrated)}
        for style in STYLES:
            migrated = self._folder / style / self._original.name
            self._migrate(style, migrated)
            certificate = self._certify(self._original, migrated)
            self._expect(certificate["granted"], f"{style}: {verdict_text(certificate)}: {failures(certificate)}")
            row[style] = verdict_text(certificate)
            row[f"{style}_edits"] = sum(edit["added"] + edit["removed"] for edit in certificate["edits"])
            row["losses"], row["operators"] = len(certificate["losses"]), count_kinds(certificate)
        shared = self._original.parent / "data"
        if shared.exists():
            (migrated.parent / "data").symlink_to(shared)
        on_gpu = self._certify(migrated, migrated)
        self._expect(on_gpu["granted"], f"explicit, on a GPU: {verdict_text(on_gpu)}: {failures(on_gpu)}")
        return row | {"explicit_on_gpu": verdict_text(on_gpu), "wrong": self._wrong}

    def _expect(self, right: bool, what: str) -> None:
        if not right:
            self._wrong.append(what)

    def _copy(self, projects: Path) -> Path:
        """Copy the project into a folder of its own, with data in it or next to it."""
        folder = self._folder / "original" / Path(self.project.folder).name
        shutil.copytree(projects / self.project.folder, folder, ignore=shutil.ignore_patterns(".git", "*.bin", "*.pkl"))
        if self.project.folder == "nanoGPT":
            projects_data.characters(folder / "data" / "tiny")
        else:
            projects_data.mnist(folder.parent / "data")
            projects_data.mnist(folder / "data")
            projects_data.words(folder / "data" / "wikitext-2")
        for old, new in self.project.seeds:
            script = folder / self.project.file
            script.write_text(script.read_text("utf-8").replace(old, new), "utf-8")
        return folder

    def _names_cuda(self) -> bool:
        """Tell whether the script that is run names CUDA; other scripts of the folder may."""
        if self.project.name == ANY_ACCELERATOR:
            return False
        scripts = [word for word in shlex.split(self.project.cuda) if word.endswith(".py")]
        return any(NAMES_CUDA.search((self._original / script).read_text("utf-8")) for script in scripts)

    def _migrate(self, style: str, out: Path) -> None:
        done = self._studio("migrate", str(self._original), "--style", style, "--out", str(out), "--json")
        self._expect(done.returncode == 0, f"migrate {style}: {done.returncode}: {done.stderr[-500:]}")

    def _certify(self, original: Path, migrated: Path) -> dict[str, Any]:
        """Return the answer of `certify`, or a refusal where it gave none."""
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


def verdict_text(certificate: dict[str, Any]) -> str:
    """Return "granted 9/10", or the checks that failed."""
    checks = certificate["checks"]
    failed = [check["name"] for check in checks if check["state"] == "fail"]
    passed = f"{sum(one['state'] == 'pass' for one in checks)}/{len(checks)}"
    return f"granted {passed}" if certificate["granted"] else f"refused {passed}: {', '.join(failed)}"


def failures(certificate: dict[str, Any]) -> list[Any]:
    return [(check["name"], check["reason"]["args"], check["path"], check["line"]) for check in certificate["checks"]
            if check["state"] != "pass" and check["name"] not in ("npu", "operators")]  # fmt: skip


def count_kinds(certificate: dict[str, Any]) -> dict[str, int]:
    return dict(Counter(operator["kind"] for operator in certificate["operators"]))


def format_table(table: list[dict[str, Any]]) -> str:
    head = ("project", "names_cuda", "unmigrated", *STYLES, "explicit_on_gpu", "losses")
    rows = [head, *(tuple(str(row.get(name, "")) for name in head) for row in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
