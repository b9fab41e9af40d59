"""How a debugger comes to a training that waits for it: what an editor and a shell need, to copy."""

from __future__ import annotations

import getpass
import json
import platform

HOST = "127.0.0.1"


def vs_code(ports: range) -> str:
    """VS Code's launch.json; each rank listens on a port of its own. `justMyCode` would keep the debugger out of the
    engine, which is no part of the open folder."""
    names = ["Ascend training"] if len(ports) == 1 else [f"Ascend training, rank {rank}" for rank in range(len(ports))]
    configurations = [
        {
            "name": name,
            "type": "debugpy",
            "request": "attach",
            "connect": {"host": HOST, "port": port},
            "justMyCode": False,
        }
        for name, port in zip(names, ports, strict=True)
    ]
    return json.dumps({"version": "0.2.0", "configurations": configurations}, indent=2)


def ssh(ports: range) -> str:
    """The line for another machine that brings the ports there: they are open on this host only."""
    forwards = " ".join(f"-L {one}:{HOST}:{one}" for one in ports)
    return f"ssh -N {forwards} {_user()}@{platform.node()}"


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user without a name
        return "USER"
