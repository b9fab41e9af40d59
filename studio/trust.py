"""Which projects may run their code. Kept under XDG_CONFIG_HOME: a project cannot trust itself."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from studio import files, paths

if TYPE_CHECKING:
    from pathlib import Path


def _file() -> Path:
    return paths.config_home() / "trust.json"


def _trusted() -> list[str]:
    value = files.read_json(_file())
    return (
        [str(entry) for entry in value["trusted"]]
        if isinstance(value, dict) and isinstance(value.get("trusted"), list)
        else []
    )


def is_trusted(folder: Path) -> bool:
    """Return whether the user trusted exactly this folder. Symbolic links are followed: a link cannot borrow trust."""
    return os.path.realpath(folder) in _trusted()


def set_trust(folder: Path, trusted: bool) -> None:
    """Save the user's answer. Raises OSError."""
    real = os.path.realpath(folder)
    others = [entry for entry in _trusted() if entry != real]
    _file().parent.mkdir(parents=True, exist_ok=True)
    files.write_json(_file(), {"trusted": [*others, real] if trusted else others})
