"""msprobe's dump of a few steps, for torch and for MindSpore alike: its debugger is one for the whole process, and
reads its configuration again when that changes (`dump_enable`)."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys

from ascend_studio import captures

if False:
    from typing import Any, Dict

_debugger: Any = None


class Dump:
    """Runs from the end of a step to the beginning of the optimizer's: hundreds of entries would be the optimizer's
    own. `root`: the model, for the levels that want it."""

    name = ""

    def __init__(self, capture: captures.Capture) -> None:
        self.capture = capture
        self.config = os.path.join(capture.watch.run, captures.FOLDER, "msprobe.r%d.json" % capture.watch.rank)
        self.root: Any = None
        self.running = False
        self.error: Any = None
        self.debugger: Any = None
        self.module = self._import()

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
        self._protect(self.debugger.service.data_collector)
        self.debugger.set_init_step(step)
        self._start()

    def settings(self, enabled: bool) -> Dict[str, Any]:
        asked = self.capture.asked
        return {
            "task": asked.task, "dump_path": self.capture.folder, "rank": [], "step": [], "level": asked.level,
            "async_dump": False, "dump_enable": enabled,
            "statistics": {"scope": [], "list": [], "data_mode": ["all"], "summary_mode": "statistics"},
            "tensor": {"scope": [], "list": [], "data_mode": ["all"]},
        }  # fmt: skip

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
        _switch_apis(_debugger, True)
        return _debugger

    def reload(self, debugger: Any) -> None:
        """At once: at its own next look some seconds later the step would be over."""
        debugger._maybe_reload_config(force=True)

    def _start(self) -> None:
        self.running = True
        self.debugger.start(self.root) if self.root is not None else self.debugger.start()

    def hold(self) -> None:
        if self.running:
            self.running = False
            self.debugger.stop()

    def go_on(self) -> None:
        """After one of several optimizers: the step may not be over."""
        if not self.running:
            self._start()

    def between(self, step: int) -> None:
        self.hold()
        self.debugger.step()
        self._start()

    def finish(self) -> str:
        self.hold()
        self.debugger.step()
        self._undo()
        self._switch_off()
        return str(self.capture.folder)

    def _undo(self) -> None:
        """What begin() has changed in the framework."""

    def _switch_off(self) -> None:
        captures.write(self.config, self.settings(False))
        if hasattr(self.debugger, "_maybe_reload_config"):
            self.debugger._maybe_reload_config(force=True)
        _switch_apis(self.debugger, False)

    def octets(self) -> int:
        return int(captures.size_of(self.capture.folder))

    def check(self) -> None:
        if self.error is not None:
            raise self.error

    def abandon(self) -> None:
        """As much of the end as still works."""
        self._halt()
        if self.debugger is None:
            return
        for do in (self._undo, self.debugger.stop, self.debugger.step, self._switch_off):
            with contextlib.suppress(Exception):
                do()

    def _protect(self, collector: Any) -> None:
        """What msprobe raises where it keeps a tensor, for instance on a full disk, would go through the training's own
        forward. Its callers take no result."""
        for name in dir(type(collector)):
            if "_data_collect" in name:
                # Of its class: the one before this dump has wrapped what is on the collector.
                setattr(collector, name, self._safe(getattr(type(collector), name).__get__(collector)))

    def _safe(self, collect: Any) -> Any:
        def safe(*args: Any, **kwargs: Any) -> None:
            if self.error is None:
                try:
                    captures.check_disk(self.capture)
                    collect(*args, **kwargs)
                except Exception as error:
                    self.error = error
                    self._halt()

        return safe

    def _halt(self) -> None:
        """In the middle of a step: every hook of msprobe asks this switch first."""
        runtime = sys.modules.get("msprobe.core.common.runtime")
        if runtime is not None:
            runtime.Runtime.is_running = False


def _switch_apis(debugger: Any, on: bool) -> None:
    """Without the wrappers around every function of the framework, steps after a dump are as fast as before it."""
    register = getattr(debugger.service, "api_register", None)
    change = getattr(register, "register_all_api" if on else "restore_all_api", None)
    if change is not None:
        change()
