"""Sentences of rules with their code in a font of its own."""

from __future__ import annotations

import html
import re

from ui.theme import MONO_FAMILIES

_CODE = re.compile(r"`([^`\n]+)`")


def without_code(text: str) -> str:
    """For places that show plain text."""
    return _CODE.sub(r"\1", text)


def with_code(text: str) -> str:
    """As rich text; what stands between backquotes is code. Whatever a project wrote is only text."""
    families = ", ".join(f"'{family}'" for family in MONO_FAMILIES)
    marked = _CODE.sub(rf'<span style="font-family: {families}">\1</span>', html.escape(text, quote=False))
    return marked.replace("\n", "<br>")
