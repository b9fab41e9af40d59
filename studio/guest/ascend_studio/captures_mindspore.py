"""Captures with MindSpore: its profiler, and msprobe's dump. Imports neither by itself."""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import os

from ascend_studio import captures, captures_msprobe
from ascend_studio.optimizer_record.mindspore_record import OptimizerRecord

if False:
    from types import ModuleType
    from typing import Any, Dict, List

# Of msprobe 26, and of 8 and 1.
PROCESSORS = (
    "msprobe.core.dump.data_dump.data_processor.mindspore_processor",
    "msprobe.core.data_dump.data_processor.mindspore_processor",
)
COMPILED = ("msprobe.mindspore.dump.dump_processor.jit_dump", "msprobe.mindspore.dump.jit_dump")
_jit_calls: Dict[Any, Any] = {}
_waiting: List[Any] = []  # to be called when the next gradient begins
_watched: List[Any] = []
OPTIMIZERS = ("mindspore.nn.optim.optimizer", "mindspore.experimental.optim.optimizer")


def tool_for(mindspore: ModuleType, capture: captures.Capture) -> Any:
    if capture.request.kind == "profile":
        return Profile(mindspore, capture)
    if mindspore.get_context("mode") == mindspore.GRAPH_MODE:
        raise captures.Refused("capture.not_in_graph")
    return MindsporeDump(mindspore, capture)


class Profile:
    """A profile by mindspore.profiler; on a CPU it leaves trace_view.json with the operators, and no marks of steps."""

    def __init__(self, mindspore: ModuleType, capture: captures.Capture) -> None:
        self.profiler = importlib.import_module("mindspore.profiler")
        self.device = mindspore.get_context("device_target")
        self.capture = capture
        self.folder = os.path.join(capture.folder, "rank%d" % capture.watch.rank)
        self.session: Any = None

    def is_ready(self) -> bool:
        return True

    def is_done(self) -> bool:
        return True

    def begin(self, step: int) -> None:
        kinds = self.profiler.ProfilerActivity
        activities = [kinds.CPU] if self.device == "CPU" else [kinds.CPU, kinds.NPU]
        os.makedirs(self.folder, exist_ok=True)
        self.session = self.profiler.profile(
            activities=activities, with_stack=self.capture.request.stacks,
            schedule=self.profiler.schedule(wait=0, warmup=0, active=self.capture.request.steps, repeat=1),
            on_trace_ready=self.profiler.tensorboard_trace_handler(self.folder),
        )  # fmt: skip
        self.session.start()

    def between(self, step: int) -> None:
        self.session.step()

    def finish(self) -> str:
        self._stop()
        networks = [
            os.path.join(folder, "trace_view.json")
            for folder, _, names in os.walk(self.folder)
            if "trace_view.json" in names
        ]
        if not networks:
            raise captures.Refused("capture.nothing_left", folder=self.folder)
        return networks[0]

    def _stop(self) -> None:
        session, self.session = self.session, None
        if session is not None:
            session.stop()

    def byte_count(self) -> int:
        return int(captures.size_of(self.folder))

    def check(self) -> None:
        pass

    def abandon(self) -> None:
        self._stop()


class MindsporeDump(captures_msprobe.Dump):  # type: ignore[misc]
    name = "msprobe.mindspore"

    def __init__(self, mindspore: ModuleType, capture: captures.Capture) -> None:
        super().__init__(capture)
        self.mindspore = mindspore
        self.calls: Any = []
        self.record = OptimizerRecord(mindspore)
        self.jit: Any = None
        if make_norms_work(mindspore):
            capture.values["shim"] = True
            capture.note("capture.norms_replaced")
        idle = [
            choice
            for choice, is_chosen in (
                ("--casts", capture.request.casts),
                ("--optimizer-state", capture.request.optimizer_state),
            )
            if is_chosen
        ]
        if idle:
            capture.note("capture.idle_choices", choices=", ".join(idle))
        self.root = roots(mindspore) or None

    def await_forward(self, on_root: Any) -> None:
        await_gradient(on_root)

    def begin(self, step: int) -> None:
        super().begin(step)
        for name in OPTIMIZERS:
            with contextlib.suppress(ImportError, AttributeError):
                self._wrap(importlib.import_module(name).Optimizer, self._before_update, self._after_update)
        with contextlib.suppress(ImportError, AttributeError):
            self.jit = _first(COMPILED).JitDump
            self.jit.__call__ = _jit_calls.setdefault(self.jit, self.jit.__call__)
            self._wrap(self.jit.__mro__[1], self._switch_off_apis, self._switch_back)

    def reload(self, debugger: Any) -> None:
        """MindSpore's debugger has no `dump_enable`: what torch's does when that changes is done here."""
        common, task = debugger._parse_config_path(self.config, None)
        config = type(debugger.config)(common, task)
        config.execution_mode = debugger.config.execution_mode
        config.dump_enable = True  # the hooks of an earlier dump's level are asked whether they are of this one's
        debugger.config = config
        debugger.service.apply_runtime_config(config)
        debugger.service.cell_processor.reset_cell_stats()

    def _start(self) -> None:
        self._switch_apis(True)
        super()._start()
        if self.capture.request.level == "L0":  # primitives were wrapped for an earlier dump, and for good
            self.debugger.service.primitive_switch = False

    def hold(self) -> None:
        super().hold()
        self._switch_apis(False)

    def _switch_apis(self, on: bool) -> None:
        """The compiler cannot read msprobe's wrappers: it meets the functions as they are, also where an optimizer has
        a part of itself compiled. msprobe itself does so for what is compiled after it was loaded."""
        captures_msprobe.switch_apis(self.debugger, on)

    def _before_update(self, optimizer: Any, args: Any) -> None:
        self.hold()
        self.quietly(self.record.begin, optimizer, args)

    def _after_update(self, optimizer: Any, args: Any) -> None:
        self.quietly(self.record.end)
        self.keep_late_update()
        self.go_on()

    def _keep_record(self, folder: str) -> None:
        """Whoever hears that the optimizer was called ends a step, before the call is over for us."""
        self.quietly(self.record.end)
        super()._keep_record(folder)

    def _switch_off_apis(self, function: Any, args: Any) -> None:
        self._switch_apis(False)

    def _switch_back(self, function: Any, args: Any) -> None:
        self._switch_apis(self.running)

    def _wrap(self, owner: Any, before: Any, after: Any) -> None:
        """While this dump lasts, around each call of an instance: what an optimizer computes is left out of it."""
        call = owner.__call__

        def wrapped(cell: Any, *args: Any, **kwargs: Any) -> Any:
            self._guarded(before, cell, args)
            try:
                return call(cell, *args, **kwargs)
            finally:
                self._guarded(after, cell, args)

        self.calls.append((owner, vars(owner).get("__call__")))
        owner.__call__ = wrapped

    def _guarded(self, do: Any, *args: Any) -> None:
        if self.calls:
            guarded = self.quietly if self.is_over else self.capture.guarded
            guarded(functools.partial(do, *args))

    def close_record(self, root: Any = None) -> None:
        super().close_record(root)
        if self.is_over:
            self._unwrap()

    def _undo(self) -> None:
        """Leave the calls of optimizers watched until the record of the last step is closed."""
        if not self.is_over:
            self._unwrap()
        if self.jit is not None:  # each call of it would put msprobe's wrappers back, where another one compiles
            self.jit.__call__ = self.jit.__mro__[1].__call__

    def _unwrap(self) -> None:
        calls, self.calls = self.calls, []
        for owner, call in calls:
            if call is None:
                del owner.__call__
            else:
                owner.__call__ = call


def roots(mindspore: ModuleType) -> Any:
    """Return the networks of this process, without which msprobe sees no primitive: every cell with parameters that is
    in no other one. Nothing has to be wrapped for that.
    """
    # By type(): isinstance would ask a weak proxy for the class of what is gone.
    cells = [candidate for candidate in gc.get_objects() if issubclass(type(candidate), mindspore.nn.Cell)]
    cells = [cell for cell in cells if not isinstance(cell, mindspore.nn.Optimizer)]
    inner = {id(child) for one in cells for child in one.cells()}
    outer = [one for one in cells if id(one) not in inner and any(True for _ in one.get_parameters())]
    return outer[0] if len(outer) == 1 else outer


def await_gradient(on_root: Any) -> None:
    """Call `on_root` once, before the next gradient runs its forward: in PyNative all of them pass here."""
    base: Any = importlib.import_module("mindspore.ops.composite.base")
    run = base._pynative_forward_run
    _waiting.append(on_root)
    if _watched:
        return
    _watched.append(run)

    @functools.wraps(run)
    def forward(*args: Any, **kwargs: Any) -> Any:
        while _waiting:
            _waiting.pop()()
        return run(*args, **kwargs)

    base._pynative_forward_run = forward


def make_norms_work(mindspore: Any) -> bool:
    """Replace mint.norm in msprobe's own module where a probe shows that MindSpore's CPU lacks the kernel: msprobe
    takes the norm of every tensor. Returns whether it was replaced.
    """
    try:
        mindspore.mint.norm(mindspore.Tensor([3.0, 4.0], mindspore.float32)).asnumpy()
    except RuntimeError as error:
        if "unregistered" not in str(error):
            raise
        processor = _first(PROCESSORS)
        if not isinstance(processor.mint, _Mint):
            processor.mint = _Mint(mindspore, processor.mint)
        return True
    return False


def _first(names: Any) -> Any:
    """Return the first module of these that this msprobe has. Raises ImportError."""
    for name in names[:-1]:
        with contextlib.suppress(ImportError):
            return importlib.import_module(name)
    return importlib.import_module(names[-1])


class _Mint:
    def __init__(self, mindspore: ModuleType, mint: Any) -> None:
        self._mindspore = mindspore
        self._mint = mint

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mint, name)

    def norm(self, value: Any, *args: Any, **kwargs: Any) -> Any:
        ops = self._mindspore.ops
        return ops.sqrt(ops.reduce_sum(ops.square(value.astype(self._mindspore.float32))))
