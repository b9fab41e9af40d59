"""Words of a command that look like secrets: what is kept, shown and reported of a run has placeholders instead.

The values travel from the process that was asked to the worker in its environment, which only this user can read, and
are written nowhere. A worker that is started later, by another window, does not have them.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any

from studio.environment import is_secret
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLE = "ASCEND_STUDIO_SECRETS"
PLACEHOLDER = re.compile(r"‹secret-\d+›")
# NAME=value, NAME: value and "NAME": "value", also inside a word that a shell or another program reads. A value in
# quotes goes to the closing ones. The colon of https:// is none.
_VALUE = r"(?:(?P<quote>\\?['\"])(?P<quoted>.*?)(?P=quote)|(?P<value>[^\s'\"\\]+))"
_SETTING = re.compile(rf"(?P<head>(?<![\w.-])(?P<name>[\w.-]+)[\\'\"]*\s*[=:](?!//)\s*){_VALUE}")
_OPTION = re.compile(rf"(?P<head>(?<=\s)(?P<name>--?[\w.-]+)\s+){_VALUE}")
# Tokens of well-known services, JSON web tokens, the header of a web request, and the password in an address.
_FORMS = re.compile(
    r"\b(?:sk-|hf_|gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AKIA|ASIA|AIza|dckr_pat_|npm_|pypi-)[\w-]{8,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?:(?<=Bearer )|(?<=Basic ))[\w.~+/=-]{8,}"
    r"|(?<=://)[^\s:/@‹]{16,}(?=@)"
    r"|(?<=://)[^\s:/@]*:(?P<password>[^\s/@]+)(?=@)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*"
)
# curl --user NAME:PASSWORD; docker's --user 1000:1000 is none.
_LOGIN_OPTIONS = ("-u", "--user", "--proxy-user")
_LOGIN = re.compile(
    r"(?P<head>(?:^|(?<=\s))(?:-u|--user|--proxy-user)[\s=]+[\\'\"]*[^\s:'\"\\]+:)(?P<value>(?!\d+\b)[^\s'\"\\]+)"
)
# What a name such as --pad-token or --use-auth takes although it is no secret.
_HARMLESS = re.compile(
    r"|--.*|-\w|</?[\w|]+>|\[\w+\]|(?i:true|false|yes|no|none|null|auto|on|off|basic|bearer)|.{1,2}|.*‹secret-\d+›.*",
    re.DOTALL,
)
_NUMBER = re.compile(r"[\d.eE+-]+")
_NUMBERED = re.compile(r"(?i)token|auth")
"""Names that take the number of a token, as --eos-token does; a password may be a number."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_SECRET = re.compile(r"(?i).*(_id|_ids|_file|_path|_type|_name|_len|_length|_num|_dim|_url)$")


def mask(values: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the values of a request with placeholders for the secrets in its lines and pairs, and each placeholder's
    secret.

    Raises StudioError where a line holds a placeholder already: it was taken from a run that did not keep the secret.
    """
    secrets: dict[str, str] = {}
    return _changed(values, lambda words: _masked_line(words, secrets)), secrets


def restore(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values with the secrets that this process was given, and remove these from its environment. Raises
    StudioError where one is missing.
    """
    secrets = json.loads(os.environ.pop(VARIABLE, "{}"))
    return _changed(values, lambda words: _restored(words, secrets))


def _changed(values: dict[str, Any], change: Callable[[list[str]], list[str]]) -> dict[str, Any]:
    """Return the values with each line, and the texts of each object of pairs, replaced by what `change` gives."""

    def changed(value: Any) -> Any:
        if _is_line(value):
            return change(value)
        if isinstance(value, dict) and _is_line(list(value.values())):
            return dict(zip(value, change(list(value.values())), strict=True))
        return value

    return {
        section: {name: changed(value) for name, value in fields.items()} if isinstance(fields, dict) else fields
        for section, fields in values.items()
    }


def masked_words(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words of a command as they may be shown."""
    return tuple(_masked_line(list(words), {}, may_repeat=True))


def _is_line(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def _masked_line(words: list[str], secrets: dict[str, str], *, may_repeat: bool = False) -> list[str]:
    masked: list[str] = []
    for word, former in zip(words, ["", *words], strict=False):
        if PLACEHOLDER.search(word) and not may_repeat:
            raise StudioError("run.secret_placeholder", word=word)
        is_name = (former.startswith("-") and "=" not in former) or former.endswith(":")
        names_secret = is_name and _is_secret(former.rstrip(":"), word)
        if names_secret:
            masked.append(_placeholder(word, secrets))
        elif former in _LOGIN_OPTIONS and (match := _LOGIN.fullmatch(f"{former} {word}")):
            masked.append(match["head"].removeprefix(f"{former} ") + _placeholder(match["value"], secrets))
        else:
            word = _masked_settings(word, secrets)
            word = _LOGIN.sub(lambda match: match["head"] + _placeholder(match["value"], secrets), word)
            masked.append(_FORMS.sub(lambda match: _form(match, secrets), word))
    return masked


def _masked_settings(text: str, secrets: dict[str, str]) -> str:
    for pattern in (_SETTING, _OPTION):
        text = _masked_by(pattern, text, secrets)
    return text


def _masked_by(pattern: re.Pattern[str], text: str, secrets: dict[str, str]) -> str:
    """Replace the secret values of settings; what another setting has for a value is searched too, as a shell's line
    is."""
    parts, begin = [], 0
    while match := pattern.search(text, begin):
        name, quote = match["name"], match["quote"] or ""
        value = match["quoted"] if match["value"] is None else match["value"]
        end = match.end("head")
        parts.append(text[begin:end])
        if _is_secret(name, value):
            parts.append(quote + _placeholder(value, secrets) + quote)
            end = match.end()
        begin = end
    return "".join((*parts, text[begin:]))


def _form(match: re.Match[str], secrets: dict[str, str]) -> str:
    if match["password"] is None:
        return _placeholder(match[0], secrets)
    return match[0][: match.start("password") - match.start()] + _placeholder(match["password"], secrets)


def _is_secret(name: str, value: str) -> bool:
    """Return whether a name says that its value is a secret, and the value can be one."""
    plain = re.sub(r"[-.]", "_", _CAMEL.sub("_", name.lstrip("-").removeprefix("D")))
    if not is_secret(plain) or _NO_SECRET.fullmatch(plain) or _HARMLESS.fullmatch(value):
        return False
    return not (_NUMBER.fullmatch(value) and _NUMBERED.search(plain))


def _placeholder(secret: str, secrets: dict[str, str]) -> str:
    if PLACEHOLDER.search(secret):
        return secret
    text = next((text for text, value in secrets.items() if value == secret), f"‹secret-{len(secrets) + 1}›")
    secrets[text] = secret
    return text


def _restored(words: list[str], secrets: dict[str, str]) -> list[str]:
    def secret(match: re.Match[str]) -> str:
        if match[0] not in secrets:
            raise StudioError("run.secret_missing")
        return str(secrets[match[0]])

    return [PLACEHOLDER.sub(secret, word) for word in words]
