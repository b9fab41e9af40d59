"""Captures a few steps of a running training when a small file asks for it: a profile or a dump.

    <run>/capture.json                         the request, written by the studio; read at most twice a second
    <run>/capture.r<rank>.json                 this rank can take requests: framework, number of parameters
    <run>/artifacts/captures/<id>/rank<r>.json how far this rank is, and what it measured
    <run>/artifacts/captures/<id>/…            the trace or the dump

Without a request it costs under a microsecond per step. Whatever fails is reported, and the training continues.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import sys
import time
import weakref

import ascend_studio
from ascend_studio import hooks, recording
from ascend_studio.writer import process_rank

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Dict, List, Optional

REQUEST_FILE = "capture.json"
READY = "capture.r%d.json"
FOLDER = os.path.join("artifacts", "captures")
POLL_SECONDS = 0.5
# All ranks look within LOOK seconds: what rank 0 announces for later than this begins at the same step everywhere.
LEAD = 1.5
# A dump from either on begins with the first forward of the training, before any step has ended.
FIRST = (0, 1)
NPU_PROFILE = "PROF_CONFIG_PATH"
MEMORY_AGE = 30.0


class Refused(Exception):
    """Raised where a capture cannot be done. `rule`: the key of the text that says why."""

    def __init__(self, rule: str, **args: Any) -> None:
        super().__init__(rule)
        self.rule = rule
        self.args_of_rule = args


def begin() -> None:
    """Start to watch for requests; called once, at the start of Python. torch_npu reads its variable when it is
    imported.
    """
    run = os.environ[ascend_studio.RUN]
    prepare_npu_profile(os.path.join(run, FOLDER, "npu"))
    watch = Watch(run)
    hooks.on_step("captures", watch.stepped)
    atexit.register(watch.end)
    hooks.after_import("torch", hooks.guarded("captures")(watch.prepare_torch))
    hooks.after_import("mindspore", hooks.guarded("captures")(watch.prepare_mindspore))


def prepare_npu_profile(folder: str) -> None:
    """Set torch_npu's variable. It cannot be imported with that set while the shared memory of another training of this
    hour, or of one that was killed, exists: it raises where that is a minute older than the process.
    """
    if os.environ.get(NPU_PROFILE, folder) != folder:
        return  # the user's own
    if _is_older(npu_memory(), MEMORY_AGE):
        os.environ.pop(NPU_PROFILE, None)
    else:
        os.environ[NPU_PROFILE] = folder


def npu_memory() -> str:
    """Return the name of the shared memory, as torch_npu's _dynamic_profiler_config_context.py builds it."""
    return "/dev/shm/DynamicProfileNpuShm" + time.strftime("%Y%m%d%H", time.gmtime())


def _is_older(path: str, seconds: float) -> bool:
    try:
        status = os.stat(path)
    except OSError:
        return False
    return time.time() - min(status.st_mtime, status.st_ctime) > seconds


class CaptureRequest:
    """The content of capture.json. `start`: the first step to capture, or -1 for the next one; `ranks`: empty for all;
    `targets`: parts of the names of what is dumped, empty for all; `optimizer_state`: that is recorded too; `need`:
    bytes that the studio expects, `margin`: bytes that must stay free.
    """

    def __init__(self, values: Dict[str, Any]) -> None:
        self.id = str(values["id"])
        self.kind = str(values["kind"])
        self.start = int(values.get("start", -1))
        self.steps = max(1, int(values.get("steps", 1)))
        self.ranks = [int(rank) for rank in values.get("ranks") or ()]
        self.task = str(values.get("task", "statistics"))
        self.level = str(values.get("level", "L1"))
        self.stacks = bool(values.get("stacks", False))
        self.targets = [str(target) for target in values.get("targets") or ()]
        self.direction = str(values.get("direction", "both"))
        self.casts = bool(values.get("casts", False))
        self.optimizer_state = bool(values.get("optimizer_state", False))
        self.need = int(values.get("need", 0))
        self.margin = int(values.get("margin", 0))
        if os.sep in self.id or self.id.startswith("."):
            raise ValueError("the id of a capture is no path")

    @property
    def is_first(self) -> bool:
        return self.kind == "dump" and self.start in FIRST


class Watch:
    """Follows the steps of a training. `usual`: seconds of a step without a capture, averaged over the last ones."""

    def __init__(self, run: str) -> None:
        self.run = run
        self.rank = process_rank.rank()
        self.checked_at = 0.0
        self.last_stamp: Optional[str] = None
        self.stamp: Any = None
        self.capture: Optional[Capture] = None
        self.usual = 0.0
        self.last = 0.0
        self.ready_pid = 0
        self.waits = False  # for the first forward
        self._optimizer: Any = bool

    @property
    def optimizer(self) -> Any:
        """Return the training's first optimizer, or None; a script may make another when that one is gone."""
        return self._optimizer() or None

    def saw(self, optimizer: Any) -> None:
        if self.optimizer is None:
            self._optimizer = weakref.ref(optimizer)

    def prepare_torch(self, torch: ModuleType) -> None:
        from ascend_studio import captures_torch

        captures_torch.watch_optimizers(torch, self)
        if self._first() is not None:
            self.waits = True
            captures_torch.seek_root(torch, hooks.guarded("captures")(self.begin_first))

    def prepare_mindspore(self, mindspore: ModuleType) -> None:
        if self._first() is not None:
            from ascend_studio import captures_mindspore

            captures_mindspore.await_gradient(hooks.guarded("captures")(self.begin_first))

    def _first(self) -> Optional[CaptureRequest]:
        """Return the request that begins before any step has ended."""
        request = _read(os.path.join(self.run, REQUEST_FILE))
        if request is None or not request.is_first or request.id == self.last_stamp:
            return None
        return request if not request.ranks or self.rank in request.ranks else None

    def begin_first(self, root: Any = None) -> None:
        """Begin at the first forward of the training, of `root` where torch names it. Its step number is known at its
        end.
        """
        self.waits = False
        request = None if self.last else self._first()
        if request is None:
            return
        self.last_stamp, self.rank = request.id, process_rank.rank()
        capture = Capture(self, request, 1)
        if capture.claim():
            self.capture = capture
            capture.root = root
            capture.guarded(capture.begin_at_once)
            self.last = time.monotonic()

    def stepped(self, step: int) -> None:
        now = time.monotonic()
        capture = self._own_capture()
        if capture is not None:
            self._go_on(capture, step, now)
        else:
            took = now - self.last
            self.usual = took if not self.usual else 0.8 * self.usual + 0.2 * took
            if now - self.checked_at >= POLL_SECONDS:
                self.checked_at = now
                self._poll(step)
        self.last = time.monotonic() if self.capture is not None else now

    def _own_capture(self) -> Optional[Capture]:
        """Return the capture of this process; one of the process that it was forked from stays there."""
        if self.capture is not None and self.capture.values["pid"] != os.getpid():
            self.capture = None
        return self.capture

    def _poll(self, step: int) -> None:
        if self.ready_pid != os.getpid():
            self.ready_pid = os.getpid()
            self._report_ready(step)
        try:
            status = os.stat(os.path.join(self.run, REQUEST_FILE))
        except OSError:
            return
        stamp = (status.st_mtime_ns, status.st_ino)
        if stamp != self.stamp:
            request = _read(os.path.join(self.run, REQUEST_FILE))
            if request is None or request.id == self.last_stamp or (request.ranks and self.rank not in request.ranks):
                self.stamp = stamp
                return
            start = self._start_of(request, step)
            if start is None:  # whoever leads has not said it yet
                return
            self.stamp, self.last_stamp = stamp, request.id
            self._arm(request, start, step)

    def _report_ready(self, step: int) -> None:
        """Write that this rank takes requests. The first steps load and compile, so their times are left out."""
        self.usual = 0.0
        self.rank = process_rank.rank()  # a spawned process has told it to its framework by now
        values = {
            "pid": os.getpid(), "framework": framework(), "step": step, **sizes_of(self.optimizer)
        }  # fmt: skip
        write(os.path.join(self.run, READY % self.rank), values)

    def _start_of(self, request: CaptureRequest, step: int) -> Optional[int]:
        """Return the step that this rank begins with; None while that is unknown."""
        if request.start >= 0 or world_size() == 1:
            return max(request.start, step + 1)
        agreed = os.path.join(self.run, FOLDER, request.id, "start")
        if self.rank == min(request.ranks or [0]):
            start = step + 1 + int(LEAD / max(self.usual, 1e-3))
            os.makedirs(os.path.dirname(agreed), exist_ok=True)
            write(agreed, start)
            return start
        try:
            with open(agreed) as file:
                return max(int(file.read()), step + 1)
        except (OSError, ValueError):
            return None

    def _arm(self, request: CaptureRequest, start: int, step: int) -> None:
        capture = Capture(self, request, start)
        if not capture.claim():
            return
        self.capture = capture
        capture.guarded(capture.arm)
        self._go_on(capture, step, time.monotonic())

    def _go_on(self, capture: Capture, step: int, now: float) -> None:
        capture.guarded(capture.stepped, step, now - self.last)
        if capture.is_over or (
            not capture.has_begun and now - self.checked_at >= POLL_SECONDS and self._is_withdrawn(now)
        ):
            capture.give_back()
            self.capture = None

    def _is_withdrawn(self, now: float) -> bool:
        self.checked_at = now
        request = _read(os.path.join(self.run, REQUEST_FILE))
        return request is None or request.id != self.last_stamp

    def end(self) -> None:
        """Finish at the end of the training: what was captured so far is kept."""
        capture = self._own_capture()
        if capture is not None:
            capture.guarded(capture.cut_short)
        folders = sys.modules.get("ascend_studio.captures_folder")
        if folders is not None:
            folders.leave()


class Capture:
    """One request, in one rank. `tool` does the work: begin(step), between(step), finish() -> path."""

    def __init__(self, watch: Watch, request: CaptureRequest, start: int) -> None:
        self.watch = watch
        self.request = request
        self.start = start
        self.folder = os.path.join(watch.run, FOLDER, request.id)
        self.manifest = os.path.join(self.folder, "rank%d.json" % watch.rank)
        self.disks = [watch.run]  # folders that are written to
        self.values: Dict[str, Any] = {
            "state": "armed", "kind": request.kind, "start": start, "steps": request.steps, "done": 0,
            "task": request.task, "level": request.level, "stacks": request.stacks, "targets": request.targets,
            "direction": request.direction, "casts": request.casts, "pid": os.getpid(),
        }  # fmt: skip
        self.tool: Any = None
        self.root: Any = None  # the model, where it is known before the tool looks for it
        self.by_forward = False  # each step from its first forward on, as the first one of all
        self.step = 0  # the last one that has ended
        self.has_begun = False
        self.is_over = False

    def claim(self) -> bool:
        """Return whether this process takes the request: False where another process, or an earlier attempt, has done
        it.
        """
        try:
            os.makedirs(self.folder, exist_ok=True)
            os.close(os.open(self.manifest, os.O_CREAT | os.O_EXCL, 0o644))
        except OSError:
            return False
        return True

    def guarded(self, do: Any, *args: Any) -> None:
        """Run a part of the capture: one that fails ends the capture, not the training."""
        if self.is_over:
            return
        try:
            with recording.own_work():
                do(*args)
        except Refused as refused:
            self._fail(refused.rule, **refused.args_of_rule)
        except Exception as error:
            if isinstance(error, OSError) and error.errno == 28:
                full = no_space(self)
                self._fail(full.rule, **full.args_of_rule)
            else:
                self._fail("capture.failed", reason=("%s: %s" % (type(error).__name__, error))[:300])

    def _fail(self, rule: str, **args: Any) -> None:
        self.is_over = True
        if self.tool is not None and self.has_begun:
            with contextlib.suppress(Exception):
                self.tool.abandon()
        ascend_studio.finding(rule, "warning", kind=self.request.kind, **args)
        self.report(state="failed", rule=rule, args=args)  # last: who waits for it finds everything else in its place

    def arm(self) -> None:
        check_room(self)
        self.report()
        self.note("capture.armed", start=self.start)
        if self.request.kind == "profile" and "rehearse" in hooks.requested():
            self.note("capture.of_rehearsal")
        self.tool = tool_for(self)

    def begin_at_once(self) -> None:
        self.by_forward = True
        self.arm()
        self._begin(self.start)

    def stepped(self, step: int, seconds: float) -> None:
        self.step = step
        if self.has_begun:
            self._ended(step, seconds)
        if not self.has_begun and step + 1 >= self.start and self.tool.is_ready():
            self._begin(step + 1)

    def _begin(self, step: int) -> None:
        self.has_begun = True
        self.tool.begin(step)
        self.report(state="begun", start=step)
        self.note("capture.begun", step=step)

    def _ended(self, step: int, seconds: float) -> None:
        """Record the end of a captured step."""
        self.tool.check()
        check_disk(self)
        is_first = not self.values["done"]
        if is_first and self.request.is_first:
            self.values["start"] = step  # of a training that went on from a checkpoint
        done = self.values["done"] = min(self.values["done"] + 1, self.request.steps)  # a slow tool is waited for
        if done < self.request.steps:
            self.tool.between(step + 1)
        if is_first:
            byte_count = self.tool.byte_count()
            self.values.update(seconds=seconds, usual=self.watch.usual, byte_count=byte_count)
            usual = seconds_text(self.watch.usual) if self.watch.usual else "–"
            self.note("capture.first_step", seconds=seconds_text(seconds), usual=usual, size=size_text(byte_count))
        self.report()
        if done >= self.request.steps and self.tool.is_done():
            self._finish()

    def _finish(self) -> None:
        begun = time.monotonic()
        path = os.path.relpath(self.tool.finish(), self.watch.run)
        self.is_over = True
        byte_count = self.tool.byte_count()
        ascend_studio.artifact(self.request.kind, path)
        self.note("capture.done", steps=self.values["done"], size=size_text(byte_count), path=path)
        self.report(state="done", byte_count=byte_count, path=path, writing=time.monotonic() - begun)

    def cut_short(self) -> None:
        if not self.has_begun or not self.values["done"]:
            raise Refused("capture.not_reached", start=self.start)
        self._finish()

    def give_back(self) -> None:
        if not self.is_over:
            self.report(state="withdrawn")

    def note(self, key: str, **args: Any) -> None:
        values = {"id": self.request.id, "kind": self.request.kind, "steps": self.request.steps, **args}
        ascend_studio.note(key, **values)

    def report(self, **values: Any) -> None:
        self.values.update(values)
        with contextlib.suppress(OSError):  # a full disk: the note and the finding say it too, when there is room
            write(self.manifest, self.values)


def tool_for(capture: Capture) -> Any:
    """Return the tool for a request. Raises Refused where none is available."""
    name = framework()
    if name == "torch":
        from ascend_studio import captures_torch

        return captures_torch.tool_for(sys.modules["torch"], capture)
    if name == "mindspore":
        from ascend_studio import captures_mindspore

        return captures_mindspore.tool_for(sys.modules["mindspore"], capture)
    raise Refused("capture.no_framework")


def framework() -> str:
    """Return the name of the framework that the training imported first: msprobe imports both."""
    loaded = [name for name in sys.modules if name in ("torch", "mindspore")]
    return loaded[0] if loaded else ""


def sizes_of(optimizer: Any) -> Dict[str, int]:
    """Return how many tensors an optimizer trains and how many numbers they hold, 0 where unknown."""
    try:
        tensors = [parameter for group in optimizer.param_groups for parameter in group["params"]]
        return {"tensors": len(tensors), "parameters": sum(int(tensor.numel()) for tensor in tensors)}
    except Exception:
        return {"tensors": 0, "parameters": 0}


def world_size() -> int:
    names = ("WORLD_SIZE", "MS_WORKER_NUM", "OMPI_COMM_WORLD_SIZE")
    numbers: List[int] = [process_rank.world_size(), *(process_rank.setting(name, 1) for name in names)]
    return max(numbers)


def check_room(capture: Capture) -> None:
    """Raise Refused where the expected bytes do not fit on a disk."""
    if _free(capture) < capture.request.need + capture.request.margin:
        raise no_space(capture)


def check_disk(capture: Capture) -> None:
    """Raise Refused where less is free than must stay free."""
    left = _free(capture)
    if left < capture.request.margin:
        raise Refused("capture.disk_low", free=size_text(left))


def no_space(capture: Capture) -> Refused:
    required = capture.request.need + capture.request.margin
    return Refused("capture.no_space", free=size_text(_free(capture)), wanted=size_text(required))


def _free(capture: Capture) -> int:
    return min(free(disk) for disk in capture.disks)


def size_text(byte_count: float) -> str:
    """Return bytes as a person reads them: notes are lines of a terminal."""
    for unit in ("B", "kB", "MB"):
        if byte_count < 1000:
            return "%.3g %s" % (byte_count, unit)
        byte_count /= 1000.0
    return "%.1f GB" % byte_count


def seconds_text(seconds: float) -> str:
    return "%.1f ms" % (seconds * 1000) if seconds < 1 else "%.2f s" % seconds


def free(folder: str) -> int:
    """Return the bytes that this user may still write."""
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize


def size_of(path: str) -> int:
    """Return the bytes of a file, or of all files below a folder."""
    if not os.path.isdir(path):
        return os.path.getsize(path) if os.path.exists(path) else 0
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += os.lstat(os.path.join(folder, name)).st_size
            except OSError:
                continue
    return total


def write(path: str, values: Any) -> None:
    """Write a file whole or not at all. Raises OSError."""
    making = "%s.%d.tmp" % (path, os.getpid())
    with open(making, "w") as file:
        json.dump(values, file)
    os.replace(making, path)


def _read(path: str) -> Optional[CaptureRequest]:
    try:
        with open(path) as file:
            return CaptureRequest(json.load(file))
    except Exception:
        return None
