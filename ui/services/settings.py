"""What the window remembers, in settings.json under XDG_CONFIG_HOME."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import msgspec

from studio import files, paths

RECENT = 8


class Settings(msgspec.Struct, kw_only=True):
    """Empty `language` and `theme` follow the system."""

    language: str = ""
    theme: str = ""
    width: int = 1280
    height: int = 800
    maximized: bool = False
    rail_folded: bool = False
    project: str = ""
    recent: list[str] = []

    def remember_project(self, folder: str) -> None:
        """Makes it the last project and the first of the recent ones; '' is none."""
        self.project = folder
        if folder:
            self.recent = [folder, *(other for other in self.recent if other != folder)][:RECENT]


def load() -> Settings:
    """Return the settings; what is damaged or of a newer studio has its default."""
    value = files.read_json(paths.config_home() / "settings.json")
    settings = Settings()
    for field in msgspec.structs.fields(Settings):
        if isinstance(value, dict) and field.name in value:
            _take(settings, field, value[field.name])
    return settings


def _take(settings: Settings, field: msgspec.structs.FieldInfo, value: Any) -> None:
    with suppress(msgspec.ValidationError):
        setattr(settings, field.name, msgspec.convert(value, field.type))


def save(settings: Settings) -> None:
    """Raises OSError."""
    paths.config_home().mkdir(parents=True, exist_ok=True)
    files.write_json(paths.config_home() / "settings.json", settings)
