"""What names CUDA in the result and did not run, and the state of the folders that a certificate is about."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from backends.migration.certify.file_edits import compare_files
from backends.migration.certify.folder_digest import changed_file, digest_folder
from backends.migration.certify.leftovers import Observed, find_leftovers, unrun_edits
from backends.migration.certify.line_map import edited_lines, migrated_line
from backends.migration.migrate.result_findings import settle_findings
from backends.migration.scan.project_scan import scan_project
from tests.migration.plans import FACTS, project

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "import torch\nimport torch.distributed as dist\n"


def fates(
    folder: Path, text: str, ran: set[int], seen: tuple[tuple[int, str], ...] = (), **files: str
) -> dict[str, str]:
    """`seen`: lines and names of calls that the rehearsal recorded."""
    top = project(folder, train__py=HEAD + text, **files)
    findings = settle_findings(top, scan_project(top, FACTS), "minimal")
    observed = Observed(
        lines={"train.py": {1, 2} | {line + 2 for line in ran}},
        calls={"train.py": {(line + 2, name) for line, name in seen}},
    )
    found = find_leftovers(top, findings, observed, ("python", "train.py"))
    return {f"{one.path}:{one.line - 2 * (one.path == 'train.py')}": one.fate for one in found}


@pytest.mark.parametrize(
    ("text", "ran", "fate"),
    [
        ("if old:\n    dist.init_process_group('nccl')\n", {1}, "reachable"),
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


GUARDED = "d = torch.device('npu')\ndef f():\n    if d.type == 'cuda'{}:\n        {}\n"


@pytest.mark.parametrize(
    ("text", "ran", "place", "fate"),
    [
        ("if old: x = torch.load(old, map_location='cuda:0')\n", {1}, 1, "reachable"),
        ("x = [e.cuda() for e in old]\n", {1}, 1, "reachable"),
        ("D = 'cuda'\ndef f(x):\n    return x.to(D)\n", {1, 2}, 1, "reachable"),
        ("class Options:\n    device: str = 'cuda'\n", {1, 2}, 2, "reachable"),
        ("def f(x, device='cuda'):\n    return x.to(device)\n", {1}, 1, "reachable"),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '1'\n", {1, 2}, 2, "reachable"),
        ("lr = 1e-2 * max(1, torch.cuda.device_count())\n", {1}, 1, "reachable"),
        ("if torch.cuda.device_count() > 1:\n    n = torch.nn.DataParallel(n)\n", {1}, 1, "reachable"),
        ("if torch.cuda.device_count() > 1:\n    n = torch.nn.DataParallel(n)\n", {1}, 2, "reachable"),
        ("u = torch.cuda.is_available()\n", {1}, 1, "reachable"),
        (GUARDED.format(" and step == 7", "torch.save(net, 'a.pt')"), {1, 2, 3}, 3, "reachable"),
        (GUARDED.format(" and step == 7", "torch.cuda.empty_cache()"), {1, 2, 3}, 3, "unreachable"),
        (GUARDED.format("", "torch.save(net, 'a.pt')"), {1, 2}, 3, "reachable"),
        (GUARDED.format("", "torch.save(net, 'a.pt')"), {1, 2, 3}, 3, "unreachable"),
        ("if not torch.cuda.is_available():\n    raise ValueError\n", set(), 1, "reachable"),
        ("if torch.cuda.is_available():\n    torch.cuda.empty_cache()\n    print('a')\n", set(), 1, "unreachable"),
    ],
)  # fmt: skip
def test_that_a_line_that_ran_is_no_call_that_was_seen(
    tmp_path: Path, text: str, ran: set[int], place: int, fate: str
) -> None:
    assert fates(tmp_path, text, ran)[f"train.py:{place}"] == fate


def test_that_a_call_counts_as_seen_with_its_own_name_and_its_own_arguments_alone(tmp_path: Path) -> None:
    text = "if old:\n    dist.init_process_group('nccl')\n"
    seen = ((2, "init_process_group"),)
    assert fates(tmp_path / "a", text, {1, 2}, seen) == {"train.py:2": "ran"}
    assert fates(tmp_path / "b", text, {1, 2}) == {"train.py:2": "reachable"}
    text = "o = torch.optim.AdamW(p, lr=max(1, torch.cuda.device_count()))\n"
    assert fates(tmp_path / "c", text, {1}, ((1, "AdamW"),)) == {"train.py:1": "reachable"}


@pytest.mark.parametrize(
    ("text", "fate"),
    [
        ("def f(args):\n    if args.device == 'cuda':\n        x = y.cuda()\n", "reachable"),
        ("def f(args):\n    if str(args.device) == 'cuda':\n        x = y.cuda()\n", "reachable"),
        ("def f(args):\n    if args.type == 'cuda':\n        x = y.cuda()\n", "reachable"),
        ("k = old\ndef f():\n    if k == 'cuda':\n        x = y.cuda()\n", "reachable"),
        ("def f(backend):\n    if backend == 'nccl':\n        x = y.cuda()\n", "reachable"),
        ("def f(x):\n    if x.device.type == 'cuda':\n        x = y.cuda()\n", "unreachable"),
        ("def f(device):\n    if 'cuda' in str(device):\n        x = y.cuda()\n", "unreachable"),
        ("def f(x):\n    if str(x.device) == 'cuda:0':\n        x = y.cuda()\n", "unreachable"),
        ("d = torch.device(old)\nk = d.type\ndef f():\n    if k == 'cuda':\n        x = y.cuda()\n", "unreachable"),
        ("def f():\n    if torch.device(old).type == 'cuda':\n        x = y.cuda()\n", "unreachable"),
        ("k = 'npu' if hasattr(torch, 'npu') else 'cuda'\nif k == 'cuda':\n    x = y.cuda()\n", "unreachable"),
        ("k = 'cuda'\nif k == 'cuda':\n    x = y.cuda()\n", "reachable"),
        ("def f():\n    if dist.get_backend() == 'nccl':\n        x = y.cuda()\n", "unreachable"),
    ],
)  # fmt: skip
def test_that_cuda_is_the_type_of_no_device_of_an_npu_host_and_may_be_the_text_of_an_option(
    tmp_path: Path, text: str, fate: str
) -> None:
    found = fates(tmp_path, text, {1})
    last = max(found, key=lambda place: int(place.partition(":")[2]))
    assert found[last] == fate, found


@pytest.mark.parametrize("text", ["import bitsandbytes", "import subprocess; subprocess.run(['nvidia-smi', '-L'])"])
def test_that_what_is_cuda_s_without_its_name_is_judged_by_the_scan(tmp_path: Path, text: str) -> None:
    assert set(fates(tmp_path / "a", f"if old:\n    {text}\n", {1}).values()) == {"reachable"}
    assert set(fates(tmp_path / "b", f"if old: {text}\n", {1}).values()) == {"reachable"}
    assert set(fates(tmp_path / "c", f"if torch.cuda.is_available():\n    {text}\n", {1}).values()) >= {"unreachable"}
    assert set(fates(tmp_path / "d", f"{text}\n", {1}).values()) == {"ran"}


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


@pytest.mark.parametrize(
    ("text", "fate"),
    [
        ("x = open(Path('conf') / f'{name}.yaml')\n", "reachable"),
        ("x = open(f'{folder}/{name}.yaml')\n", "reachable"),
        ("x = open('%s.yaml' % name)\n", "reachable"),
        ("x = open(name + '_base.yaml')\n", "reachable"),
        ("x = glob('*.yaml')\n", "reachable"),
        ("x = load('conf', name)\n", "reachable"),
        ("x = load('conf/' + name)\n", "reachable"),
        ("x = open('conf.json')\n", "unloaded"),
        ("x = open('other.yaml')\n", "unloaded"),
        ("x = open(f'{name}.json')\n", "unloaded"),
    ],
)
def test_that_a_configuration_counts_where_the_code_may_put_its_path_together(
    tmp_path: Path, text: str, fate: str
) -> None:
    top = project(tmp_path, train__py=HEAD + text)
    (top / "conf").mkdir()
    (top / "conf" / "big_base.yaml").write_text("eval:\n  device: cuda:0\n")
    findings = settle_findings(top, scan_project(top, FACTS), "minimal")
    observed = Observed(lines={"train.py": {1, 2, 3}}, calls={})
    found = find_leftovers(top, findings, observed, ("python", "train.py"))
    assert [(leftover.path, leftover.fate) for leftover in found] == [("conf/big_base.yaml", fate)]


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
