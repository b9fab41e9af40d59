"""What went wrong, as a finding. Python 3.7 syntax, standard library only."""

import os
import platform
import re
import sys
import traceback
from pathlib import Path

import ascend_studio

ENGINE = str(Path(__file__).parent) + os.sep
STARTER = str(Path(__file__).parents[1] / "rank.py")
GUEST = str(Path("/guest/ascend_studio")) + os.sep


class Failure(Exception):
    """A failure with a sentence in the catalogue of texts: rule id and its arguments."""

    def __init__(self, rule, **args):
        super().__init__(rule, args)
        self.rule = rule
        self.args_of_rule = args

    def __str__(self):
        return self.rule + " " + " ".join(f"{k}={v!r}" for k, v in self.args_of_rule.items())


NOT_IMPORTED = {"mindspore": "launch.no_mindspore", "torch": "launch.no_torch"}


class NoFramework(Failure):
    def __init__(self, framework, error):
        super().__init__(
            NOT_IMPORTED[framework],
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
    if has_several_losses(error):
        return "launch.loss_is_no_number", (), {"error": first_line(error)}
    path, line = location_of(error)
    message = error.msg if isinstance(error, SyntaxError) else first_line(error)
    args = {"type": type(error).__name__, "message": message}
    if not path:
        return "launch.engine_error", (), args
    return "launch.python_error", (path, line), {**args, "place": f"{path}:{line}"}


def has_several_losses(error):
    """Whether the loss has more than one element, which MindSpore says where the engine asks whether it is finite, and
    PyTorch where it goes backward."""
    text = str(error)
    files = [path for path, _ in (*frames_of(error), *compiled_frames(error)) if not is_library(path)]
    phrases = (
        "should have only one element",
        "Only tensor which shape is () or (1,)",
        "grad can be implicitly created only for scalar outputs",
    )
    is_asked = files[-1:] in ([ENGINE + "step.py"], [str(Path(ENGINE, "pytorch", "step.py"))])
    return isinstance(error, (ValueError, RuntimeError)) and is_asked and any(phrase in text for phrase in phrases)


def is_out_of_memory(error):
    """Python's own, or a framework's, which comes as a RuntimeError with one of these phrases."""
    text = str(error).lower()
    phrases = (
        "out of memory",
        "memory not enough",
        "alloc memory failed",
        "malloc memory failed",
        "can't allocate memory",
    )
    return isinstance(error, MemoryError) or any(phrase in text for phrase in phrases)


def location_of(error):
    """File and line where the training's own code failed: the innermost frame of the user's, else of a library; "" and
    0 where there are only the engine's, in which nobody has to look.

    A SyntaxError of a recipe knows its place itself.
    """
    if isinstance(error, SyntaxError) and error.filename:
        return error.filename, error.lineno or 0
    others = [frame for frame in (*frames_of(error), *compiled_frames(error)) if not is_ours(frame[0])]
    users = [frame for frame in others if not is_library(frame[0])]
    return (users or others or [("", 0)])[-1]


def is_ours(path):
    """The engine, the script that starts it, and the guest."""
    return path.startswith(ENGINE) or path == STARTER or GUEST in path


def frames_of(error):
    return [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]


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
