"""Timeline in the pictures: the real profile of two ranks where it is at hand, else one that is made here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication

from studio.project import Project, make_runs_folder
from studio.run import create
from tests.bench.stage import wait
from tests.timeline.cluster_tables import write_cluster
from tests.timeline.other_traces import kineto
from tests.timeline.profile_data import PROFILES, RANK
from tests.timeline.profile_folders import ranks
from tests.timeline.torch_npu_trace import write_object
from ui.timeline.state.selection import TimeRange

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.shots.stage import Stage
    from ui.shell.window import Shell
    from ui.timeline.page import TimelinePage

MADE = "profile-of-two-ranks"
KERNEL = "MatMul"
FALLING = Qt.SortOrder.DescendingOrder


def build(folder: Path) -> None:
    """A profile for where the shared data is absent, and a project with a run that has captured one."""
    ranks(folder / MADE, steps=3, kernels=30)
    project = folder / "profiled"
    project.mkdir()
    line = {"program": {"line": ["python", "train.py"]}}
    run = create(make_runs_folder(Project(folder=project)), "script", line, project)
    captured = run.folder / "artifacts" / "captures" / "101112-profile-ab12" / "rank0"
    captured.mkdir(parents=True)
    write_object(captured / "101112-profile-ab12.pt.trace.json", kineto())


def _real(stage: Stage) -> Path:
    path = PROFILES / RANK / "text"
    return path if path.is_dir() else stage.folder / MADE


def _page(shell: Shell, stage: Stage) -> TimelinePage:
    if (before := QApplication.activePopupWidget()) is not None:
        before.close()
    while shell.strip.messages:
        shell.strip.close_message()
    project = stage.folder / "profiled"
    if shell.session.project is None or shell.session.project.folder != project:
        shell.session.open_project(project)
    page: TimelinePage = shell.page_widget("timeline")  # type: ignore[assignment]
    return page


def _opened(shell: Shell, stage: Stage) -> TimelinePage:
    """All of it, nothing selected, no matches, the panes open."""
    page, path = _page(shell, stage), _real(stage)
    if page.path != path or page.opened is None:
        page.open(path)
        wait(lambda: page.opened is not None and page.path == path, 60)
    wait(page.sentence.isVisible, 60)
    page.tools.search.field.clear()
    page.state.selection.choose_range(None)
    page.state.selection.select(-1)
    page.state.viewport.show_whole()
    page.state.viewport.scroll_to(0)
    page.panes.show_tab("slice")
    return page


def _empty(shell: Shell, stage: Stage) -> None:
    page = _page(shell, stage)
    page._show_start()
    wait(page.start.captured.isVisible, 30)


def _loading(shell: Shell, stage: Stage) -> None:
    """As it is before the first lanes are there."""
    _empty(shell, stage)
    page = _page(shell, stage)
    page._begun(_real(stage) / "trace_view.json")
    page.loading.show_progress(312_000_000, 989_000_000)


def _error(shell: Shell, stage: Stage) -> None:
    page = _page(shell, stage)
    page.open(stage.folder / "profiled" / "lost_ascend_pt")
    wait(page.failed.isVisible, 30)


def _whole(shell: Shell, stage: Stage) -> None:
    _opened(shell, stage)


def _kernel(page: TimelinePage) -> int:
    """The longest of a device."""
    trace = page.state.trace
    assert trace is not None
    names = [number for number, name in enumerate(trace.name_texts) if KERNEL in name]
    found = [
        index
        for index in range(len(trace.start))
        if int(trace.name[index]) in names and trace.meta.lanes[trace.lane_of(index)].kind == "device"
    ]
    return max(found, key=lambda index: int(trace.end[index] - trace.start[index]))


def _slice(shell: Shell, stage: Stage) -> None:
    page = _opened(shell, stage)
    page.state.reveal(_kernel(page))
    wait(page.panes.slice.host_call.isVisible, 30)


def _range(shell: Shell, stage: Stage) -> None:
    page = _opened(shell, stage)
    span = page.state.viewport.whole[1]
    page.state.selection.choose_range(TimeRange(begin=round(span * 0.3), end=round(span * 0.6)))
    wait(lambda: page.panes.range.reckoned is not None, 30)


def _search(shell: Shell, stage: Stage) -> None:
    page = _opened(shell, stage)
    page.panes.show_tab("search")
    page.tools.search.field.setText(KERNEL)
    wait(lambda: len(page.state.hits.slices) > 0, 30)
    page.state.go_to_hit(1)


def _data(shell: Shell, stage: Stage) -> None:
    _opened(shell, stage).panes.show_tab("data")


def _tables(shell: Shell, stage: Stage) -> None:
    """The kernels, the longest first."""
    page = _opened(shell, stage)
    pane = page.panes.tables
    page.panes.show_tab("tables")
    wait(lambda: pane.arranged is not None, 30)
    assert pane.arranged is not None
    pane.view.sortByColumn([column.name for column in pane.arranged.rows.columns].index("Duration(us)"), FALLING)
    wait(lambda: pane.arranged is not None and bool(pane.arranged.order[0]), 30)


def _analysis(shell: Shell, stage: Stage) -> None:
    """Tables without a trace."""
    page, folder = _page(shell, stage), stage.folder / "cluster_analysis_output"
    folder.mkdir(exist_ok=True)
    write_cluster(folder / "cluster_analysis.db")
    page.open(folder)
    wait(lambda: page.path == folder and page.loading.isHidden() and page.panes.tables.arranged is not None, 30)


def _keys(shell: Shell, stage: Stage) -> None:
    _opened(shell, stage).show_keys()


def _menu(shell: Shell, stage: Stage) -> None:
    page = _opened(shell, stage)
    index = _kernel(page)
    page.state.reveal(index)
    page.slice_menu.open(index, page.view.mapToGlobal(QPoint(420, 160)))


STATES: tuple[tuple[str, Callable[[Shell, Stage], None]], ...] = (
    ("timeline-empty", _empty),
    ("timeline-loading", _loading),
    ("timeline-error", _error),
    ("timeline-real", _whole),
    ("timeline-slice", _slice),
    ("timeline-range", _range),
    ("timeline-search", _search),
    ("timeline-data", _data),
    ("timeline-tables", _tables),
    ("timeline-analysis", _analysis),
    ("timeline-keys", _keys),
    ("timeline-menu", _menu),
)
