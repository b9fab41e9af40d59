"""msprobe's dump of a few steps, for torch and for MindSpore alike: its debugger is one for the whole process, and
reads its configuration again when that changes (`dump_enable`).
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import importlib
import json
import os
import shutil
import sys

from ascend_studio import captures, captures_folder, captures_readable, recording

if False:
    from typing import Any, Dict, Iterator, List, Sequence

_debugger: Any = None
_processors: List[Any] = []
MODES = {"both": "all"}
EMPTY = 4096  # bytes of a dump.json that may hold nothing


class Dump:
    """A dump from the end of a step, or from the first forward of all, to the beginning of the optimizer's step:
    hundreds of entries would be the optimizer's own. `root`: the model, for the levels that need it.
    """

    name = ""
    has_record = True
    record: Any = None  # of the optimizers
    # Of the last step, until the next forward begins: another optimizer may be updated behind the one that ended it.
    record_folder: Any = None
    is_over = False

    def __init__(self, capture: captures.Capture) -> None:
        self.capture = capture
        self.root: Any = None
        self.running = self.waiting = False
        self.begun = 0
        self.current = 0  # the step that is being dumped, as its folder is called
        self.error: Any = None
        self.debugger: Any = None
        self.module = self._import()
        self.folder = capture.folder  # where msprobe writes
        self.config = os.path.join(capture.watch.run, captures.FOLDER, "msprobe.r%d.json" % capture.watch.rank)
        if captures_folder.is_refused(self.folder):
            self._write_elsewhere()

    def _write_elsewhere(self) -> None:
        request = self.capture.request
        working = captures_folder.working(self.capture.watch.run, request.need + request.margin)
        self.folder, self.config = os.path.join(working, request.id), os.path.join(working, "msprobe.json")
        os.makedirs(self.folder, exist_ok=True)
        self.capture.disks.append(self.folder)
        captures.check_room(self.capture)

    def _import(self) -> Any:
        try:
            return importlib.import_module(self.name)
        except ImportError as error:
            args = {"python": sys.executable, "reason": str(error)[:200]}
            raise captures.Refused("capture.no_msprobe", **args) from error

    def is_ready(self) -> bool:
        return True

    def is_done(self) -> bool:
        return True

    def begin(self, step: int) -> None:
        captures.write(self.config, self.settings(True))
        self.debugger = self._debugger()
        collector = self.debugger.service.data_collector
        self._protect(collector)
        collector.data_processor._crc_executor = _AtOnce()
        _set_scope(self.debugger.service, collector.scope)
        self.debugger.service.reset_status()
        self.begun = self.current = step
        self.debugger.set_init_step(step)
        if not self.capture.by_forward:
            self._await_close("")
        self._start()

    def settings(self, enabled: bool) -> Dict[str, Any]:
        """Return config.json as msprobe 1, 8 and 26 read it; a version ignores what it does not know, such as
        `risk_level`. A digest is a summary of the statistics task.
        """
        request = self.capture.request
        only = {"scope": [], "list": request.targets, "data_mode": [MODES.get(request.direction, request.direction)]}
        summary = "md5" if request.task == "md5" else "statistics"
        settings: Dict[str, Any] = {
            "task": "statistics" if request.task == "md5" else request.task, "dump_path": self.folder,
            "rank": [], "step": [], "level": request.level, "async_dump": False, "dump_enable": enabled,
            "statistics": {**only, "summary_mode": summary}, "tensor": only, "structure": only,
        }  # fmt: skip
        if request.casts:
            settings["risk_level"] = "ALL"
        return settings

    def _debugger(self) -> Any:
        global _debugger
        if _debugger is None:
            if getattr(self.module.PrecisionDebugger, "_instance", None) is not None:
                raise captures.Refused("capture.own_debugger")
            _debugger = self.module.PrecisionDebugger(config_path=self.config)
            return _debugger
        try:
            self.reload(_debugger)
        except AttributeError as error:  # an msprobe that reads its configuration once
            raise captures.Refused("capture.once") from error
        switch_apis(_debugger, True)
        return _debugger

    def reload(self, debugger: Any) -> None:
        """Have the debugger read its configuration at once: at its own next look some seconds later the step would be
        over.
        """
        debugger._maybe_reload_config(force=True)

    def _start(self) -> None:
        self.running = True
        self.debugger.start(self.root) if self.root is not None else self.debugger.start()

    def hold(self) -> None:
        if self.running:
            self.running = False
            self.debugger.stop()

    def go_on(self) -> None:
        """Start again after one of several optimizers: the step may not be over."""
        if not (self.running or self.waiting or self.is_over):
            self._start()

    def between(self, step: int) -> None:
        self.hold()
        self.debugger.step()
        self._keep()
        self.debugger.set_init_step(step)
        self.current = step
        if self.capture.by_forward:
            self.waiting = True
            self.await_forward(self._forward_begins)
        else:
            self._start()

    def await_forward(self, on_root: Any) -> None:
        """Have `on_root` called when the next forward of the training begins."""
        raise NotImplementedError

    def _forward_begins(self, root: Any = None) -> None:
        if self.waiting:
            self.waiting = False
            self.capture.guarded(self._start)

    def finish(self) -> str:
        self.waiting = False
        self.hold()
        self.is_over = True
        self.debugger.step()
        self._undo()
        self._switch_off()
        self._keep()
        if self.capture.values["done"] < self.capture.request.steps:
            self._remove_idle_step()
        self._refuse_nothing()
        self._refuse_half()
        return str(self.capture.folder)

    def _keep(self) -> None:
        """A training that goes on from a checkpoint says at the end of its first step which one that was."""
        folder = self._rank_folder()
        self._keep_record(folder)
        was, self.begun = self.begun, self.capture.values["start"]
        if was != self.begun:
            os.rename(self._folder_of(was), self._folder_of(self.begun))
        if self.folder != self.capture.folder:
            captures_folder.move_steps(self.folder, self.capture.folder, self.capture.request.margin)
        step = self.begun if self.current == was else self.current
        rank = os.path.basename(folder)
        self._await_close(os.path.join(self.capture.folder, "step%d" % step, rank) if rank else "")

    def _remove_idle_step(self) -> None:
        """Remove what this process left for a step that was prepared and never came: a dump without calls."""
        step = os.path.join(self.capture.folder, "step%d" % self.current)
        for name in self._names():
            folder = os.path.join(step, name)
            if os.path.isdir(folder) and not any(_has_calls(path) for path in _dumps(folder)):
                shutil.rmtree(folder, ignore_errors=True)
        with contextlib.suppress(OSError):  # other ranks may have a part in it
            os.rmdir(step)

    def _await_close(self, folder: str) -> None:
        """Keep updates for the step that has ended until the next forward begins. `folder`: "" where that step is not
        captured."""
        self.record_folder = folder
        self.await_forward(self.close_record)

    def _keep_record(self, folder: str) -> None:
        if folder:
            self.quietly(self.record.write, folder)

    def keep_late_update(self) -> None:
        """Write the record of the last step again where an optimizer was updated after the one that ended the step."""
        if self.record_folder:
            self.quietly(self.record.write, self.record_folder)

    def close_record(self, root: Any = None) -> None:
        """Begin the record of the next step: its forward begins."""
        if self.record_folder is not None:
            self.record_folder, self.record.updates = None, []

    def _rank_folder(self) -> str:
        """Return the folder of this process in that of the step, "" where msprobe left none."""
        step = self._folder_of(self.current)
        paths = (os.path.join(step, name) for name in self._names())
        return next((path for path in paths if os.path.isdir(path)), "")

    def _names(self) -> Sequence[str]:
        """Return what msprobe may call the folder of this process."""
        return "proc%d" % os.getpid(), "rank%d" % self.capture.watch.rank, "rank"

    def quietly(self, record: Any, *args: Any) -> None:
        """Run a part of the optimizer's record: where that fails, the dump goes on without it."""
        if not self.has_record:
            return
        try:
            with recording.own_work():
                record(*args)
        except Exception as error:
            self.has_record = False
            reason = ("%s: %s" % (type(error).__name__, error))[:300]
            self.capture.note("capture.no_optimizer", reason=reason)

    def _folder_of(self, step: int) -> str:
        return os.path.join(self.folder, "step%d" % step)

    def _refuse_nothing(self) -> None:
        """Raise Refused where no name contains any of the targets."""
        targets = self.capture.request.targets
        if targets and not any(_has_calls(path) for path in _dumps(self.capture.folder)):
            raise captures.Refused("capture.nothing_matched", targets=", ".join(targets)[:300])

    def _refuse_half(self) -> None:
        """Raise Refused where a part of the dump cannot be read, or there is none."""
        folder = str(self.capture.folder)
        half = next(captures_readable.half_dumps(folder), "")
        if half or not any(True for _ in _dumps(folder)):
            raise captures.Refused("capture.half", path=half or folder)

    def _undo(self) -> None:
        """Undo what begin() has changed in the framework."""

    def _switch_off(self) -> None:
        captures.write(self.config, self.settings(False))
        if hasattr(self.debugger, "_maybe_reload_config"):
            self.debugger._maybe_reload_config(force=True)
        switch_apis(self.debugger, False)
        _remove_hooks(getattr(self.debugger.service, "hook_manager", None))

    def byte_count(self) -> int:
        folders = {self.folder, self.capture.folder}
        return sum(int(captures.size_of(folder)) for folder in folders)

    def check(self) -> None:
        if self.error is not None:
            raise self.error

    def abandon(self) -> None:
        """Do as much of the end as still works."""
        self._halt()
        self.waiting = False
        if self.debugger is None:
            return
        for do in (self._undo, self.debugger.stop, self.debugger.step, self._switch_off):
            with contextlib.suppress(Exception):
                do()
        if self.folder != self.capture.folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _protect(self, collector: Any) -> None:
        """Guard msprobe's writers: what they raise, for instance on a full disk, would go through the training's own
        forward. Their callers use no result.
        """
        for name in dir(type(collector)):
            if "_data_collect" in name:
                # Of its class: the one before this dump has wrapped what is on the collector.
                setattr(collector, name, self._safe(getattr(type(collector), name).__get__(collector)))

    def _safe(self, collect: Any) -> Any:
        def safe(*args: Any, **kwargs: Any) -> None:
            if self.error is None:
                try:
                    captures.check_disk(self.capture)
                    with recording.own_work():
                        collect(*args, **kwargs)
                except Exception as error:
                    self.error = error
                    self._halt()

        return safe

    def _halt(self) -> None:
        """Stop in the middle of a step: every hook of msprobe reads this switch first."""
        runtime = sys.modules.get("msprobe.core.common.runtime")
        if runtime is not None:
            runtime.Runtime.is_running = False


def switch_apis(debugger: Any, on: bool) -> None:
    """Remove the wrappers around the framework's functions, so that steps after a dump are as fast as before it."""
    register = getattr(debugger.service, "api_register", None)
    change = getattr(register, "register_all_api" if on else "restore_all_api", None)
    if change is not None:
        change()


def _dumps(folder: str) -> Iterator[str]:
    """Yield the files in which msprobe lists the calls: for a structure that is the file of the stacks."""
    for parent, _, names in os.walk(folder):
        yield from (os.path.join(parent, name) for name in names if name in ("dump.json", "stack.json"))


def _has_calls(path: str) -> bool:
    if os.path.getsize(path) > EMPTY:
        return True
    with open(path) as file:
        content = json.load(file)
    return bool(content.get("data", content))


class _AtOnce:
    """A thread pool that works at once: threads took the digest of a tensor when the training may have changed it in
    place already.
    """

    def submit(self, do: Any, *args: Any) -> concurrent.futures.Future[Any]:
        done: concurrent.futures.Future[Any] = concurrent.futures.Future()
        done.set_result(do(*args))
        return done


def _set_scope(service: Any, scope: Any) -> None:
    """Set the targets of this dump: the hooks on a model's modules are those of the first dump, and so is their
    filter."""
    processor = getattr(service, "module_processor", None) or getattr(service, "cell_processor", None)
    if processor is not None and processor not in _processors:
        _processors.append(processor)
    for task_processor in _processors:
        task_processor.scope = scope


def _remove_hooks(manager: Any) -> None:
    """Remove the hooks on parameters, which a dump of the forward alone does not need."""
    handles = getattr(manager, "hook_handle_dict", {})
    for handle in handles.values():
        with contextlib.suppress(Exception):
            handle.remove()
    handles.clear()
