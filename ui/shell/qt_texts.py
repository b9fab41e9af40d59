"""Qt's own texts (file dialogs, the menu of a text field) in the language of the studio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QTranslator

if TYPE_CHECKING:
    from studio.texts import Language

_installed: list[QTranslator] = []


def use(language: Language) -> None:
    """English needs no translator: it is the language of Qt's own texts."""
    for translator in _installed:
        QCoreApplication.removeTranslator(translator)
    _installed.clear()
    translator = QTranslator()
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if language == "zh" and translator.load("qtbase_zh_CN", folder):
        QCoreApplication.installTranslator(translator)
        _installed.append(translator)
