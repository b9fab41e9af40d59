"""python -m ascend_engine.parallel.ranks [options] LAUNCHER ...: the ranks of a training on this host, as one program.

It starts the launcher and stays until all is over. A launcher alone would not do: msrun takes no free port by itself,
dies of SIGTERM and leaves its workers alive, and after the death of one it takes 30 s to end and does not say who was
first. Python 3.7 syntax, standard library only.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import ascend_studio

PORT = "--master_port="
# Ends the other ranks by SIGTERM.
TORCHRUN = "torch.distributed.run"
# Replaced by a port that is free now.
FREE_PORT = PORT + "0"
LOGS = "ASCEND_ENGINE_LOGS"
# A file that tells whether a training that ended without an error was stopped.
STOPPED = "ASCEND_ENGINE_STOPPED"
WATCH_SECONDS = 0.1
# A launcher looks once a second whether its processes live, and says what it found.
LAUNCHER_SECONDS = 2.5
OWN_RANK = ("RANK", "OMPI_COMM_WORLD_RANK", "RANK_ID", "MS_NODE_ID")


class Rank:
    """A process that said its rank and its pid, in a file; `code` is None as long as it lives. `closing_signal`: the
    one that ended it after it had done its work and left its exit code, 0 for none, and where nobody saw it."""

    def __init__(self, rank, pid):
        self.rank = rank
        self.pid = pid
        self.start = start_of(pid)
        self.code = None
        self.closing_signal = 0
        self.has_left_code = False
        self.was_signalled = False

    def update(self, own_code):
        """Find out whether it ended, and how. `own_code`: the exit code that it left itself, if it did."""
        state, start, code = stat_of(self.pid)
        if start == self.start and state not in "ZX":
            return
        self.has_left_code = own_code is not None
        if own_code is not None:
            self.code = own_code
            self.closing_signal = code & 127 if start == self.start else 0
        elif start == self.start and code:
            self.code = 128 + (code & 127) if code & 127 else code >> 8
        else:
            self.code = -1

    def send(self, number):
        if self.code is None and start_of(self.pid) == self.start:
            with suppress(OSError):
                os.kill(self.pid, number)


def stat_of(pid):
    """State, start time and exit status of a process, ("X", 0, 0) where there is none: proc(5), /proc/[pid]/stat."""
    try:
        text = Path("/proc", str(pid), "stat").read_text("utf-8", "replace")
    except OSError:
        return "X", 0, 0
    fields = text.rpartition(")")[2].split()
    return fields[0], int(fields[19]), int(fields[49])


def start_of(pid):
    return stat_of(pid)[1]


class Watch:
    """The ranks of this host, and which of them failed first."""

    def __init__(self, folder, count, launcher_kills):
        """`launcher_kills`: whether the launcher ends the other ranks by SIGKILL."""
        self.folder = folder
        self.count = count
        self.launcher_kills = launcher_kills
        self.ranks = {}
        self.first = None

    def update(self):
        if len(self.ranks) < self.count:
            self._find()
        alive = [rank for rank in self.ranks.values() if rank.code is None]
        for rank in alive:
            rank.update(number_in(self.folder / f"rank_{rank.rank}.code"))
        failed = [rank for rank in alive if rank.code]
        if failed and self.first is None:
            self.first = min(failed, key=self._follows)

    def _follows(self, rank):
        """Whether a rank rather failed because of another one. Between two looks the launcher may have seen that, too,
        and have killed the others; else they have lost their connection, and left an exit code of their own."""
        return rank.code == 128 + signal.SIGKILL if self.launcher_kills else rank.has_left_code

    def has_done_all(self):
        """Whether each rank of this host left the exit code of a training that ended well."""
        return len(self.ranks) == self.count and all(rank.code == 0 for rank in self.ranks.values())

    def _find(self):
        for path in self.folder.glob("rank_*.pid"):
            rank, pid = int(path.stem[5:]), number_in(path)
            if rank not in self.ranks and pid is not None:
                self.ranks[rank] = Rank(rank, pid)

    def stop(self, number):
        """Each rank is told once: they agree on the step, and finish it."""
        for rank in self.ranks.values():
            if not rank.was_signalled:
                rank.was_signalled = True
                rank.send(number)

    def kill(self):
        for rank in self.ranks.values():
            rank.send(signal.SIGKILL)


def number_in(path):
    """The number that a file holds; None where there is no file, or half of one."""
    try:
        return int(path.read_text("ascii"))
    except (OSError, ValueError):
        return None


def main():
    """Exit code: 0 done, that of the rank which failed first, 128 + n after signal n. Where a process crashed while it
    closed, after all had done their work, that of its signal, or the launcher's."""
    options = parse(sys.argv[1:])
    folder = Path(options.logs).absolute()
    clear(folder)
    stop_signals = listen()
    occupied = occupied_port(options.command)
    if occupied:
        print(f"Address already in use: port {occupied}", flush=True)
        return 1
    processes = start(options, folder)
    watch = Watch(folder, options.workers, TORCHRUN not in options.command)
    codes = follow(processes, watch, stop_signals)
    if watch.first and not stop_signals:
        report_first(watch.first, folder)
    if not watch.first and not stop_signals and max(codes) and watch.has_done_all():
        return report_closing(watch, max(codes), folder)
    if (folder / "stopped").exists() or (stop_signals and watch.first):
        return 128 + (stop_signals[0] if stop_signals else signal.SIGTERM)
    return watch.first.code % 256 if watch.first else max(codes)


def parse(arguments):
    parser = argparse.ArgumentParser(prog="python -m ascend_engine.parallel.ranks", allow_abbrev=False)
    parser.add_argument("--workers", type=int, required=True, metavar="N", help="on this host")
    parser.add_argument("--logs", default="logs", metavar="FOLDER")
    parser.add_argument("--rank-table", metavar="FILE", help="starts the command for each device of this host")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    return parser.parse_args(arguments)


def clear(folder):
    """Signs of an earlier attempt must not be taken for this one's."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in [*folder.glob("rank_*.pid"), *folder.glob("rank_*.code"), folder / "stopped"]:
        if path.exists():
            path.unlink()


def listen():
    """The signals that came, oldest first; they end nobody but by being passed on."""
    stop_signals = []

    def remember(number, frame):
        stop_signals.append(number)

    signal.signal(signal.SIGTERM, remember)
    signal.signal(signal.SIGINT, remember)
    return stop_signals


def start(options, folder):
    """Cards are counted from 0 among those that the process may see, so that rank and card have the same number:
    https://www.mindspore.cn/tutorials/en/master/parallel/rank_table.html
    """
    command = [free_port() if word == FREE_PORT else word for word in options.command if word != "--"]
    env = environment(options, folder)
    if not options.rank_table:
        return [subprocess.Popen(command, env=env)]
    table = str(Path(options.rank_table).absolute())
    return [
        subprocess.Popen(command, env=dict(env, RANK_TABLE_FILE=table, RANK_ID=rank, DEVICE_ID=rank))
        for rank in map(str, range(options.workers))
    ]


def occupied_port(command):
    """The chosen port where somebody holds it, which msrun would retry for minutes; else 0."""
    chosen = [int(word[len(PORT) :]) for word in command if word.startswith(PORT)]
    for port in filter(None, chosen):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                return port
    return 0


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return PORT + str(probe.getsockname()[1])


def environment(options, folder):
    """msrun starts "python" as PATH has it. All workers share the cores of this host, where nobody chose otherwise.
    While they wait for each other, MindSpore warns twice a second; only errors of the connection are worth reading.
    They are all on this host: gloo, which PyTorch meets over, needs no name of it that leads elsewhere."""
    env = dict(os.environ)
    env["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), env.get("PATH", os.defpath)])
    env.setdefault("OMP_NUM_THREADS", str(max(1, len(os.sched_getaffinity(0)) // options.workers)))
    env.setdefault("GLOO_SOCKET_IFNAME", "lo")
    env.setdefault("MS_SUBMODULE_LOG_v", "{DISTRIBUTED:3,DEVICE:3,ME:3}")
    env.update({LOGS: str(folder), STOPPED: str(folder / "stopped")})
    return env


def follow(processes, watch, stop_signals):
    """Until all have ended; the exit codes of the launcher, or of the processes started in its place."""
    failed_at = None
    while any(process.poll() is None for process in processes):
        time.sleep(WATCH_SECONDS)
        watch.update()
        if stop_signals:
            watch.stop(signal.SIGTERM)
        if watch.first and failed_at is None:
            failed_at = time.monotonic()
        if failed_at and time.monotonic() - failed_at > LAUNCHER_SECONDS:
            end(processes, watch)
    watch.update()
    return [code_of(process.returncode) for process in processes]


def end(processes, watch):
    """The other ranks wait for one that is gone. On SIGINT msrun also ends its scheduler, which would wait 30 s."""
    watch.kill()
    for process in processes:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def code_of(code):
    return 128 - code if code < 0 else code


def report_first(first, folder):
    """A rank that could not tell itself why it ended: the finding is in its name, and names its log."""
    print(f"rank {first.rank} was the first to end, with code {first.code}", flush=True)
    os.environ["RANK"] = str(first.rank)
    logs = [Path(folder.name, path.name) for path in folder.glob(f"*_{first.rank}.log")]
    log = logs[0] if logs else ""
    if first.code == -1:
        ascend_studio.finding("launch.rank_gone", "error", log, rank=first.rank)
    elif first.code > 128:
        ascend_studio.finding("launch.rank_killed", "error", log, rank=first.rank, signal=first.code - 128)


def report_closing(watch, launcher_code, folder):
    """Tell that the work is done and that a process failed behind it, which the launcher's log calls a time-out of any
    worker; return the exit code."""
    crashed = [rank for rank in watch.ranks.values() if rank.closing_signal]
    code = 128 + crashed[0].closing_signal if crashed else launcher_code
    number = crashed[0].rank if crashed else "-"
    print(f"all ranks had done their work when rank {number} failed while it closed, with code {code}", flush=True)
    logs = [Path(folder.name, path.name) for path in folder.glob(f"*_{number}.log")]
    log = logs[0] if logs else ""
    rule = "launch.closing_crashed" if crashed else "launch.closing_failed"
    ascend_studio.finding(rule, "error", log, rank=number, code=code, workers=watch.count)
    return code


def own_rank():
    numbers = [os.environ[name] for name in OWN_RANK if os.environ.get(name, "").isdigit()]
    return int(numbers[0]) if numbers else 0


def rank():
    """The part of a training that a launcher started in this process; returns its exit code."""
    folder = os.environ.get(LOGS)
    if os.environ.get("MS_ROLE") == "MS_SCHED":
        return meet()
    if folder is None:
        return train()
    name = f"rank_{own_rank()}"
    if "MS_ROLE" not in os.environ:  # msrun keeps a log of each of its workers itself
        keep_log(Path(folder, name + ".log"))
    write(Path(folder, name + ".pid"), os.getpid())
    code = train()
    write(Path(folder, name + ".code"), code)
    return code


def meet():
    """msrun starts one process more, which only brings the workers together."""
    import mindspore as ms
    from mindspore.communication import init

    ms.set_device("CPU")
    init()
    return 0


def train():
    from ascend_engine import __main__

    return __main__.main()


def keep_log(path):
    """What this process and its libraries print goes to a file of its own."""
    with path.open("ab") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)


def write(path, number):
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(str(number), "ascii")
    temporary.replace(path)


if __name__ == "__main__":
    sys.exit(main())
