"""What names CUDA in the result and did not run, and the state of the folders that a certificate is about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from backends.migration.certify.file_edits import compare_files
from backends.migration.certify.folder_digest import changed_file, digest_folder
from backends.migration.certify.leftovers import find_leftovers, unrun_edits
from backends.migration.certify.line_map import edited_lines, migrated_line
from backends.migration.migrate.result_findings import settle_findings
from backends.migration.scan.project_scan import scan_project
from tests.migration.plans import FACTS, project

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import torch\nimport torch.distributed as dist\n"


def fates(folder: Path, text: str, ran: set[int], **files: str) -> dict[str, str]:
    top = project(folder, train__py=HEAD + text, **files)
    findings = settle_findings(top, scan_project(top, FACTS), "minimal")
    found = find_leftovers(top, findings, {"train.py": {1, 2} | {line + 2 for line in ran}}, ("python", "train.py"))
    return {f"{one.path}:{one.line - 2 * (one.path == 'train.py')}": one.fate for one in found}


@pytest.mark.parametrize(
    ("text", "ran", "fate"),
    [
        ("if old:\n    dist.init_process_group('nccl')\n", {1}, "reachable"),
        ("if old:\n    dist.init_process_group('nccl')\n", {1, 2}, "ran"),
        ("def f(x):\n    return x.cuda()\n", {1}, "reachable"),
        ("b = 0\nb = 'nccl' if old else 'gloo'\ndist.init_process_group(b)\n", {1, 2, 3}, "reachable"),
        ("x = 1\nif torch.cuda.is_available():\n    x = y.cuda()\n", {1, 2}, "unreachable"),
        ("x = 1\nif torch.cuda.is_available() and old:\n    x = y.cuda()\n", {1, 2}, "unreachable"),
        ("x = 1\nif torch.cuda.is_available() or old:\n    x = y.cuda()\n", {1, 2}, "reachable"),
        ("x = 1\nif False:\n    x = y.cuda()\n", {1, 2}, "unreachable"),
        ("def f():\n    return 1\n    y.cuda()\n", {1}, "unreachable"),
        ("u = old and torch.cuda.is_available()\nif u:\n    x = y.cuda()\n", {1, 2}, "unreachable"),
        ("d = 'npu' if hasattr(torch, 'npu') and npu.is_available() else 'cuda' if a else 'cpu'\n", {1}, "unreachable"),
        ("if find_spec('torch_npu') is not None:\n    d = 'npu'\nelse:\n    d = 'cuda'\n", {1, 2}, "unreachable"),
        ("if find_spec('torch_npu') is None:\n    x = y.cuda()\n", {1}, "unreachable"),
        ("if hasattr(torch, 'npu') and old:\n    d = 1\nelse:\n    x = y.cuda()\n", {1, 2}, "reachable"),
        ("u = old\nif u:\n    x = y.cuda()\n", {1, 2}, "reachable"),
        ("def f(d):\n    if d.type == 'cuda':\n        torch.cuda.synchronize()\n", {1}, "unreachable"),
        ("def f(d):\n    if d.type != 'cuda':\n        torch.cuda.synchronize()\n", {1}, "reachable"),
    ],
)  # fmt: skip
def test_that_what_did_not_run_has_to_be_out_of_reach(tmp_path: Path, text: str, ran: set[int], fate: str) -> None:
    found = fates(tmp_path, text, ran)
    last = max(found, key=lambda place: int(place.partition(":")[2]))
    assert found[last] == fate, found


def test_that_a_choice_of_the_cpu_in_place_of_an_npu_is_no_harmless_guard(tmp_path: Path) -> None:
    text = "def f():\n    return torch.device('cuda' if torch.cuda.is_available() else 'cpu')\n"
    assert set(fates(tmp_path, text, {1}).values()) == {"reachable"}


def test_that_files_that_the_command_does_not_load_take_nothing_away_unless_they_are_imported(tmp_path: Path) -> None:
    other = "import torch\ndef f(x):\n    return x.cuda()\n"
    assert fates(tmp_path / "a", "x = 1\n", {1}, other__py=other) == {"other.py:3": "unloaded"}
    text = "def g():\n    import other\n"
    assert fates(tmp_path / "b", text, {1}, other__py=other) == {"other.py:3": "reachable"}


def test_that_a_configuration_counts_where_the_code_names_it(tmp_path: Path) -> None:
    conf = "device: cuda\n"
    assert fates(tmp_path / "a", "x = 1\n", {1}, conf__yaml=conf) == {"conf.yaml:1": "unloaded"}
    assert fates(tmp_path / "b", "x = open('conf.yaml')\n", {1}, conf__yaml=conf) == {"conf.yaml:1": "reachable"}


def test_that_edits_that_did_not_run_are_listed_by_line(tmp_path: Path) -> None:
    before = project(tmp_path / "a", train__py="a = 1\nif a:\n    b = x.cuda()\nelse:\n    b = y.cuda()\n")
    after = project(tmp_path / "b", train__py="import z\na = 1\nif a:\n    b = x.npu()\nelse:\n    b = y.npu()\n")
    edited = edited_lines(before, after, compare_files(before, after))
    assert edited == {"train.py": {1, 4, 6}}
    assert unrun_edits(after, edited, {"train.py": {1, 2, 3, 4}}) == {"train.py": [6]}
    assert migrated_line(before, after, "train.py", 5) == ("train.py", 6)
    assert migrated_line(before, after, "train.py", 2) == ("train.py", 3)


def test_that_a_folder_is_stale_when_a_file_of_it_changes_and_not_when_a_training_writes(tmp_path: Path) -> None:
    top = project(tmp_path / "a", train__py="a = 1\n", conf__yaml="lr: 1\n")
    digest = digest_folder(top)
    assert changed_file(digest) == ""
    (top / "checkpoint.pt").write_bytes(b"1")
    (top / "__pycache__").mkdir()
    assert changed_file(digest) == ""
    os.utime(top / "train.py", (1, 1))
    assert changed_file(digest) == ""
    (top / "train.py").write_text("a = 2\n")
    assert changed_file(digest) == "train.py"
    (top / "train.py").write_text("a = 1\n")
    (top / "helper.py").write_text("")
    assert changed_file(digest) == "helper.py"
    (top / "helper.py").unlink()
    (top / "conf.yaml").unlink()
    assert changed_file(digest) == "conf.yaml"


def test_that_a_folder_that_is_gone_is_stale(tmp_path: Path) -> None:
    digest = digest_folder(project(tmp_path / "a", train__py="a = 1\n"))
    (tmp_path / "a").rename(tmp_path / "b")
    assert changed_file(digest) == str(tmp_path / "a")
    assert digest_folder(tmp_path / "b").digest == digest.digest
