"""Code inside the sentences of rules, in a font of its own."""

from __future__ import annotations

import html
import re

from ui.widgets.theme import MONO_FAMILIES

_CODE = re.compile(r"`([^`\n]+)`")


def without_code(text: str) -> str:
    """Remove the marks of code, for plain text."""
    return _CODE.sub(r"\1", text)


def with_code(text: str) -> str:
    """Return rich text with what is between backquotes as code. Text from a project is escaped."""
    families = ", ".join(f"'{family}'" for family in MONO_FAMILIES)
    marked = _CODE.sub(rf'<span style="font-family: {families}">\1</span>', html.escape(text, quote=False))
    return marked.replace("\n", "<br>")
