"""Asking a training to stop. Python 3.7 syntax."""

import signal


class Stop:
    """Which signal asked to stop; 0 while none has."""

    def __init__(self):
        self.signal = 0

    def __bool__(self):
        return self.signal != 0

    @property
    def exit_code(self):
        return 128 + self.signal


def listen():
    """From now on SIGTERM and SIGINT are remembered, so that the step at hand is finished.

    They stay caught: a supervisor may signal the group and then each process
    of it, and the second must not cut short what the first asked for.
    """
    stop = Stop()

    def remember(number, frame):
        stop.signal = stop.signal or number

    signal.signal(signal.SIGTERM, remember)
    signal.signal(signal.SIGINT, remember)
    return stop
