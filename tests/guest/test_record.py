"""The guest's writer: in children where the process matters, in this process where it does not."""

from __future__ import annotations

import ast
import json
import math
import os
import signal
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.guest.recording import GUEST, child, files, lines, records

PYTHON37 = Path("/root/.pyenv/versions/3.7.16/bin/python")

sys.path.append(str(GUEST))
import ascend_studio  # noqa: E402

NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASCEND_STUDIO_RUN", str(tmp_path))
    for name in ("ASCEND_STUDIO_ATTEMPT", "RANK", "OMPI_COMM_WORLD_RANK", "RANK_ID", "MS_NODE_ID", "MS_ROLE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(ascend_studio, "_event_file", None)
    return tmp_path


def test_that_every_record_has_the_keys_of_the_protocol_in_their_order(run: Path) -> None:
    ascend_studio.metric(12, loss=0.4121, lr=0.001)
    ascend_studio.progress(12, 600, "train")
    ascend_studio.finding("scan.device_str", "warning", "train.py", 17, text="cuda")
    ascend_studio.artifact("checkpoint", "artifacts/step-600")
    ascend_studio.note("launch.compiling")
    without_time = [line[: line.index('"time"')] + line.split(",", 2)[2] for line in lines(run)]
    assert without_time == [
        '{"type":"metric","step":12,"values":{"loss":0.4121,"lr":0.001}}',
        '{"type":"progress","done":12,"total":600,"phase":"train"}',
        '{"type":"finding","rule":"scan.device_str","severity":"warning","path":"train.py",'
        '"line":17,"args":{"text":"cuda"}}',
        '{"type":"artifact","kind":"checkpoint","path":"artifacts/step-600"}',
        '{"type":"note","key":"launch.compiling","args":{}}',
    ]


def test_that_time_is_in_ns_since_the_epoch(run: Path) -> None:
    ascend_studio.note("a")
    (record,) = records(run)
    assert abs(record["time"] / 1e9 - (run / "nothing").parent.stat().st_mtime) < 60


@given(value=st.floats())
def test_that_a_float_reads_back_as_the_same_double(value: float) -> None:
    text = ascend_studio._number(value)
    back = json.loads(text)
    back = NON_FINITE[back] if isinstance(back, str) else float(back)
    assert math.isnan(back) if math.isnan(value) else back == value
    assert text == repr(value) or not math.isfinite(value)


@given(value=st.integers())
def test_that_an_integer_reads_back_exactly(value: int) -> None:
    assert json.loads(ascend_studio._number(value)) == value


@given(values=st.dictionaries(st.text(), st.floats() | st.integers() | st.booleans()))
@example(values={"100 %": 1.5, "n": 10**400})
def test_that_the_short_way_for_plain_numbers_writes_the_same(values: dict[str, float]) -> None:
    usual = ",".join(ascend_studio._name(name) + ":" + text for name, text in ascend_studio._numbers(values))
    assert ascend_studio._plain_numbers(values) in ("", usual)
    if values and all(type(value) is float and abs(value) < 1e300 for value in values.values()):
        assert ascend_studio._plain_numbers(values) == usual


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(value=json_values | st.text(st.characters(exclude_categories=["Cs"])))
def test_that_arguments_read_back(value: object) -> None:
    assert json.loads(ascend_studio._json(ascend_studio._plain(value))) == value


def test_that_scalars_of_numpy_are_numbers(run: Path) -> None:
    numpy = pytest.importorskip("numpy")
    ascend_studio.metric(numpy.int64(3), a=numpy.float32(0.5), b=numpy.int8(-2), c=numpy.ones(()))
    (record,) = records(run)
    assert record["step"] == 3
    assert record["values"] == {"a": 0.5, "b": -2, "c": 1.0}


def test_that_non_finite_numbers_are_the_strings_of_the_protocol(run: Path) -> None:
    ascend_studio.metric(1, a=math.nan, b=math.inf, c=-math.inf, d=True)
    ascend_studio.note("n", a=math.nan)
    metric, note = records(run)
    assert metric["values"] == {"a": "NaN", "b": "Infinity", "c": "-Infinity", "d": 1}
    assert note["args"] == {"a": "NaN"}


def test_that_only_the_value_that_cannot_be_written_is_dropped(run: Path) -> None:
    circle: list[object] = []
    circle.append(circle)
    ascend_studio.metric(1, good=1.0, bad=object(), worse="x", worst=[1, 2])
    ascend_studio.note("n", good="é 中 \n\u2028", bad=object(), circle=circle, bytes=b"x")
    metric, note = records(run)
    assert metric["values"] == {"good": 1.0}
    assert note["args"] == {"good": "é 中 \n\u2028"}


def test_that_a_path_with_bytes_that_are_no_utf8_keeps_its_record(run: Path) -> None:
    ascend_studio.artifact("log", os.fsdecode(b"a\xff\n"))
    (record,) = records(run)
    assert record["path"] == "a?\n"


def test_that_an_artifact_inside_the_run_is_relative_to_it(run: Path) -> None:
    ascend_studio.artifact("sample", run / "artifacts" / "sample.txt")
    ascend_studio.artifact("sample", "/elsewhere/sample.txt")
    assert [r["path"] for r in records(run)] == ["artifacts/sample.txt", "/elsewhere/sample.txt"]


def test_that_a_wrong_call_does_not_raise_into_a_training(run: Path) -> None:
    ascend_studio.metric("twelve", loss=1.0)
    ascend_studio.metric(**{"step": 1}, **{"loss": 1.0})
    ascend_studio.metric(1, 2, 3)
    ascend_studio.progress(None, None, None)
    assert [r["values"] for r in records(run)] == [{"loss": 1.0}]


def test_that_nothing_is_done_outside_a_run(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASCEND_STUDIO_RUN")
    monkeypatch.chdir(run)
    ascend_studio.metric(1, loss=1.0)
    ascend_studio.note("a")
    assert files(run) == []


def test_that_a_run_folder_that_is_gone_does_not_raise(run: Path) -> None:
    os.environ["ASCEND_STUDIO_RUN"] = str(run / "gone")
    ascend_studio.metric(1, loss=1.0)
    assert files(run) == []


def test_that_the_file_is_named_by_attempt_rank_and_process(tmp_path: Path) -> None:
    script = "import ascend_studio, os; ascend_studio.note('a'); print(os.getpid())"
    pid = child(tmp_path, script, ASCEND_STUDIO_ATTEMPT="3", RANK_ID="5").strip()
    assert [f.name for f in files(tmp_path)] == [f"events.a3.r5.p{pid}.jsonl"]
    child(tmp_path, script, RANK="2", RANK_ID="5")
    assert any(f.name.startswith("events.a1.r2.") for f in files(tmp_path))


@pytest.mark.parametrize(
    "told",
    [
        {"RANK": "3", "LOCAL_RANK": "1", "WORLD_SIZE": "4"},  # torchrun
        {"RANK_ID": "3", "MS_NODE_ID": "3", "MS_ROLE": "MS_WORKER", "DEVICE_ID": "1"},  # msrun of MindSpore 2.10
        {"MS_NODE_ID": "3", "MS_ROLE": "MS_WORKER"},
        {"OMPI_COMM_WORLD_RANK": "3", "RANK_ID": "0"},  # left over in the shell that called mpirun
        {"RANK": "none", "PMI_RANK": "3"},
    ],
)
def test_that_each_launchers_rank_is_found(tmp_path: Path, told: dict[str, str]) -> None:
    child(tmp_path, "import ascend_studio; ascend_studio.note('a')", **told)
    assert [file.name.split(".")[2] for file in files(tmp_path)] == ["r3"]


def test_that_the_scheduler_of_msrun_writes_nothing(tmp_path: Path) -> None:
    child(tmp_path, "import ascend_studio; ascend_studio.note('a')", MS_ROLE="MS_SCHED")
    assert files(tmp_path) == []


def test_that_a_short_write_costs_no_record(tmp_path: Path) -> None:
    script = """
import ascend_studio, glob, os, resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
ascend_studio.note("first")
size = os.stat(glob.glob(os.environ["ASCEND_STUDIO_RUN"] + "/events*")[0]).st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, resource.RLIM_INFINITY))
ascend_studio.note("cut")
ascend_studio.note("refused")
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
ascend_studio.note("next")
ascend_studio.note("last")
"""
    child(tmp_path, script)
    assert [record["key"] for record in records(tmp_path)] == ["first", "cut", "refused", "next", "last"]


def test_that_a_fork_has_a_file_of_its_own(tmp_path: Path) -> None:
    script = """
import ascend_studio, os
ascend_studio.metric(1, loss=1.0)
if os.fork() == 0:
    ascend_studio.metric(2, loss=2.0)
    os._exit(0)
os.wait()
ascend_studio.metric(3, loss=3.0)
"""
    child(tmp_path, script)
    steps = [[json.loads(x)["step"] for x in f.read_text().splitlines()] for f in files(tmp_path)]
    assert sorted(steps) == [[1, 3], [2]]


def test_that_a_fork_while_another_thread_records_can_record(tmp_path: Path) -> None:
    script = """
import ascend_studio, os, threading
def record():
    for step in range(20000):
        ascend_studio.metric(step, loss=1.0)
threading.Thread(target=record, daemon=True).start()
for _ in range(30):
    pid = os.fork()
    if pid == 0:
        ascend_studio.note("child")
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
"""
    child(tmp_path, script)
    assert sum(r.get("key") == "child" for r in records(tmp_path)) == 30


def test_that_threads_do_not_tear_each_others_records(run: Path) -> None:
    def record(name: str) -> None:
        for step in range(500):
            ascend_studio.metric(step, **{name: step / 7})

    threads = [threading.Thread(target=record, args=(f"n{i}",)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (file,) = files(run)
    assert len(records(run)) == 8 * 500
    assert b"\n\n" not in file.read_bytes()


def test_that_a_signal_handler_may_record_while_its_thread_records(run: Path) -> None:
    before = signal.signal(signal.SIGALRM, lambda *_: ascend_studio.note("alarm"))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
        for step in range(3000):
            ascend_studio.metric(step, loss=1.0)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    kinds = [record["type"] for record in records(run)]
    assert kinds.count("metric") == 3000
    assert kinds.count("note") > 0


@pytest.mark.parametrize("allowed", [256, 4096])  # the record's number is moved up where there is room
def test_that_a_program_that_closes_all_files_gets_no_record_in_its_own(tmp_path: Path, allowed: int) -> None:
    script = f"""
import ascend_studio, os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({allowed}, {allowed}))
ascend_studio.note("a")
os.closerange(3, {allowed})
own = open(os.environ["ASCEND_STUDIO_RUN"] + "/own", "w")
ascend_studio.note("b")
"""
    child(tmp_path, script)
    assert (tmp_path / "own").read_text() == ""
    assert [json.loads(line)["key"] for line in lines(tmp_path) if line] == ["a", "b"]


def test_that_a_program_started_by_the_training_inherits_no_open_file(run: Path) -> None:
    ascend_studio.note("a")
    opened = ascend_studio._event_file
    assert opened is not None
    assert not os.get_inheritable(opened.descriptor)


def test_that_it_is_python_37_and_imports_the_standard_library_only() -> None:
    source = (GUEST / "ascend_studio" / "__init__.py").read_text("utf-8")
    tree = ast.parse(source, feature_version=(3, 7))
    plain = [a.name for n in ast.walk(tree) if isinstance(n, ast.Import) for a in n.names]
    assert set(plain) <= sys.stdlib_module_names
    named = [node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    ours = {f"ascend_studio.writer{part}" for part in ("", ".backlog", ".nonfinite_losses", ".process_rank")}
    assert set(named) <= {"__future__", "typing"} | ours


@pytest.mark.skipif(not PYTHON37.exists(), reason="no Python 3.7 here")
def test_that_it_runs_in_python_37(tmp_path: Path) -> None:
    script = "import ascend_studio; ascend_studio.metric(1, loss=float('nan'), lr=0.1)"
    child(tmp_path, script, python=str(PYTHON37))
    assert records(tmp_path)[0]["values"] == {"loss": "NaN", "lr": 0.1}
