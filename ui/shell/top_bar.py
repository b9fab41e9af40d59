"""The bar at the top: the project, its folder and whether it is trusted; the way to commands; the menu."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QSizePolicy

from studio.output.terminal import printable_line
from studio.project import runs_folder
from studio.security import trust
from studio.texts import t
from ui.widgets.basic import Elided, retone
from ui.widgets.icons import show_icon
from ui.widgets.labels import button_text
from ui.widgets.localized import localize

if TYPE_CHECKING:
    from studio.project import Project

HEIGHT = 47


class TopBar(QFrame):
    project_menu_requested = Signal()
    trust_requested = Signal()
    palette_requested = Signal()
    menu_requested = Signal()
    trainings_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("top_bar")
        self.setFixedHeight(HEIGHT)
        self._project: Project | None = None
        self.project_button = _quiet("top_bar_project", "folder")
        localize(self.project_button.setToolTip, "shell.project_menu")
        self.folder = Elided(Qt.TextElideMode.ElideMiddle, "hint")
        self.folder.setObjectName("top_bar_folder")
        self.folder.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.trust_button = QPushButton()
        self.trust_button.setObjectName("top_bar_trust")
        self.trust_button.setProperty("role", "chip")
        self.trainings_button = QPushButton()
        self.trainings_button.setObjectName("top_bar_trainings")
        self.trainings_button.setProperty("role", "chip")
        self.trainings_button.clicked.connect(self.trainings_requested)
        localize(self.trainings_button.setToolTip, "shell.trainings_hint")
        retone(self.trainings_button, "tone", "accent")
        show_icon(self.trainings_button, "curves", "accent", 16)
        self.search = _search()
        self.menu_button = _quiet("top_bar_menu", "menu")
        localize(self.menu_button.setToolTip, "shell.menu")
        localize(self.menu_button.setAccessibleName, "shell.menu")
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 0, 12, 0)
        row.setSpacing(8)
        row.addWidget(self.project_button)
        row.addWidget(self.folder, 100)
        row.addWidget(self.trust_button)
        row.addWidget(self.trainings_button)
        row.addStretch(1)
        row.addWidget(self.search)
        row.addWidget(self.menu_button)
        self.project_button.clicked.connect(self.project_menu_requested)
        self.trust_button.clicked.connect(self.trust_requested)
        self.search.clicked.connect(self.palette_requested)
        self.menu_button.clicked.connect(self.menu_requested)
        for button in (
            self.project_button,
            self.trust_button,
            self.trainings_button,
            self.search,
            self.menu_button,
        ):
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.show_trainings(0)
        self.show_project(None)

    def show_trainings(self, count: int) -> None:
        """Show how many trainings are at work, also those of other projects; nothing for none."""
        self._trainings = count
        self.trainings_button.setVisible(count > 0)
        self.trainings_button.setText(t("shell.trainings", count=count))

    def show_project(self, project: Project | None) -> None:
        """Reads whether it is trusted: one small file."""
        self._project = project
        self.retranslate()

    def retranslate(self) -> None:
        self.show_trainings(self._trainings)
        project = self._project
        self.trust_button.setVisible(project is not None)
        if project is None:
            self._show_name(t("shell.no_project"))
            self.folder.setText(t("shell.no_project_hint", folder=_short(runs_folder(None))))
            return
        self._show_name(project.name)
        self.folder.setText(_short(project.folder))
        trusted = trust.is_trusted(project.folder)
        self.trust_button.setText(t("shell.trusted") if trusted else t("shell.restricted"))
        show_icon(self.trust_button, "shield" if trusted else "lock", "good" if trusted else "warning", 16)
        retone(self.trust_button, "tone", "good" if trusted else "warning")

    def _show_name(self, name: str) -> None:
        """A name may be as long as a file system allows, and hold what would break a button's text."""
        self.project_button.setText(f" {button_text(self, name, 240)}")
        self.project_button.setAccessibleName(printable_line(name))


def _short(folder: Path) -> str:
    """With ~ for the home."""
    home = Path.home()
    return f"~/{folder.relative_to(home)}" if home in folder.parents else str(folder)


def _quiet(object_name: str, icon: str) -> QPushButton:
    button = QPushButton()
    button.setObjectName(object_name)
    button.setProperty("role", "bar")
    button.setIconSize(QSize(20, 20))
    show_icon(button, icon, "dim")
    return button


def _search() -> QPushButton:
    """Looks like a field; the field itself opens with the list of commands."""
    button = QPushButton()
    button.setObjectName("top_bar_search")
    button.setFixedWidth(270)
    show_icon(button, "search", "dim", 16)
    localize(button.setText, "shell.search")
    row = QHBoxLayout(button)
    row.setContentsMargins(0, 0, 10, 0)
    key = QLabel("Ctrl+K")
    key.setProperty("role", "hint")
    key.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    row.addWidget(key, 0, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
    return button
