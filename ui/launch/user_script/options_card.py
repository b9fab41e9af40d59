"""The options that a script itself declares, as fields below its line: a change in one changes the other. Below them
what the configuration files say that the line names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from backends.common import program_line
from backends.launch.own.options import config_files, reader
from backends.launch.own.options.words import key_of
from backends.launch.own.plan import folder_of, script_of
from studio.texts import t
from ui.form.section import COLUMNS
from ui.launch.user_script.config_values import ConfigBox
from ui.launch.user_script.option_box import OptionBox
from ui.services.background import run_in_background
from ui.widgets.basic import (
    GAP,
    Sentence,
    label,
    line,
    text_button,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.launch.own.options.reader import Option, Value
    from backends.launch.own.spec import OwnSpec

    Stamps = tuple[tuple[tuple[Path, int, int], ...], tuple[config_files.Named, ...]]

FEW = 12


@dataclass(frozen=True, kw_only=True)
class Question:
    script: Path | None = None
    arguments: tuple[str, ...] = ()
    folder: Path = Path()


class ScriptOptions(QWidget):
    """`arguments_edited`: what the script is to be given, as words."""

    arguments_edited = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("own_script_options")
        self._question = Question()
        self._running: Question | None = None
        self._stamps: Stamps = ((), ())
        self._script_options = reader.ScriptOptions()
        self.boxes: list[OptionBox] = []
        self.configs: list[ConfigBox] = []
        self._all = False
        self._title, self._hint = label(role="strong"), label("own_script.options_hint", "hint")
        self._trouble = Sentence()
        self._more = text_button("", "own_script.more_options")
        self._more.clicked.connect(self._show_all)
        self._build()
        self._show()

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(10)
        head.addWidget(self._title)
        head.addWidget(self._hint, 1)
        head.addWidget(self._more)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(GAP)
        for index in range(COLUMNS):
            self._grid.setColumnStretch(index, 1)
        self._files = QVBoxLayout()
        self._files.setSpacing(GAP)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GAP - 5, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(line())
        column.addLayout(head)
        column.addWidget(self._trouble)
        column.addLayout(self._grid)
        column.addLayout(self._files)
        column.addWidget(line())

    def show_spec(self, spec: OwnSpec, project: str) -> None:
        """Reads a script again when it is another one, or has changed, or the files that its line names."""
        script, before = script_of(spec, project), self._question.script
        program = program_line.parse_program_line(spec.program.line)
        arguments = program.arguments if program.script else program.words[1:]
        self._question = Question(script=script, arguments=arguments, folder=folder_of(spec, project))
        if script != before:
            self._stamps, self._all = ((), ()), False
            self._show_options(reader.ScriptOptions())
        else:
            self._show_values()
        self._read_options()

    def _read_options(self) -> None:
        """One question at a time; the latest one asked meanwhile follows when the answer has come."""
        if self._running is None:
            self._running = self._question
            run_in_background(self, partial(read_if_changed, self._question, self._stamps), self._read)

    def _read(self, answer: tuple[Stamps, reader.ScriptOptions] | None) -> None:
        """An answer about a script that is no longer chosen is dropped."""
        question, self._running = self._running, None
        if answer is not None and question is not None and question.script == self._question.script:
            self._stamps = answer[0]
            self._show_options(answer[1])
        if question != self._question:
            self._read_options()

    def _show_options(self, options: reader.ScriptOptions) -> None:
        """Fields that stay the same stay where they are: somebody may be writing in one."""
        self._show_configs(options)
        is_same = list(map(_shape, options.options)) == list(map(_shape, self._script_options.options))
        self._script_options = options
        if is_same:
            by_key = {key_of(option): option for option in options.options}
            for box in self.boxes:
                box.show_option(by_key[key_of(box.option)])
        else:
            for box in self.boxes:
                self._drop(box)
            self.boxes = []
        self._show_values()

    def _show_configs(self, options: reader.ScriptOptions) -> None:
        if [box.config for box in self.configs] == list(options.configs):
            return
        for box in self.configs:
            self._files.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.configs = [ConfigBox(config) for config in options.configs]
        for box in self.configs:
            self._files.addWidget(box)

    def _options(self) -> tuple[Option, ...]:
        """Those of the script itself, and of the subcommand that the line names."""
        return tuple(
            option
            for option in self._script_options.options
            if not option.command or option.command in self._question.arguments
        )

    def _add_boxes(self, values: Mapping[str, Value]) -> None:
        """What must be given first; the order of the source otherwise. Of many a few, and what the line names."""
        every = {key_of(option): option for option in sorted(self._options(), key=lambda option: not option.required)}
        boxes = {key_of(box.option): box for box in self.boxes}
        first = list(every)[: None if self._all else FEW]
        visible = {key for key in every if key in first or key in values or key in boxes}
        if visible == boxes.keys():
            return
        for key in boxes.keys() - every.keys():  # of a subcommand that is no longer chosen
            self._drop(boxes[key])
        self.boxes = [boxes[key] if key in boxes else self._new_box(every[key]) for key in every if key in visible]
        for index, box in enumerate(self.boxes):
            self._grid.removeWidget(box)
            self._grid.addWidget(box, index // COLUMNS, index % COLUMNS)

    def _drop(self, box: OptionBox) -> None:
        self._grid.removeWidget(box)
        box.hide()
        box.deleteLater()

    def _new_box(self, option: Option) -> OptionBox:
        box = OptionBox(option)
        box.edited.connect(self._edited)
        return box

    def _show_all(self) -> None:
        self._all = True
        self._show_values()

    def _show_values(self) -> None:
        values, _ = reader.parse_words(self._script_options.options, self._question.arguments)
        self._add_boxes(values)
        for box in self.boxes:
            box.folder = self._question.folder
            box.show_value(values.get(key_of(box.option)))
        self._show()

    def _edited(self) -> None:
        values, rest = reader.parse_words(self._script_options.options, self._question.arguments)
        for box in self.boxes:
            value = box.value()
            if value is None:
                values.pop(key_of(box.option), None)
            else:
                values[key_of(box.option)] = value
        self.arguments_edited.emit((*reader.to_words(self._script_options.options, values), *rest))

    def _show(self) -> None:
        script = self._question.script
        count, reason = len(self._options()), self._script_options.reason
        is_partly = bool(self._script_options.unread or self._script_options.library_classes)
        self.setVisible(bool(count or reason or is_partly or self.configs))
        self._title.setText(t("own_script.options", script=script.name if script else ""))
        self._title.setVisible(bool(count or reason or is_partly))
        self._hint.setVisible(count > 0)
        self._more.setVisible(count > len(self.boxes))
        self._more.setText(t("own_script.more_options", count=count))
        self._trouble.setText(str(reason) if reason else t("own_script.options_partly") if is_partly else "")
        self._trouble.setVisible(bool(self._trouble.text()))

    def retranslate(self) -> None:
        self._show()


def read_if_changed(question: Question, previous: Stamps) -> tuple[Stamps, reader.ScriptOptions] | None:
    """Read the options, outside the thread of Qt. None where nothing has changed since `previous`."""
    script = question.script
    files = (*filter(None, (script,)), *config_files.candidates(question.arguments, question.folder))
    written = tuple((file, *_stamp(file)) for file in dict.fromkeys(files))
    stamps = (written, config_files.named(question.arguments, question.folder))
    if stamps == previous:
        return None
    if script is not None and written[0][1:] == (0, 0):
        return stamps, reader.ScriptOptions()
    return stamps, reader.read_line_options(script, question.arguments, question.folder)


def _stamp(path: Path) -> tuple[int, int]:
    """When a file was last written, and its size; zeros where there is none."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return 0, 0
    return status.st_mtime_ns, status.st_size


def _shape(option: Option) -> Option:
    """What a box is made by: all but its default."""
    return replace(option, default=option.default if option.form != "equals" else None, default_source="", path="")
