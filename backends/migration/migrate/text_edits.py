"""The edit that a finding outside Python asks for: shell, Dockerfiles, configuration, requirements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.migrate import contract, requirement
from backends.migration.migrate.draft import Draft
from backends.migration.migrate.environment import VARIABLES

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.source import Source

_WORDS = (
    (re.compile(r"(?<![A-Za-z0-9_])cuda(?![A-Za-z0-9_])"), "npu"),
    (re.compile(r"(?<![A-Za-z0-9_])nccl(?![A-Za-z0-9_])"), "hccl"),
)
_WHOLE = {
    "gpu": "npu",
    "MULTI_GPU": "MULTI_NPU",
    "flash_attention_2": "sdpa",
    "flash_attention_3": "sdpa",
    "fa2": "sdpa",
}
_VALUE = re.compile(r"=(\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s;&|\"']*)")
_INDEX = re.compile(r"(?<=/)cu\d+(?=/|$)")
_ALONE = re.compile(r"[ \t]*(?:$|[\r\n;&|)#])")


def edits(source: Source, found: Found, style: Style) -> list[Draft] | None:
    """None where there is no safe edit; an empty list where there is nothing to edit."""
    if found.state == "auto" and (style == "minimal" or found.effort == 0):
        return []
    if found.state in ("manual", "none") and found.category != "nvidia_smi":
        return None
    begin, end = source.offset(found.line, found.column), source.offset(found.end, found.end_column)
    text = source.text[begin:end]
    if found.category == "cuda_env":
        return _variable(source, begin, end, text, style)
    if found.category == "req_torch":
        return requirement.edits(source, found, style)
    if found.category == "pip_index":
        changed = _INDEX.sub("cpu", text) if "download.pytorch.org" in text else text
        return [Draft(begin=begin, end=end, text=changed, offered=style == "explicit")] if changed != text else None
    if found.category == "nvidia_smi":
        alone = text == "nvidia-smi" and _ALONE.match(source.text, end)
        return [Draft(begin=begin, end=end, text="npu-smi info", offered=style == "explicit")] if alone else None
    return _value(found, begin, end, text) if found.state == "edit" else []


def _value(found: Found, begin: int, end: int, text: str) -> list[Draft] | None:
    """The name of a device, of a backend or of an implementation."""
    changed = _WHOLE.get(text.strip("\"'"), "")
    changed = text.replace(text.strip("\"'"), changed) if changed else text
    for pattern, word in _WORDS:
        changed = pattern.sub(word, changed)
    kind, _, name = found.context.partition(":")
    group = contract.of_option(name) if kind in ("flag", "override", "key") else ""
    is_ci = found.path.startswith(".github/")  # what tests on a GPU may go on doing that
    return [Draft(begin=begin, end=end, text=changed, group=group, offered=is_ci)] if changed != text else None


def _variable(source: Source, begin: int, end: int, text: str, style: Style) -> list[Draft] | None:
    """Explicit sets both variables, so that the script starts on either host."""
    other = VARIABLES.get(text)
    if other is None:
        return None
    if other in source.line(source.line_at(begin)):
        return []
    group = contract.of_variable(text)
    if style == "minimal":
        return [Draft(begin=begin, end=end, text=other, group=group)]
    before = source.text[max(0, begin - 3) : begin]
    if before.endswith(("$", "${")):  # the old one is still set
        return []
    if before == "-x ":
        return [Draft(begin=end, end=end, text=f" -x {other}", group=group)]
    value = _VALUE.match(source.text, end)
    if value is None:
        return [Draft(begin=begin, end=end, text=other, group=group, offered=True)]
    return [Draft(begin=begin, end=begin, text=f"{other}{value[0]} ", group=group)]
