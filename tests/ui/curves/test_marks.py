"""Marks on the curves, and runs that go on from other runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from backends.common.marks import MAX_MARKS, Marks, mark_of
from backends.curves.related_runs import resumed_runs
from studio.events import Artifact, Ended, Finding, Metric, Note
from tests.ui import looks
from tests.ui.curves.recording import recorded
from ui.widgets.event_marks import _apart, sentence
from ui.widgets.localized import change_language

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pytestqt.qtbot import QtBot

    from studio.events import Event
    from studio.run import Run
    from ui.curves.page import CurvesPage
    from ui.services.session import Session
    from ui.widgets.charts import Chart


def steps(numbers: Iterable[int], scale: float = 1.0) -> list[Event]:
    return [Metric(time=10**18 + i * 10**7, step=i, values={"loss": scale / i, "loss_scale": 1024.0}) for i in numbers]


def resumed(step: int, run: Run, **args: Any) -> Note:
    key = "launch.resumed_inexactly" if args else "launch.resumed"
    return Note(time=10**18, key=key, args={"run": run.name, "step": step, "exact": not args, **args})


def show(qtbot: QtBot, page: CurvesPage, run: Run) -> Chart:
    page.session.refresh_runs()
    page.session.choose_run(run)
    qtbot.waitUntil(lambda: page.watcher is not None and page.watcher.is_loaded and "loss" in page.content.grid.charts)
    qtbot.waitUntil(lambda: all(watcher.is_loaded for watcher in page.drawn.resumed.values()))
    page._show_run()
    page.content.grid.draw()
    return page.content.grid.charts["loss"]


def drawn(item: Any) -> list[float]:
    x, _ = item.getData()
    return [] if x is None else [float(one) for one in x]


def test_that_a_resumed_run_continues_the_curve_of_the_run_before(
    qtbot: QtBot, page: CurvesPage, session: Session
) -> None:
    first = recorded(session.folder, *steps(range(1, 41)), Ended(code=0))
    second = recorded(session.folder, resumed(30, first), *steps(range(31, 61)), Ended(code=0), resume=first.folder)
    third = recorded(session.folder, resumed(50, second), *steps(range(51, 71)), Ended(code=0), resume=second.folder)
    chart = show(qtbot, page, third)
    (line,) = chart._drawn
    assert drawn(line._before) == [*map(float, range(1, 52))]
    assert drawn(line._curve) == [*map(float, range(51, 71))]
    assert set(drawn(line._starts)) == {30.0, 50.0}
    assert chart._lines[0].nearest(10) == (10, 0.1)
    assert chart._lines[0].nearest(40) == (40, 1 / 40)
    assert page.content.grid.steps.begin == 1
    assert "Resumes after step 50" in page.content.marks.resumed.text()
    chart.smoothing = 0.9
    chart.draw()
    assert drawn(line._before) == [*map(float, range(1, 52))]
    assert np.isfinite(line._before.getData()[1]).all()


def test_that_what_differs_at_a_resume_is_named_as_the_form_names_it(
    qtbot: QtBot, page: CurvesPage, session: Session
) -> None:
    first = recorded(session.folder, *steps(range(1, 41)), Ended(code=0))
    note = resumed(30, first, differing="batch, mode, data, state")
    show(qtbot, page, recorded(session.folder, note, *steps(range(31, 40)), Ended(code=0), resume=first.folder))
    said = "Different now: Micro batch, Mode, data, part of the optimizer's or the loss scale's state."
    assert said in page.content.marks.resumed.text()
    assert page.content.marks.resumed.property("role") == "warning"
    change_language("zh")
    assert "单卡 batch" in page.content.marks.resumed.text()


def test_that_events_are_marked_at_their_steps_and_counted(qtbot: QtBot, page: CurvesPage, session: Session) -> None:
    events = [
        Note(key="launch.overflow", args={"step": 3, "scale": 1024.0}),
        Artifact(kind="checkpoint", path="artifacts/checkpoints/step-000020-3f9a1c7e"),
        Artifact(kind="ckpt", path="artifacts/step-000021-aa.ckpt"),
        Finding(rule="launch.nan", severity="warning", args={"step": 25, "what": "loss", "value": "NaN"}),
    ]
    chart = show(qtbot, page, recorded(session.folder, *steps(range(1, 31)), *events, Ended(code=0)))
    places = {kind: [spot.pos().x() for spot in item.points()] for kind, item in chart._marks._items.items()}
    assert places == {"resume": [], "nan": [25], "overflow": [3], "checkpoint": [20]}
    heights = [item.points()[0].pos().y() for item in chart._marks._items.values() if len(item.points())]
    assert len(set(heights)) == 3
    assert min(heights) > 1.0
    scale = page.content.grid.charts["loss_scale"]
    assert [spot.pos().x() for spot in scale._marks._items["overflow"].points()] == [3]
    assert [len(scale._marks._items[kind].points()) for kind in ("nan", "checkpoint")] == [0, 0]
    marks_line = page.content.marks
    words = [text for label in marks_line.findChildren(type(marks_line.resumed).__mro__[1]) if (text := label.text())]
    assert "Overflows, steps skipped: 1" in words
    assert "Checkpoints: 1" in words
    assert looks.faults(page.content.marks) == []


def test_that_a_mark_tells_the_sentence_of_its_event() -> None:
    mark = mark_of(Note(key="launch.overflow", args={"step": 3, "scale": 1024.0}))
    assert mark is not None
    assert sentence(mark).startswith("A gradient overflowed at step 3 with the loss scale 1024")
    checkpoint = mark_of(Artifact(kind="checkpoint", path="artifacts/checkpoints/step-000020-3f9a1c7e"))
    assert checkpoint is not None
    assert sentence(checkpoint) == "Checkpoint after step 20."


def test_that_marks_that_would_lie_on_each_other_are_one_with_a_number() -> None:
    marks = [mark for step in range(1, 101) if (mark := mark_of(Note(key="launch.overflow", args={"step": step})))]
    apart = _apart(marks, (0, 100), 90)
    assert len(apart) < 20
    assert sum(1 + more for _, more in apart) == 100


def test_that_a_flood_of_marks_is_counted_and_not_kept() -> None:
    marks = Marks()
    for step in range(MAX_MARKS + 50):
        mark = mark_of(Note(key="launch.overflow", args={"step": step}))
        assert mark is not None
        marks.add(mark)
    assert (len(marks.marks), marks.count["overflow"]) == (MAX_MARKS, MAX_MARKS + 50)


JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner))


@given(
    args=st.dictionaries(st.sampled_from(["step", "scale", "run", "what", "value", "differing"]), JSON), path=st.text()
)
def test_that_damaged_events_are_survived(args: dict[str, Any], path: str) -> None:
    for key in ("launch.overflow", "launch.resumed", "launch.resumed_inexactly"):
        mark = mark_of(Note(key=key, args=args))
        if mark:
            assert sentence(mark)
    mark_of(Finding(rule="launch.nan", args=args))
    mark_of(Artifact(kind="checkpoint", path=path))


def test_that_runs_that_go_on_from_each_other_in_a_circle_end(session: Session) -> None:
    first = recorded(session.folder, Ended(code=0))
    second = recorded(session.folder, Ended(code=0), resume=first.folder)
    path = first.folder / "run.json"
    asked = json.loads(path.read_text(encoding="utf-8"))
    asked["values"]["keep"]["resume"] = str(second.folder)
    path.write_text(json.dumps(asked), encoding="utf-8")
    assert [run.name for run in resumed_runs(second)] == [first.name]
