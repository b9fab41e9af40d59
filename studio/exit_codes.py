"""Exit codes of the command line and of every run's work. docs/commands.md has the rule."""

from __future__ import annotations

DONE = 0
FAILED = 1
USAGE = 2
NO = 3
"""The work is done, and its answer is no: the sides differ, a gate failed."""
NOT_RUN = 125
"""A user's program could not be started, or its end is not known: what `env` and `timeout` return when they fail."""
STOPPED = 128 + 15
"""A shell reports a process that SIGTERM ended like this."""
