"""The edit that a finding outside Python asks for: shell, Dockerfiles, configuration, requirements."""

from __future__ import annotations

import re
from dataclasses import replace
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
_INSTEAD = re.compile(r"(?<![\w-])(?:--index-url|-i)([ =]+[\"']?)$")
_ONE_A_LINE = re.compile(r"[ \t]*(?:-[ \t]+[\"']?|%(?:set_)?env[ \t]+)$")
_ASKED = re.compile(r"\b(?:command -v|which|type|hash) $")
_CONFIGURATION = (".yaml", ".yml", ".toml", ".json", ".ini", ".cfg", ".conf")
_ALONE = re.compile(r"[ \t]*(?:$|[\r\n;&|)#])")


def edits(source: Source, found: Found, style: Style) -> list[Draft] | None:
    """None where there is no safe edit; an empty list where there is nothing to edit."""
    drafts = _edits(source, found, style)
    if drafts and found.path.startswith(".github/"):  # what tests on a GPU may go on doing that
        return [replace(one, offered=True) for one in drafts]
    return drafts


def _edits(source: Source, found: Found, style: Style) -> list[Draft] | None:
    if found.category == "req_torch":
        return requirement.edits(source, found, style)
    if found.state == "auto" and (style == "minimal" or found.effort == 0):
        return []
    if found.state in ("manual", "none") and found.category != "nvidia_smi":
        return None
    begin, end = source.offset(found.line, found.column), source.offset(found.end, found.end_column)
    text = source.text[begin:end]
    if found.category == "cuda_env":
        return _variable(source, begin, end, text, style)
    if found.category == "pip_index":
        return _index(source, begin, end, style)
    if found.category == "nvidia_smi":
        if text != "nvidia-smi":
            return None
        alone = _ALONE.match(source.text, end)
        asked = _ASKED.search(source.text, max(0, begin - 20), begin)
        monitor = "npu-smi" if asked else "npu-smi info"
        is_safe = asked or alone
        return [Draft(begin=begin, end=end, text=monitor, offered=style == "explicit")] if is_safe else None
    return _value(found, begin, end, text) if found.state == "edit" else []


def _index(source: Source, begin: int, end: int, style: Style) -> list[Draft] | None:
    """The CPU builds of torch, beside the usual index: torch_npu lies there and not on PyTorch's own."""
    text = source.text[begin:end]
    changed = _INDEX.sub("cpu", text) if "download.pytorch.org" in text else text
    if changed == text:
        return None
    if instead := _INSTEAD.search(source.text, source.offset(source.line_at(begin), 0), begin):
        begin, changed = instead.start(), f"--extra-index-url{instead[1]}{changed}"
    return [Draft(begin=begin, end=end, text=changed, offered=style == "explicit")]


def _value(found: Found, begin: int, end: int, text: str) -> list[Draft] | None:
    """The name of a device, of a backend or of an implementation."""
    changed = _WHOLE.get(text.strip("\"'"), "")
    changed = text.replace(text.strip("\"'"), changed) if changed else text
    for pattern, word in _WORDS:
        changed = pattern.sub(word, changed)
    kind, _, name = found.context.partition(":")
    group = contract.of_option(name) if kind in ("flag", "override", "key") else ""
    return [Draft(begin=begin, end=end, text=changed, group=group)] if changed != text else None


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
    line = source.line_at(begin)
    head = source.text[source.offset(line, 0) : begin]
    if _ONE_A_LINE.match(head) or (not head.strip() and _is_list_of_variables(source.path)):
        return [_own_line(source, begin, value.end(), head + other, group)]
    is_set_alone = not head.endswith("export ") and not source.text[value.end() :].startswith(" ")
    if is_set_alone and source.path.lower().endswith(_CONFIGURATION):
        return None  # one variable is one value there
    return [Draft(begin=begin, end=begin, text=f"{other}{value[0]} ", group=group)]


def _is_list_of_variables(path: str) -> bool:
    """A file such as .env or train.env, which no shell reads: one variable a line."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(".env") or name.startswith(".env")


def _own_line(source: Source, begin: int, end: int, head: str, group: str) -> Draft:
    """The line again behind it, with the other variable."""
    line = source.line_at(begin)
    place = source.offset(line, 0) + len(source.line(line).rstrip("\r\n"))
    rest = source.text[begin:end].partition("=")[2]
    quote = head.lstrip("- \t")[:1]
    close = quote if quote in ("'", '"') and source.text[end : end + 1] == quote else ""
    return Draft(begin=place, end=place, text=f"{source.newline}{head}={rest}{close}", group=group)
