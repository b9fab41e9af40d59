"""Has the C library write the exit status of this process, when Python has ended: nothing in Python knows the status of
a SystemExit that a script raises by hand, of a stream that cannot be flushed or of a crash behind its last line.

Python 3.7, standard library only.
"""

from __future__ import annotations

if False:  # typing costs more at the start than all the rest
    from typing import Any

SIZE = 4  # bytes of a native int


def write_at_exit(descriptor: int) -> None:
    """Write the status as an int where the descriptor stands, once exit() of the C library has run what Python, and
    what libraries registered before, leave to it. The descriptor is the C library's from here on. A signal or _exit()
    leaves the place as it is. Raises ImportError and AttributeError where the interpreter cannot call the C library."""
    import ctypes

    libc: Any = ctypes.CDLL(None)
    libc.fdopen.restype = ctypes.c_void_p
    libc.on_exit.argtypes = (ctypes.c_void_p, ctypes.c_void_p)
    # putw(status, stream) has the arguments of a function for on_exit(status, argument), see `man 3 on_exit`. What it
    # writes leaves the stream's buffer when exit() has come to its end.
    putw = ctypes.cast(libc.putw, ctypes.c_void_p)
    libc.on_exit(putw, libc.fdopen(descriptor, b"wb"))
