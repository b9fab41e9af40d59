"""The options that a script itself declares, as fields below its line: a change in one changes the other. Below them
what the configuration files say that the line names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from backends.launch.own import configs, options, program
from backends.launch.own.option_words import key_of
from backends.launch.own.plan import folder_of, script_of
from studio.texts import t
from ui.asking import ask
from ui.form_card import COLUMNS
from ui.launch.own_config import ConfigBox
from ui.launch.own_option_box import OptionBox
from ui.widgets import GAP, Sentence, label, line, text_button

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backends.launch.own.options import Found, Option, Value
    from backends.launch.own.spec import OwnSpec

    Stamps = tuple[tuple[tuple[Path, int, int], ...], tuple[configs.Named, ...]]

FEW = 12


@dataclass(frozen=True, kw_only=True)
class Asked:
    script: Path | None = None
    arguments: tuple[str, ...] = ()
    folder: Path = Path()


class ScriptOptions(QWidget):
    """`arguments_edited`: what the script is to be given, as words."""

    arguments_edited = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("own_script_options")
        self._asked = Asked()
        self._under_way: Asked | None = None
        self._stamps: Stamps = ((), ())
        self._found = options.Found()
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
        for place in range(COLUMNS):
            self._grid.setColumnStretch(place, 1)
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
        script, before = script_of(spec, project), self._asked.script
        found = program.read(spec.program.line)
        arguments = found.arguments if found.script else found.words[1:]
        self._asked = Asked(script=script, arguments=arguments, folder=folder_of(spec, project))
        if script != before:
            self._stamps, self._all = ((), ()), False
            self._place(options.Found())
        else:
            self._show_values()
        self._look()

    def _look(self) -> None:
        """One question at a time; what was asked meanwhile is asked when its answer is there."""
        if self._under_way is None:
            self._under_way = self._asked
            ask(self, partial(look, self._asked, self._stamps), self._read)

    def _read(self, answer: tuple[Stamps, Found] | None) -> None:
        """An answer about a script that is not chosen any more is nobody's."""
        asked, self._under_way = self._under_way, None
        if answer is not None and asked is not None and asked.script == self._asked.script:
            self._stamps = answer[0]
            self._place(answer[1])
        if asked != self._asked:
            self._look()

    def _place(self, found: Found) -> None:
        """Fields that stay the same stay where they are: somebody may be writing in one."""
        self._place_configs(found)
        is_same = list(map(_shape, found.options)) == list(map(_shape, self._found.options))
        self._found = found
        if is_same:
            by_key = {key_of(option): option for option in found.options}
            for box in self.boxes:
                box.show_option(by_key[key_of(box.option)])
        else:
            for box in self.boxes:
                self._drop(box)
            self.boxes = []
        self._show_values()

    def _place_configs(self, found: Found) -> None:
        if [box.config for box in self.configs] == list(found.configs):
            return
        for box in self.configs:
            self._files.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.configs = [ConfigBox(config) for config in found.configs]
        for box in self.configs:
            self._files.addWidget(box)

    def _options(self) -> tuple[Option, ...]:
        """Those of the script itself, and of the subcommand that the line names."""
        return tuple(one for one in self._found.options if not one.command or one.command in self._asked.arguments)

    def _add_boxes(self, values: Mapping[str, Value]) -> None:
        """What must be given first; the order of the source otherwise. Of many a few, and what the line names."""
        every = {key_of(one): one for one in sorted(self._options(), key=lambda one: not one.required)}
        boxes = {key_of(box.option): box for box in self.boxes}
        shown = {key for place, key in enumerate(every) if self._all or place < FEW or key in values or key in boxes}
        if shown == boxes.keys():
            return
        for key in boxes.keys() - every.keys():  # of a subcommand that is not chosen any more
            self._drop(boxes[key])
        self.boxes = [boxes[key] if key in boxes else self._new_box(every[key]) for key in every if key in shown]
        for place, box in enumerate(self.boxes):
            self._grid.removeWidget(box)
            self._grid.addWidget(box, place // COLUMNS, place % COLUMNS)

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
        values, _ = options.parse_words(self._found.options, self._asked.arguments)
        self._add_boxes(values)
        for box in self.boxes:
            box.folder = self._asked.folder
            box.show_value(values.get(key_of(box.option)))
        self._show()

    def _edited(self) -> None:
        values, rest = options.parse_words(self._found.options, self._asked.arguments)
        for box in self.boxes:
            value = box.value()
            if value is None:
                values.pop(key_of(box.option), None)
            else:
                values[key_of(box.option)] = value
        self.arguments_edited.emit((*options.to_words(self._found.options, values), *rest))

    def _show(self) -> None:
        script = self._asked.script
        count, reason = len(self._options()), self._found.reason
        is_partly = bool(self._found.unread or self._found.beside)
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


def look(asked: Asked, known: Stamps) -> tuple[Stamps, Found] | None:
    """Not in the thread of Qt: it reads files. None where nothing has changed since `known`."""
    script = asked.script
    files = (*filter(None, (script,)), *configs.candidates(asked.arguments, asked.folder))
    written = tuple((file, *_stamp(file)) for file in dict.fromkeys(files))
    stamps = (written, configs.named(asked.arguments, asked.folder))
    if stamps == known:
        return None
    if script is not None and written[0][1:] == (0, 0):
        return stamps, options.Found()
    return stamps, options.look_at_line(script, asked.arguments, asked.folder)


def _stamp(path: Path) -> tuple[int, int]:
    """When a file was last written, and its size; zeros where there is none."""
    try:
        found = path.stat()
    except (OSError, ValueError):
        return 0, 0
    return found.st_mtime_ns, found.st_size


def _shape(option: Option) -> Option:
    """What a box is made by: all but its default."""
    return replace(option, default=option.default if option.form != "equals" else None, default_source="", path="")
