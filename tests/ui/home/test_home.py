"""Home: from a first start to a finished training, and what it says on the way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from PySide6.QtWidgets import QFileDialog, QLabel, QPushButton

from backends.common.device_use import uses_gpu
from studio import run as runs
from studio import schema
from studio.events import Ended, Finding, Journal, Metric, Progress
from tests.launch.specs import launch_spec
from tests.runs import write_worker
from tests.ui import looks
from ui.home.journey_steps import steps
from ui.home.page import HomePage, make_page
from ui.launch.first_steps import make_sample_in
from ui.widgets.localized import change_language
from ui.widgets.sparkline import places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pytestqt.qtbot import QtBot

    from studio.run import Run
    from ui.services.session import Session


@pytest.fixture
def page(qtbot: QtBot, session: Session) -> HomePage:
    made = make_page(session)
    qtbot.addWidget(made)
    made.resize(1104, 754)
    made.show()
    return made


@pytest.fixture
def put(session: Session) -> Callable[..., Run]:
    """A run that ended, with a few losses, among the session's."""

    def make(code: int = 0, reason: str = "", rule: str = "", **values: Any) -> Run:
        session.folder.mkdir(parents=True, exist_ok=True)
        made = runs.create(session.folder, "launch", schema.to_json(launch_spec(**values)))
        # Runs are listed by name, and these are all of the same second.
        named = session.folder / f"20260101-0000{len(session.listed):02d}-launch"
        run = runs.open_run(made.folder.rename(named))
        journal = Journal(run.folder, 1)
        for step in range(1, 30):
            journal.write(Metric(step=step, values={"loss": 2 / step}), Progress(done=step, total=30, phase="train"))
        if rule:
            journal.write(Finding(rule=rule, severity="error", args={"error": "no room left"}))
        journal.write(Ended(code=code, reason=reason))
        session.refresh_runs()
        return run

    return make


def press(page: HomePage, name: str) -> None:
    button = page.findChild(QPushButton, name)
    assert button is not None
    button.click()


# Nobody has to compare.
OPEN = {"precision": "open"}


def states(session: Session) -> dict[str, str]:
    return {step.id: step.state for step in steps(session)}


def texts(page: HomePage) -> str:
    return "\n".join(label.text() for label in page.findChildren(QLabel) if label.isVisible())


def test_that_a_first_start_offers_the_digits_recipe(page: HomePage) -> None:
    assert page.welcome.isVisible()
    assert not page.attention.isVisible()
    assert "No runs yet." in texts(page)


def test_that_one_button_starts_the_digits_run(page: HomePage, session: Session, qtbot: QtBot) -> None:
    with qtbot.waitSignal(session.page_requested) as wanted:
        press(page, "home.train_digits")
    assert wanted.args == ["curves"]
    run = session.run
    assert run is not None
    assert run.request.values["what"]["recipe"] == "digits"
    from studio import worker

    qtbot.waitUntil(lambda: runs.glance(run).state in ("running", "ended"))
    session.refresh_runs()
    assert not page.welcome.isVisible()
    assert "Trainings running now: 1." in page.sentence.text()
    worker.stop(run)
    worker.stop(run)
    qtbot.waitUntil(lambda: runs.glance(run).state == "ended")


def test_that_a_sample_project_is_made_where_the_user_says(
    page: HomePage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    press(page, "home.make_sample")
    dialog = page.window().findChild(QFileDialog, "file_dialog")
    assert dialog is not None
    with qtbot.waitSignal(session.project_changed):
        dialog.fileSelected.emit(str(tmp_path))
    dialog.close()
    assert session.project is not None
    assert session.project.folder == tmp_path / "ascend-sample"
    assert (tmp_path / "ascend-sample" / "train.py").is_file()
    assert not page.welcome.isVisible()


def test_that_a_place_that_cannot_hold_a_sample_is_told(
    page: HomePage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "file").touch()
    with qtbot.waitSignal(session.trouble):
        make_sample_in(session, tmp_path / "file")
    assert session.project is None


def test_that_the_steps_follow_what_was_done(
    page: HomePage, session: Session, put: Callable[..., Run], tmp_path: Path
) -> None:
    assert states(session) == {"project": "next", "migration": "open", "launch": "later", "curves": "later"} | OPEN
    session.open_project(tmp_path)
    assert states(session) == {"project": "done", "migration": "open", "launch": "next", "curves": "later"} | OPEN
    run = put()
    assert states(session) == {"project": "done", "migration": "open", "launch": "done", "curves": "next"} | OPEN
    session.choose_run(run)
    assert states(session) == {"project": "done", "migration": "open", "launch": "next", "curves": "done"} | OPEN
    assert "Everything is set up." in page.sentence.text()


def test_that_a_project_is_no_condition_for_training(session: Session, put: Callable[..., Run]) -> None:
    put()
    assert states(session) == {"project": "open", "migration": "open", "launch": "done", "curves": "next"} | OPEN


def test_that_a_failed_run_is_no_first_training(session: Session, put: Callable[..., Run]) -> None:
    put(code=1)
    assert states(session)["launch"] == "next"


def test_that_the_next_step_leads_to_its_page(
    page: HomePage, session: Session, put: Callable[..., Run], qtbot: QtBot
) -> None:
    run = put()
    with qtbot.waitSignal(session.page_requested) as wanted:
        press(page, "home.step.curves")
    assert wanted.args == ["curves"]
    assert session.run == run


def test_that_recent_runs_show_their_end_and_open_with_a_click(
    page: HomePage, session: Session, put: Callable[..., Run], qtbot: QtBot
) -> None:
    put(recipe="linear")
    newest = put(mode="jit")
    row = page.recent.rows[0]
    assert row.run == newest
    assert len(row._curve._values) == 29
    assert row._loss.text() == "loss 0.06897"
    with qtbot.waitSignal(session.page_requested):
        row.click()
    assert session.run == newest


def test_that_only_so_many_runs_are_shown(page: HomePage, put: Callable[..., Run]) -> None:
    for _ in range(8):
        put()
    assert len([row for row in page.recent.rows if row.isVisible()]) == 6


def test_that_a_failed_run_needs_attention_and_says_why(page: HomePage, put: Callable[..., Run]) -> None:
    put(code=1, rule="launch.out_of_memory")
    assert page.attention.isVisible()
    assert "Out of memory: no room left." in texts(page)
    change_language("zh")
    assert "内存不足：no room left。" in texts(page)


def test_that_a_failure_is_forgotten_after_a_run_that_went_well(page: HomePage, put: Callable[..., Run]) -> None:
    put(code=1)
    assert "It gave no reason." in texts(page)
    put()
    assert not page.attention.isVisible()


def test_that_a_stopped_run_needs_no_attention(page: HomePage, put: Callable[..., Run]) -> None:
    put(code=143, reason="stopped")
    assert not page.attention.isVisible()


def test_that_the_machine_is_described_from_files_alone(page: HomePage) -> None:
    shown = texts(page)
    assert "CPU cores" in shown
    assert "GB" in shown
    assert "MindSpore" in shown


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("size", [(1104, 754), (1744, 1034)])
@pytest.mark.parametrize("filled", [False, True])
def test_that_nothing_is_cut_off(
    page: HomePage, put: Callable[..., Run], language: str, size: tuple[int, int], filled: bool
) -> None:
    page.resize(*size)
    if filled:
        put()
        put(code=1, rule="launch.out_of_memory")
    change_language("zh" if language == "zh" else "en")
    looks.settle()
    assert looks.faults(page) == []
    change_language("en")
    assert looks.left_in_chinese(page) == []


def test_that_a_sparkline_goes_from_edge_to_edge_and_leaves_gaps() -> None:
    found = places([1.0, float("nan"), 3.0], 96, 28)
    assert found[1] is None
    first, last = found[0], found[2]
    assert first is not None
    assert last is not None
    assert (first.x(), first.y()) == (3, 25)
    assert (last.x(), last.y()) == (93, 3)


def test_that_a_flat_sparkline_is_in_the_middle() -> None:
    (only,) = places([2.0], 96, 28)
    assert only is not None
    assert only.y() == 14
    assert places([], 96, 28) == []


def run_of(session: Session, command: str, ended: Ended | None, at: int = 50, **values: Any) -> Run:
    """A run of any command among the session's; `at`: its place in time. One without an end is queued."""
    session.folder.mkdir(parents=True, exist_ok=True)
    made = runs.create(session.folder, command, values)
    run = runs.open_run(made.folder.rename(session.folder / f"20260101-0000{at:02d}-{command}"))
    if ended is not None:
        Journal(run.folder, 1).write(ended)
    session.refresh_runs()
    return run


def marks(session: Session) -> dict[str, str]:
    return {step.id: step.mark for step in steps(session) if step.mark}


def test_that_a_training_at_work_is_running_and_watching_it_is_next(
    page: HomePage, session: Session, tmp_path: Path
) -> None:
    session.open_project(tmp_path)
    run_of(session, "launch", None)
    assert marks(session) == {"launch": "working"}
    assert states(session)["launch"] == "later"
    assert states(session)["curves"] == "next"
    assert "Start a first training" not in page.sentence.text()
    assert "Under way" in texts(page)
    assert "Runs waiting to start: 1." in page.sentence.text()


@pytest.mark.parametrize(
    ("ended", "mark"),
    [
        (Ended(code=0, reason="stopped"), "stopped"), (Ended(code=1), "problem"),
        (Ended(code=3, reason="nonfinite"), "problem"),
    ],
)  # fmt: skip
def test_that_home_says_how_the_newest_training_ended(
    page: HomePage, session: Session, tmp_path: Path, ended: Ended, mark: str
) -> None:
    session.open_project(tmp_path)
    run_of(session, "launch", Ended(code=0), at=1)
    run = run_of(session, "launch", ended, at=2)
    session.choose_run(run)
    assert marks(session) == {"launch": mark}
    assert states(session)["launch"] == "next"  # once more: it was done before
    assert ("Everything is set up." in page.sentence.text()) == (mark != "problem")


@pytest.mark.parametrize("reason", ["no", "incomplete", ""])
def test_that_a_comparison_that_failed_is_not_done_and_nothing_is_said_to_be_set_up(
    page: HomePage, session: Session, tmp_path: Path, put: Callable[..., Run], reason: str
) -> None:
    session.open_project(tmp_path)
    session.choose_run(put())
    run_of(session, "compare", Ended(code=0), at=60)
    assert states(session)["precision"] == "done"
    assert "Everything is set up." in page.sentence.text()
    run_of(session, "compare", Ended(code=3 if reason else 1, reason=reason), at=61)
    assert states(session)["precision"] == "open"
    assert marks(session) == {"precision": "problem"}
    assert "Everything is set up." not in page.sentence.text()
    assert "A problem is open" in page.sentence.text()


def test_that_a_certificate_that_was_refused_later_is_no_proof(session: Session, tmp_path: Path) -> None:
    session.open_project(tmp_path)
    run_of(session, "certify", Ended(code=0), at=1)
    assert states(session)["migration"] == "done"
    run_of(session, "certify", Ended(code=3, reason="no"), at=2)
    assert states(session)["migration"] == "next"
    assert marks(session) == {"migration": "problem"}


def test_that_a_training_that_runs_is_under_way_in_the_step_that_watches_and_is_opened_by_it(
    qtbot: QtBot, page: HomePage, session: Session, put: Callable[..., Run]
) -> None:
    session.choose_run(put())
    running = runs.create(session.folder, "launch", schema.to_json(launch_spec()))
    write_worker(running.folder)
    session.refresh_runs()
    assert marks(session)["curves"] == "working"
    press(page, "home.step.curves")
    assert session.run is not None
    assert session.run.folder == running.folder


def test_that_a_training_that_waits_for_its_turn_is_not_to_be_watched_yet(session: Session) -> None:
    session.folder.mkdir(parents=True, exist_ok=True)
    runs.create(session.folder, "launch", schema.to_json(launch_spec()))
    session.refresh_runs()
    assert "curves" not in marks(session)


def test_that_a_rehearsal_that_is_looked_at_is_not_watching_a_training(session: Session, tmp_path: Path) -> None:
    session.open_project(tmp_path)
    session.choose_run(run_of(session, "rehearse", Ended(code=0)))
    assert states(session)["curves"] != "done"


def test_that_a_cuda_project_is_offered_its_migration_and_not_the_digits(
    page: HomePage, session: Session, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "train.py").write_text("model = Net().cuda()\n")
    session.open_project(tmp_path)
    qtbot.waitUntil(lambda: "Next: Migrate a GPU project." in page.sentence.text())
    assert "Digits takes" not in texts(page)


@pytest.mark.parametrize(
    ("code", "is_used"),
    [("x.to('cuda:0')", True), ("torch.cuda.amp", True), ("dist.init_process_group('nccl')", True), ("x.npu()", False)],
)
def test_that_cuda_is_found_in_the_code_of_a_project_and_not_in_its_environments(
    tmp_path: Path, code: str, is_used: bool
) -> None:
    (tmp_path / "venv").mkdir()
    (tmp_path / "venv" / "torch.py").write_text("torch.cuda")
    (tmp_path / "train.py").write_text(code)
    assert uses_gpu(tmp_path) == is_used
