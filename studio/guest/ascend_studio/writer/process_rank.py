"""Which rank of a training this process is: the framework says, else the launcher, else a library that starts it.

A script may give its rank to init_process_group alone, as PyTorch's tutorial does with torch.multiprocessing.spawn:
then no variable holds it, and before that call nobody knows it.
"""

from __future__ import annotations

import os
import sys

if False:  # typing costs more at the start than all the rest
    from typing import Any

# torchrun; Open MPI; msrun, and one process per device; MPICH and Intel MPI; msrun again, where it leaves RANK_ID to
# mindspore.communication.init().
VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "RANK_ID", "PMI_RANK", "MS_NODE_ID")
# For a library that starts its processes without any of these: it counts before the first record of a process.
of_trainer = -1
# Whether nothing can change it any more; else each record asks the framework, in two look-ups.
is_final = False
_remembered = -1

_modules = sys.modules


def rank() -> int:
    """Return the rank of this process, 0 where nothing tells one. It stays when the process leaves its group."""
    global is_final, _remembered
    named = (of_trainer, *(setting(name, -1) for name in VARIABLES))
    known = next((number for number in (of_framework(), _remembered, *named) if number >= 0), -1)
    is_final, _remembered = is_final or known >= 0, known
    return max(0, known)


def forget() -> None:
    """Begin anew, in a process that was forked from a rank."""
    global is_final, _remembered
    is_final, _remembered = False, -1


def of_framework() -> int:
    """Return the rank that the framework was given, -1 before that."""
    number = -1
    if "torch.distributed" in _modules:
        number = _of_torch(_modules["torch.distributed"])
    if number < 0 and _MINDSPORE in _modules:
        number = _of_mindspore(_modules[_MINDSPORE])
    return number


_MINDSPORE = "mindspore.communication._comm_helper"


def _of_torch(distributed: Any) -> int:
    try:
        return int(distributed.get_rank()) if distributed.is_initialized() else -1
    except Exception:  # it is just being imported, or PyTorch was built without it
        return -1


def _of_mindspore(helper: Any) -> int:
    try:
        return int(_modules["mindspore.communication"].get_rank()) if helper.GlobalComm.INITED else -1
    except Exception:
        return -1


def world_size() -> int:
    """Return how many processes PyTorch was told that there are, 1 before that."""
    distributed: Any = _modules.get("torch.distributed")
    try:
        return int(distributed.get_world_size()) if distributed.is_initialized() else 1
    except Exception:
        return 1


def setting(name: str, default: int) -> int:
    """Return the number in an environment variable."""
    try:
        return int(os.environ[name])
    except (KeyError, ValueError):
        return default
