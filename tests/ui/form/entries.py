"""What a person does to the fields of a form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLineEdit

from ui.form.inputs import ChoiceInput

if TYPE_CHECKING:
    from ui.form.form import Form

    pass


def line(form: Form, name: str) -> QLineEdit:
    found = form.box(name).input
    inner = found if isinstance(found, QLineEdit) else found.findChild(QLineEdit)
    assert isinstance(inner, QLineEdit)
    return inner


def choice(form: Form, name: str) -> QComboBox:
    found = form.box(name).input
    assert isinstance(found, ChoiceInput)
    return found


def pick(form: Form, name: str, value: object) -> None:
    box = choice(form, name)
    box.setFocus()
    box.setCurrentIndex(box.findData(value))
    box.activated.emit(box.currentIndex())


def type_into(form: Form, name: str, text: str) -> None:
    field = line(form, name)
    field.setFocus()
    field.selectAll()
    QTest.keyClick(field, Qt.Key.Key_Delete)
    QTest.keyClicks(field, text)
