"""Whether an API works on which hardware, and what MindSpore calls it, as sign and word."""

from __future__ import annotations

from studio.texts import t

HARDWARE = (("a2", "A2"), ("a3", "A3"), ("a950", "950"))
ANSWERS = {
    "yes": ("✓", "good", "migration.support.yes"), "no": ("✕", "bad", "migration.support.no"),
    "unverified": ("?", "dim", "migration.support.unverified"),
}  # fmt: skip


def support_text(answer: str) -> str:
    sign, _, key = ANSWERS.get(answer, ANSWERS["unverified"])
    return f"{sign} {t(key)}"


def support_sign(answer: str) -> str:
    """For columns without room for the word, which is in the tooltip; no answer is only a sign."""
    return "?" if answer not in ("yes", "no") else support_text(answer)


def support_token(answer: str) -> str:
    return ANSWERS.get(answer, ANSWERS["unverified"])[1]


def mindspore_text(name: str) -> str:
    """A "~" before the name says that the two differ in some respect."""
    if name.startswith("~"):
        return t("migration.differs", name=name[1:])
    return name or t("migration.no_equivalent")
