"""Python imports this at its start, wherever the studio's guest folder is on PYTHONPATH: the one way in that survives
shell scripts, torchrun, msrun and spawned children. Outside a run that asked for hooks it does nothing but import
the sitecustomize that it hides. Standard library only; every Python reads it, from 3.7 on it does something.
"""

import io
import os
import sys


def _import_hidden():  # type: () -> None
    """The next sitecustomize on the path, as Python would have imported it without us."""
    # What importlib gives out under other names; importing it would cost most of the time of this file.
    from _frozen_importlib import module_from_spec
    from _frozen_importlib_external import PathFinder

    guest_folder = os.path.dirname(os.path.abspath(__file__))
    paths = [path for path in sys.path if os.path.abspath(path or os.curdir) != guest_folder]
    spec = PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module  # who asks for it later gets the user's own
        spec.loader.exec_module(module)


def _write_lines():  # type: () -> None
    """With PYTHONUNBUFFERED each argument of a print is a write, and the lines of ranks that share a log are mixed."""
    if os.environ.get("PYTHONUNBUFFERED"):
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(line_buffering=True, write_through=False)


def _begin_hooks():  # type: () -> None
    try:
        _write_lines()
        from ascend_studio import hooks

        hooks.begin()
    except Exception:
        # Curves are not worth a training.
        pass


if sys.version_info >= (3, 7):
    if "ASCEND_STUDIO_RUN" in os.environ and "ASCEND_STUDIO_HOOKS" in os.environ:
        _begin_hooks()
    _import_hidden()
