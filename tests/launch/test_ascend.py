"""Ascend's environment, and what has to fit together where a network is split over NPUs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.common import npu_devices
from backends.launch import ascend_env
from backends.launch.engine_options import engine_options
from backends.launch.idle_options import idle_ascend_options
from backends.launch.launchers import node_lines, python_of
from backends.launch.operators import check_strategy, operators
from backends.launch.plan import launch_command
from backends.launch.recipes import resolved
from backends.launch.script.document import script_text
from studio import run as runs
from studio import schema, worker
from tests.launch.specs import launch_spec, rules
from tests.runs import ended, events_of

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec

MANY = {
    "parallel": "data", "visible": "0, 1,3", "connect_timeout": 600, "exec_timeout": 0, "buffsize": 400,
    "deterministic": "strict", "launch_blocking": True, "log_level": "none",
}  # fmt: skip


def split(**values: Any) -> LaunchSpec:
    return launch_spec(**{"recipe": "dense", "parallel": "semi_auto", "mode": "graph", "workers": 8, **values})


def test_that_nothing_chosen_leaves_the_environment_alone() -> None:
    assert ascend_env.variables(launch_spec()) == {}


def test_that_every_field_is_its_variable(tmp_path: Path) -> None:
    expected = {
        "ASCEND_RT_VISIBLE_DEVICES": "0,1,3", "HCCL_CONNECT_TIMEOUT": "600", "HCCL_EXEC_TIMEOUT": "0",
        "HCCL_BUFFSIZE": "400", "HCCL_DETERMINISTIC": "strict", "MS_DEV_LAUNCH_BLOCKING": "1",
        "ASCEND_GLOBAL_LOG_LEVEL": "4",
    }  # fmt: skip
    spec = launch_spec(**MANY, env=(("MINE", "1"),))
    assert ascend_env.variables(spec) == expected
    run = runs.create(tmp_path, "launch", schema.to_json(spec))
    assert expected.items() | {("MINE", "1")} <= launch_command(spec, run).env.items()


def test_that_torch_npu_has_variables_of_its_own(tmp_path: Path) -> None:
    chosen = {"alloc_conf": "expandable_segments:True, max_split_size_mb:64", "task_queue": "2",
              "cpu_affinity": "1,npu0:0-3", "launch_blocking": True}  # fmt: skip
    spec = launch_spec(framework="torch", device="ascend", **chosen)
    assert rules(spec) == []
    assert ascend_env.variables(spec) == {
        "PYTORCH_NPU_ALLOC_CONF": "expandable_segments:True,max_split_size_mb:64", "TASK_QUEUE_ENABLE": "2",
        "CPU_AFFINITY_CONF": "1,npu0:0-3", "ASCEND_LAUNCH_BLOCKING": "1",
    }  # fmt: skip
    wrong = launch_spec(framework="torch", alloc_conf="expandable_segments", cpu_affinity="3")
    assert sorted(rules(wrong)) == [
        ("alloc_conf", "launch.rule.alloc_conf_form"), ("cpu_affinity", "launch.rule.cpu_affinity_form"),
    ]  # fmt: skip
    assert ascend_env.variables(launch_spec(**chosen)) == {"MS_DEV_LAUNCH_BLOCKING": "1"}


def test_that_a_field_and_a_variable_of_the_same_name_are_one_too_many() -> None:
    spec = launch_spec(**MANY, env=tuple((name, "1") for name in ascend_env.NAMES.values()))
    assert rules(spec) == [(field, "launch.rule.env_twice") for field in ascend_env.NAMES]
    assert rules(launch_spec(env=(("HCCL_BUFFSIZE", "300"),))) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("0", None),
        ("0,1,7", None),
        (" 2 , 3 ", None),
        ("0,0", "visible_order"),
        ("1,0", "visible_order"),
        ("0-3", "visible_form"),
        ("0,,1", "visible_form"),
        ("-1", "visible_form"),
        ("²", "visible_form"),
    ],
)
def test_that_cards_are_numbers_that_rise(text: str, rule: str | None) -> None:
    """CANN reads up to the first that is none, and takes only rising ones."""
    assert rules(launch_spec(visible=text)) == ([("visible", f"launch.rule.{rule}")] if rule else [])


@given(st.text(max_size=40))
def test_that_any_text_is_read_as_cards_or_refused(text: str) -> None:
    found = ascend_env.cards(text)
    assert found is None or all(card >= 0 for card in found)


def test_that_every_process_of_a_host_needs_a_card() -> None:
    assert rules(launch_spec(visible="0,1", parallel="data", workers=2)) == []
    assert rules(launch_spec(visible="0,1", parallel="data", workers=3)) == [("visible", "launch.rule.visible_few")]
    assert rules(launch_spec(visible="0,1", parallel="data", workers=3, device="cpu")) == []


def test_that_a_rank_table_names_the_cards_by_itself() -> None:
    spec = launch_spec(visible="2,3", parallel="data", workers=2, launcher="rank_table")
    assert "ASCEND_RT_VISIBLE_DEVICES" not in ascend_env.variables(spec)


@pytest.mark.parametrize(
    ("values", "field", "rule"),
    [
        ({"device": "cpu"}, "parallel", "launch.split_on_cpu"),
        ({"parallel": "data", "fusion": 8, "device": "cpu"}, "fusion", "launch.fusion_on_cpu"),
        ({"mode": "jit"}, "mode", "launch.rule.split_graph"),
        ({"loop": "model"}, "loop", "launch.rule.split_functional"),
        ({"amp": "O2"}, "loss_scale", "launch.rule.split_loss_scale"),
        ({"clip": 1.0}, "clip", "launch.rule.split_clip"),
        ({"on_nan": "skip"}, "on_nan", "launch.rule.split_skip"),
        ({"checkpoint_every": 5}, "checkpoint_every", "launch.rule.split_checkpoint"),
        ({"best": "loss"}, "best", "launch.rule.split_checkpoint"),
        ({"parallel": "hybrid", "stages": 3}, "stages", "launch.rule.stages_divide"),
        ({"parallel": "hybrid", "stages": 4, "pipeline_batches": 2}, "pipeline_batches", "launch.rule.pipeline_fills"),
        ({"parallel": "hybrid", "pipeline_batches": 5}, "pipeline_batches", "launch.rule.pipeline_divides"),
        ({"parallel": "hybrid", "accumulate": 2}, "accumulate", "launch.rule.pipeline_accumulates"),
        ({"strategy": (("matmul1", "16x1,1x1"),)}, "strategy", "launch.rule.shard_devices"),
        ({"strategy": (("matmul1", "2x1"),)}, "strategy", "launch.rule.shard_inputs"),
        ({"strategy": (("matmul1", "x"),)}, "strategy", "launch.rule.strategy_form"),
        ({"strategy": (("gelu", "1x1"),)}, "strategy", "launch.rule.no_operator"),
        (
            {"parallel": "auto", "search": "recursive_programming", "strategy": (("relu", "2x1"),)},
            "search",
            "launch.rule.search_decides",
        ),
        ({"recipe": "digits", "strategy": (("relu", "1x1"),)}, "strategy", "launch.rule.no_operators"),
    ],
)
def test_that_what_cannot_be_split_is_said_at_its_field(values: dict[str, Any], field: str, rule: str) -> None:
    assert rules(split(**values)) == [(field, rule)]


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"strategy": (("matmul1", "2x1,1x4"), ("relu", "2x4"), ("matmul2", "2x4,4x1"))},
        {"parallel": "hybrid", "stages": 4, "pipeline_batches": 8, "optimizer_parallel": True, "fusion": 32},
        {"parallel": "auto", "search": "dynamic_programming", "dataset": "full_batch", "accumulate": 4},
        {"amp": "O2", "amp_dtype": "bf16"},
        {"parallel": "auto", "strategy": (("relu", "2x1"),)},
    ],
)
def test_that_the_rest_can_be_started(values: dict[str, Any]) -> None:
    assert rules(split(**values)) == []


def test_that_an_operator_is_cut_as_all_devices_of_a_stage_see_it() -> None:
    """32 samples each on 8 devices; with 2 stages of 4 devices and 4 micro batches a quarter of half as many."""
    assert operators(split())[0].shapes == ((256, 64), (64, 128))
    assert operators(split(parallel="hybrid"))[0].shapes == ((32, 64), (64, 128))
    assert resolved(split(parallel="hybrid")).global_batch == 128


def test_that_operators_of_an_own_recipe_are_known_by_the_devices_they_need() -> None:
    spec = split(recipe="own", strategy=(("attention", "4x4"),))
    assert [problem.rule for problem in check_strategy(spec, "attention", "4x4")] == ["launch.rule.shard_devices"]
    assert check_strategy(spec, "attention", "2x4") == ()


def test_that_the_engine_is_told_only_what_its_mode_has() -> None:
    modes = ("data", "hybrid")
    data, hybrid = (engine_options(split(parallel=mode, stages=4, strategy=()))["values"] for mode in modes)
    assert (data["stages"], data["pipeline_batches"]) == (1, 1)
    assert (hybrid["stages"], hybrid["pipeline_batches"]) == (4, 4)


def test_that_the_lines_for_nodes_and_the_script_have_the_same_environment(tmp_path: Path) -> None:
    spec = launch_spec(parallel="data", buffsize=400, env=(("MINE", "a b"),), recipe="linear")
    assert "os.environ['HCCL_BUFFSIZE'] = '400'" in script_text(spec).replace('"', "'")
    spread = schema.with_value(spec, "nodes", 2)
    for line in node_lines(spread, python_of(spread), "options.json", tmp_path):
        assert "HCCL_BUFFSIZE=400" in line
        assert "MINE='a b'" in line


def test_that_options_for_npus_that_a_window_kept_are_named_where_the_training_runs_on_a_cpu(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """PyNative waits for each operator on a CPU, too, with MS_DEV_LAUNCH_BLOCKING."""
    chosen = {"visible": "0", "log_level": "info", "launch_blocking": True}
    monkeypatch.setattr(npu_devices, "npu_names", lambda: ("davinci0",))
    assert idle_ascend_options(launch_spec(**chosen)) == ()
    assert idle_ascend_options(launch_spec(**chosen, device="cpu")) == ("--visible", "--log-level")
    monkeypatch.setattr(npu_devices, "npu_names", tuple)
    assert idle_ascend_options(launch_spec(**chosen)) == ("--visible", "--log-level")
    everything = ("--visible", "--launch-blocking", "--log-level")
    assert idle_ascend_options(launch_spec(**chosen, mode="graph")) == everything
    assert idle_ascend_options(launch_spec(**chosen, device="ascend")) == ()


def test_that_a_run_says_which_of_its_options_do_nothing_on_a_cpu(tmp_path: Path) -> None:
    spec = launch_spec(device="cpu", visible="0", python=Path(shutil.which("false") or ""))
    run = runs.create(tmp_path, "launch", schema.to_json(spec))
    worker.start(run)
    assert ended(run).code != 0
    idle = [event.args for event in events_of(run) if getattr(event, "rule", "") == "launch.idle_options"]
    assert idle == [{"options": "--visible"}]
