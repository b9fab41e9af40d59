"""The options that a script itself declares, as fields below its line: a change in one changes the other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from backends.launch.own import options, program
from backends.launch.own.option_words import key_of
from backends.launch.own.plan import script_of
from studio.texts import t
from ui.asking import ask
from ui.form_card import COLUMNS
from ui.launch.own_option_box import OptionBox
from ui.widgets import GAP, Sentence, label, line, text_button

if TYPE_CHECKING:
    from pathlib import Path

    from backends.launch.own.options import Found, Option
    from backends.launch.own.spec import OwnSpec

    Asked = tuple[Path | None, int]

FEW = 12


class ScriptOptions(QWidget):
    """`arguments_edited`: what the script is to be given, as words."""

    arguments_edited = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("own_script_options")
        self._asked: Asked = (None, 0)
        self._found = options.Found()
        self._arguments: tuple[str, ...] = ()
        self.boxes: list[OptionBox] = []
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
        for column in range(COLUMNS):
            self._grid.setColumnStretch(column, 1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GAP - 5, 0, 0)
        column.setSpacing(GAP)
        column.addWidget(line())
        column.addLayout(head)
        column.addWidget(self._trouble)
        column.addLayout(self._grid)
        column.addWidget(line())

    def show_spec(self, spec: OwnSpec, project: str) -> None:
        """Reads a script again when it is another one, or has changed."""
        self._arguments = program.read(spec.program.line).arguments
        path = script_of(spec, project)
        asked = (path, _changed(path))
        if asked == self._asked:
            self._show_values()
            return
        self._asked, self._all = asked, False
        self._place(options.Found())
        if path is not None and path.suffix == ".py" and asked[1]:
            ask(self, partial(options.look, path), partial(self._read, asked))

    def _read(self, asked: Asked, found: Found) -> None:
        """An answer about a script that is not chosen any more is nobody's."""
        if asked == self._asked:
            self._place(found)

    def _place(self, found: Found) -> None:
        self._found = found
        for box in self.boxes:
            self._grid.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.boxes = []
        self._add_boxes()
        self._show_values()

    def _options(self) -> tuple[Option, ...]:
        """Those of the script itself, and of the subcommand that the line names."""
        return tuple(one for one in self._found.options if not one.command or one.command in self._arguments)

    def _add_boxes(self) -> None:
        """What must be given first; the order of the source otherwise."""
        every = sorted(self._options(), key=lambda one: not one.required)
        shown = every if self._all else every[:FEW]
        for place, option in enumerate(shown[len(self.boxes) :], len(self.boxes)):
            box = OptionBox(option)
            box.edited.connect(self._edited)
            self._grid.addWidget(box, place // COLUMNS, place % COLUMNS)
            self.boxes.append(box)

    def _show_all(self) -> None:
        self._all = True
        self._add_boxes()
        self._show_values()

    def _show_values(self) -> None:
        values, _ = options.parse_words(self._found.options, self._arguments)
        for box in self.boxes:
            box.show_value(values.get(key_of(box.option)))
        self._show()

    def _edited(self) -> None:
        values, rest = options.parse_words(self._found.options, self._arguments)
        for box in self.boxes:
            value = box.value()
            if value is None:
                values.pop(key_of(box.option), None)
            else:
                values[key_of(box.option)] = value
        self.arguments_edited.emit((*options.to_words(self._found.options, values), *rest))

    def _show(self) -> None:
        name = self._asked[0].name if self._asked[0] else ""
        count, reason = len(self._options()), self._found.reason
        is_partly = bool(self._found.unread or self._found.beside)
        self.setVisible(bool(count or reason or is_partly))
        self._title.setText(t("own_script.options", script=name))
        self._hint.setVisible(count > 0)
        self._more.setVisible(count > len(self.boxes))
        self._more.setText(t("own_script.more_options", count=count))
        self._trouble.setText(str(reason) if reason else t("own_script.options_partly") if is_partly else "")
        self._trouble.setVisible(bool(self._trouble.text()))

    def retranslate(self) -> None:
        self._show()


def _changed(path: Path | None) -> int:
    """When a file was last written; 0 where there is none."""
    try:
        return path.stat().st_mtime_ns if path else 0
    except OSError:
        return 0
