"""Examples of edits, and what runs them."""

from __future__ import annotations

from pathlib import Path


def runner_path() -> str:
    return str(Path(__file__).with_name("runner.py"))
