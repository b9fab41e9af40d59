"""The sentences of a set-up, in the user's language, from `assets/setup/messages.json`."""

import json
import os
import sys

TYPE_CHECKING = False  # without importing typing, which is slow
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "assets", "setup", "messages.json")


class Refused(Exception):
    """Ends the set-up with one sentence: the key of a message and its arguments."""

    def __init__(self, key: str, **values: object) -> None:
        super().__init__(key)
        self.key = key
        self.values = values


def language(env: "Mapping[str, str]") -> str:
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        if env.get(name):
            return "zh" if env[name].lower().startswith("zh") else "en"
    return "en"


def catalogue() -> "dict[str, dict[str, str]]":
    """Return the messages by key, each with its text in "en" and "zh"."""
    with open(FILE, encoding="utf-8") as file:
        return dict(json.load(file))


def text(key: str, **values: object) -> str:
    return catalogue()[key][language(os.environ)].format(**values)


def say(key: str, **values: object) -> None:
    show(text(key, **values) + "\n")


def show(line: str) -> None:
    """Write to stderr, with escapes for what its encoding does not have."""
    encoding = sys.stderr.encoding or "ascii"
    sys.stderr.write(line.encode(encoding, "backslashreplace").decode(encoding))
    sys.stderr.flush()


def size(megabytes: int) -> str:
    return f"{megabytes / 1024:.1f} GB" if megabytes >= 1000 else f"{megabytes} MB"


def dotted(version: "Iterable[int]") -> str:
    return ".".join(str(part) for part in version)
