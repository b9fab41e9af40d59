"""The big figures at the top: step, loss, what is measured, speed, step time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.texts import t
from studio.units import count, duration, number
from ui.widgets.basic import GAP, Figure
from ui.widgets.metric_format import format_of, number_of

if TYPE_CHECKING:
    from backends.common.run_status import RunStatus
    from studio.series import Curves, Series

NOTHING = "–"
MEASURED = ("accuracy", "eval_loss", "line")


class FigureRow(QWidget):
    def __init__(self) -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GAP)
        names = ("step", "loss", *MEASURED, "speed", "step_time")
        self.figures = {name: Figure(f"curves.figure.{name}") for name in names}
        for name, figure in self.figures.items():
            figure.setObjectName(f"curves.figure.{name}")
            row.addWidget(figure, 1)

    def show_status(self, story: RunStatus, curves: Curves, recipe: str) -> None:
        series_by_name = {name: series for (rank, name), series in curves.series.items() if rank == min(curves.ranks())}
        self._show_step(story)
        mean = curves.mean("loss")
        basis = "" if mean is None else t("curves.mean_of_ranks", n=len(curves.ranks()))
        self._show_loss(series_by_name.get("loss") if mean is None else mean, story, basis)
        self._show_measured(series_by_name, recipe, story)
        self._show_speed(story, series_by_name.get("throughput"), series_by_name.get("step_time"))

    def _show_step(self, story: RunStatus) -> None:
        of = f" / {_whole(story.total)}" if story.total > 0 else ""
        left = story.seconds_left()
        hint = t("curves.left", time=duration(left)) if left and not story.ended else ""
        self.figures["step"].show_value(f"{_whole(story.steps_done)}{of}", "", hint)

    def _show_loss(self, loss: Series | None, story: RunStatus, basis: str) -> None:
        """`basis`: what the figure is a mean of, "" where it is one rank's own."""
        if loss is None or not len(loss):
            self.figures["loss"].show_value(NOTHING, "", "" if story.ended else t("curves.from_first_step"))
            return
        best = loss.smallest()
        hint = t("curves.best", value=number(best[1], 3), step=_whole(best[0])) if best else ""
        self.figures["loss"].show_value(number(loss.point(-1)[1]), "", " · ".join(filter(None, (basis, hint))))

    def _show_measured(self, series_by_name: dict[str, Series], recipe: str, story: RunStatus) -> None:
        chosen = _measured(series_by_name, recipe)
        for name in MEASURED:
            self.figures[name].setVisible(name == chosen)
        if chosen == "line":
            weight, bias = (series_by_name[name].point(-1)[1] for name in ("weight", "bias"))
            self.figures["line"].show_value(line_text(weight, bias), "", t("curves.true_line"))
        elif chosen:
            self._show_metric(chosen, series_by_name.get(chosen), story)

    def _show_metric(self, name: str, series: Series | None, story: RunStatus) -> None:
        figure = self.figures[name]
        if series is None or not len(series):
            figure.show_value(NOTHING, "", t("curves.no_evaluation" if story.ended else "curves.at_first_evaluation"))
            return
        step, value = series.point(-1)
        figure.show_value(number_of(name, value), format_of(name).unit, t("curves.validation", step=_whole(step)))

    def _show_speed(self, story: RunStatus, speed: Series | None, step_time: Series | None) -> None:
        rate, seconds = usual(speed), usual(step_time)
        if story.ended and story.summary and story.summary.step_seconds > 0:
            rate, seconds = story.summary.samples_per_second, story.summary.step_seconds
        self.figures["speed"].show_value(count(rate) if rate else NOTHING, "", t("curves.per_second") if rate else "")
        value, unit = _split(duration(seconds)) if seconds else (NOTHING, "")
        self.figures["step_time"].show_value(value, unit, self._first(story))

    def _first(self, story: RunStatus) -> str:
        if story.compile_seconds is not None:
            return t("curves.first_step_compiled", time=duration(story.compile_seconds))
        return t("curves.usual_step") if story.step > 1 else ""


def usual(series: Series | None, last: int = 20) -> float | None:
    """The middle of the last values: one slow step does not make the figure jump. The first step is left out."""
    if series is None or not len(series):
        return None
    values = sorted(filter(math.isfinite, series.last_values(min(last, len(series) - 1)).tolist()))
    return values[len(values) // 2] if values else None


def line_text(weight: float, bias: float) -> str:
    """'y = 2.01 x + 2.99'."""
    sign = "+" if bias >= 0 or math.isnan(bias) else "−"
    return f"y = {number(weight, 3)} x {sign} {number(abs(bias), 3)}"


def _measured(series_by_name: dict[str, Series], recipe: str) -> str:
    """What tells how good it is: measured on the validation set, or the line that `linear` learns."""
    if len(series_by_name.get("weight", ())) and len(series_by_name.get("bias", ())):
        return "line"
    if "accuracy" in series_by_name or recipe == "digits":
        return "accuracy"
    return "eval_loss" if "eval_loss" in series_by_name or recipe == "text" else ""


def _split(text: str) -> tuple[str, str]:
    """'25.8 ms' as number and unit; longer times stay whole."""
    value, _, unit = text.partition(" ")
    return (value, unit) if " " not in unit else (text, "")


def _whole(value: int) -> str:
    return f"{value:,}".replace(",", "\u2009")
