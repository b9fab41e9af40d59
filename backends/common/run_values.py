"""What a run was asked, as a page names it. Read from run.json as data: it may be of any version, or damaged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from studio.run import Run


def text_value(run: Run, card: str, field: str) -> str:
    """A text value of the spec, '' where the run has none."""
    values = run.request.values.get(card)
    value = values.get(field) if isinstance(values, dict) else None
    return value if isinstance(value, str) else ""


def recipe_of(run: Run) -> str:
    return text_value(run, "what", "recipe")


EAGER = ("pynative", "eager")
"""The modes in which Python reaches each operator by itself."""


def mode_of(run: Run) -> str:
    """pynative, jit or graph of MindSpore, eager or compile of PyTorch, '' for what is no training of ours."""
    if text_value(run, "what", "framework") == "torch":
        values = run.request.values.get("how")
        return "compile" if isinstance(values, dict) and values.get("compile") is True else "eager"
    return text_value(run, "how", "mode")


def grace_of(run: Run) -> float:
    """Seconds that a stop leaves the training to finish its step."""
    values = run.request.values.get("advanced")
    value = values.get("grace") if isinstance(values, dict) else None
    return float(value) if isinstance(value, (int, float)) else 60.0
