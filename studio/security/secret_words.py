"""Words of a command that look like secrets: what is kept, shown and reported of a run has placeholders instead.

The values travel from the process that was asked to the worker in its environment, which only this user can read, and
are written nowhere. A worker that is started later, by another window, does not have them.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any

from studio.environment import is_secret
from studio.errors import StudioError

VARIABLE = "ASCEND_STUDIO_SECRETS"
PLACEHOLDER = re.compile(r"‹secret-\d+›")
_NAME = r"(?P<name>[\w.-]+)"
_SETTING = re.compile(_NAME + r"=(?P<value>[^\s'\"]+)")
# Tokens of well-known services, JSON web tokens, the header of a web request, and the password in an address.
_FORMS = re.compile(
    r"\b(?:sk-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|dckr_pat_|npm_|pypi-)[\w-]{8,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=Bearer )[\w.~+/=-]{8,}"
    r"|(?<=://)[^\s:/@]*:(?P<password>[^\s/@]+)(?=@)"
)
# What a name such as --pad-token or --use-auth takes although it is no secret.
_HARMLESS = re.compile(
    r"|-.*|[<\[{$].*|[\d.eE+-]+|(?i:true|false|yes|no|none|null|auto|on|off)|.{1,2}|.*‹secret-\d+›.*"
)


def mask(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of a request with placeholders for the secrets in its lines, and each placeholder's secret.

    Raises StudioError where a line holds a placeholder already: it was taken from a run that did not keep the secret.
    """
    kept: dict[str, str] = {}
    masked = {
        section: {name: _masked_line(value, kept) if _is_line(value) else value for name, value in fields.items()}
        if isinstance(fields, dict)
        else fields
        for section, fields in values.items()
    }
    return masked, kept


def restore(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with the secrets that this process was given, and remove these from its environment. Raises
    StudioError where one is missing.
    """
    kept = json.loads(os.environ.pop(VARIABLE, "{}"))
    return {
        section: {name: _restored(value, kept) if _is_line(value) else value for name, value in fields.items()}
        if isinstance(fields, dict)
        else fields
        for section, fields in values.items()
    }


def masked_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a command as they may be shown."""
    return tuple(_masked_line(list(words), {}, may_repeat=True))


def _is_line(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _masked_line(words: list[str], kept: dict[str, str], *, may_repeat: bool = False) -> list[str]:
    masked: list[str] = []
    for word, former in zip(words, ["", *words], strict=False):
        if PLACEHOLDER.search(word) and not may_repeat:
            raise StudioError("run.secret_placeholder", word=word)
        names_secret = former.startswith("-") and "=" not in former and _is_secret_name(former)
        if names_secret and not _HARMLESS.fullmatch(word):
            masked.append(_placeholder(word, kept))
        else:
            masked.append(_FORMS.sub(lambda match: _form(match, kept), _SETTING.sub(lambda m: _setting(m, kept), word)))
    return masked


def _setting(match: re.Match[str], kept: dict[str, str]) -> str:
    value = match["value"]
    if not _is_secret_name(match["name"]) or _HARMLESS.fullmatch(value):
        return match[0]
    return f"{match['name']}={_placeholder(value, kept)}"


def _form(match: re.Match[str], kept: dict[str, str]) -> str:
    if match["password"] is None:
        return _placeholder(match[0], kept)
    return match[0][: match.start("password") - match.start()] + _placeholder(match["password"], kept)


def _is_secret_name(name: str) -> bool:
    return is_secret(re.sub(r"[-.]", "_", name.lstrip("-")))


def _placeholder(secret: str, kept: dict[str, str]) -> str:
    if PLACEHOLDER.search(secret):
        return secret
    text = next((text for text, value in kept.items() if value == secret), f"‹secret-{len(kept) + 1}›")
    kept[text] = secret
    return text


def _restored(words: list[str], kept: dict[str, str]) -> list[str]:
    def secret(match: re.Match[str]) -> str:
        if match[0] not in kept:
            raise StudioError("run.secret_missing")
        return str(kept[match[0]])

    return [PLACEHOLDER.sub(secret, word) for word in words]
