"""python -m ascend_engine [shapes] OPTIONS: one training, or one step of it, in the current folder, recorded through
ascend_studio.

Python 3.7 syntax, like options.py and failures.py, so that an old interpreter
is told what is missing instead of failing with a SyntaxError.
"""

import importlib
import sys

import ascend_studio

from ascend_engine import failures, options, stopping


def main():
    """Exit code: 0 done, 1 failed (with a finding), 2 wrong use, 128 + n stopped by signal n."""
    words = sys.argv[1:]
    work = shapes if words[:1] == ["shapes"] else train
    config = options.read(words if work is train else words[1:])
    # The output is a file: its reader wants whole lines now, and any character in them.
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    stop = stopping.listen()
    ascend_studio.progress(0, config.steps, "load")
    try:
        import_framework(config.framework)
        return work(config, stop)
    except Exception as error:
        failures.report(error)
        return 1


def import_framework(name):
    """It takes seconds: after the first progress record."""
    try:
        importlib.import_module(name)
    except Exception as error:
        raise failures.NoFramework(name, error) from error


def train(config, stop):
    return module_for(config, "ascend_engine.train", "ascend_engine.pytorch.train").train(config, stop)


def shapes(config, stop):
    return module_for(config, "ascend_engine.shapes.cells", "ascend_engine.pytorch.shapes").shapes(config, stop)


def module_for(config, of_mindspore, of_torch):
    """The one of two modules that is written for the framework of a training."""
    return importlib.import_module(of_torch if config.framework == "torch" else of_mindspore)


if __name__ == "__main__":
    sys.exit(main())
