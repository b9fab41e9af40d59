"""The four views of Precision, each made when it is first shown."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QStackedWidget, QWidget

from ui.precision.comparison.view import CompareView

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from studio.run import Run
    from ui.precision.capture.view import CaptureView
    from ui.precision.captures import Capture
    from ui.precision.environment.view import EnvironmentView
    from ui.precision.losses_weights.view import LossesWeightsView
    from ui.services.session import Session

COMPARE, CAPTURE, ENVIRONMENT, LOSSES_WEIGHTS = range(4)
VIEW_OF_COMMAND = {
    "config-check": ENVIRONMENT, "determinism": ENVIRONMENT, "compare-losses": LOSSES_WEIGHTS,
    "compare-weights": LOSSES_WEIGHTS,
}  # fmt: skip


class Views(QStackedWidget):
    """`start_requested` carries a command and its spec, `side_chosen` 'target' or 'golden' and the capture for it."""

    start_requested = Signal(str, object)
    side_chosen = Signal(str, object)

    def __init__(self, session: Session) -> None:
        super().__init__()
        self._session = session
        self._captures: Sequence[Capture] = ()
        self._answers: dict[str, tuple[Run, Any]] = {}
        for _ in range(4):
            self.addWidget(QWidget())

    @cached_property
    def compare(self) -> CompareView:
        view = CompareView(self._session)
        view.sides.sides_changed.connect(lambda _paths: self._show_sides())
        self._insert(COMPARE, view)
        return view

    @cached_property
    def capture(self) -> CaptureView:
        from ui.precision.capture.view import CaptureView

        view = CaptureView(self._session)
        view.capture_requested.connect(self.start_requested)
        view.side_chosen.connect(self.side_chosen)
        view.show_project(self._session.project)
        view.show_captures(self._captures)
        view.captures_card.show_sides(self._chosen_sides())
        self._insert(CAPTURE, view)
        return view

    @cached_property
    def environment(self) -> EnvironmentView:
        from ui.precision.environment.view import EnvironmentView

        view = EnvironmentView(self._session)
        view.start_requested.connect(self.start_requested)
        self._insert(ENVIRONMENT, view)
        self._fill(view, ENVIRONMENT)
        return view

    @cached_property
    def losses_weights(self) -> LossesWeightsView:
        from ui.precision.losses_weights.view import LossesWeightsView

        view = LossesWeightsView(self._session)
        view.start_requested.connect(self.start_requested)
        self._insert(LOSSES_WEIGHTS, view)
        self._fill(view, LOSSES_WEIGHTS)
        return view

    def _insert(self, tab: int, view: QWidget) -> None:
        placeholder = self.widget(tab)
        assert placeholder is not None
        self.insertWidget(tab, view)
        self.removeWidget(placeholder)
        placeholder.deleteLater()

    def _fill(self, view: EnvironmentView | LossesWeightsView, tab: int) -> None:
        view.show_project(self._session.project)
        view.show_runs(self._session.listed)
        for command, (run, answer) in self._answers.items():
            if VIEW_OF_COMMAND[command] == tab:
                view.show_answer(command, run, answer)

    def _view(self, tab: int) -> CompareView | CaptureView | EnvironmentView | LossesWeightsView:
        """Return the view of a tab; make it if need be."""
        if tab == COMPARE:
            return self.compare
        if tab == CAPTURE:
            return self.capture
        return self.environment if tab == ENVIRONMENT else self.losses_weights

    def _answer_views(self) -> Iterator[tuple[int, EnvironmentView | LossesWeightsView]]:
        """Yield the views of answers that have been made, each with its tab."""
        if "environment" in self.__dict__:
            yield ENVIRONMENT, self.environment
        if "losses_weights" in self.__dict__:
            yield LOSSES_WEIGHTS, self.losses_weights

    @property
    def _has_capture(self) -> bool:
        return "capture" in self.__dict__

    def show_view(self, tab: int) -> None:
        self.setCurrentWidget(self._view(tab))

    def show_captures(self, captures: Sequence[Capture]) -> None:
        self._captures = captures
        self.compare.show_captures(captures)
        if self._has_capture:
            self.capture.show_captures(captures)

    def _show_sides(self) -> None:
        if self._has_capture:
            self.capture.captures_card.show_sides(self._chosen_sides())

    def _chosen_sides(self) -> dict[Path, str]:
        """Return which side each capture is chosen for, by its path."""
        sides = self.compare.sides
        chosen = (("target", sides.target.capture), ("golden", sides.golden.capture))
        return {capture.path: side for side, capture in chosen if capture is not None}

    def counterpart_of(self, capture: Capture) -> Capture | None:
        """Return the newest other capture of the same kind, which most often is the other side."""
        kind = (capture.task, capture.level, capture.framework)
        others = (other for other in self._captures if other.path != capture.path)
        return next((other for other in others if (other.task, other.level, other.framework) == kind), None)

    def show_runs(self) -> None:
        if self._has_capture:
            self.capture.prefill()
        for _, view in self._answer_views():
            view.show_runs(self._session.listed)

    def show_answer(self, command: str, run: Run, answer: Any) -> None:
        self._answers[command] = (run, answer)
        for tab, view in self._answer_views():
            if tab == VIEW_OF_COMMAND[command]:
                view.show_answer(command, run, answer)

    def forget(self) -> None:
        """Drop what belongs to the previous project."""
        self._answers.clear()
        self.show_captures(())
        self.compare.sides.show_pair(None, None)
        self.compare.show_comparisons(())
        self.compare.show_loaded(None)
        if self._has_capture:
            self.capture.show_project(self._session.project)
        for _, view in self._answer_views():
            view.show_project(self._session.project)

    def sentence(self) -> str:
        """Return the summary of the view that is shown, '' where it has none."""
        return self._view(self.currentIndex()).sentence()
