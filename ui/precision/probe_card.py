"""Whether the interpreter of a training has msprobe, and what to do where it has not."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout

from backends.precision.msprobe.installed import PACKAGE, version_of
from studio import interpreters
from studio.texts import t
from ui.asking import ask
from ui.precision.copy_button import CopyButton
from ui.widgets import Card, Elided, Sentence, mono_font, retone

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Probe:
    """Versions, '' where there is none."""

    msprobe: str = ""
    mindspore: str = ""
    is_there: bool = False


def probe(python: Path) -> Probe:
    """By the names of its files: nothing of it is run."""
    found = version_of(python)
    return Probe(
        msprobe=found.version,
        mindspore=interpreters.packages(python).get("mindspore", ""),
        is_there=found.path is not None,
    )


class ProbeCard(Card):
    """`on_npu`: whether this host has cards; MindSpore on a CPU needs a stand-in for what msprobe calls there."""

    def __init__(self, *, on_npu: bool) -> None:
        super().__init__("precision.more.probe")
        self.setObjectName("precision_probe")
        self._on_npu = on_npu
        self._python: Path | None = None
        self._found: Probe | None = None
        self._sentence, self._shim = Sentence(), Sentence("precision.more.shim")
        self._line = Elided(role="hint")
        self._line.setFont(mono_font(12))
        self.copy = CopyButton("precision_copy_install")
        row = QHBoxLayout()
        row.addWidget(self._line, 1)
        row.addWidget(self.copy)
        self.body.setSpacing(6)
        self.body.addWidget(self._sentence)
        self.body.addLayout(row)
        self.body.addWidget(self._shim)
        self.show_python(None)

    def show_python(self, python: Path | None) -> None:
        if python == self._python and python is not None:
            return
        self._python, self._found = python, None
        self.retranslate()
        if python is not None:
            ask(self, partial(probe, python), partial(self._read, python))

    def _read(self, python: Path, found: Probe) -> None:
        if python == self._python:
            self._found = found
            self.retranslate()

    def retranslate(self) -> None:
        found, python = self._found, self._python
        self.setVisible(python is not None and found is not None)
        if python is None or found is None:
            return
        missing = not found.is_there
        line = shlex.join((str(python), "-m", "pip", "install", PACKAGE))
        self._line.setText(line)
        self.copy.show_text(line)
        self._line.setVisible(missing)
        self.copy.setVisible(missing)
        self._shim.setVisible(bool(found.mindspore) and not self._on_npu)
        retone(self._sentence, "role", "warning" if missing else "dim")
        if missing:
            self._sentence.setText(t("precision.more.probe_missing"))
        else:
            self._sentence.setText(t("precision.more.probe_there", version=found.msprobe or "?"))
