"""What argparse says of a wrong command line, in the reader's language."""

from __future__ import annotations

import re

from studio.texts import t

_SENTENCES = tuple(
    (re.compile(pattern, re.DOTALL), key)
    for pattern, key in (
        (r"unrecognized arguments: (?P<words>.+)", "usage.unrecognized"),
        (r"the following arguments are required: (?P<words>.+)", "usage.required"),
        (r"one of the arguments (?P<words>.+) is required", "usage.one_of"),
        (r"expected one argument", "usage.one_value"),
        (r"expected (?P<count>\d+) arguments?", "usage.values"),
        (r"expected at least one argument", "usage.at_least_one"),
        (r"expected at most one argument", "usage.at_most_one"),
        (r"invalid choice: (?P<word>.+) \(choose from (?P<words>.+)\)", "usage.choice"),
        (r"invalid \w+ value: (?P<word>.+)", "usage.value"),
        (r"ambiguous option: (?P<word>.+) could match (?P<words>.+)", "usage.ambiguous"),
        (r"not allowed with argument (?P<word>.+)", "usage.together"),
        (r"ignored explicit argument (?P<word>.+)", "usage.no_value"),
    )
)
_OF_ARGUMENT = re.compile(r"argument (?P<name>[^:]+): (?P<reason>.+)", re.DOTALL)


def usage_error(message: str) -> str:
    """Return a message of argparse as a part of a sentence; one that is not known stays as it is."""
    if match := _OF_ARGUMENT.fullmatch(message):
        return t("usage.argument", name=match["name"], reason=usage_error(match["reason"]))
    for pattern, key in _SENTENCES:
        if match := pattern.fullmatch(message):
            return t(key, **match.groupdict())
    return message
