"""Environment, interpreters, trust and the state of the code: all without running what is looked at."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from studio import environment, interpreters
from studio.code.record import keep_code_state
from studio.code.state import read_commit
from studio.security import trust

if TYPE_CHECKING:
    from pathlib import Path


def git(folder: Path, *words: str) -> None:
    line = ["git", "-c", "user.name=n", "-c", "user.email=e@e", "-C", str(folder), *words]
    subprocess.run(line, check=True, capture_output=True)


def test_that_canns_set_env_is_sourced_into_the_child(tmp_path: Path) -> None:
    toolkit = tmp_path / "昇腾 toolkit" / "latest"
    toolkit.mkdir(parents=True)
    script = toolkit.parent / "set_env.sh"
    script.write_text("echo noise; export LD_LIBRARY_PATH=/opt/cann/lib:$LD_LIBRARY_PATH MULTI=$'a\\nb'\n")
    env = environment.with_cann(
        {"ASCEND_TOOLKIT_HOME": str(toolkit), "PATH": os.environ["PATH"], "LD_LIBRARY_PATH": "/x"}
    )
    assert (env["LD_LIBRARY_PATH"], env["MULTI"]) == ("/opt/cann/lib:/x", "a\nb")


def test_that_a_set_env_that_fails_or_hangs_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    before = {"ASCEND_TOOLKIT_HOME": str(tmp_path / "latest"), "PATH": os.environ["PATH"]}
    for script in ("exit 3", "sleep 100"):
        (tmp_path / "set_env.sh").write_text(script)
        assert environment.with_cann(before, seconds=0.5) == before


@pytest.mark.parametrize(
    ("name", "secret"),
    [("HF_TOKEN", True), ("AWS_SECRET_ACCESS_KEY", True), ("password", True), ("TOKENIZERS_PARALLELISM", False),
     ("HCCL_BUFFSIZE", False), ("PWD", False), ("AUTHOR", False)],
)  # fmt: skip
def test_that_names_of_secrets_are_recognised(name: str, secret: bool) -> None:
    assert environment.is_secret(name) is secret


def test_that_an_interpreter_is_read_without_running_it(tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\ntouch ran\n")
    (tmp_path / "venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.10.4\n")
    for name in ("torch_npu-2.13.0.dist-info", "numpy-1.26.4.dist-info"):
        (tmp_path / "venv" / "lib" / "python3.10" / "site-packages" / name).mkdir(parents=True)
    found = interpreters.read(python)
    assert (found.version, found.packages) == ("3.10.4", {"numpy": "1.26.4", "torch-npu": "2.13.0"})
    assert not (tmp_path / "ran").exists()


def test_that_the_embedded_interpreter_shows_its_numpy() -> None:
    found = interpreters.read(interpreters.embedded())
    assert found.version.startswith(f"{sys.version_info[0]}.{sys.version_info[1]}")
    assert found.packages["numpy"].startswith("1.")


def test_that_a_project_is_restricted_until_it_is_trusted_and_lends_its_trust_to_no_link(
    tmp_path: Path,
) -> None:
    project, other = tmp_path / "project", tmp_path / "other"
    project.mkdir()
    other.mkdir()
    assert not trust.is_trusted(project)
    trust.set_trust(project, trusted=True)
    assert trust.is_trusted(project)
    assert not trust.is_trusted(other)
    (other / "link").symlink_to(project)
    assert trust.is_trusted(other / "link")
    trust.set_trust(project, trusted=False)
    assert not trust.is_trusted(project)


def test_that_a_damaged_trust_file_trusts_nobody(tmp_path: Path, homes: Path) -> None:
    trust.set_trust(tmp_path, trusted=True)
    (homes / "config" / "ascend-studio" / "trust.json").write_text('{"trusted": 7')
    assert not trust.is_trusted(tmp_path)


def test_that_a_run_keeps_the_commit_and_the_patch_but_no_secrets_and_nothing_large(tmp_path: Path) -> None:
    code, run = tmp_path / "代码 of mine", tmp_path / "run"
    code.mkdir()
    run.mkdir()
    git(code, "init", "-q")
    for name in ("train.py", ".env.local", "api_token.txt", "big.txt"):
        (code / name).write_text("before\n")
    git(code, "add", "-A", "-f")
    git(code, "commit", "-qm", "first")
    for name in ("train.py", ".env.local", "api_token.txt"):
        (code / name).write_text("after\n")
    (code / "big.txt").write_text("x" * 2_000_000)
    keep_code_state(run, code, interpreters.embedded())
    patch = (run / "code.patch").read_text()
    assert "+after" in patch
    assert "train.py" in patch
    assert not [name for name in (".env", "token", "big") if name in patch]
    assert len(read_commit(code)) == 40
    assert '"mindspore"' in (run / "code.json").read_text() or sys.version_info >= (3, 13)


def test_that_keeping_the_code_runs_nothing_that_a_repository_asks_for(tmp_path: Path) -> None:
    code, run = tmp_path / "code", tmp_path / "run"
    code.mkdir()
    run.mkdir()
    git(code, "init", "-q")
    (code / "a.txt").write_text("before\n")
    git(code, "add", "-A")
    git(code, "commit", "-qm", "first")
    (code / "a.txt").write_text("after\n")
    (code / ".gitattributes").write_text("*.txt diff=evil filter=evil\n")
    for key in (
        "diff.evil.command",
        "diff.evil.textconv",
        "diff.external",
        "core.fsmonitor",
        "filter.evil.clean",
    ):
        git(code, "config", key, f"touch {tmp_path}/ran-{key}; cat")
    keep_code_state(run, code, interpreters.embedded())
    assert not sorted(path.name for path in tmp_path.glob("ran-*"))
