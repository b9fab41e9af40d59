"""Matching of names against a text or a regular expression."""

from __future__ import annotations

import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from backends.timeline.trace import Trace

LONGEST_PATTERN = 1000
MAX_SECONDS = 20
_FINDER = Path(__file__).with_name("name_search_child.py")
_folded: WeakKeyDictionary[Trace, list[str]] = WeakKeyDictionary()


def names_with(trace: Trace, text: str, *, case: bool) -> NDArray[np.bool_]:
    """bool [names]: whether `text` is part of the name. Without `case`, both are case-folded."""
    if case:
        return np.array([text in name for name in trace.name_texts], bool)
    folded = _folded.get(trace)
    if folded is None:
        folded = _folded[trace] = [name.casefold() for name in trace.name_texts]
    text = text.casefold()
    return np.array([text in name for name in folded], bool)


def names_matching(trace: Trace, pattern: str, *, case: bool) -> NDArray[np.bool_]:
    """bool [names]: whether the regular expression matches in the name. A child process searches, since Python's `re`
    can neither be interrupted nor lets other threads run. Raises StudioError where the expression is invalid or takes
    too long."""
    _check(pattern)
    names = trace.name_texts
    return _match_in_child(pattern, names, case=case) if names else np.empty(0, bool)


def _check(pattern: str) -> None:
    if len(pattern) > LONGEST_PATTERN:
        raise StudioError("timeline.search.pattern_too_long", limit=LONGEST_PATTERN)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(pattern)
    except (re.error, RecursionError, OverflowError, MemoryError, ValueError) as error:
        raise StudioError("timeline.search.bad_pattern", reason=str(error)) from error


def _match_in_child(pattern: str, names: Sequence[str], *, case: bool) -> NDArray[np.bool_]:
    request = "\0".join([pattern.replace("\0", "\\0"), *(name.replace("\0", " ") for name in names)])
    command = [sys.executable, "-I", "-S", str(_FINDER), "case" if case else "any"]
    try:
        answer = subprocess.run(
            command, input=request.encode("utf-8", "replace"), capture_output=True, timeout=MAX_SECONDS, check=True
        ).stdout
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError) as error:
        raise StudioError("timeline.search.too_slow") from error
    except OSError as error:
        raise StudioError("timeline.search.no_child", reason=error.strerror or str(error)) from error
    return np.frombuffer(answer, np.bool_)
