"""What went wrong, as a finding. Python 3.7 syntax, standard library only."""

import os
import platform
import re
import sys
import traceback
from pathlib import Path

import ascend_studio

ENGINE = str(Path(__file__).parent) + os.sep


class Failure(Exception):
    """A failure with a sentence in the catalogue of texts: rule id and its arguments."""

    def __init__(self, rule, **args):
        super().__init__(rule, args)
        self.rule = rule
        self.args_of_rule = args

    def __str__(self):
        return self.rule + " " + " ".join(f"{k}={v!r}" for k, v in self.args_of_rule.items())


class NoMindSpore(Failure):
    def __init__(self, error):
        super().__init__(
            "launch.no_mindspore",
            python=sys.executable,
            version=platform.python_version(),
            error=first_line(error),
        )


def report(error):
    """The traceback for the log, the finding for the page."""
    traceback.print_exception(type(error), error, error.__traceback__)
    rule, location, args = describe(error)
    ascend_studio.finding(rule, "error", *location, **args)


def describe(error):
    """Rule id, (path, line) and arguments of the finding for any exception."""
    if isinstance(error, Failure):
        return error.rule, (), error.args_of_rule
    if is_out_of_memory(error):
        return "launch.out_of_memory", (), {"error": first_line(error)}
    path, line = location_of(error)
    message = error.msg if isinstance(error, SyntaxError) else first_line(error)
    args = {"type": type(error).__name__, "message": message, "place": f"{path}:{line}"}
    return "launch.python_error", (path, line), args


def is_out_of_memory(error):
    """Python's own, or MindSpore's, which comes as a RuntimeError with one of these phrases."""
    text = str(error).lower()
    phrases = ("out of memory", "memory not enough", "alloc memory failed", "malloc memory failed")
    return isinstance(error, MemoryError) or any(phrase in text for phrase in phrases)


def location_of(error):
    """File and line where the training's own code failed: the innermost frame that is no library's, and rather the
    user's than the engine's.

    A SyntaxError of a recipe knows its place itself.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    frames += compiled_frames(error)
    own = [frame for frame in frames if not is_library(frame[0])]
    users = [frame for frame in own if not frame[0].startswith(ENGINE)]
    return (users or own or frames)[-1]


def compiled_frames(error):
    """Where compiling failed: no frames of Python, but "# 4 In file model.py:32, 15~42" in MindSpore's message."""
    return [(path, int(line)) for path, line in re.findall(r"^# \d+ In file (.+):(\d+), ", str(error), re.MULTILINE)]


def is_library(path):
    standard = str(Path(os.__file__).parent) + os.sep
    return "site-packages" in path or path.startswith((standard, "<frozen"))


def first_line(error):
    """MindSpore's messages run over many lines, framed in dashes; the first says what happened."""
    lines = [line.strip() for line in str(error).splitlines()]
    return next((line for line in lines if line.strip("- ")), "")
