"""Texts on widgets that follow the language: `say(button, "setText", "launch.start")`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import QApplication

from studio import texts
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Iterable

    from PySide6.QtCore import QObject

    from studio.texts import Language

_SAID = "_said"


def say(target: QObject, setter: str, key: str, /, **args: Any) -> None:
    """Sets a text now and again after each change of language. A later call with the same setter replaces it."""
    said: dict[str, tuple[str, dict[str, Any]]] = getattr(target, _SAID, {})
    said[setter] = (key, args)
    setattr(target, _SAID, said)
    getattr(target, setter)(t(key, **args))


def unsay(target: QObject, setter: str, text: str = "") -> None:
    """Sets a text that has no language, such as a path or a number."""
    getattr(target, _SAID, {}).pop(setter, None)
    getattr(target, setter)(text)


def change_language(language: Language) -> None:
    """Says everything again. Widgets that put sentences together themselves do so in their `retranslate()`."""
    texts.use(language)
    for widget in QApplication.allWidgets():
        for action in widget.actions():
            _again(action)
        _again(widget)
    for widget in QApplication.allWidgets():
        if callable(retranslate := getattr(widget, "retranslate", None)):
            retranslate()


def _again(target: QObject) -> None:
    for setter, (key, args) in getattr(target, _SAID, {}).items():
        getattr(target, setter)(t(key, **args))


def joined(sentences: Iterable[str]) -> str:
    """One behind the other, with a space where the language has one there."""
    return "".join(one if one.endswith("。") else f"{one} " for one in sentences if one).strip()
