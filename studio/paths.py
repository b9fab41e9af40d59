"""The studio's own folders: its code, its assets, and the XDG folders, which are read each time so that tests can move
them.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAIN = ROOT / "studio" / "__main__.py"  # `python -I MAIN` runs this checkout, whichever the environment names
ASSETS = ROOT / "assets"
GUEST = ROOT / "studio" / "guest"
NAME = "ascend-studio"


def _home(variable: str, default: str) -> Path:
    value = os.environ.get(variable, "")
    base = Path(value) if Path(value).is_absolute() else Path.home() / default
    return base / NAME


def config_home() -> Path:
    """Return the folder of trust and settings: never inside a project, which may come from somebody else."""
    return _home("XDG_CONFIG_HOME", ".config")


def state_home() -> Path:
    """Return the folder of runs that belong to no project."""
    return _home("XDG_STATE_HOME", ".local/state")


def cache_home() -> Path:
    """Return the folder of what can be made again at any time."""
    return _home("XDG_CACHE_HOME", ".cache")
