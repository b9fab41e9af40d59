"""What a training is asked to do. Python 3.7 syntax, standard library only.

Which options there are, of which types, within which bounds, and what each of them does is declared once, in
backends/launch/spec.py. The studio checks and resolves them (backends/launch/engine_options.py); here their values are
read, and trusted.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

USAGE = "usage: python -m ascend_engine [shapes] OPTIONS, a file of resolved options or its JSON"
WRONG_USE = 2


class Config:
    """One training, everything resolved: each option is an attribute. A recipe's build(config) reads it."""

    def __init__(self, values):
        vars(self).update(values)

    def __setattr__(self, name, value):
        raise AttributeError("options do not change: " + name)

    def replace(self, **changes):
        return Config(dict(vars(self), **changes))

    @property
    def compiled(self):
        return self.mode not in ("pynative", "eager")

    @property
    def samples_per_step(self):
        """Samples of one optimizer step, over all workers."""
        return self.batch * self.accumulate * self.readers

    @property
    def readers(self):
        """Workers that each read samples of their own: the stages of a pipeline share theirs, and so do the parts of
        divided tensors."""
        return 1 if self.parallel == "tensor" else self.workers // self.stages


def parse(text):
    """The Config of a JSON text: {"values": {NAME: VALUE}, "paths": {NAME: TEXT or null}}. Raises ValueError."""
    try:
        parts = json.loads(text)
        values = {name: tuple(value) if isinstance(value, list) else value for name, value in parts["values"].items()}
        paths = {name: None if path is None else Path(path) for name, path in parts["paths"].items()}
        return Config(dict(values, **paths))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"no options: {error!r}") from error


def read(words):
    """The Config that a command line names, by a file or by the JSON itself. Exits with code 2 where it names none."""
    try:
        (word,) = words
        return parse(word if word.startswith("{") else Path(word).read_text("utf-8"))
    except (OSError, ValueError) as error:
        print(USAGE, error, sep="\n", file=sys.stderr)
        raise SystemExit(WRONG_USE) from error
