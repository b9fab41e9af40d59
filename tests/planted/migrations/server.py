"""A process that has imported PyTorch and forks a child for each rehearsal: the import takes seconds, once.

A request is a line of JSON on stdin: `argv` (a script and its arguments), `cwd`, `env` and `log`, the file of stdout
and stderr. The answer is a line with the child's exit code. The guest begins in the child, as it does where Python
starts.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import sys
from typing import Any


def main() -> None:
    sys.path.insert(0, sys.argv[1])
    for line in sys.stdin:
        child = os.fork()
        if not child:
            os._exit(rehearse(json.loads(line)))
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def rehearse(request: dict[str, Any]) -> int:
    os.environ.clear()
    os.environ.update(request["env"])
    os.chdir(request["cwd"])
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    sys.argv = request["argv"]
    sys.path.insert(0, request["cwd"])
    from ascend_studio import hooks

    hooks.begin()
    code = 0
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())  # type: ignore[arg-type]
        code = 1
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    return code


if __name__ == "__main__":
    os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "0"
    import torch
    import torch.distributed
    import torch.utils.checkpoint

    torch.set_num_threads(1)
    main()
