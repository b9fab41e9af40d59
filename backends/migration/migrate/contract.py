"""What code, scripts and configuration agree on: its edits are accepted together or not at all."""

from __future__ import annotations


def of_option(option: str) -> str:
    """The same for --device, device and trainer.device."""
    return f"option {option.lstrip('-').rpartition('.')[2].replace('-', '_')}" if option.strip("-") else ""


def of_variable(variable: str) -> str:
    """Who sets an environment variable and who reads it."""
    return f"environment {variable}"
