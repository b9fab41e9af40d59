"""Whether an API works on each hardware, and its MindSpore name, as text."""

from __future__ import annotations

from studio.texts import t

HARDWARE = (("a2", "A2"), ("a3", "A3"), ("a950", "950"))
ANSWER_TEXTS = {
    "yes": ("✓", "good", "migration.support.yes"), "no": ("✕", "bad", "migration.support.no"),
    "unverified": ("?", "dim", "migration.support.unverified"),
}  # fmt: skip


def support_text(answer: str) -> str:
    """Return sign and word for an answer: yes, no or unverified."""
    sign, _, key = ANSWER_TEXTS.get(answer, ANSWER_TEXTS["unverified"])
    return f"{sign} {t(key)}"


def support_sign(answer: str) -> str:
    """Return a short text for narrow columns: only '?' where it is unverified; the tooltip has the word."""
    return "?" if answer not in ("yes", "no") else support_text(answer)


def support_token(answer: str) -> str:
    """Return the theme colour of an answer."""
    return ANSWER_TEXTS.get(answer, ANSWER_TEXTS["unverified"])[1]


def mindspore_text(name: str) -> str:
    """Return the MindSpore name; a "~" before it says that the two APIs differ in some respect."""
    if name.startswith("~"):
        return t("migration.differs", name=name[1:])
    return name or t("migration.no_equivalent")
