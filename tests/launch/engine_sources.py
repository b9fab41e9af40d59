"""The engine's own source files."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parents[2]
ENGINE = ROOT / "backends" / "launch" / "engine"
SOURCES = sorted((ENGINE / "ascend_engine").rglob("*.py"))
