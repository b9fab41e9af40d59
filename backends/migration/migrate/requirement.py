"""torch_npu beside torch, where a project says what it needs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from backends.migration.migrate.draft import Draft
from backends.migration.scan.facts.releases import matching

if TYPE_CHECKING:
    from backends.migration.found import Found
    from backends.migration.migrate.changes import Style
    from backends.migration.migrate.source import Source

_LOCAL = re.compile(r"\+cu\d+")  # a build for CUDA, which only the indexes of such builds have
_ITEM = re.compile(r"[ \t]*-[ \t]+[\"']?$")
_TORCH = re.compile(r"torch(?![\w-])(?:\[[^\]]*\])?(?P<asks>\s*[=<>!~][^;#]*)?(?P<rest>\s*;[^#]*)?\s*$")


def edits(source: Source, found: Found, style: Style) -> list[Draft] | None:
    """Of the same version. On a host without CANN torch_npu would end the import of torch: explicit only offers it."""
    if found.state in ("manual", "none"):
        return None
    begin, end = source.offset(found.line, found.column), source.offset(found.end, found.end_column)
    offered, written = style == "explicit", source.text[begin:end]
    local = None if "/" in written else _LOCAL.search(written)
    plain = [Draft(begin=begin + local.start(), end=begin + local.end(), text="", offered=offered)] if local else []
    if (
        found.state == "auto"
        or found.name not in ("torch", "")
        or "torch_npu" in source.text.replace("torch-npu", "torch_npu")
    ):
        return plain
    asked = _TORCH.match(_unquoted(written))
    pin = _pin(asked["asks"] or "") if asked else None
    place = _place(source, found, begin, end) if asked and found.line == found.end else None
    if asked is None or pin is None or place is None:
        return plain or None
    at, before, behind = place
    rest = (asked["rest"] or "") if "\n" in before or "\r" in before or behind else ""
    text = f"{before}torch_npu{pin}{rest}".rstrip() + behind
    return [*plain, Draft(begin=at, end=at, text=text, offered=offered)]


def _unquoted(text: str) -> str:
    return text[1:-1] if text[:1] in ("'", '"') and text[-1:] == text[:1] else text


def _place(source: Source, found: Found, begin: int, end: int) -> tuple[int, str, str] | None:
    """Where it goes, and what stands around it: a line of its own, another string of a list, another word."""
    text = source.text
    if found.path.lower().endswith((".txt", ".in")):
        line = source.line(found.line)
        indent = line[: len(line) - len(line.lstrip())]
        return source.offset(found.line, 0) + len(line.rstrip("\r\n")), source.newline + indent, ""
    head = text[source.offset(found.line, 0) : begin]
    if found.path.lower().endswith((".yml", ".yaml")) and _ITEM.match(head):
        quote = head.strip("- \t")
        last = source.offset(found.line, 0) + len(source.line(found.line).rstrip("\r\n"))
        return last, source.newline + head, quote
    inner = text[begin:end]
    if inner[:1] in ("'", '"') and inner[-1:] == inner[:1]:
        return end, f", {inner[0]}", inner[0]
    quote = text[end : end + 1]
    if quote in ("'", '"') and text[begin - 1 : begin] == quote:
        return end + 1, f", {quote}", quote
    is_word = quote in ("", " ", "\n", "\r") and " " not in inner
    return (end, " ", "") if is_word and "install" in source.line(found.line) else None


def _pin(asks: str) -> str | None:
    """torch 2.6.0+cu118 goes with torch_npu 2.6.0 and its post releases; None where no release of it fits."""
    fitting = matching(asks)
    exact = re.fullmatch(r"\s*={2,3}\s*\d+(?:\.\d+)*(?:\+\w+)?\s*", asks)
    if not fitting:
        return None
    return f"=={fitting[-1]}.*" if exact else asks.rstrip()
