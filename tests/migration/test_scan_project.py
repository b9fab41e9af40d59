"""A whole project: what is found in it, whatever else lies there, and what need not be read a second time."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backends.migration.scan import cache
from backends.migration.scan.facts.facts import Facts, facts_of_interpreter
from backends.migration.scan.overview import make_overview
from backends.migration.scan.project_libraries import project_libraries
from backends.migration.scan.project_scan import Survey, scan_project, survey_project
from studio.errors import Stopped

if TYPE_CHECKING:
    from pathlib import Path

TRAIN = """import torch
from devices import chosen

model = torch.nn.Linear(2, 2).to("cuda")
if chosen.is_available():
    print("cuda is there")
"""
LAUNCH = "#!/bin/sh\nexport CUDA_VISIBLE_DEVICES=0\npython train.py\n"


@pytest.fixture(scope="module")
def facts() -> Facts:
    return facts_of_interpreter(None, None)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    put(folder / "train.py", TRAIN)
    put(folder / "devices.py", "import torch\nchosen = torch.cuda\n")
    put(folder / "run.sh", LAUNCH)
    put(folder / "requirements.txt", "torch==2.1\nflash-attn>=2\nnumpy\n")
    return folder


def put(path: Path, text: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)


def places(found: Survey) -> set[tuple[str, int, str]]:
    return {(each.path, each.line, each.category) for each in found.findings if each.kind == "place"}


def keys(found: Survey) -> dict[str, str]:
    return {note.path: note.key for note in found.notes}


def test_that_code_scripts_and_requirements_are_found_in_order(project: Path, facts: Facts) -> None:
    found = scan_project(project, facts)
    assert {(each.path, each.line) for each in found if each.kind == "place"} == {
        ("devices.py", 2), ("requirements.txt", 1), ("requirements.txt", 2), ("run.sh", 2), ("train.py", 4),
        ("train.py", 5),
    }  # fmt: skip
    order = [(each.path, -1 if each.cell is None else each.cell, each.line, each.column) for each in found]
    assert order == sorted(order)


def test_that_a_name_from_another_module_is_known(project: Path, facts: Facts) -> None:
    (each,) = [
        each
        for each in scan_project(project, facts)
        if (each.path, each.line) == ("train.py", 5) and each.kind == "place"
    ]
    assert each.name == "torch.cuda.is_available"


def test_that_two_processes_find_the_same(project: Path, facts: Facts, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        put(project / f"more{number}.py", TRAIN)
    alone = survey_project(project, facts)
    monkeypatch.setattr("backends.migration.scan.project_scan.BYTES_PER_WORKER", 100)
    monkeypatch.setenv("XDG_CACHE_HOME", str(project.parent / "other"))
    together = survey_project(project, facts, max_workers=2)
    assert together.findings == alone.findings
    assert together.rescanned == alone.rescanned == 34


@pytest.fixture
def caches_hold_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "RECENT_NS", -(10**15))


@pytest.mark.usefixtures("caches_hold_at_once")
class TestAgain:
    """Scan again; all files are older than the last scan."""

    def test_that_nothing_is_read_twice(self, project: Path, facts: Facts) -> None:
        first, second = survey_project(project, facts), survey_project(project, facts)
        assert (first.rescanned, second.rescanned) == (4, 0)
        assert second.findings == first.findings
        assert second.scans == first.scans

    def test_that_only_what_changed_is_read(self, project: Path, facts: Facts) -> None:
        survey_project(project, facts)
        put(project / "train.py", TRAIN + 'x = torch.zeros(1, device="cuda:1")\n')
        again = survey_project(project, facts)
        assert again.rescanned == 1
        assert ("train.py", 7, "device_str") in places(again)

    def test_that_who_imports_a_changed_name_is_read_too(self, project: Path, facts: Facts) -> None:
        survey_project(project, facts)
        put(project / "devices.py", "import torch\nimport json\nchosen = json\n")
        again = survey_project(project, facts)
        assert again.rescanned == 2
        assert not {each for each in places(again) if each[:2] == ("train.py", 5)}

    def test_that_an_import_that_nobody_asks_for_concerns_nobody_else(self, project: Path, facts: Facts) -> None:
        survey_project(project, facts)
        put(project / "devices.py", "import torch\nimport json\nchosen = torch.cuda\n")
        assert survey_project(project, facts).rescanned == 1

    def test_that_a_file_with_another_time_and_the_same_content_is_not_read(self, project: Path, facts: Facts) -> None:
        survey_project(project, facts)
        os.utime(project / "train.py")
        assert survey_project(project, facts).rescanned == 0

    def test_that_a_file_that_is_gone_is_gone(self, project: Path, facts: Facts) -> None:
        survey_project(project, facts)
        (project / "run.sh").unlink()
        assert "run.sh" not in {each.path for each in survey_project(project, facts).findings}
        assert "run.sh" not in survey_project(project, facts).scans

    def test_that_other_facts_read_all_again(self, project: Path, facts: Facts) -> None:
        survey_project(project, facts)
        assert survey_project(project, facts_of_interpreter(None, "2.7.1")).rescanned == 4

    @pytest.mark.parametrize("damage", [b"", b"\0", b"x" * 1000])
    def test_that_a_damaged_cache_is_none(self, project: Path, facts: Facts, damage: bytes) -> None:
        first = survey_project(project, facts)
        (pack,) = (project.parent / "home" / "cache").rglob("*.pack")
        pack.write_bytes(damage)
        again = survey_project(project, facts)
        assert again.rescanned == 4
        assert again.findings == first.findings

    @given(at=st.integers(0, 10**6), value=st.integers(1, 255))
    @settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    def test_that_no_flipped_byte_changes_the_answer(self, project: Path, facts: Facts, at: int, value: int) -> None:
        first = survey_project(project, facts)
        (pack,) = (project.parent / "home" / "cache").rglob("*.pack")
        data = bytearray(pack.read_bytes())
        data[at % len(data)] ^= value
        pack.write_bytes(data)
        assert survey_project(project, facts).findings == first.findings

    def test_that_a_cache_that_cannot_be_written_is_no_failure(
        self, project: Path, facts: Facts, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("XDG_CACHE_HOME", str(project / "run.sh"))
        assert survey_project(project, facts).findings == survey_project(project, facts).findings

    def test_that_old_projects_make_room_for_new_ones(
        self, project: Path, facts: Facts, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        survey_project(project, facts)
        monkeypatch.setattr(cache, "MAX_BYTES", 10)
        put(project.parent / "second" / "x.py", "x = 1\n")
        survey_project(project.parent / "second", facts)
        assert len(list((project.parent / "home" / "cache").rglob("*.pack"))) == 1
        assert survey_project(project, facts).rescanned == 4


def test_that_what_changed_just_before_the_last_scan_is_looked_at_again(project: Path, facts: Facts) -> None:
    survey_project(project, facts)
    before = (project / "train.py").stat()
    put(project / "train.py", TRAIN.replace("cuda", "cpu!"))
    os.utime(project / "train.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert ("train.py", 4, "device_str") not in places(survey_project(project, facts))


def test_that_a_scan_writes_nothing_into_the_project(project: Path, facts: Facts) -> None:
    before = sorted((path, path.stat().st_mtime_ns) for path in project.rglob("*"))
    survey_project(project, facts)
    assert sorted((path, path.stat().st_mtime_ns) for path in project.rglob("*")) == before


def test_that_nothing_of_the_project_is_run(project: Path, facts: Facts) -> None:
    mark = project.parent / "was-run"
    code = f"open({str(mark)!r}, 'w')\n"
    for name in (
        "setup.py",
        "conftest.py",
        "sitecustomize.py",
        "torch.py",
        "json.py",
        "msgspec.py",
        "studio/__init__.py",
    ):
        put(project / name, code)
    scan_project(project, facts)
    assert not mark.exists()


DEEP = "x = " + "[" * 10_000 + "]" * 10_000 + '\ny = "cuda"\n'
BAD = {
    "deep.py": DEEP,
    "nul.py": b'x = 1\0\ndevice = "cuda"\n',
    "python2.py": 'print "hello"\ndevice = "cuda"\n',
    "fast.pyx": 'cdef int x\ndevice = torch.device("cuda")\n',
    "half.py": 'device = torch.device("cuda")\nmodel.to(',
    "broken.ipynb": '{"cells": [{"cell_type": "co',
    "empty.ipynb": "[]",
    "surrogate.py": b'x = "\xed\xa0\x80"\n',
    "chain.py": "x = " + "a." * 50_000 + "b\n",
    "minus.py": "x = " + "-" * 50_000 + "1\n",
    "sum.py": "x = " + "1+" * 50_000 + "1\n",
    "tabs.py": "if x:\n\ty\n        z\n",
    "bad.yaml": "a: [\n  b: {\n\x00",
    "bad.toml": 'a = """\n',
    "bad.json": "[" * 100_000,
    "bad.sh": "cat <<EOF\n'\"$((",
    "Dockerfile": "FROM\nRUN \\\n",
    "bad.cu": '/* "\n__global__ void f(',
    "requirements.txt": "==\n[\n-e\n\\",
}


def test_that_bad_files_end_nothing_and_leave_a_note(project: Path, facts: Facts) -> None:
    for name, text in BAD.items():
        put(project / "bad" / name, text)
    found = survey_project(project, facts)
    assert ("train.py", 4, "device_str") in places(found)
    noted = {path.rpartition("/")[2]: key for path, key in keys(found).items()}
    for name in ("deep.py", "nul.py", "python2.py", "fast.pyx", "half.py"):
        assert noted[name] == "migration.note.unparsed"
    assert noted["broken.ipynb"] == "migration.note.not_json"
    assert noted["empty.ipynb"] == "migration.note.no_cells"
    assert not [key for key in noted.values() if key in ("migration.note.our_error", "migration.note.crashed")]


@pytest.mark.parametrize("name", ["deep.py", "nul.py", "python2.py", "fast.pyx", "half.py"])
def test_that_a_file_that_does_not_parse_is_still_looked_into(tmp_path: Path, facts: Facts, name: str) -> None:
    put(tmp_path / name, BAD[name])
    assert {each.category for each in scan_project(tmp_path, facts)} == {"device_str"}


def test_that_python_that_a_program_wrote_is_looked_into_without_a_tree(tmp_path: Path, facts: Facts) -> None:
    put(tmp_path / "long.py", 'import torch\nx = torch.device("cuda")\ny = [' + "1," * 400_000 + "]\n")
    found = survey_project(tmp_path, facts)
    assert keys(found) == {"long.py": "migration.note.long"}
    assert ("long.py", 2, "device_str") in places(found)


def test_that_gb18030_is_read_as_what_it_is(tmp_path: Path, facts: Facts) -> None:
    put(
        tmp_path / "x.py",
        'import torch\n# 在显卡上运行模型\ny = ("训练设备", torch.device("cuda"))\n'.encode("gb18030"),
    )
    (each,) = [one for one in scan_project(tmp_path, facts) if one.kind == "place"]
    assert (each.line, each.column, each.text) == (3, 26, '"cuda"')


def test_that_a_file_that_vanishes_is_a_note(project: Path, facts: Facts) -> None:
    def progress(_done: int, _total: int, phase: str) -> None:
        if phase == "look":
            (project / "train.py").unlink(missing_ok=True)

    found = survey_project(project, facts, progress=progress)
    assert keys(found) == {"train.py": "migration.note.unreadable"}
    assert found.findings


def test_that_an_error_of_ours_is_a_note_and_the_file_is_tried_again(
    project: Path, facts: Facts, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as broken:
        broken.setattr("backends.migration.scan.files.shell.scan_python", lambda _: 1 / 0)
        found = survey_project(project, facts)
    assert keys(found) == {"train.py": "migration.note.our_error", "devices.py": "migration.note.our_error"}
    assert "run.sh" in {each.path for each in found.findings}
    assert keys(survey_project(project, facts)) == {}


def test_that_a_stop_ends_it_and_leaves_no_cache(project: Path, facts: Facts) -> None:
    with pytest.raises(Stopped):
        survey_project(project, facts, is_stopped=lambda: True)
    assert not list((project.parent / "home").rglob("*.pack"))


def test_that_progress_goes_up_to_its_total(project: Path, facts: Facts) -> None:
    reports: list[tuple[int, int]] = []
    survey_project(project, facts, progress=lambda done, total, _: reports.append((done, total)))
    assert [done for done, _ in reports] == sorted({done for done, _ in reports})
    assert reports[-1][0] == reports[-1][1]


def test_that_a_notebook_counts_lines_by_cell(tmp_path: Path, facts: Facts) -> None:
    cells = [
        {"cell_type": "markdown", "source": "# cuda"},
        {"cell_type": "code", "source": ["import torch\n", "x = torch.device('cuda')\n"]},
    ]
    put(tmp_path / "n.ipynb", json.dumps({"cells": cells}))
    found = [(each.cell, each.line, each.category) for each in scan_project(tmp_path, facts) if each.kind == "place"]
    assert found == [(1, 2, "device_str")]


def test_that_libraries_are_named_once_with_what_is_known(project: Path, facts: Facts) -> None:
    put(project / "a.py", "import flash_attn, numpy, devices, os\nfrom zzlib import load\nfrom . import x\n")
    found = {each.name: each for each in project_libraries(survey_project(project, facts).scans, facts)}
    assert set(found) == {"flash_attn", "numpy", "zzlib"}
    assert (found["flash_attn"].files, found["flash_attn"].asked) == (2, ">=2")
    assert found["flash_attn"].rule
    assert (found["numpy"].state, found["numpy"].path) == ("auto", "a.py")
    assert (found["zzlib"].state, found["zzlib"].line) == ("unverified", 2)


def test_that_the_overview_counts_what_was_found(project: Path, facts: Facts) -> None:
    done = survey_project(project, facts)
    whole = make_overview(project, done, facts, {})
    assert sum(whole.places.values()) == len([each for each in done.findings if each.kind == "place"])
    assert (whole.files, whole.lines) == (4, 14)
    assert {each.name: each.count for each in whole.apis} == {"torch.nn.Linear": 1, "torch.cuda.is_available": 1}
    assert msgspec.json.decode(msgspec.json.encode(whole), type=type(whole)) == whole


SOURCES = st.lists(
    st.sampled_from([
        'x = torch.device("cuda")', "import torch", "if", "  y", "[", ")", '"""', "'", "\\", "# cuda", "\x0c", "\x00",
        "torch.cuda.seed()", "FROM nvidia/cuda", "RUN pip install torch", "a: cuda", "{", '"cuda"', "<<EOF", "\r",
        "def f(device='cuda'):", "lambda:", "f'{x:cuda}'", "é", "训练", "\ud800", "x" * 300, "%pip install apex", "!ls",
    ]),
    max_size=12,
)  # fmt: skip
NAMES = st.sampled_from(
    ["a.py", "b.py", "__init__.py", "c.sh", "Dockerfile", "d.yaml", "e.json", "f.toml", "g.ini", "requirements.txt",
     "h.ipynb", "setup.py", "i.cu", "Makefile", "j.pyx", "k.cpp"]
)  # fmt: skip


@settings(max_examples=120, deadline=None)
@given(files=st.dictionaries(NAMES, st.tuples(SOURCES, st.sampled_from(["\n", "\r\n", " "])), max_size=5))
def test_that_no_tree_makes_it_raise(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, tuple[list[str], str]]
) -> None:
    folder = tmp_path_factory.mktemp("generated")
    for name, (pieces, joint) in files.items():
        text = joint.join(pieces)
        if name.endswith(".ipynb"):
            text = json.dumps({"cells": [{"cell_type": "code", "source": text}]})
        put(folder / name, text.encode("utf-8", "surrogatepass"))
    found = survey_project(folder, FACTS)
    assert not [note for note in found.notes if note.key == "migration.note.our_error"]
    for each in found.findings:
        assert (folder / each.path).is_file()
        assert 1 <= each.line <= each.end


FACTS = facts_of_interpreter(None, None)
