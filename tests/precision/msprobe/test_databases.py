"""The databases that graph_visualize and data2db of msprobe 26.2 wrote, and what is no such database."""

from __future__ import annotations

import shutil
import sqlite3
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from backends.precision.msprobe import database, trend, visdb
from backends.precision.msprobe.companion_files import find_companion_files
from studio.errors import StudioError
from tests.precision.msprobe.recorded import RECORDED

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = RECORDED / "compare_26.2.0.vis.db"
TREND = RECORDED / "dump_data_26.2.0.trend.db"
LINEAR = "Functional.linear.0.forward"


def test_that_a_graph_says_what_it_holds() -> None:
    found = visdb.read_graphs(GRAPH)
    assert (found.kind, found.task, found.steps, found.ranks) == ("compare", "summary", (0,), (0,))
    assert found.sides == ("NPU", "Bench")
    assert found.colors[0] == (0.0, 0.3, "#FFFCF3")


def test_that_the_tree_is_given_one_level_at_a_time() -> None:
    (root,) = visdb.children(GRAPH, 0, 0)
    assert (root.name, root.is_module, root.parent) == ("DefaultModel", True, "")
    below = visdb.children(GRAPH, 0, 0, parent=root.name)
    assert len(below) == root.children
    assert below[0].name == "Module.0.Embedding.forward.0"
    (call,) = visdb.children(GRAPH, 0, 0, parent=below[0].name)
    assert (call.name, call.is_module, call.children, call.precision) == (
        "Functional.embedding.0.forward", False, 0, 0.0,
    )  # fmt: skip
    assert call.matched == ("DefaultModel", "Module.0.Embedding.forward.0", "Functional.embedding.0.forward")
    assert visdb.children(GRAPH, 0, 0, "Bench", root.name)[0].precision is None
    assert visdb.children(GRAPH, 7, 0) == ()


def test_that_the_first_call_that_msprobe_does_not_let_pass_is_named_with_its_tensors() -> None:
    first = visdb.first_of_all(GRAPH)
    assert first is not None
    assert (first[:2], first[2].name, first[2].precision) == ((0, 0), LINEAR, 1.0)
    found = visdb.details(GRAPH, 0, 0, "NPU", LINEAR)
    assert found.outputs[f"{LINEAR}.output.0"]["Result"] == "error"
    assert found.inputs[f"{LINEAR}.input.0"]["shape"] == "[4, 6, 8]"
    assert "linear.py" in found.stack[0]
    with pytest.raises(StudioError, match="has no nobody"):
        visdb.details(GRAPH, 0, 0, "NPU", "nobody")


def test_that_the_tree_of_8_3_is_read_the_same() -> None:
    old = RECORDED / "compare_8.3.3.vis.db"
    assert (visdb.read_graphs(old).kind, len(visdb.read_graphs(old).colors)) == ("compare", 5)
    first = visdb.first_of_all(old)
    assert first is not None
    assert first[2].name == LINEAR
    assert visdb.children(old, 0, 0)[0].name == "DefaultModel"


def test_that_trends_are_read_by_target_and_by_step() -> None:
    found = trend.read_trends(TREND)
    assert found.statistics == ("norm", "max", "min", "mean")
    assert "forward" in found.metrics.values()
    assert found.ranks == (0,)
    number = next(key for key, name in found.targets.items() if name == "Functional.embedding.input.1")
    forward = next(key for key, name in found.metrics.items() if name == "forward")
    steps, values = trend.series(TREND, number, forward, 0)
    assert steps.tolist() == [0]
    np.testing.assert_allclose(values, [9.472702980041504])
    _, values = trend.series(TREND, number, forward, 0, "max")
    np.testing.assert_allclose(values, [3.4105026721954346])
    assert number in {one for targets in found.tags.values() for one in targets}
    with pytest.raises(StudioError, match="no statistic"):
        trend.series(TREND, number, forward, 0, "1; DROP TABLE trend_data")


def test_that_tables_and_columns_of_a_newer_msprobe_are_left_alone(tmp_path: Path) -> None:
    for source, name in ((GRAPH, "a.vis.db"), (TREND, "b.trend.db")):
        shutil.copyfile(source, tmp_path / name)
        with sqlite3.connect(tmp_path / name) as connection:
            connection.execute("CREATE TABLE tb_newer (x)")
            table = "tb_nodes" if source is GRAPH else "trend_data"
            connection.execute(f"ALTER TABLE {table} ADD COLUMN newer TEXT")
        connection.close()
    assert visdb.read_graphs(tmp_path / "a.vis.db") == visdb.read_graphs(GRAPH)
    assert trend.read_trends(tmp_path / "b.trend.db") == trend.read_trends(TREND)


def test_that_reading_leaves_nothing_beside_a_database(tmp_path: Path) -> None:
    path = tmp_path / "名 前?#%41.vis.db"
    shutil.copyfile(GRAPH, path)
    path.chmod(0o444)
    assert visdb.children(path, 0, 0)
    assert [one.name for one in tmp_path.glob("*.db*")] == [path.name]


@pytest.mark.parametrize("read", [visdb.read_graphs, trend.read_trends])
def test_that_what_is_no_such_database_is_refused_with_a_reason(tmp_path: Path, read: object) -> None:
    path = tmp_path / "x.db"
    cut = GRAPH.read_bytes()[:3000]
    for data in (b"", b"SQLite format 3\0" + b"\0" * 100, cut, b"hello"):
        path.write_bytes(data)
        with pytest.raises(StudioError, match="cannot be read as an msprobe database"):
            read(path)  # type: ignore[operator]
    with pytest.raises(StudioError, match="cannot be read as an msprobe database"):
        read(tmp_path / "gone.db")  # type: ignore[operator]


def test_that_a_view_in_the_place_of_a_table_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / "x.vis.db"
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS data_source FROM n"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE VIEW tb_nodes AS {endless}")
        connection.execute("CREATE TABLE tb_stack (id, stack_info)")
        connection.execute("CREATE TABLE tb_config (id, graph_type, task, step_list, rank_list, node_colors)")
    connection.close()
    with pytest.raises(StudioError, match="cannot be read as an msprobe database"):
        visdb.read_graphs(path)


def test_that_a_query_without_an_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "QUERY_SECONDS", 0.05)
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT COUNT(*) FROM n"
    with pytest.raises(StudioError, match="interrupted"), database.open_database(GRAPH) as connection:
        connection.execute(endless).fetchone()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cells=some.lists(
        some.one_of(some.none(), some.text(max_size=20), some.binary(max_size=20), some.integers(-9, 9), some.floats()),
        min_size=5,
        max_size=5,
    )
)
def test_that_any_cells_are_nodes_or_a_sentence(tmp_path: Path, cells: list[object]) -> None:
    path = tmp_path / "any.vis.db"
    shutil.copyfile(GRAPH, path)
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE tb_nodes SET node_type = coalesce(?, 0), sub_nodes = ?, precision_index = ?, overflow_level = ?,"
            " matched_node_link = ?",
            [_storable(one) for one in cells],
        )
        connection.execute("UPDATE tb_config SET step_list = coalesce(?, 'x')", (_storable(cells[0]),))
    connection.close()
    said, found = "", ()
    try:
        visdb.read_graphs(path)
        found = visdb.children(path, 0, 0)
    except StudioError as error:
        said = str(error)
    assert "any.vis.db" in said or found


def _storable(value: object) -> object:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


def test_that_what_msprobe_left_is_found_beside_dumps(tmp_path: Path) -> None:
    dump = tmp_path / "dumps" / "step0" / "rank0"
    (dump / "dump_tensor_data").mkdir(parents=True)
    shutil.copyfile(GRAPH, tmp_path / "dumps" / "compare_1.vis.db")
    shutil.copyfile(TREND, tmp_path / "dump_data.trend.db")
    shutil.copyfile(RECORDED / "compare_26.2.0.csv", dump / "compare_result_rank0_2026.csv")
    (dump / "dump_tensor_data" / "x.vis.db").touch()
    found = find_companion_files(tmp_path / "dumps")
    assert [path.name for path in (*found.graphs, *found.trends, *found.tables)] == [
        "compare_1.vis.db", "dump_data.trend.db", "compare_result_rank0_2026.csv"
    ]  # fmt: skip
    assert not find_companion_files(tmp_path / "nowhere" / "at all")


def test_that_the_first_of_all_steps_is_a_call_and_of_modules_alone_a_module(tmp_path: Path) -> None:
    found = visdb.first_of_all(GRAPH)
    assert found is not None
    assert (found[:2], found[2].name) == ((0, 0), LINEAR)
    path = tmp_path / "modules.vis.db"
    shutil.copyfile(GRAPH, path)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM tb_nodes WHERE node_type = 1")
        connection.execute("UPDATE tb_nodes SET step = 3")
    connection.close()
    found = visdb.first_of_all(path)
    assert found is not None
    assert (found[0], found[2].is_module, found[2].precision) == (3, True, 1.0)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE tb_nodes SET precision_index = 0")
    connection.close()
    assert visdb.first_of_all(path) is None


def test_that_a_node_is_found_by_what_it_is_in() -> None:
    assert visdb.ancestors(GRAPH, 0, 0, "NPU", "Functional.embedding.0.forward") == (
        "DefaultModel", "Module.0.Embedding.forward.0",
    )  # fmt: skip
    assert visdb.ancestors(GRAPH, 0, 0, "NPU", "nobody") == ()


def test_that_nodes_that_are_in_each_other_end(tmp_path: Path) -> None:
    path = tmp_path / "round.vis.db"
    shutil.copyfile(GRAPH, path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE tb_nodes SET up_node = ? WHERE node_name = 'DefaultModel'", (LINEAR,))
    connection.close()
    assert visdb.ancestors(path, 0, 0, "NPU", LINEAR)[-1].startswith("Module.1.linear1")


def test_that_of_each_phase_the_recorded_tensors_are_named() -> None:
    names = trend.read_trends(TREND)
    found = trend.recorded(TREND, 0)
    assert [names.metrics[metric] for metric in found] == ["forward"]
    assert all(target in names.targets for targets in found.values() for target in targets)
    assert trend.recorded(TREND, 7) == {}
