"""Packages that a test needs, looked for without importing them: a framework takes seconds of every process."""

from __future__ import annotations

from importlib.util import find_spec

import pytest


def needs(*names: str) -> pytest.MarkDecorator:
    """Return a mark that skips tests where one of these packages is not installed."""
    missing = _missing(names)
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {missing}")


def skip_without(*names: str) -> None:
    if missing := _missing(names):
        pytest.skip(f"not installed: {missing}")


def _missing(names: tuple[str, ...]) -> str:
    return ", ".join(name for name in names if find_spec(name) is None)
