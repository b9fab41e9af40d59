"""Python imports this at its start, wherever the studio's guest folder is on PYTHONPATH: the one way in that survives
shell scripts, torchrun, msrun and spawned children. Outside a run that asked for hooks it does nothing but import
the sitecustomize that it hides. Python 3.7, standard library only.
"""

import os
import sys


def _import_hidden() -> None:
    """The next sitecustomize on the path, as Python would have imported it without us."""
    from importlib import machinery, util

    here = os.path.dirname(os.path.abspath(__file__))
    paths = [path for path in sys.path if os.path.abspath(path or os.curdir) != here]
    spec = machinery.PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        module = util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module  # who asks for it later gets the user's own
        spec.loader.exec_module(module)


try:
    if "ASCEND_STUDIO_RUN" in os.environ and "ASCEND_STUDIO_HOOKS" in os.environ:
        from ascend_studio import hooks

        hooks.begin()
finally:
    _import_hidden()
