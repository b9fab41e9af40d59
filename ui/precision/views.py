"""The four views of Precision. Each is made when it is first looked at."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from ui.precision.compare_view import CompareView

if TYPE_CHECKING:
    from collections.abc import Sequence

    from studio.run import Run
    from ui.precision.capture_view import CaptureView
    from ui.precision.captures import Capture
    from ui.precision.environment_view import EnvironmentView
    from ui.precision.measures_view import MeasuresView
    from ui.session import Session

COMPARE, CAPTURE, ENVIRONMENT, MEASURES = range(4)
NAMES = ("compare", "capture", "environment", "measures")
SHOWN_BY = {
    "config-check": "environment", "determinism": "environment", "compare-losses": "measures",
    "compare-weights": "measures",
}  # fmt: skip


class Views(QStackedWidget):
    """`start_wanted`: a command and its spec. `side_chosen`: 'target' or 'golden', and the capture for it."""

    start_wanted = Signal(str, object)
    side_chosen = Signal(str, object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._captures: Sequence[Capture] = ()
        self._answers: dict[str, tuple[Run, Any]] = {}
        for _ in NAMES:
            self.addWidget(QWidget())

    @cached_property
    def compare(self) -> CompareView:
        made = CompareView(self._session)
        self._place(COMPARE, made)
        return made

    @cached_property
    def capture(self) -> CaptureView:
        from ui.precision.capture_view import CaptureView

        made = CaptureView(self._session)
        made.capture_wanted.connect(self.start_wanted)
        made.side_chosen.connect(self.side_chosen)
        made.show_project(self._session.project)
        made.show_captures(self._captures)
        self._place(CAPTURE, made)
        return made

    @cached_property
    def environment(self) -> EnvironmentView:
        from ui.precision.environment_view import EnvironmentView

        made = EnvironmentView(self._session)
        made.start_wanted.connect(self.start_wanted)
        self._place(ENVIRONMENT, made)
        self._tell(made, "environment")
        return made

    @cached_property
    def measures(self) -> MeasuresView:
        from ui.precision.measures_view import MeasuresView

        made = MeasuresView(self._session)
        made.start_wanted.connect(self.start_wanted)
        self._place(MEASURES, made)
        self._tell(made, "measures")
        return made

    def _place(self, at: int, view: QWidget) -> None:
        stand_in = self.widget(at)
        assert stand_in is not None
        self.insertWidget(at, view)
        self.removeWidget(stand_in)
        stand_in.deleteLater()

    def _tell(self, view: EnvironmentView | MeasuresView, name: str) -> None:
        view.show_project(self._session.project)
        view.show_runs(self._session.listed)
        for command, (run, answer) in self._answers.items():
            if SHOWN_BY[command] == name:
                view.show_answer(command, run, answer)

    # What they show

    def show_view(self, at: int) -> None:
        self.setCurrentWidget(getattr(self, NAMES[at]))

    def show_captures(self, captures: Sequence[Capture]) -> None:
        self._captures = captures
        self.compare.show_captures(captures)
        if "capture" in self.__dict__:
            self.capture.show_captures(captures)

    def like(self, capture: Capture) -> Capture | None:
        """The newest other capture of the same kind: most often the other side."""
        kind = (capture.task, capture.level, capture.framework)
        others = (one for one in self._captures if one.path != capture.path)
        return next((one for one in others if (one.task, one.level, one.framework) == kind), None)

    def show_runs(self) -> None:
        if "capture" in self.__dict__:
            self.capture.take_last_line()
        for name in ("environment", "measures"):
            if name in self.__dict__:
                getattr(self, name).show_runs(self._session.listed)

    def show_answer(self, command: str, run: Run, answer: Any) -> None:
        self._answers[command] = (run, answer)
        if (name := SHOWN_BY[command]) in self.__dict__:
            getattr(self, name).show_answer(command, run, answer)

    def forget(self) -> None:
        """Another project."""
        self._answers.clear()
        self.show_captures(())
        self.compare.pick.show_pair(None, None)
        self.compare.show_comparisons(())
        self.compare.show_compared(None)
        for name in ("capture", "environment", "measures"):
            if name in self.__dict__:
                getattr(self, name).show_project(self._session.project)

    def sentence(self) -> str:
        """What the view that is shown comes to."""
        return str(getattr(self, NAMES[self.currentIndex()]).sentence())
