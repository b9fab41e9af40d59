"""Who starts the ranks of a training: the command for this host, and a line for each of several.

On one host `ascend_engine.parallel.ranks` runs the launcher and watches it. https://www.mindspore.cn/tutorials/en/master/parallel/
has msrun_launcher, mpirun and rank_table; torchrun is torch.distributed.run.
"""

from __future__ import annotations

import shlex
import shutil
import socket
from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch import ascend_env, rank_table, virtual_npu
from studio import files, interpreters, paths
from studio.errors import StudioError
from studio.schema import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from backends.launch.spec import LaunchSpec

ENGINE = Path(__file__).parent / "engine"
RANK = ENGINE / "rank.py"
LOGS = "logs"
TABLE = "rank_table.json"
WIDTH = 70
FOLD = " \\\n  "
LOOPBACK = "127.0.0.1"
# msrun's own, which every node must know, and torchrun's; on one host a free one is looked for.
PORT = 8118
FREE = 0


def python_of(spec: LaunchSpec) -> Path:
    return interpreters.embedded() if spec.advanced.python == Path() else spec.advanced.python


def command(spec: LaunchSpec, python: Path, options: str) -> tuple[str, ...]:
    """The command of a training on this host alone; `options` is what the engine reads, a file or its JSON."""
    if spec.parallel.parallel == "none":
        return (str(python), "-m", "ascend_engine", options)
    workers, launcher = spec.parallel.workers, launcher_of(spec)
    watch = (str(python), "-m", "ascend_engine.parallel.ranks", "--workers", str(workers), "--logs", LOGS)
    if launcher == "rank_table":
        return (*watch, "--rank-table", TABLE, "--", str(python), str(RANK), options)
    if launcher == "mpirun":
        return (*watch, "--", *_mpirun(python, workers), options)
    return (*watch, "--", *_networked(spec, python, spec.parallel.port or FREE, 0), options)


def launcher_of(spec: LaunchSpec) -> str:
    """The launcher that was chosen, else the framework's own."""
    return spec.parallel.launcher or ("torchrun" if spec.what.framework == "torch" else "msrun")


def _networked(spec: LaunchSpec, python: Path, port: int, node: int) -> tuple[str, ...]:
    """The launchers that bring nodes together over a port."""
    return (_torchrun if launcher_of(spec) == "torchrun" else _msrun)(spec, python, port, node)


def _torchrun(spec: LaunchSpec, python: Path, port: int, node: int) -> tuple[str, ...]:
    """Each rank keeps a log of its own. https://docs.pytorch.org/docs/stable/elastic/run.html"""
    parallel = spec.parallel
    return (
        str(python), "-m", "torch.distributed.run", f"--nnodes={parallel.nodes}", f"--node_rank={node}",
        f"--nproc_per_node={parallel.workers}", f"--master_addr={parallel.master or LOOPBACK}",
        f"--master_port={port}", str(RANK),
    )  # fmt: skip


def _msrun(spec: LaunchSpec, python: Path, port: int, node: int) -> tuple[str, ...]:
    """Only rank 0 is repeated in msrun's own output; each rank has its log."""
    parallel = spec.parallel
    words = (
        str(python.parent / "msrun"), f"--worker_num={parallel.workers * parallel.nodes}",
        f"--local_worker_num={parallel.workers}", f"--master_addr={parallel.master or LOOPBACK}",
        f"--master_port={port}",
    )  # fmt: skip
    nodes = (f"--node_rank={node}",) if parallel.nodes > 1 else ()
    shown_log = f"--tail_worker_log={node * parallel.workers}"
    return (*words, *nodes, "--join=True", shown_log, f"--log_dir={LOGS}", str(RANK))


def _mpirun(python: Path, workers: int) -> tuple[str, ...]:
    return ("mpirun", "--allow-run-as-root", "-n", str(workers), str(python), str(RANK))


def devices_of(spec: LaunchSpec) -> tuple[int, ...]:
    """Numbers of the cards on this host, one for each process, as the rank table names them."""
    chosen = ascend_env.cards(spec.ascend.visible) or range(spec.parallel.workers)
    return tuple(chosen[: spec.parallel.workers])


def write_rank_table(spec: LaunchSpec, folder: Path) -> None:
    """Write the rank table that the command reads, where one is chosen. Raises OSError, and StudioError where it is
    wrong."""
    if spec.parallel.parallel == "none" or launcher_of(spec) != "rank_table":
        return
    host = spec.parallel.master or socket.gethostname()
    table = rank_table.table_of_host(host, devices_of(spec), rank_table.host_addresses())
    if wrong := rank_table.wrong(table):
        raise StudioError("launch.rank_table_wrong", places=", ".join(wrong))
    files.write_json(folder / TABLE, table)


def node_lines(spec: LaunchSpec, python: Path, options: str, folder: Path | None) -> list[str]:
    """What to run on each node, in the same folder, which all of them must see; None leaves it to a variable."""
    port = spec.parallel.port or PORT
    environment = virtual_npu.environment(spec) | ascend_env.environment(spec)
    return [
        _node_line((*_networked(spec, python, port, node), options), python, folder, environment)
        for node in range(spec.parallel.nodes)
    ]


def _node_line(words: tuple[str, ...], python: Path, folder: Path | None, environment: dict[str, str]) -> str:
    location = '"${RUN:?a folder that all nodes see}"' if folder is None else shlex.quote(str(folder))
    bin_folder, python_path = shlex.quote(str(python.parent)), shlex.quote(f"{ENGINE}:{paths.GUEST}")
    settings = (f'PATH={bin_folder}:"$PATH"', f"PYTHONPATH={python_path}", 'ASCEND_STUDIO_RUN="$PWD"')
    own = (f"{name}={shlex.quote(value)}" for name, value in environment.items() if name != "PYTHONPATH")
    return FOLD.join((f"cd {location} &&", *own, *settings, _folded(words)))


def _folded(words: tuple[str, ...]) -> str:
    """For sh, in lines that begin with a flag."""
    lines = [""]
    for word in words:
        if word.startswith("--") and len(lines[-1]) > WIDTH:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + shlex.quote(word)
    return FOLD.join(lines)


def launcher_problems(spec: LaunchSpec) -> Iterator[Problem]:
    """Why the chosen launcher cannot start anything here."""
    parallel, python = spec.parallel, python_of(spec)
    if parallel.parallel == "none":
        return
    launcher = launcher_of(spec)
    if launcher == "msrun" and not (python.parent / "msrun").is_file():
        yield Problem(field="launcher", rule="launch.rule.no_msrun", args={"folder": str(python.parent)})
    if launcher == "mpirun" and shutil.which("mpirun") is None:
        yield Problem(field="launcher", rule="launch.rule.no_mpirun")
    if launcher == "rank_table":
        yield from _rank_table_problems(spec)
    elif launcher == "mpirun" and parallel.nodes > 1:
        yield Problem(field="launcher", rule="launch.rule.nodes_by_msrun")


def _rank_table_problems(spec: LaunchSpec) -> Iterator[Problem]:
    if virtual_npu.has_no_card(spec):
        yield Problem(field="launcher", rule="launch.rule.rank_table_cpu")
    elif spec.parallel.nodes > 1:
        yield Problem(field="launcher", rule="launch.rule.nodes_by_msrun")
    else:
        missing = [device for device in devices_of(spec) if device not in rank_table.host_addresses()]
        if missing:
            args = {"file": str(rank_table.ADDRESSES), "device": missing[0]}
            yield Problem(field="launcher", rule="launch.rule.no_addresses", args=args)
