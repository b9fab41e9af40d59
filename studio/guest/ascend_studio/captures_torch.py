"""Captures with torch: its profiler, and msprobe's dump. Imports neither by itself."""

from __future__ import annotations

import contextlib
import functools
import importlib
import os
import sys
import time

from ascend_studio import captures, captures_readable, closures, hooks, recording
from ascend_studio.captures_msprobe import Dump, switch_apis
from ascend_studio.optimizer_record.torch_record import OptimizerRecord

if False:
    from types import ModuleType
    from typing import Any, Dict, Iterator, List, Optional

_dump: Optional[TorchDump] = None
_last_dump: Optional[TorchDump] = None  # which is over, until the next forward begins
# Of msprobe 26, 8 and 1.
SERVICES = ("msprobe.pytorch.dump.pytorch_service", "msprobe.pytorch.pytorch_service", "msprobe.pytorch.service")
COMPILER = "torch._dynamo.convert_frame"
PATCHED = ("_compile", "convert_frame")
LOGS = tuple(
    package + ".trainer.connectors.logger_connector.result" for package in ("lightning.pytorch", "pytorch_lightning")
)
MARK = "ProfilerStep#%d"
# Of one step, which are recorded behind the one that ended it.
MAX_UPDATES = 16
# torch_npu looks at its file every 2 to 50 seconds, and analyses what it has profiled.
LONGEST_WAIT = 600.0


def watch_optimizers(torch: ModuleType, watch: captures.Watch) -> None:
    """Hook all optimizers for the whole run: torch is iterating over the hooks whenever a capture could add one."""
    try:
        optim = importlib.import_module("torch.optim.optimizer")
        before = optim.register_optimizer_step_pre_hook(_before(watch))
        updated = optim.register_optimizer_step_post_hook(_updated)
        optim.register_optimizer_step_post_hook(_after(watch))
        # The curves compute a norm there now and then: a dump is over by then.
        optim._global_optimizer_pre_hooks.move_to_end(before.id, last=False)
        # Whoever hears first that a step has ended closes its dump.
        optim._global_optimizer_post_hooks.move_to_end(updated.id, last=False)
    except AttributeError:  # torch before 2.0 has none for all optimizers: nothing tells when a step has ended
        return


def _before(watch: captures.Watch) -> Any:
    saw, with_closure = (hooks.guarded("captures")(do) for do in (watch.saw, _with_closure))

    def before(optimizer: Any, args: Any, kwargs: Any) -> Any:
        saw(optimizer)
        if _dump is not None:
            _dump.capture.guarded(_dump.hold)
        if optimizer is watch.optimizer:
            for open_dump in filter(None, (_dump, _last_dump)):
                open_dump.close_unseen_step()
        dump = _dump or _last_dump
        if dump is not None:
            dump.quietly(dump.record.begin, optimizer)
        return with_closure(args, kwargs) if _dump is not None or watch.waits else None

    return before


def _with_closure(args: Any, kwargs: Any) -> Any:
    """Wrap a step with a closure: Lightning and LBFGS run forward and backward inside it, the only part of it that is
    dumped.
    """
    closure = closures.closure_of(args, kwargs)
    if closure is None:
        return None

    @functools.wraps(closure)
    def watched(*positional: Any, **named: Any) -> Any:
        if _dump is not None:
            _dump.capture.guarded(_dump.go_on)
        try:
            return closure(*positional, **named)
        finally:
            if _dump is not None:
                _dump.capture.guarded(_dump.hold)

    return closures.with_closure(args, kwargs, watched)


def _updated(optimizer: Any, args: Any, kwargs: Any) -> None:
    dump = _dump or _last_dump
    if dump is not None:
        dump.quietly(dump.record.end, optimizer, dump.named_root)
        dump.keep_late_update()


def _after(watch: captures.Watch) -> Any:
    counts = {"steps": 0}
    counting = "curves" not in hooks.requested()  # else the curves' hooks say when a step has ended

    def after(optimizer: Any, args: Any, kwargs: Any) -> None:
        if optimizer is watch.optimizer and hooks.training_counts_steps:
            return
        if counting and optimizer is watch.optimizer:
            counts["steps"] += 1
            hooks.stepped(counts["steps"])
        elif _dump is not None:
            _dump.capture.guarded(_dump.go_on)

    return after


def tool_for(torch: ModuleType, capture: captures.Capture) -> Any:
    if capture.request.kind == "dump":
        return TorchDump(torch, capture)
    if "torch_npu" in sys.modules and not is_rehearsed():
        return NpuProfile(capture)
    return Profile(torch, capture)


def is_rehearsed() -> bool:
    """Return whether the training is a rehearsal, whose torch_npu is a stand-in without a profiler of its own."""
    return "rehearse" in hooks.requested()


class Profile:
    """A profile by torch.profiler from a step to a step. Its events stay in memory until the last one is over."""

    def __init__(self, torch: ModuleType, capture: captures.Capture) -> None:
        self.profiler = importlib.import_module("torch.profiler")
        self.enabled: Any = getattr(torch.autograd, "_profiler_enabled", bool)
        self.capture = capture
        self.folder = os.path.join(capture.folder, "rank%d" % capture.watch.rank)
        self.path = os.path.join(self.folder, "%s.pt.trace.json" % capture.request.id)
        self.session: Any = None
        self.mark: Any = None
        self.step = 0  # of the mark

    def is_ready(self) -> bool:
        return True

    def is_done(self) -> bool:
        return True

    def begin(self, step: int) -> None:
        if self.enabled():
            raise captures.Refused("capture.own_profiler")
        activities = [activity for activity in self.profiler.supported_activities() if activity.name in ("CPU", "CUDA")]
        self.session = self.profiler.profile(
            activities=activities, record_shapes=True, with_stack=self.capture.request.stacks
        )
        self.session.start()
        self._mark(step)

    def between(self, step: int) -> None:
        self.mark.__exit__(None, None, None)
        self._mark(step)

    def _mark(self, step: int) -> None:
        """Return the name of a step's mark, which every reader of such traces knows."""
        self.step = step
        self.mark = self.profiler.record_function(MARK % step)
        self.mark.__enter__()

    def finish(self) -> str:
        self._stop()
        os.makedirs(self.folder, exist_ok=True)
        making = self.path[: -len(".json")] + ".part.json"
        self.session.export_chrome_trace(making)
        self.session = None
        if not captures_readable.ends_whole(making):  # a full disk: kineto does not say so
            os.remove(making)
            raise captures.no_space(self.capture)
        if self.capture.values["done"] < self.capture.request.steps:
            _rename_mark(making, MARK % self.step)  # no step has ended in it: the training did
        os.replace(making, self.path)
        return self.path

    def _stop(self) -> None:
        mark, self.mark = self.mark, None
        if mark is not None:
            mark.__exit__(None, None, None)
            self.session.stop()

    def byte_count(self) -> int:
        return int(captures.size_of(self.path))

    def check(self) -> None:
        pass

    def abandon(self) -> None:
        self._stop()
        self.session = None


def _rename_mark(path: str, mark: str) -> None:
    """Give a mark in a trace a name that no reader takes for a step."""
    with open(path, "rb") as trace, open(path + ".renamed", "wb") as renamed:
        for line in trace:
            renamed.write(line.replace(b'"%s"' % mark.encode("ascii"), b'"Behind the last step"'))
    os.replace(path + ".renamed", path)


class NpuProfile:
    """A profile of a running training by torch_npu itself: it reads its file, and begins some seconds later."""

    def __init__(self, capture: captures.Capture) -> None:
        self.capture = capture
        if captures.NPU_PROFILE not in os.environ:
            raise captures.Refused("capture.no_npu_profile", path=captures.npu_memory())
        self.config = os.path.join(os.environ[captures.NPU_PROFILE], "profiler_config.json")
        self.until = 0.0

    def is_ready(self) -> bool:
        return True

    def begin(self, step: int) -> None:
        self.until = time.monotonic() + LONGEST_WAIT
        request = self.capture.request
        if self.capture.watch.rank == min(request.ranks or [0]):
            os.makedirs(os.path.dirname(self.config), exist_ok=True)
            captures.write(self.config, npu_config(request, self.capture.folder))

    def between(self, step: int) -> None:
        pass

    def is_done(self) -> bool:
        """Return whether there is something to read. Its folder is there before, and stays without data where the
        profiler could not start: torch_npu says so in a log alone.
        """
        return any(True for _ in captures_readable.npu_profiles(self.capture.folder))

    def finish(self) -> str:
        folder = str(self.capture.folder)
        if not self.is_done():
            is_raw = captures_readable.has_raw_data(folder)
            raise captures.Refused("capture.not_analysed" if is_raw else "capture.nothing_left", folder=folder)
        return folder

    def byte_count(self) -> int:
        return int(captures.size_of(self.capture.folder))

    def check(self) -> None:
        if time.monotonic() > self.until:
            raise captures.Refused("capture.nothing_left", folder=self.capture.folder)

    def abandon(self) -> None:
        pass


def npu_config(request: captures.CaptureRequest, folder: str) -> Any:
    """Return profiler_config.json as torch_npu.profiler.dynamic_profile reads it; the rest keeps its own defaults."""
    return {
        "activities": ["CPU", "NPU"], "prof_dir": folder, "analyse": True, "record_shapes": True,
        "with_stack": request.stacks, "active": request.steps, "warmup": 0, "start_step": -1,
        "is_rank": bool(request.ranks), "rank_list": request.ranks,
    }  # fmt: skip


class TorchDump(Dump):  # type: ignore[misc]
    """A dump of a torch training. `root`: the module that the training calls first in a step, for the levels that need
    it.
    """

    name = "msprobe.pytorch"

    def __init__(self, torch: ModuleType, capture: captures.Capture) -> None:
        super().__init__(capture)
        self.torch = torch
        self.compiler: Any = None
        self.saved: Dict[str, Any] = {}
        self.logs: List[Any] = []
        self.root: Any = capture.root
        self.named_root: Any = capture.root
        self.record = OptimizerRecord(torch, with_state=capture.request.optimizer_state)
        if self.root is None:
            seek_root(torch, self._use_root)

    def await_forward(self, on_root: Any) -> None:
        seek_root(self.torch, on_root)

    def _use_root(self, root: Any) -> None:
        """At level L1 msprobe needs no model; the record of the optimizer has its names."""
        self.named_root = root
        if self.capture.request.level != "L1":
            self.root = root

    def is_ready(self) -> bool:
        return self.capture.request.level == "L1" or self.root is not None

    def begin(self, step: int) -> None:
        global _dump
        if self.capture.request.level != "L1" and _is_compiled(self.root):
            raise captures.Refused("capture.compiled")
        super().begin(step)
        _dump = self

    def _import(self) -> Any:
        with _tool_import():
            return super()._import()

    def _debugger(self) -> Any:
        """Where msprobe is loaded it changes the compiler for good, so that a training that compiles something later is
        ended by it, and registers hooks on all optimizers while torch may be going through them: neither is kept."""
        self.compiler = importlib.import_module(COMPILER)
        self.saved = {name: getattr(self.compiler, name) for name in PATCHED if hasattr(self.compiler, name)}
        for name in SERVICES:
            if name in sys.modules:
                setattr(sys.modules[name], "register_optimizer_hook", _no_hooks)  # noqa: B010
        try:
            with _tool_import():
                return super()._debugger()
        finally:
            self._give_back()
            if "_compile" in self.saved:
                self.compiler._compile = self._without_wrappers(self.saved["_compile"])
            self._hide_from_logs()

    def _hide_from_logs(self) -> None:
        """Lightning compares the function that a log is reduced with to that of earlier steps: it meets torch's own."""
        for name in LOGS:
            results = getattr(sys.modules.get(name), "_ResultCollection", None)
            if results is not None:
                self.logs.append((results, results.log))
                results.log = self._without_wrappers(results.log)

    def _give_back(self) -> None:
        for name, value in self.saved.items():
            setattr(self.compiler, name, value)
        logs, self.logs = self.logs, []
        for results, log in logs:
            results.log = log

    def _without_wrappers(self, original: Any) -> Any:
        """What runs in there, such as the compiler, meets no wrapper of msprobe, and is in no dump."""

        @functools.wraps(original)
        def run(*args: Any, **kwargs: Any) -> Any:
            if self.debugger is not None:
                switch_apis(self.debugger, False)
            try:
                return original(*args, **kwargs)
            finally:
                if self.running:
                    switch_apis(self.debugger, True)

        return run

    def close_unseen_step(self) -> None:
        """Close the record where no forward does so: a training without modules has none that is seen. Else another
        update before the next forward is one of the same step, but for a training whose forwards are not seen any
        more."""
        if self.named_root is None or len(self.record.updates) >= MAX_UPDATES:
            self.close_record()

    def close_record(self, root: Any = None) -> None:
        global _last_dump
        super().close_record(root)
        if _last_dump is self:
            _last_dump = None

    def _undo(self) -> None:
        global _dump, _last_dump
        _dump, _last_dump = None, self if self.is_over else None
        self._give_back()


@contextlib.contextmanager
def _tool_import() -> Iterator[None]:
    with recording.own_work(), recording.without_stand_in() if is_rehearsed() else contextlib.nullcontext():
        yield


def _is_compiled(root: Any) -> bool:
    """Return whether any module is run by the compiler, which cannot read the hooks of msprobe."""
    named = (type(module).__name__ == "OptimizedModule" for module in root.modules())
    return any(named) or any(getattr(one, "_compiled_call_impl", None) is not None for one in root.modules())


def _no_hooks(collector: Any) -> None:
    """Register nothing, in place of msprobe's hooks on optimizers: a dump is over where one begins."""


def seek_root(torch: ModuleType, on_root: Any) -> None:
    """Call `on_root(module)` once, before the forward of the next module that is trained and is called from outside."""
    module = importlib.import_module("torch.nn.modules.module")
    is_without_wrappers = getattr(getattr(torch, "compiler", None), "is_without_wrappers", bool)

    def called(root: Any, args: Any) -> None:
        if is_without_wrappers() or not root.training or not torch.is_grad_enabled():
            return
        if any(parameter.requires_grad for parameter in root.parameters()):
            handle.remove()
            on_root(root)

    handle = module.register_module_forward_pre_hook(called)
