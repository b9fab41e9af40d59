"""What will happen: the device, what the mode does, and what was measured before. Nothing is estimated."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from backends.common.npu_devices import npu_names
from backends.launch.measured_figures import last_figures
from backends.launch.spec import FRAMEWORKS
from studio import interpreters
from studio.texts import t
from studio.units import count, duration
from ui.form.section import HEADER
from ui.launch.spec_sentences import forecast_sentences
from ui.services.background import run_in_background
from ui.services.run_titles import mode_name, when
from ui.widgets.basic import (
    Card,
    Sentence,
    label,
    retone,
)
from ui.widgets.page_scroll import empty

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.common.summary import Summary
    from backends.launch.spec import LaunchSpec
    from studio.run import Glance, Run


def _device(spec: LaunchSpec) -> tuple[str, str]:
    """The sentence about the device, and its role."""
    npu_count = len(npu_names())
    if spec.how.device == "cpu":
        return t("launch.on_cpu"), "dim"
    if spec.how.device == "virtual_npu":
        return t("launch.on_virtual_npu"), "dim"
    if npu_count:
        return t("launch.on_npu", count=npu_count), "dim"
    return (t("launch.no_npu"), "warning") if spec.how.device == "ascend" else (t("launch.auto_cpu"), "dim")


def _read_interpreter(path: Path) -> interpreters.Interpreter | None:
    return interpreters.read(path) if path.is_file() else None


class ForecastCard(Card):
    def __init__(self) -> None:
        super().__init__("launch.outlook")
        self.header.addStrut(HEADER)
        self.body.setSpacing(8)
        self._spec: LaunchSpec | None = None
        self._measured: dict[str, tuple[Run, Summary]] = {}
        self._measured_for: tuple[object, ...] = ()
        self._read = interpreters.Interpreter(path=Path(), version="", packages={})
        self._is_read = False
        self._device, self._python = Sentence(), Sentence()
        self._sentences: list[Sentence] = []
        self._facts = QVBoxLayout()
        self._facts.setSpacing(8)
        for sentence in (self._device, self._python):
            self._facts.addWidget(sentence)
        self.body.addLayout(self._facts)
        self._table = QWidget()
        self._grid = QGridLayout(self._table)
        self._grid.setContentsMargins(0, 4, 0, 0)
        self._grid.setHorizontalSpacing(14)
        self._grid.setVerticalSpacing(6)
        self._grid.setColumnStretch(0, 1)
        self.body.addWidget(self._table)
        self._table.hide()

    def show_spec(self, spec: LaunchSpec) -> None:
        self._spec = spec
        text, role = _device(spec)
        self._device.setText(text)
        retone(self._device, "role", role)
        self._show_followed(forecast_sentences(spec))
        self._show_python(spec.advanced.python, spec.what.framework)

    def _show_followed(self, texts: list[str]) -> None:
        """Between the device and the interpreter."""
        for _ in texts[len(self._sentences) :]:
            self._sentences.append(Sentence())
            self._facts.insertWidget(len(self._sentences), self._sentences[-1])
        for index, sentence in enumerate(self._sentences):
            sentence.setVisible(index < len(texts))
            sentence.setText(texts[index] if index < len(texts) else "")

    def _show_python(self, python: Path, framework: str) -> None:
        """A chosen interpreter is read, not run; the studio's own is known to have what it needs."""
        if python != Path() and self._read.path != python:
            self._read = interpreters.Interpreter(path=python, version="", packages={})
            self._is_read = False
            run_in_background(self, partial(_read_interpreter, python), self._take_python)
        self._python.setVisible(python != Path() and self._is_read)
        if self._is_read:
            version = self._read.packages.get(framework, "")
            names = {"framework": FRAMEWORKS[framework], "installed": version}
            args = {"version": self._read.version or "?", **names}
            self._python.setText(t("launch.python_with" if version else "launch.python_without", **args))
            retone(self._python, "role", "dim" if version else "warning")

    def _take_python(self, read: interpreters.Interpreter | None) -> None:
        if read is not None and read.path == self._read.path:
            self._read, self._is_read = read, True
            if self._spec is not None:
                self._show_python(self._spec.advanced.python, self._spec.what.framework)

    def show_measured(self, listed: Iterable[tuple[Run, Glance]], recipe: str) -> None:
        """The figures of the last run of a recipe in each mode; files are read only when other runs have ended."""
        ended = [run for run, glance in listed if glance.state == "ended"]
        key = (recipe, *(run.name for run in ended))
        if key != self._measured_for:
            self._measured_for = key
            self._measured = last_figures(ended, recipe)
            self._show_table()

    def retranslate(self) -> None:
        self._show_table()

    def _show_table(self) -> None:
        empty(self._grid)
        self._table.setVisible(bool(self._measured))
        if not self._measured:
            return
        heads = ("launch.measured", "launch.per_step", "launch.speed", "launch.compile")
        for column, key in enumerate(heads):
            self._put(0, column, t(key), "hint")
        for row, (_mode, (run, summary)) in enumerate(sorted(self._measured.items(), reverse=True), start=1):
            for column, text in enumerate(_cells(run, summary)):
                self._put(row, column, text, "" if column else "dim")

    def _put(self, row: int, column: int, text: str, role: str) -> None:
        cell: QLabel = label(role=role)
        cell.setText(text)
        side = Qt.AlignmentFlag.AlignRight if column else Qt.AlignmentFlag.AlignLeft
        self._grid.addWidget(cell, row, column, side | Qt.AlignmentFlag.AlignVCenter)


def _cells(run: Run, summary: Summary) -> tuple[str, ...]:
    compiled = duration(summary.compile_seconds) if summary.compile_seconds else "–"
    name = f"{mode_name(run)} · {when(run)}"
    return name, duration(summary.step_seconds), count(summary.samples_per_second), compiled
