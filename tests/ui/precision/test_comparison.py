"""The comparison: a verdict, a plot, a table, a tree and a page that show one selection."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication

from backends.precision.compare.comparison import (
    DIFFERS,
    EQUAL,
    EXPLAINED,
    EXTRA,
    FIRST,
    FOLLOWS,
    MISSING,
    VERDICTS,
    First,
)
from backends.precision.compare.consumers import downstream_calls
from backends.precision.dump.dump import OUTPUT
from studio.texts import t
from tests.packages import skip_without
from tests.shared_folders import made_once
from tests.ui.looks import faults, left_in_chinese, settle
from tests.ui.precision.comparisons import (
    compared,
    dumped,
    make_comparison,
    make_large_comparison,
)
from ui.precision.comparison.plot_points import Points
from ui.precision.comparison.plot_scale import Scale, clamp_range, zoom_range
from ui.precision.comparison.result_view import (
    OPERATOR,
    TABLE,
    TREE,
    ComparisonResultView,
)
from ui.precision.picture.pictures import Pictures
from ui.precision.row_text import format_figure, format_statistic
from ui.precision.tables.row_order import RowOrder, RowQuery
from ui.precision.tables.tree_model import STATE, TARGET
from ui.precision.tables.tree_nodes import CallNodes
from ui.precision.verdict_mark import WORST_FIRST
from ui.services import actions
from ui.widgets import theme
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from backends.precision.compare.comparison import Comparison
    from studio.run import Run
    from ui.services.session import Session

SUSPECT = "Functional.linear.2.forward"


@pytest.fixture(scope="session")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    skip_without("msprobe")
    folder = made_once(tmp_path_factory, "采集 🚀", _dump)
    return folder / "target", folder / "golden"


def _dump(folder: Path) -> None:
    """msprobe itself refuses names such as this folder's."""
    plain = folder.with_name("dumped")
    plain.mkdir(exist_ok=True)
    dumped(plain, "tensor")
    folder.rmdir()
    plain.rename(folder)


@pytest.fixture
def real(tmp_path: Path, dumps: tuple[Path, Path]) -> tuple[Run, Comparison]:
    return compared(tmp_path / "runs", *dumps)


@pytest.fixture
def view(qtbot: QtBot, session: Session) -> ComparisonResultView:
    new_view = ComparisonResultView(session)
    qtbot.addWidget(new_view)
    new_view.resize(1100, 720)
    new_view.show()
    return new_view


def call_of(comparison: Comparison, name: str) -> int:
    return comparison.names.index(name)


def listed(view: ComparisonResultView) -> list[int]:
    return [int(row) for row in view.table.model.rows]


def click(qtbot: QtBot, view: ComparisonResultView, call: int) -> None:
    qtbot.mouseClick(view.plot, Qt.MouseButton.LeftButton, pos=view.plot.point_of(call).toPoint())


# A real comparison


def test_that_it_lands_on_the_first_divergence(
    qtbot: QtBot, view: ComparisonResultView, real: tuple[Run, Comparison]
) -> None:
    view.show_comparison(*real)
    qtbot.waitUntil(lambda: view.operator.name.whole_text() == SUSPECT)
    assert real[1].first is not None
    assert view.verdict.headline.text() == "First difference: Functional.linear.2 forward, input 0"
    assert "Everything before it is equal." in view.verdict.explanation.text()
    assert "train.py:" in view.verdict.explanation.text()
    assert listed(view)[view.table.view.currentIndex().row()] == real[1].first.row
    tree = view.tree.view.currentIndex()
    assert view.tree.model.node(tree.row()) == call_of(real[1], SUSPECT)
    assert tree.data() == "Functional.linear.2"


def test_that_the_page_shows_both_sides_the_consumers_and_the_source_line(
    qtbot: QtBot, view: ComparisonResultView, real: tuple[Run, Comparison]
) -> None:
    view.show_comparison(*real)
    qtbot.waitUntil(lambda: bool(view.operator.values.blocks))
    call = call_of(real[1], SUSPECT)
    rows = np.flatnonzero(real[1].call == call).tolist()
    assert list(view.operator.values.blocks) == rows
    reached = [real[1].names[consumer.call] for consumer in view.operator.consumers.consumers]
    assert reached[:2] == ["Torch.relu.1.forward", "Tensor.__add__.1.forward"]
    assert view.operator.stack.frames[0].code == "return x + torch.relu(self.up(y))"
    with qtbot.waitSignal(view.source_requested) as opened:
        qtbot.mouseClick(_child(view, "precision_frame_0"), Qt.MouseButton.LeftButton)
    assert opened.args[0].endswith("train.py")
    assert opened.args[1] == view.operator.stack.frames[0].number


def test_that_dumped_tensors_are_drawn(qtbot: QtBot, view: ComparisonResultView, real: tuple[Run, Comparison]) -> None:
    view.show_comparison(*real)
    pictures = view.operator.pictures
    qtbot.waitUntil(lambda: isinstance(pictures.pictures(), Pictures))
    shown_pictures = pictures.pictures()
    assert isinstance(shown_pictures, Pictures)
    assert shown_pictures.difference.shape == (3, 8)
    assert shown_pictures.worst[0].absolute == pytest.approx(float(shown_pictures.difference.cells.max()))
    assert pictures.heatmap.isVisibleTo(view)
    index = ", ".join(map(str, shown_pictures.worst[0].index))
    row, column = shown_pictures.worst[0].index
    assert pictures.heatmap.tooltip_of(row, column) == f"[{index}]: {format_figure(shown_pictures.worst[0].absolute)}"
    assert shown_pictures.channels is not None
    assert int(shown_pictures.channels.max_abs.argmax()) == shown_pictures.worst[0].index[shown_pictures.axis]
    assert pictures.channels.isVisibleTo(view)
    assert not pictures.channels.grab().isNull()


def test_that_another_tensor_of_the_call_can_be_chosen(
    qtbot: QtBot, view: ComparisonResultView, real: tuple[Run, Comparison]
) -> None:
    view.show_comparison(*real)
    qtbot.waitUntil(lambda: view.operator.pictures.tensor.count() > 1)
    tensor = view.operator.pictures.tensor
    last = tensor.count() - 1
    tensor.setCurrentIndex(last)
    tensor.activated.emit(last)
    assert view.selection.row == tensor.itemData(last)
    qtbot.waitUntil(lambda: view.operator.pictures.row == view.selection.row)


def test_that_deleted_tensors_are_reported(
    qtbot: QtBot, view: ComparisonResultView, tmp_path: Path, dumps: tuple[Path, Path]
) -> None:
    target = tmp_path / "target"
    shutil.copytree(dumps[0], target)
    run, comparison = compared(tmp_path / "runs", target, dumps[1])
    shutil.rmtree(target)
    view.show_comparison(run, comparison)
    message = view.operator.pictures.message
    qtbot.waitUntil(lambda: "target" in message.text())
    assert not view.operator.pictures.heatmap.isVisibleTo(view)


@pytest.mark.parametrize("theme_name", ["light", "dark"])
@pytest.mark.parametrize("size", [(1100, 720), (1400, 900), (700, 560)])
def test_that_it_looks_right_in_both_languages(
    qtbot: QtBot,
    view: ComparisonResultView,
    real: tuple[Run, Comparison],
    size: tuple[int, int],
    theme_name: theme.Name,
) -> None:
    theme.apply(theme.application(), theme_name)
    view.resize(*size)
    view.show_comparison(*real)
    qtbot.waitUntil(lambda: isinstance(view.operator.pictures.pictures(), Pictures))
    problems = []
    for language in ("zh", "en"):
        change_language(language)
        for tab in (TABLE, TREE, OPERATOR):
            if view.tabs.isTabVisible(tab):
                view.tabs.setCurrentIndex(tab)
                settle()
                problems += faults(view)
    assert not problems
    assert not [text for text in left_in_chinese(view) if "采集" not in text]


# What is selected


def test_that_a_click_on_a_point_selects_it_everywhere(
    qtbot: QtBot, view: ComparisonResultView, real: tuple[Run, Comparison]
) -> None:
    view.show_comparison(*real)
    call = call_of(real[1], "Torch.relu.1.forward")
    click(qtbot, view, call)
    assert view.selection.call == call
    row = listed(view)[view.table.view.currentIndex().row()]
    assert real[1].call[row] == call
    qtbot.waitUntil(lambda: view.operator.call == call)


def test_that_the_arrow_keys_go_from_call_to_call(qtbot: QtBot, view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(50, 2))
    before = view.selection.call
    qtbot.keyClick(view.plot, Qt.Key.Key_Right)
    qtbot.keyClick(view.plot, Qt.Key.Key_Right)
    qtbot.keyClick(view.plot, Qt.Key.Key_Left)
    assert view.selection.call == before + 1


def test_that_a_row_of_the_table_is_selected_as_a_row(view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(50, 3))
    view.table.view.setCurrentIndex(view.table.model.index(7, 2))
    assert (view.selection.call, view.selection.row) == (2, 7)


def test_that_f8_goes_round_what_differs(view: ComparisonResultView) -> None:
    verdicts = [EQUAL, DIFFERS, FOLLOWS, MISSING, EXPLAINED, EXTRA, EQUAL]
    view.show_comparison(None, make_comparison(verdicts))
    view.selection.select(0)
    selected = []
    for _ in range(4):
        view.next_differing()
        selected.append(view.selection.call)
    view.previous_differing()
    assert [*selected, view.selection.call] == [1, 3, 5, 1, 5]


def test_that_the_selection_stays_when_the_same_comparison_is_read_again(
    view: ComparisonResultView, real: tuple[Run, Comparison]
) -> None:
    view.show_comparison(*real)
    view.selection.select(call_of(real[1], "Torch.relu.1.forward"))
    view.show_comparison(*real)
    assert real[1].names[view.selection.call] == "Torch.relu.1.forward"


def test_that_a_request_about_a_call_names_it_and_its_pass(qtbot: QtBot, view: ComparisonResultView) -> None:
    view.show_comparison(None, make_comparison([EQUAL] * 6, passes=(0, 3)))
    view.selection.select(4)
    qtbot.waitUntil(lambda: view.operator.call == 4)
    for signal, name in (
        (view.deeper_requested, "precision_deeper"),
        (view.reproducer_requested, "precision_reproducer"),
        (view.issue_requested, "precision_issue"),
    ):
        with qtbot.waitSignal(signal) as request:
            qtbot.mouseClick(_child(view, name), Qt.MouseButton.LeftButton)
        suspect = request.args[0]
        assert (suspect.call, suspect.index, suspect.step, suspect.rank) == ("Torch.relu.4.forward", 4, 1, 0)


# The verdict


def test_that_without_a_divergence_the_largest_difference_is_named(view: ComparisonResultView) -> None:
    view.show_comparison(None, make_comparison([EQUAL, EXPLAINED, EXPLAINED], errors=[0, 3e-7, 2e-7]))
    assert view.verdict.headline.text() == "No divergence: 3 calls, largest difference 3.0e-07 at Torch.relu.1"
    assert not view.verdict.go.isVisibleTo(view)
    assert view.selection.call == 1


def test_that_a_comparison_of_nothing_says_so(view: ComparisonResultView) -> None:
    view.show_comparison(None, make_comparison([]))
    assert view.verdict.headline.text() == t("precision.verdict.nothing")
    view.next_differing()
    view.plot.step(1)
    settle()
    assert view.selection.call == -1


def test_that_a_reason_of_a_newer_studio_does_not_show_its_key(view: ComparisonResultView) -> None:
    first = First(
        name="Torch.relu.1.forward", direction="forward", place="output", index=0, step=0, rank=0,
        reason="of_a_newer_studio", call=1, row=3,
    )  # fmt: skip
    view.show_comparison(None, make_comparison([EXPLAINED, FIRST], errors=[1e-7, 0.01], first=first))
    assert "newer" not in view.verdict.explanation.text()
    assert (
        "1000 times" in view.operator.explanation.text().replace("\u2009", "") or not view.operator.explanation.text()
    )


def test_that_the_button_goes_to_the_first_divergence(qtbot: QtBot, view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(90, 2))
    view.selection.select(3)
    qtbot.mouseClick(view.verdict.go, Qt.MouseButton.LeftButton)
    assert (view.selection.call, view.selection.row) == (30, 61)


# The table


def test_that_words_find_calls_and_their_count_is_shown(
    qtbot: QtBot, view: ComparisonResultView, real: tuple[Run, Comparison]
) -> None:
    view.show_comparison(*real)
    view.table.filter.text.setText("LINEAR forward")
    expected = {name for name in real[1].names if "linear" in name.lower() and "forward" in name}
    qtbot.waitUntil(lambda: {real[1].names[real[1].call[row]] for row in listed(view)} == expected)
    assert view.table.filter.count.text() == f"{len(listed(view))} of {len(real[1].call)} rows"
    view.table.filter.all.click()
    assert len(listed(view)) == len(real[1].call)


def test_that_verdict_part_and_dtype_filter_together(view: ComparisonResultView, real: tuple[Run, Comparison]) -> None:
    view.show_comparison(*real)
    view.table.verdicts.buttons[2].click()
    view.table.filter.role.setCurrentIndex(view.table.filter.role.findData(OUTPUT))
    view.table.filter.role.activated.emit(0)
    comparison = real[1]
    expected = np.flatnonzero((comparison.verdict == FOLLOWS) & (comparison.role == OUTPUT)).tolist()
    assert listed(view) == expected
    assert expected


def test_that_an_empty_search_result_is_stated(view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(20, 2))
    view.table.filter.text.setText("softmax")
    view.table.filter.changed.emit()
    assert not listed(view)
    assert not view.table.view.isVisibleTo(view)


def test_that_a_header_sorts_reverses_and_restores(qtbot: QtBot, view: ComparisonResultView) -> None:
    view.show_comparison(None, make_comparison([EXPLAINED] * 4, errors=[2e-7, np.nan, 5e-7, 1e-7], rows=1))
    head = view.table.view.horizontalHeader()
    section = view.table.model.columns.index("error")
    orders = []
    for _ in range(3):
        head.sectionClicked.emit(section)
        orders.append(listed(view))
    assert orders == [[2, 0, 3, 1], [3, 0, 2, 1], [0, 1, 2, 3]]


def test_that_rows_are_grouped_under_their_modules(view: ComparisonResultView) -> None:
    names = ("Torch.relu.0.forward", "Torch.relu.1.forward", "Module.a.Block.forward.0", "Torch.relu.2.forward")
    view.show_comparison(None, make_comparison([EQUAL] * 4, names=names, parents=[2, -1, -1, 2], rows=1))
    view.table.filter.by_module.click()
    assert listed(view) == [-1, 1, -4, 0, 2, 3]
    texts = [view.table.model.index(row, 1).data() for row in range(6)]
    assert texts[0] == t("precision.view.no_module")
    assert texts[2] == "Module.a.Block.forward.0"
    view.table.view.setCurrentIndex(view.table.model.index(2, 1))
    assert view.selection.call == 2


def test_that_a_million_rows_are_sorted_and_filtered(view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(250_000, 4))
    view.table.filter.text.setText("relu.1")
    view.table.model.query = replace(view.table.model.query, sort="error", descending=True)
    view.table.filter.changed.emit()
    order = view.table.model.order
    assert order is not None
    errors = order.comparison.error[view.table.model.rows]
    assert len(errors) == 4 * sum("relu.1" in name for name in order.comparison.names)
    assert (np.diff(errors) <= 0).all()


floats = st.floats(width=32, allow_nan=True, allow_infinity=True)


@given(errors=st.lists(floats, min_size=1, max_size=30), descending=st.booleans())
def test_that_floats_sort_stably_by_value_with_nan_last(errors: list[float], descending: bool) -> None:
    order = RowOrder(make_comparison([EQUAL] * len(errors), errors=errors, rows=1))
    rows = order.arrange(RowQuery(sort="error", descending=descending)).tolist()
    numbers = np.array(errors, np.float32).tolist()
    there = [row for row, number in enumerate(numbers) if number == number]
    signed = {row: (numbers[row], not np.signbit(numbers[row])) for row in there}
    expected = sorted(there, key=signed.__getitem__, reverse=False)
    if descending:
        expected = [row for _, group in _grouped(expected, signed)[::-1] for row in group]
    assert rows == expected + [row for row, number in enumerate(numbers) if number != number]


def _grouped(rows: list[int], keys: dict[int, tuple[float, bool]]) -> list[tuple[object, list[int]]]:
    groups: list[tuple[object, list[int]]] = []
    for row in rows:
        if groups and groups[-1][0] == keys[row]:
            groups[-1][1].append(row)
        else:
            groups.append((keys[row], [row]))
    return groups


texts = st.text(st.sampled_from("aB.中\n😀 "), max_size=6)


@given(names=st.lists(texts, min_size=1, max_size=12), text=texts)
def test_that_a_search_finds_what_holds_all_words(names: list[str], text: str) -> None:
    order = RowOrder(make_comparison([EQUAL] * len(names), names=names, rows=1))
    words = text.lower().split()
    lowered = [name.lower().replace("\n", " ") for name in names]
    expected = [row for row, name in enumerate(lowered) if all(word in name for word in words)]
    assert order.arrange(RowQuery(text=text)).tolist() == expected


def test_that_numbers_in_names_are_sorted_by_their_value() -> None:
    names = ("Torch.relu.10.forward", "Torch.relu.9.forward", "Tensor.add.2.forward")
    order = RowOrder(make_comparison([EQUAL] * 3, names=names, rows=1))
    assert order.arrange(RowQuery(sort="name")).tolist() == [2, 1, 0]


# The tree

forests = st.lists(st.tuples(st.integers(0, 40), st.integers(0, len(VERDICTS) - 1)), min_size=1, max_size=25)


@given(forest=forests)
def test_that_a_module_has_the_worst_verdict_in_it_and_opens_to_all_its_calls(forest: list[tuple[int, int]]) -> None:
    count = len(forest)
    parents = [number + 1 + step if number + 1 + step < count else -1 for number, (step, _) in enumerate(forest)]
    verdicts = [verdict for _, verdict in forest]
    nodes = CallNodes(make_comparison(verdicts, parents=parents, rows=1))
    for node in range(count):
        inside = [inner for inner in range(count) if node in _chain(inner, parents)]
        assert nodes.worst[node] == min((verdicts[one] for one in inside), key=WORST_FIRST.index)
    while closed := [row for row in range(len(nodes.visible)) if nodes.count_opened(row)]:
        nodes.open(closed[0])
    assert sorted(nodes.visible[nodes.visible < count].tolist()) == list(range(count))
    nodes.close(0)
    assert len(nodes.visible) == 1


def _chain(node: int, parents: list[int]) -> list[int]:
    chain = [node]
    while parents[chain[-1]] >= 0:
        chain.append(parents[chain[-1]])
    return chain


def test_that_a_module_inside_itself_does_not_hang() -> None:
    nodes = CallNodes(make_comparison([EQUAL, DIFFERS, EQUAL], parents=[1, 0, -1], rows=1))
    assert nodes.worst[0] == DIFFERS
    nodes.open(0)
    assert nodes.visible.tolist()[1:] == [2]
    assert len(nodes.ancestors(0)) <= 1000


def test_that_left_and_right_close_and_open(qtbot: QtBot, view: ComparisonResultView) -> None:
    names = ("Torch.relu.0.forward", "Module.a.Block.forward.0")
    view.show_comparison(None, make_comparison([EQUAL] * 2, names=names, parents=[1, -1]))
    view.tabs.setCurrentIndex(TREE)
    view.selection.select(1)
    row = view.tree.view.currentIndex().row()
    qtbot.keyClick(view.tree.view, Qt.Key.Key_Left)
    assert view.tree.model.index(row, TARGET).data(STATE) == "closed"
    qtbot.keyClick(view.tree.view, Qt.Key.Key_Right)
    assert view.tree.model.index(row, TARGET).data(STATE) == "open"
    view.selection.select(0)
    assert view.tree.view.currentIndex().row() == row + 1


def test_that_calls_of_either_side_can_be_matched(qtbot: QtBot, view: ComparisonResultView) -> None:
    names = ("Torch.relu.0.forward", "Torch.gelu.0.forward", "Torch.relu.1.forward")
    view.show_comparison(None, make_comparison([MISSING, EXTRA, EQUAL], names=names))
    view.tabs.setCurrentIndex(TREE)
    assert not view.tree.match.isEnabled()
    tree = view.tree.view
    flags = tree.selectionModel().SelectionFlag
    tree.clearSelection()
    for row in (1, 2):
        tree.selectionModel().select(view.tree.model.index(row, 0), flags.Select | flags.Rows)
    with qtbot.waitSignal(view.match_corrected) as correction:
        qtbot.mouseClick(view.tree.match, Qt.MouseButton.LeftButton)
    match = correction.args[0]
    assert (match.target, match.golden, match.number) == ("Torch.gelu.0.forward", "Torch.relu.0.forward", 0)


def test_that_a_call_of_one_side_is_shown_on_that_side(view: ComparisonResultView) -> None:
    view.show_comparison(None, make_comparison([MISSING, EXTRA]))
    rows = [[view.tree.model.index(row, column).data() for column in (0, 1)] for row in (1, 2)]
    assert rows == [["absent", "Torch.relu.0"], ["Torch.relu.1", "absent"]]


# The plot


@settings(max_examples=40)
@given(seed=st.integers(0, 10_000), width=st.integers(20, 300), count=st.integers(301, 3000))
def test_that_columns_reach_from_the_smallest_to_the_largest_of_their_calls(seed: int, width: int, count: int) -> None:
    errors = 10 ** np.random.default_rng(seed).uniform(-8, 0, count)
    errors[::7] = 0
    points = Points(make_comparison([EXPLAINED] * count, errors=errors.tolist(), rows=1))
    scale = Scale(begin=0, end=count, left=50, width=width, top=20, bottom=120, low=-8, high=0)
    calls = points.in_view(EXPLAINED, scale)
    columns = points.columns(calls, scale)
    x = scale.x(calls).astype(int)
    y = scale.y(np.log10(np.where(errors > 0, errors, 1)).astype(np.float32))
    for at, top, bottom in zip(columns.x, columns.top, columns.bottom, strict=True):
        column_values = y[(x == at) & (errors > 0)]
        assert (top, bottom) == pytest.approx((column_values.min(), column_values.max()), abs=0.01)
    assert set(columns.zeros.tolist()) == set(x[errors == 0].tolist())
    marks = points.marks(EXPLAINED, calls, scale)
    assert errors.max() in errors[marks]


@given(
    begin=st.floats(0, 900), span=st.floats(8, 1000), at=st.floats(0, 1000), factor=st.floats(0.01, 100),
    count=st.integers(1, 1000),
)  # fmt: skip
def test_that_zooming_stays_inside(begin: float, span: float, at: float, factor: float, count: int) -> None:
    start, end = clamp_range(begin, min(span, count), count)
    low, high = zoom_range(start, end, min(max(at, start), end), factor, count)
    assert -1e-6 <= low < high <= count + 1e-6


def test_that_the_wheel_zooms_about_the_mouse_and_a_double_click_shows_all(
    qtbot: QtBot, view: ComparisonResultView
) -> None:
    view.show_comparison(None, make_large_comparison(1000, 1))
    position = view.plot.point_of(600)
    at = view.plot.scale().call(position.x())
    for _ in range(4):
        _wheel(view, position)
    begin, end = view.plot.range
    assert end - begin == pytest.approx(1000 * 0.8**4)
    assert view.plot.scale().call(position.x()) == pytest.approx(at)
    qtbot.mouseDClick(view.plot, Qt.MouseButton.LeftButton, pos=position.toPoint())
    assert view.plot.range == (0.0, 1000.0)


def _wheel(view: ComparisonResultView, position: QPointF) -> None:
    nothing, turned = QPoint(), QPoint(0, 120)
    event = QWheelEvent(
        position, view.plot.mapToGlobal(position), nothing, turned, Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(view.plot, event)


def test_that_a_box_is_zoomed_to_and_then_dragged(qtbot: QtBot, view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(1000, 1))
    _drag(qtbot, view, 200, 400)
    begin, end = view.plot.range
    assert (begin, end) == pytest.approx((200, 400), abs=4)
    _drag(qtbot, view, 300, 350)
    assert view.plot.range[0] == pytest.approx(begin - 50, abs=4)


def _drag(qtbot: QtBot, view: ComparisonResultView, begin: int, end: int) -> None:
    left = Qt.MouseButton.LeftButton
    places = [QPoint(round(float(view.plot.scale().x(call))), 90) for call in (begin, (begin + end) // 2, end)]
    qtbot.mousePress(view.plot, left, pos=places[0])
    for position in places[1:]:
        qtbot.mouseMove(view.plot, position)
        settle()
    qtbot.mouseRelease(view.plot, left, pos=places[-1])


def test_that_what_is_selected_elsewhere_comes_into_view(view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(1000, 1))
    view.plot._show_range((0.0, 100.0))
    view.selection.select(700)
    assert view.plot.range[0] <= 700 < view.plot.range[1]


def test_that_the_worse_of_two_overlapping_points_is_selected() -> None:
    points = Points(make_comparison([EXPLAINED, DIFFERS, EXPLAINED] * 200, errors=[1e-3] * 600, rows=1))
    scale = Scale(begin=0, end=600, left=0, width=100, top=20, bottom=120, low=-6, high=0)
    call = points.nearest(50, float(scale.y(np.float32(-3))), scale, 14)
    assert points.verdicts[call] == DIFFERS


def test_that_calls_without_a_figure_are_drawn_apart() -> None:
    points = Points(make_comparison([EQUAL, MISSING, DIFFERS, EQUAL], errors=[0, np.nan, np.inf, np.nan], rows=1))
    assert points.levels.tolist() == [-np.inf, np.inf, np.inf, -np.inf]


# Names and numbers of all kinds


def test_that_names_are_only_text(qtbot: QtBot, view: ComparisonResultView) -> None:
    name = "Tensor.<b>加</b>\n&😀.0.forward"
    view.show_comparison(None, make_comparison([FOLLOWS, EQUAL], names=(name, "Torch.relu.0.forward")))
    view.selection.select(0)
    qtbot.waitUntil(lambda: view.operator.name.whole_text() == name.replace("\n", " "))
    assert view.table.model.index(0, 1).data() == name.replace("\n", " ")
    settle()
    assert not faults(view)


def test_that_without_tensors_a_capture_with_them_is_offered(qtbot: QtBot, view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(30, 2))
    qtbot.waitUntil(lambda: view.operator.call == 10)
    pictures = view.operator.pictures
    assert pictures.message.text() == t("precision.operator.no_tensors")
    view.operator.area.ensureWidgetVisible(pictures.deeper)
    with qtbot.waitSignal(view.deeper_requested) as request:
        qtbot.mouseClick(pictures.deeper, Qt.MouseButton.LeftButton)
    assert request.args[0].call == "Torch.relu.10.forward"


def test_that_a_call_of_very_many_rows_shows_the_worst_of_them(qtbot: QtBot, view: ComparisonResultView) -> None:
    comparison = make_comparison([EQUAL, EQUAL], rows=60)
    comparison.columns["verdict"][55] = DIFFERS
    view.show_comparison(None, comparison)
    view.selection.select(0)
    qtbot.waitUntil(lambda: view.operator.call == 0)
    assert 55 in view.operator.values.blocks
    assert len(view.operator.values.blocks) < 20


def test_that_a_value_is_recognised_by_its_statistics() -> None:
    comparison = make_comparison([EQUAL] * 4)
    stats = comparison.columns["target_stats"]
    stats[2], stats[6] = stats[1], stats[1]
    stats[4] = stats[3]
    assert [(consumer.call, consumer.depth) for consumer in downstream_calls(comparison, 0)] == [(1, 1), (2, 2), (3, 1)]
    stats[1] = stats[2] = 0
    assert not [one for one in downstream_calls(comparison, 0) if one.call == 1]


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (float("nan"), "–"), (float("inf"), "∞"), (2.345e-7, "2.3e-07"), (0.0123456, "0.0123"), (12.3, "12.3")],
)
def test_that_errors_are_short(value: float, text: str) -> None:
    assert format_figure(value) == text


def test_that_statistics_keep_nan_apart_from_nothing() -> None:
    assert [format_statistic(value) for value in (float("nan"), float("-inf"), 3.0, 0.123456789)] == [
        "NaN",
        "-Inf",
        "3",
        "0.12346",
    ]


# Room


def test_that_the_page_is_a_list_where_there_is_no_room_beside(qtbot: QtBot, view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(30, 2))
    view.resize(700, 560)
    settle()
    view.tabs.setCurrentIndex(OPERATOR)
    assert view.operator.isVisible()
    view.resize(1200, 720)
    settle()
    assert view.operator.isVisible()
    assert view.table.isVisible()
    assert not view.tabs.isTabVisible(OPERATOR)


def test_that_its_commands_are_registered(view: ComparisonResultView) -> None:
    shortcuts = {actions.shortcut_text(action) for action in actions.registered(view)}
    assert shortcuts == {"Ctrl+F", "F8", "Shift+F8"}


def test_that_ctrl_f_searches_from_anywhere(qtbot: QtBot, view: ComparisonResultView) -> None:
    view.show_comparison(None, make_large_comparison(30, 2))
    view.tabs.setCurrentIndex(TREE)
    view.find_call()
    assert view.tabs.currentIndex() == TABLE
    assert view.table.isVisible()


def _child(view: ComparisonResultView, name: str):
    from PySide6.QtWidgets import QAbstractButton

    button = view.findChild(QAbstractButton, name)
    assert button is not None, name
    return button
