"""What a newcomer can do from Home with one click: train the digits recipe, or make the sample project."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.sample import make_sample
from backends.launch.spec import LaunchSpec
from studio.errors import StudioError
from studio.texts import t
from ui.services.file_dialogs import ask_folder

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from ui.services.session import Session


def train_digits(_page: QWidget, session: Session) -> None:
    """Start the digits recipe with its own values and watch it."""
    if run := session.start("launch", LaunchSpec()):
        session.watch_run(run)


def choose_sample_folder(page: QWidget, session: Session) -> None:
    ask_folder(page, t("home.sample_where"), Path.home(), partial(make_sample_in, session))


def make_sample_in(session: Session, parent: Path) -> None:
    """Make the sample project under a folder and open it. Trouble is reported."""
    try:
        folder = make_sample(parent)
    except StudioError as error:
        session.trouble.emit(error)
        return
    session.open_project(folder)
