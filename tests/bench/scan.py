"""The migration scan: what it finds of what was labelled by hand, and what it costs.

ASCEND_STUDIO_PROJECTS names a folder with the labelled projects (nanoGPT, examples); ASCEND_STUDIO_LABELS one with
their labels, else `shared/data/migration/labels` beside this repository. The lines to scan are torch's own sources.
"""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from backends.migration.scan.facts.facts import facts_of_interpreter
from backends.migration.scan.project_scan import scan_project, survey_project
from studio import processes
from studio.paths import MAIN, ROOT
from tests.bench.figure import Figure

LABELLED = {"nanoGPT": "nanoGPT", "examples": "pytorch-examples"}
OFFICIAL_16K = 225.0  # s: pytorch_analyse.sh of msfmktransplt for the 16,400 lines of yolov5, measured once


def figures() -> list[Figure]:
    found = list(_label_figures())
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        lines = _fill(small, 16_000)
        found += _of_small(small, lines)
        lines = _fill(large, 500_000)
        found += _of_large(large, lines)
    return found


def _label_figures() -> list[Figure]:
    projects = Path(os.environ.get("ASCEND_STUDIO_PROJECTS", "/nowhere"))
    labels = Path(os.environ.get("ASCEND_STUDIO_LABELS", ROOT.parent / "shared" / "data" / "migration" / "labels"))
    figures = []
    for project, name in LABELLED.items():
        try:
            truth = json.loads((labels / f"{name}.json").read_bytes())
        except OSError:
            truth = None
        if truth is None or not (projects / project).is_dir():
            print(f"  {project}: no project or no labels; see ASCEND_STUDIO_PROJECTS", file=sys.stderr)
            continue
        missed, wrong, quiet = _score(projects / project, truth)
        items = len([one for one in truth["items"] if "cell" not in one])
        figures += [
            Figure(what=f"{project}: labelled places missed, of {items}", value=100 * missed, unit="%", bar=2),
            Figure(what=f"{project}: lines found that have no label", value=100 * wrong, unit="%", bar=3),
            Figure(what=f"{project}: found in comments, docstrings, messages", value=quiet, unit="lines", bar=0),
        ]
    return figures


def _score(project: Path, truth: dict[str, Any]) -> tuple[float, float, int]:
    """As shared/tools/score_scan.py does: places outside of notebooks, by line."""
    figures = {
        (one.path, one.line)
        for one in scan_project(project, facts_of_interpreter(None, None))
        if one.kind == "place" and one.cell is None
    }
    items = [_lines(one) for one in truth["items"] if "cell" not in one]
    all_labels = set().union(*items)
    silent = set().union(*map(_lines, truth["negatives"])) - all_labels
    return (
        sum(not (one & figures) for one in items) / len(items),
        len(figures - all_labels) / len(figures),
        len(figures & silent),
    )


def _lines(item: dict[str, Any]) -> set[tuple[str, int]]:
    return {(item["path"], line) for line in range(item["line"], max(item["end"], item["line"]) + 1)}


def _fill(folder: Path, wanted: int) -> int:
    """Copies torch's sources, by name, until there are so many lines; returns how many."""
    spec = find_spec("torch")
    assert spec is not None
    assert spec.origin is not None
    root, lines = Path(spec.origin).parent, 0
    for path in sorted(root.rglob("*.py")):
        data = path.read_bytes()
        if lines + data.count(b"\n") > wanted or data.count(b"\n") < 20:
            continue
        target = folder / path.relative_to(root)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        lines += data.count(b"\n")
    return lines


def _of_small(folder: Path, lines: int) -> list[Figure]:
    wall, _ = _run(folder)
    return [
        Figure(
            what=f"scan of {lines} lines, the whole command", value=wall, unit="s", bar=2,
            peer=_parse(folder), peer_name=f"ast.parse alone ({OFFICIAL_16K:g} s: official tool)",
        ),
        Figure(what="again after one file changed, as the window does", value=_again(folder), unit="s", bar=0.3),
    ]  # fmt: skip


def _of_large(folder: Path, lines: int) -> list[Figure]:
    wall, memory = _run(folder, "--jobs", "2")
    again = _again(folder)
    parse = _parse(folder)
    return [
        Figure(
            what=f"scan of {lines} lines, two processes", value=wall, unit="s", bar=45, peer=parse,
            peer_name="ast.parse alone",
        ),
        Figure(what="its memory, private of all its processes", value=memory, unit="MB", bar=400),
        Figure(what="again after one of its files changed", value=again, unit="s", bar=0.3),
    ]  # fmt: skip


def _parse(folder: Path) -> float:
    started = time.perf_counter()
    for path in folder.rglob("*.py"):
        with suppress(SyntaxError):
            ast.parse(path.read_bytes())
    return time.perf_counter() - started


def _again(folder: Path) -> float:
    """Seconds of a scan in this process, nothing but one file being new to it."""
    facts = facts_of_interpreter(None, None)
    survey_project(folder, facts)
    time.sleep(2.1)  # what changed just before a scan is read again in any case
    survey_project(folder, facts)
    changed = next(path for path in sorted(folder.rglob("*.py")) if b"cuda" in path.read_bytes())
    changed.write_bytes(changed.read_bytes() + b'\n_other = torch.device("cuda:1")\n')
    started = time.perf_counter()
    done = survey_project(folder, facts)
    seconds = time.perf_counter() - started
    assert done.rescanned == 1, done.rescanned
    return seconds


def _run(folder: Path, *words: str) -> tuple[float, float]:
    """Wall seconds of the command with an empty cache, and the most private memory in MB of what works for it."""
    with tempfile.TemporaryDirectory() as home:
        env = os.environ | {"XDG_CACHE_HOME": home, "XDG_STATE_HOME": home}
        line = [sys.executable, "-I", str(MAIN), "--no-project", "scan", str(folder), "--json", *words]
        started, peak = time.perf_counter(), 0.0
        with subprocess.Popen(line, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
            while child.poll() is None:
                peak = max(peak, sum(_private(process.pid) for process in processes.descendants([child.pid])))
                time.sleep(0.02)
        assert child.returncode == 0
        return time.perf_counter() - started, peak


def _private(pid: int) -> float:
    """Return the memory of a process that may be gone by now; what children share with their parent counts once."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:  # noqa: PTH123
            fields = dict(line.split(":", 1) for line in file.read().splitlines()[1:])
    except (OSError, ValueError):
        return 0.0
    return sum(int(fields[name].split()[0]) for name in ("Private_Dirty", "Private_Clean")) / 1000
