"""Whether the interpreter of a training has msprobe, and how to install it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout

from backends.precision.msprobe.installed import PACKAGE, version_of
from studio import interpreters
from studio.texts import t
from ui.precision.copy_button import CopyButton
from ui.services.background import run_in_background
from ui.widgets.basic import (
    Card,
    Elided,
    Sentence,
    mono_font,
    retone,
)

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class MsprobeInstallation:
    """The versions of both packages, '' where one is missing."""

    msprobe: str = ""
    mindspore: str = ""
    is_installed: bool = False


def find_msprobe(python: Path) -> MsprobeInstallation:
    """Read the names of the interpreter's package files; none of its code is run."""
    package = version_of(python)
    return MsprobeInstallation(
        msprobe=package.version,
        mindspore=interpreters.packages(python).get("mindspore", ""),
        is_installed=package.path is not None,
    )


class MsprobeCard(Card):
    """`on_npu` says whether this host has NPUs: MindSpore on a CPU needs a shim for what msprobe calls there."""

    def __init__(self, *, on_npu: bool) -> None:
        super().__init__("precision.more.probe")
        self.setObjectName("precision_probe")
        self._on_npu = on_npu
        self._python: Path | None = None
        self._installation: MsprobeInstallation | None = None
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
        self._python, self._installation = python, None
        self.retranslate()
        if python is not None:
            run_in_background(self, partial(find_msprobe, python), partial(self._read, python))

    def _read(self, python: Path, installation: MsprobeInstallation) -> None:
        if python == self._python:
            self._installation = installation
            self.retranslate()

    def retranslate(self) -> None:
        installation, python = self._installation, self._python
        self.setVisible(python is not None and installation is not None)
        if python is None or installation is None:
            return
        missing = not installation.is_installed
        line = shlex.join((str(python), "-m", "pip", "install", PACKAGE))
        self._line.setText(line)
        self.copy.show_text(line)
        self._line.setVisible(missing)
        self.copy.setVisible(missing)
        self._shim.setVisible(bool(installation.mindspore) and not self._on_npu)
        retone(self._sentence, "role", "warning" if missing else "dim")
        if missing:
            self._sentence.setText(t("precision.more.probe_missing"))
        else:
            self._sentence.setText(t("precision.more.probe_there", version=installation.msprobe or "?"))
