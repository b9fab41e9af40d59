"""Texts on widgets that follow the language: `localize(button.setText, "launch.start")`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject

from studio import texts
from studio.texts import t
from ui.widgets.all_widgets import all_widgets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from studio.texts import Language

_texts: WeakKeyDictionary[QObject, dict[str, tuple[str, dict[str, Any]]]] = WeakKeyDictionary()
"""For each widget or action: its setters by name, each with the key of its text and the arguments."""


def localize(setter: Callable[[str], Any], key: str, /, **args: Any) -> None:
    """Set a text now and again after each change of language. A later call with the same setter replaces it.

    `setter` is a bound method of a QObject, such as `label.setText`.
    """
    _texts.setdefault(_target(setter), {})[setter.__name__] = (key, args)
    setter(t(key, **args))


def set_unlocalized(setter: Callable[[str], Any], text: str = "") -> None:
    """Set a text that has no language, such as a path or a number."""
    _texts.get(_target(setter), {}).pop(setter.__name__, None)
    setter(text)


def change_language(language: Language) -> None:
    """Set all texts again. Widgets that put sentences together themselves do so in their `retranslate()`."""
    texts.use(language)
    for widget in all_widgets():
        for action in widget.actions():
            _set_texts(action)
        _set_texts(widget)
    for widget in all_widgets():
        if callable(retranslate := getattr(widget, "retranslate", None)):
            retranslate()


def _target(setter: Callable[[str], Any]) -> QObject:
    target = getattr(setter, "__self__", None)
    assert isinstance(target, QObject), f"{setter} is not a method of a QObject"
    return target


def _set_texts(target: QObject) -> None:
    for name, (key, args) in _texts.get(target, {}).items():
        getattr(target, name)(t(key, **args))


def joined(sentences: Iterable[str]) -> str:
    """The sentences in one line, with a space between them where the language has one there."""
    return "".join(
        sentence if sentence.endswith("。") else f"{sentence} " for sentence in sentences if sentence
    ).strip()
