"""Edits that add torch_npu next to torch wherever a project states its requirements."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.migrate.draft import Draft
from backends.migration.scan.facts.releases import matching_releases

if TYPE_CHECKING:
    from backends.migration.finding import ScanFinding
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.source_text import SourceText

_LOCAL = re.compile(r"\+cu\d+")  # A build for CUDA is only on the indexes of such builds.
_ITEM = re.compile(r"[ \t]*-[ \t]+[\"']?$")
_TORCH = re.compile(r"torch(?![\w-])(?:\[[^\]]*\])?(?P<asks>\s*[=<>!~][^;#]*)?(?P<rest>\s*;[^#]*)?\s*$")


def edit_requirement(source: SourceText, finding: ScanFinding, style: Style) -> list[Draft] | None:
    """Add torch_npu of the version that fits torch's. Without CANN torch_npu breaks the import of torch, so the
    explicit style only offers it."""
    if finding.state in ("manual", "none"):
        return None
    begin, end = source.offset(finding.line, finding.column), source.offset(finding.end, finding.end_column)
    offered, written = style == "explicit", source.text[begin:end]
    local = None if "/" in written else _LOCAL.search(written)
    plain = [Draft(begin=begin + local.start(), end=begin + local.end(), text="", offered=offered)] if local else []
    if (
        finding.state == "auto"
        or finding.name not in ("torch", "")
        or "torch_npu" in source.text.replace("torch-npu", "torch_npu")
    ):
        return plain
    requirement = _TORCH.match(_unquoted(written))
    pin = _pin(requirement["asks"] or "") if requirement else None
    insertion = _insertion(source, finding, begin, end) if requirement and finding.line == finding.end else None
    if requirement is None or pin is None or insertion is None:
        return plain or None
    at, before, behind = insertion
    rest = (requirement["rest"] or "") if "\n" in before or "\r" in before or behind else ""
    text = f"{before}torch_npu{pin}{rest}".rstrip() + behind
    return [*plain, Draft(begin=at, end=at, text=text, offered=offered)]


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] in ("'", '"') and text[-1:] == text[:1] else text


def _insertion(source: SourceText, finding: ScanFinding, begin: int, end: int) -> tuple[int, str, str] | None:
    """Return the offset of the new requirement and the text around it: a line of its own, another string in a list, or
    another word; None where none of these fits."""
    text = source.text
    if finding.path.lower().endswith((".txt", ".in")):
        line = source.line(finding.line)
        indent = line[: len(line) - len(line.lstrip())]
        return source.offset(finding.line, 0) + len(line.rstrip("\r\n")), source.newline + indent, ""
    head = text[source.offset(finding.line, 0) : begin]
    if finding.path.lower().endswith((".yml", ".yaml")) and _ITEM.match(head):
        quote = head.strip("- \t")
        last = source.offset(finding.line, 0) + len(source.line(finding.line).rstrip("\r\n"))
        return last, source.newline + head, quote
    inner = text[begin:end]
    if inner[:1] in ("'", '"') and inner[-1:] == inner[:1]:
        return end, f", {inner[0]}", inner[0]
    quote = text[end : end + 1]
    if quote in ("'", '"') and text[begin - 1 : begin] == quote:
        return end + 1, f", {quote}", quote
    is_word = quote in ("", " ", "\n", "\r") and " " not in inner
    return (end, " ", "") if is_word and "install" in source.line(finding.line) else None


def _pin(asks: str) -> str | None:
    """Return the version part for torch_npu, None where no release fits. torch 2.6.0+cu118 goes with torch_npu 2.6.0
    and its post releases."""
    fitting = matching_releases(asks)
    exact = re.fullmatch(r"\s*={2,3}\s*\d+(?:\.\d+)*(?:\+\w+)?\s*", asks)
    if not fitting:
        return None
    return f"=={fitting[-1]}.*" if exact else asks.rstrip()
