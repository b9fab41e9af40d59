"""The edit for a finding outside Python: shell, Dockerfiles, configuration, requirements."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from backends.migration.migrate import requirement_edits
from backends.migration.migrate.draft import Draft, option_group, variable_group
from backends.migration.migrate.variable_edits import VARIABLES

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.source_text import SourceText

_WORDS = (
    (re.compile(r"(?<![A-Za-z0-9_])cuda(?![A-Za-z0-9_])"), "npu", "DEVICE_TYPE"),
    (re.compile(r"(?<![A-Za-z0-9_])nccl(?![A-Za-z0-9_])"), "hccl", "COLLECTIVE_BACKEND"),
)
WHOLE_VALUES = {
    "gpu": "npu",
    "MULTI_GPU": "MULTI_NPU",
    "flash_attention_2": "sdpa",
    "flash_attention_3": "sdpa",
    "fa2": "sdpa",
}
_VALUE = re.compile(r"=(\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s;&|\"']*)")
_INDEX = re.compile(r"(?<=/)cu\d+(?=/|$)")
_INDEX_OPTION = re.compile(r"(?<![\w-])(?:--index-url|-i)([ =]+[\"']?)$")
_LIST_LINE = re.compile(r"[ \t]*(?:-[ \t]+[\"']?|%(?:set_)?env[ \t]+)$")
_PRESENCE_CHECK = re.compile(r"\b(?:command -v|which|type|hash) $")
_CONFIGURATION = (".yaml", ".yml", ".toml", ".json", ".ini", ".cfg", ".conf")
_SCRIPTS = (".sh", ".bash", ".slurm", ".sbatch", ".pbs")
_SHELL_CONTEXTS = ("flag", "override", "variable")
_LINE_REST = re.compile(r"[ \t]*(?:$|[\r\n;&|)#])")


def edit_text(source: SourceText, finding: ScanFinding, style: Style) -> list[Draft] | None:
    """Return the drafts for a finding: None where there is no safe edit, an empty list where there is nothing to
    edit."""
    drafts = _edit_by_category(source, finding, style)
    if drafts and finding.path.startswith(".github/"):  # Continuous integration on a GPU may stay as it is.
        return [replace(draft, offered=True) for draft in drafts]
    return drafts


def _edit_by_category(source: SourceText, finding: ScanFinding, style: Style) -> list[Draft] | None:
    if finding.category == "req_torch":
        return requirement_edits.edit_requirement(source, finding, style)
    if finding.state == "auto" and (style == "minimal" or finding.effort == 0):
        return []
    if finding.state in ("manual", "none") and finding.category != "nvidia_smi":
        return None
    begin, end = source.offset(finding.line, finding.column), source.offset(finding.end, finding.end_column)
    text = source.text[begin:end]
    if finding.category == "cuda_env":
        return _edit_variable(source, begin, end, text, style)
    if finding.category == "pip_index":
        return _edit_index(source, begin, end, style)
    if finding.category == "nvidia_smi":
        if text != "nvidia-smi":
            return None
        alone = _LINE_REST.match(source.text, end)
        presence_check = _PRESENCE_CHECK.search(source.text, max(0, begin - 20), begin)
        monitor = "npu-smi" if presence_check else "npu-smi info"
        is_safe = presence_check or alone
        return [Draft(begin=begin, end=end, text=monitor, offered=style == "explicit")] if is_safe else None
    return _edit_value(source, finding, begin, end, style) if finding.state == "edit" else []


def _edit_index(source: SourceText, begin: int, end: int, style: Style) -> list[Draft] | None:
    """Install torch's CPU builds as well as the usual index: torch_npu is on that one, not on PyTorch's own."""
    text = source.text[begin:end]
    changed = _INDEX.sub("cpu", text) if "download.pytorch.org" in text else text
    if changed == text:
        return None
    if instead := _INDEX_OPTION.search(source.text, source.offset(source.line_at(begin), 0), begin):
        begin, changed = instead.start(), f"--extra-index-url{instead[1]}{changed}"
    return [Draft(begin=begin, end=end, text=changed, offered=style == "explicit")]


def _edit_value(source: SourceText, finding: ScanFinding, begin: int, end: int, style: Style) -> list[Draft] | None:
    """Replace the name of a device, a backend or an implementation. The explicit style lets the environment choose in a
    shell script, and elsewhere, where only one device can be named, only offers it."""
    text = source.text[begin:end]
    whole = WHOLE_VALUES.get(text.strip("\"'"), "")
    changed = text.replace(text.strip("\"'"), whole) if whole else text
    kind, _, name = finding.context.partition(":")
    is_expanded = style == "explicit" and kind in _SHELL_CONTEXTS and _expands_variables(source, begin)
    for pattern, word, variable in _WORDS:
        changed = pattern.sub(f"${{{variable}:-{word}}}" if is_expanded else word, changed)
    if changed == text:
        return None
    if style == "explicit" and whole != "sdpa" and (whole or not is_expanded):
        return [Draft(begin=begin, end=end, text=changed, offered=True)]
    group = option_group(name) if kind in ("flag", "override", "key") else ""
    return [Draft(begin=begin, end=end, text=changed, group=group)]


def _expands_variables(source: SourceText, begin: int) -> bool:
    """Tell whether a shell replaces variables at an offset of a script: not inside single quotes."""
    head = source.text[source.offset(source.line_at(begin), 0) : begin]
    return source.path.lower().endswith(_SCRIPTS) and head.count("'") % 2 == 0


def _edit_variable(source: SourceText, begin: int, end: int, text: str, style: Style) -> list[Draft] | None:
    """Rename an environment variable; the explicit style sets both, so that the script starts on either host."""
    other = VARIABLES.get(text)
    if other is None:
        return None
    if other in source.line(source.line_at(begin)):
        return []
    group = variable_group(text)
    if style == "minimal":
        return [Draft(begin=begin, end=end, text=other, group=group)]
    before = source.text[max(0, begin - 3) : begin]
    if before.endswith(("$", "${")):  # This is a use: the old variable is still set.
        return []
    if before == "-x ":
        return [Draft(begin=end, end=end, text=f" -x {other}", group=group)]
    value = _VALUE.match(source.text, end)
    if value is None:
        return [Draft(begin=begin, end=end, text=other, group=group, offered=True)]
    line = source.line_at(begin)
    head = source.text[source.offset(line, 0) : begin]
    if _LIST_LINE.match(head) or (not head.strip() and _is_list_of_variables(source.path)):
        if any(source.line(near).startswith(f"{head}{other}") for near in _neighbours(source, line)):
            return []
        return [_own_line(source, begin, value.end(), head + other, group)]
    is_set_alone = not head.endswith("export ") and not source.text[value.end() :].startswith(" ")
    if is_set_alone and source.path.lower().endswith(_CONFIGURATION):
        return None  # Configuration files hold one variable per value.
    return [Draft(begin=begin, end=begin, text=f"{other}{value[0]} ", group=group)]


def _neighbours(source: SourceText, line: int) -> list[int]:
    return [near for near in (line - 1, line + 1) if 1 <= near <= len(source.starts)]


def _is_list_of_variables(path: str) -> bool:
    """Tell whether a file such as .env or train.env, which no shell reads, has one variable a line."""
    name = path.rpartition("/")[2].lower()
    return name.endswith(".env") or name.startswith(".env")


def _own_line(source: SourceText, begin: int, end: int, head: str, group: str) -> Draft:
    """Repeat the line after itself, with the other variable."""
    line = source.line_at(begin)
    line_end = source.offset(line, 0) + len(source.line(line).rstrip("\r\n"))
    rest = source.text[begin:end].partition("=")[2]
    quote = head.lstrip("- \t")[:1]
    close = quote if quote in ("'", '"') and source.text[end : end + 1] == quote else ""
    return Draft(begin=line_end, end=line_end, text=f"{source.newline}{head}={rest}{close}", group=group)
