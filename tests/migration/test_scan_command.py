"""`ascend-studio scan` as a shell runs it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from backends.migration.scan.baseline import read_findings
from backends.migration.scan.spec import ScanSpec
from backends.migration.scan.suppressions import suppress_findings
from studio import run as runs
from studio import schema, worker
from studio.paths import MAIN
from tests.runs import wait_for

PROMISED = {"kind", "path", "line", "end", "category", "rule", "state", "effort", "text"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "my project"
    folder.mkdir()
    (folder / "train.py").write_text(
        'import torch\nx = torch.zeros(1, device="cuda")\nif x.device.type == "cuda":\n    x = x * 2\n',
        encoding="utf-8",
    )
    return folder


def command(*words: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-I", str(MAIN), "--no-project", "--language", "en", "scan", *words]
    return subprocess.run(line, capture_output=True, text=True, timeout=300, check=False, cwd="/")


def answer(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    return dict(json.loads(done.stdout.splitlines()[-1]))


def test_that_findings_are_written_and_summed_up(project: Path, tmp_path: Path) -> None:
    done = command(str(project), "--out", str(tmp_path / "findings.json"), "--json")
    assert done.returncode == 0, done.stderr
    findings = json.loads((tmp_path / "findings.json").read_bytes())
    assert {(each["path"], each["line"], each["state"]) for each in findings if each["kind"] == "place"} == {
        ("train.py", 2, "auto"), ("train.py", 3, "edit"),
    }  # fmt: skip
    assert all(each.keys() >= PROMISED for each in findings)
    answered = answer(done)
    assert answered["places"] == {"auto": 1, "edit": 1, "manual": 0, "none": 0, "unverified": 0}
    assert json.loads(Path(answered["findings"]).read_bytes()) == findings
    assert "1 of 2 findings need nothing, 1 edit is ready" in done.stderr


@pytest.mark.parametrize(
    ("name", "begin"),
    [("r.html", b"<!DOCTYPE html>"), ("r.csv", b"\xef\xbb\xbfkind,"), ("r.sarif", b"{"), ("r.txt", b"[")],
)
def test_that_the_ending_decides_the_format(project: Path, tmp_path: Path, name: str, begin: bytes) -> None:
    assert command(str(project), "--out", str(tmp_path / name)).returncode == 0
    assert (tmp_path / name).read_bytes().startswith(begin)


def test_that_a_format_and_a_language_can_be_asked_for(project: Path, tmp_path: Path) -> None:
    options = ("--out", str(tmp_path / "r"), "--format", "html", "--report-language", "zh")
    assert command(str(project), *options).returncode == 0
    assert '<html lang="zh">' in (tmp_path / "r").read_text(encoding="utf-8")


@pytest.mark.parametrize(("state", "code"), [("edit", 3), ("manual", 0), ("none", 0), ("never", 0)])
def test_that_a_state_can_be_refused(project: Path, state: str, code: int) -> None:
    assert command(str(project), "--fail-on", state).returncode == code


def test_that_only_what_is_new_since_the_baseline_is_refused(project: Path, tmp_path: Path) -> None:
    first = str(tmp_path / "first.json")
    assert command(str(project), "--out", first).returncode == 0
    same = command(str(project), "--baseline", first, "--fail-on", "edit", "--json")
    assert same.returncode == 0
    assert answer(same)["since"]["new"] == 0
    with (project / "train.py").open("a", encoding="utf-8") as file:
        file.write('if str(x.device) == "cuda":\n    pass\n')
    more = command(str(project), "--baseline", first, "--fail-on", "edit", "--json")
    assert more.returncode == 3
    assert answer(more)["since"]["new"] >= 1


def test_that_what_was_suppressed_is_not_refused(project: Path, tmp_path: Path) -> None:
    from backends.migration.scan.fingerprint import fingerprints

    out = tmp_path / "f.json"
    assert command(str(project), "--out", str(out), "--fail-on", "edit").returncode == 3
    suppress_findings(project, fingerprints(read_findings(out)), "known", in_project=True)
    done = command(str(project), "--fail-on", "edit", "--json")
    assert done.returncode == 0
    assert sum(answer(done)["places"].values()) == 0


@pytest.mark.parametrize(
    "words",
    [
        (), ("/nowhere",), (sys.executable,), ("/", "--fail-on", "sometimes"), ("/", "--out", "/nowhere/f.json"),
        ("/", "--out", "/"), ("/", "--baseline", "/nowhere"), ("/", "--torch-version", "new"), ("/", "--jobs", "0"),
        ("/", "--interpreter", "/nowhere/python"),
    ],
)  # fmt: skip
def test_that_wrong_use_ends_with_2_and_a_sentence(words: tuple[str, ...]) -> None:
    done = command(*words)
    assert done.returncode == 2
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_that_a_baseline_that_is_none_fails_with_a_sentence(project: Path, tmp_path: Path) -> None:
    (tmp_path / "b.json").write_text("{}", encoding="utf-8")
    done = command(str(project), "--baseline", str(tmp_path / "b.json"))
    assert done.returncode == 1
    assert "is not the findings.json of a scan" in done.stderr


def test_that_a_project_with_a_hostile_name_is_scanned(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9 \n'; rm"))
    folder.mkdir()
    (folder / "a.py").write_text('import torch\ntorch.device("cuda")\n', encoding="utf-8")
    done = command("../" * 20 + str(folder.parent).lstrip("/"), "--json")
    assert done.returncode == 0
    assert answer(done)["places"]["auto"] == 1


def test_that_a_stop_ends_it_at_once_and_writes_no_report(tmp_path: Path) -> None:
    folder = tmp_path / "large"
    folder.mkdir()
    line = 'x = torch.zeros(1, device="cuda")\n'
    for number in range(40):
        (folder / f"m{number}.py").write_text("import torch\n" + line * 4000, encoding="utf-8")
    spec = schema.with_value(schema.with_value(ScanSpec(), "path", folder), "out", tmp_path / "f.json")
    run = runs.create(tmp_path / "runs", "scan", schema.to_json(spec))
    pid = worker.start(run)
    wait_for(lambda: runs.glance(run).progress is not None)
    os.kill(pid, signal.SIGTERM)
    wait_for(lambda: runs.glance(run).state == "ended")
    worker.reap_started()
    assert (runs.glance(run).reason, runs.glance(run).code) == ("stopped", 143)
    assert not (tmp_path / "f.json").exists()
    assert not list((run.folder / "artifacts").iterdir())
