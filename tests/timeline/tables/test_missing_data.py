from __future__ import annotations

import ast
import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest

from backends.timeline.tables.capture_settings import settings_of
from backends.timeline.tables.missing_data import VIEWS, missing
from backends.timeline.tables.summary import step_summary
from studio.texts import LANGUAGES, find
from tests.timeline.memory_traces import LaneSpec, trace_of
from tests.timeline.other_traces import kineto, mindspore
from tests.timeline.profile_data import ASCEND_TEXTS, DBS, MINDSPORE, TORCH, profile
from tests.timeline.profile_folders import rank_folder
from tests.timeline.tables.assembled_traces import opened
from tests.timeline.torch_npu_db import write_db
from tests.timeline.torch_npu_trace import write_array, write_object


def names(path: Path, cache: Path) -> set[str]:
    return {view.key.rpartition(".")[2] for view in missing(opened(path, cache))}


@pytest.mark.parametrize("name", ASCEND_TEXTS[::2])
def test_that_a_text_profile_lacks_only_what_was_not_collected(name: str, tmp_path: Path) -> None:
    assert names(profile(name), tmp_path) == {"links", "collector", "marks", "db"}


@pytest.mark.parametrize("name", DBS[::2])
def test_that_a_db_lacks_only_what_was_not_collected(name: str, tmp_path: Path) -> None:
    before = sorted(profile(name).parent.iterdir())
    assert names(profile(name), tmp_path) == {"links", "collector", "marks"}
    assert sorted(profile(name).parent.iterdir()) == before


@pytest.mark.parametrize("name", [*TORCH, *MINDSPORE])
def test_that_a_cpu_profile_lacks_the_device(name: str, tmp_path: Path) -> None:
    assert names(profile(name), tmp_path) == {"device"}


@pytest.mark.parametrize("name", TORCH)
def test_that_the_switch_of_a_device_is_that_of_an_npu(name: str, tmp_path: Path) -> None:
    views = missing(opened(profile(name), tmp_path))
    assert [view.switch.count("torch_npu.profiler.ProfilerActivity.NPU") for view in views] == [1]


def test_that_a_device_whose_table_is_there_was_collected(tmp_path: Path) -> None:
    (tmp_path / "kernel_details.csv").write_text("Name,Duration(us)\nMatMul,1\n")
    path = write_object(tmp_path / "trace.json", kineto())
    assert "device" not in names(path, tmp_path / "cache")


def test_that_switches_are_read_from_what_the_profiler_wrote(tmp_path: Path) -> None:
    folder = rank_folder(tmp_path / "rank0_ascend_pt")
    trace = opened(folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", tmp_path / "cache")
    assert settings_of(trace).framework == "torch_npu"
    assert settings_of(trace).collected >= {"stacks", "shapes", "memory"}
    switches = {view.key: view.switch for view in missing(trace)}
    assert switches["timeline.missing.cache"] == "experimental_config=_ExperimentalConfig(l2_cache=True)"
    assert "timeline.missing.metrics" not in switches
    (folder / "profiler_info_0.json").unlink()
    (folder / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").unlink()
    assert "metrics" in names(folder / "ASCEND_PROFILER_OUTPUT" / "trace_view.json", tmp_path / "other")


def test_that_without_it_the_trace_itself_is_looked_at(tmp_path: Path) -> None:
    path = tmp_path / "trace.json.gz"
    for part, collected in (
        ('"args": {"Call stack": "x"}', {"stacks"}),
        ('"Input Dims": "1"', {"shapes"}),
        ("", set()),
    ):
        path.write_bytes(gzip.compress(f'[{{"ph":"X",{part}'.encode()))
        trace = trace_of(
            tmp_path / "cache", [LaneSpec(kind="host", process="Python", slices=[(0, 1, "ProfilerStep#1")])]
        )
        settings = settings_of(replace(trace, root=path))
        assert (settings.framework, settings.collected) == ("torch", collected)
    path.write_bytes(path.read_bytes()[:9])
    assert not settings_of(replace(trace, root=path)).collected


@pytest.mark.parametrize("text", ["", "[]", "[[[[", '{"config": 1}', '{"a":' * 50_000, "\x00", '{"with_stack": "yes"}'])
def test_that_hostile_settings_say_nothing(tmp_path: Path, text: str) -> None:
    (tmp_path / "profiler_info_0.json").write_text(text)
    write_array(tmp_path / "trace.json", mindspore())
    trace = opened(tmp_path / "trace.json", tmp_path / "cache")
    assert settings_of(trace).framework == "mindspore"
    missing(trace)


def test_that_a_file_that_is_gone_or_no_db_breaks_nothing(tmp_path: Path) -> None:
    path = tmp_path / "ascend_pytorch_profiler_0.db"
    write_db(path)
    trace = opened(path, tmp_path / "cache")
    assert settings_of(trace).framework == "torch_npu"
    missing(trace)
    path.write_bytes(b"no database")
    assert not settings_of(trace).collected
    path.unlink()
    assert not settings_of(trace).collected


def test_that_nothing_is_said_of_a_trace_of_unknown_origin(tmp_path: Path) -> None:
    trace = trace_of(tmp_path, [LaneSpec(kind="other", process="Chrome", slices=[(0, 1, "a")])])
    assert missing(trace) == ()


def test_that_a_gpu_profile_is_torchs(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    made = kineto(gpu=True)
    for name, what in (("process_name", {"name": "python3"}), ("process_labels", {"labels": "GPU 0"})):
        made["traceEvents"].insert(0, {"ph": "M", "name": name, "ts": 0, "pid": 0, "tid": 0, "args": what})
    path.write_text(json.dumps(made))
    trace = opened(path, tmp_path / "cache")
    assert settings_of(trace).framework == "torch"
    assert {view.key.rpartition(".")[2] for view in missing(trace)} == {"stacks"} - settings_of(trace).collected
    assert step_summary(trace).steps[0].computing > 0


def test_that_every_view_has_its_sentence_in_both_languages() -> None:
    for name, view in VIEWS.items():
        assert view.key == f"timeline.missing.{name}"
        assert all(find(view.key, language) for language in LANGUAGES)


def test_that_every_switch_of_a_framework_is_code() -> None:
    for view in VIEWS.values():
        for framework, switch in view.switches.items():
            if framework != "msprof":
                ast.parse(f"profile({switch.partition(';')[0]})")


def test_that_mindspore_and_torch_know_the_switches() -> None:
    sources = {"mindspore": ("profiler.py", "experimental_config.py"), "torch": ("profiler.py",)}
    for framework, files in sources.items():
        text = "".join(_source(framework, file) for file in files)
        for view in VIEWS.values():
            for word in _keywords(view.switches.get(framework, "")):  # type: ignore[call-overload]
                assert f"{word}:" in text or f"{word}=" in text, (framework, word)


def _keywords(switch: str) -> set[str]:
    calls = (node for node in ast.walk(ast.parse(f"profile({switch.partition(';')[0]})")) if isinstance(node, ast.Call))
    return {keyword.arg for call in calls for keyword in call.keywords if keyword.arg}


def _source(framework: str, file: str) -> str:
    """Return a source file of the installed package, without importing it."""
    import importlib.util

    spec = importlib.util.find_spec(framework)
    if spec is None or spec.origin is None:
        pytest.skip(f"no {framework}")
    return (Path(spec.origin).parent / "profiler" / file).read_text()
