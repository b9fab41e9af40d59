"""The keys of the timeline: this table serves both the handler and the sheet that lists them."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QKeyCombination, Qt
from PySide6.QtGui import QKeySequence


@dataclass(frozen=True, kw_only=True)
class Shortcut:
    """`keys`: as QKeySequence writes them. `action`: name of the action, see `TimelineView`. `text`: a text key."""

    keys: tuple[str, ...]
    action: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Gesture:
    """A mouse gesture, listed in the sheet only. `how`, `text`: text keys of the gesture and its effect."""

    how: str
    text: str


SHORTCUTS = (
    Shortcut(keys=("W", "+", "="), action="zoom_in", text="timeline.keys.zoom_in"),
    Shortcut(keys=("S", "-"), action="zoom_out", text="timeline.keys.zoom_out"),
    Shortcut(keys=("A", "Left"), action="pan_left", text="timeline.keys.pan_left"),
    Shortcut(keys=("D", "Right"), action="pan_right", text="timeline.keys.pan_right"),
    Shortcut(keys=("Up",), action="scroll_up", text="timeline.keys.scroll_up"),
    Shortcut(keys=("Down",), action="scroll_down", text="timeline.keys.scroll_down"),
    Shortcut(keys=("PgUp",), action="page_up", text="timeline.keys.page_up"),
    Shortcut(keys=("PgDown",), action="page_down", text="timeline.keys.page_down"),
    Shortcut(keys=("Home",), action="go_begin", text="timeline.keys.go_begin"),
    Shortcut(keys=("End",), action="go_end", text="timeline.keys.go_end"),
    Shortcut(keys=("F", "Shift+Z"), action="fit", text="timeline.keys.fit"),
    Shortcut(keys=("Backspace",), action="zoom_back", text="timeline.keys.zoom_back"),
    Shortcut(keys=("Ctrl+0", "0"), action="show_whole", text="timeline.keys.show_whole"),
    Shortcut(keys=("M",), action="mark_range", text="timeline.keys.mark_range"),
    Shortcut(keys=("K",), action="note", text="timeline.keys.note"),
    Shortcut(keys=("[", ","), action="previous_slice", text="timeline.keys.previous_slice"),
    Shortcut(keys=("]", "."), action="next_slice", text="timeline.keys.next_slice"),
    Shortcut(keys=("N",), action="next_hit", text="timeline.keys.next_hit"),
    Shortcut(keys=("P", "Shift+N"), action="previous_hit", text="timeline.keys.previous_hit"),
    Shortcut(keys=("G",), action="follow", text="timeline.keys.follow"),
    Shortcut(keys=("Shift+G",), action="follow_on", text="timeline.keys.follow_on"),
    Shortcut(keys=("B",), action="baseline", text="timeline.keys.baseline"),
    Shortcut(keys=("L",), action="align_start", text="timeline.keys.align_start"),
    Shortcut(keys=("R",), action="align_end", text="timeline.keys.align_end"),
    Shortcut(keys=("Ctrl+Up",), action="rows_higher", text="timeline.keys.rows_higher"),
    Shortcut(keys=("Ctrl+Down",), action="rows_lower", text="timeline.keys.rows_lower"),
    Shortcut(keys=("Esc",), action="clear", text="timeline.keys.clear"),
    Shortcut(keys=("Q",), action="pane", text="timeline.keys.pane"),
    Shortcut(keys=("F1", "?"), action="keys", text="timeline.keys.keys"),
)
# Those of the page, which hold wherever the focus is; only for the sheet.
ELSEWHERE = (Shortcut(keys=("Ctrl+F",), action="find", text="timeline.page.find"),)
GESTURES = (
    Gesture(how="timeline.mouse.wheel", text="timeline.mouse.wheel_does"),
    Gesture(how="timeline.mouse.ctrl_wheel", text="timeline.mouse.ctrl_wheel_does"),
    Gesture(how="timeline.mouse.shift_wheel", text="timeline.mouse.shift_wheel_does"),
    Gesture(how="timeline.mouse.click", text="timeline.mouse.click_does"),
    Gesture(how="timeline.mouse.double_click", text="timeline.mouse.double_click_does"),
    Gesture(how="timeline.mouse.drag", text="timeline.mouse.drag_does"),
    Gesture(how="timeline.mouse.ctrl_drag", text="timeline.mouse.ctrl_drag_does"),
    Gesture(how="timeline.mouse.alt_drag", text="timeline.mouse.alt_drag_does"),
)


def _combination(text: str) -> QKeyCombination:
    combination: QKeyCombination = QKeySequence(text)[0]  # type: ignore[index]
    return combination


_ACTIONS = {_combination(key): shortcut.action for shortcut in SHORTCUTS for key in shortcut.keys}


def action_of(key: int, modifiers: Qt.KeyboardModifier) -> str | None:
    """Return the action of a pressed key. Signs such as ? and + need Shift on some keyboards and not on others."""
    modifiers &= ~Qt.KeyboardModifier.KeypadModifier
    matching = _ACTIONS.get(QKeyCombination(modifiers, Qt.Key(key)))
    if (
        matching is None
        and modifiers == Qt.KeyboardModifier.ShiftModifier
        and key in (Qt.Key.Key_Question, Qt.Key.Key_Plus)
    ):
        return _ACTIONS.get(QKeyCombination(Qt.KeyboardModifier.NoModifier, Qt.Key(key)))
    return matching
