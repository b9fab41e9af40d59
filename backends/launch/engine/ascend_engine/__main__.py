"""python -m ascend_engine: one training, in the current folder, recorded through ascend_studio.

Python 3.7 syntax, like options.py and failures.py, so that an old interpreter
is told what is missing instead of failing with a SyntaxError.
"""

import sys

import ascend_studio

from ascend_engine import failures, options, stopping


def main():
    """Exit code: 0 done, 1 failed (with a finding), 2 wrong use, 128 + n stopped by signal n."""
    config = options.parse(sys.argv[1:])
    # The output is a file: its reader wants whole lines now, and any character in them.
    sys.stdout.reconfigure(line_buffering=True, errors="backslashreplace")
    stop = stopping.listen()
    ascend_studio.progress(0, config.steps, "load")
    try:
        return train(config, stop)
    except Exception as error:
        failures.report(error)
        return 1


def train(config, stop):
    try:
        import mindspore  # noqa: F401  takes seconds: after the first progress record
    except Exception as error:
        raise failures.NoMindSpore(error) from error
    from ascend_engine import train

    return train.train(config, stop)


if __name__ == "__main__":
    sys.exit(main())
