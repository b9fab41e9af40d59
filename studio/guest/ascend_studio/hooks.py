"""The hooks in somebody's own training. They wait until a framework is imported, and import none themselves.

ASCEND_STUDIO_HOOKS names the hooks, separated by commas:

    curves            loss, learning rate, times of each step; which checkpoints were written
    captures          profile or dump a few steps on request, see captures.py
    config_pack       seeds, versions, first batch and first weights, see config_pack.py
    weight_digests=N  digests of the weights after the first N steps and at the end, see weight_digests.py
    rehearse=cuda     run what is written for CUDA on the CPU, see rehearsal
    rehearse=npu      the same, as a host with an NPU would
"""

from __future__ import annotations

import functools
import importlib.machinery
import os
import sys

import ascend_studio

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Callable, Dict, List, Optional, Sequence

VARIABLE = "ASCEND_STUDIO_HOOKS"
TRAINERS = ("transformers.trainer", "lightning.pytorch.trainer.trainer", "pytorch_lightning.trainer.trainer")

_installs: Dict[str, List[Callable[[ModuleType], None]]] = {}
_disabled: Dict[str, str] = {}
# Asked at the end of a process without a metric, by framework: why, as a key of the catalogue.
reasons: Dict[str, Callable[[], str]] = {}
# Called with the number of each optimizer step when it is done, in the training's own thread.
step_listeners: List[Callable[[int], None]] = []
# Whether the training calls `stepped` itself, as the studio's own engine does.
training_counts_steps = False


def requested() -> Dict[str, str]:
    """Return what ASCEND_STUDIO_HOOKS names: each word, and what stands behind its "="."""
    words = [word.strip() for word in os.environ.get(VARIABLE, "").split(",")]
    return {word.partition("=")[0]: word.partition("=")[2] for word in words if word}


def begin() -> None:
    """Prepare all requested hooks. Never raises."""
    for word, value in requested().items():
        guarded(word)(_begin)(word, value)


def _begin(word: str, value: str) -> None:
    if word == "curves":
        from ascend_studio import missing_metrics
        from ascend_studio.checkpoints import saves
        from ascend_studio.writer import failed_process, process_record

        guarded("process_record")(process_record.begin)()
        guarded("checkpoints")(saves.begin)()
        missing_metrics.begin()
        failed_process.begin()
        after_import("torch", guarded("curves")(_install_torch))
        after_import("mindspore", guarded("curves")(_install_mindspore))
        for name in TRAINERS:
            after_import(name, guarded("trainers")(_install_trainer))
    elif word == "captures":
        from ascend_studio import captures

        captures.begin()
    elif word == "config_pack":
        from ascend_studio import config_pack

        config_pack.begin()
    elif word == "weight_digests":
        from ascend_studio import weight_digests

        weight_digests.begin(value)
    elif word == "rehearse":
        from ascend_studio import rehearsal

        rehearsal.begin(value)


def _install_torch(torch: ModuleType) -> None:
    from ascend_studio import torch_hooks

    torch_hooks.install(torch)


def _install_mindspore(mindspore: ModuleType) -> None:
    from ascend_studio import mindspore_hooks

    mindspore_hooks.install(mindspore)


def _install_trainer(module: ModuleType) -> None:
    from ascend_studio import trainer_callbacks

    trainer_callbacks.install(module)


def guarded(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Wrap a function that runs inside the training: an error switches `name` off and is reported once, and is not
    raised.
    """

    def guard(do: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(do)
        def safe(*args: Any, **kwargs: Any) -> Any:
            if name in _disabled:
                return None
            try:
                return do(*args, **kwargs)
            except Exception as error:
                give_up(name, error)
                return None

        return safe

    return guard


def give_up(name: str, error: BaseException) -> None:
    """Switch `name` off for the rest of this process, and say why."""
    if name not in _disabled:
        _disabled[name] = str(error)
        reason = "%s: %s" % (type(error).__name__, error)
        ascend_studio.finding("hooks.given_up", "warning", what=name, reason=reason[:300])


def is_off(name: str) -> bool:
    return name in _disabled


def stepped(step: int) -> None:
    """Call the listeners; whoever sees an optimizer step end calls this."""
    for listener in step_listeners:
        listener(step)


def on_step(name: str, listener: Callable[[int], None]) -> None:
    """Add a listener; an error in it switches `name` off, and no other listener."""
    step_listeners.append(guarded(name)(listener))


def after_import(name: str, install: Callable[[ModuleType], None]) -> None:
    """Call install(module) when a module has been imported, or now if it has been. Errors are reported, not raised.
    Where several wait for one module, each must be guarded under a name of its own.
    """
    install = guarded(name)(install)
    if name in sys.modules:
        install(sys.modules[name])
        return
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
    _installs.setdefault(name, []).append(install)


class _Finder:
    """A finder that finds nothing itself: it wraps the loader of a module that is waited for."""

    def find_spec(
        self, name: str, path: Optional[Sequence[str]] = None, target: Any = None
    ) -> Optional[importlib.machinery.ModuleSpec]:
        if name not in _installs:
            return None
        spec = next(
            filter(None, (_spec_of(finder, name, path, target) for finder in sys.meta_path if finder is not self)), None
        )
        if spec is not None and spec.loader is not None and hasattr(spec.loader, "exec_module"):
            guarded(name)(_install_after)(spec.loader, name)
        return spec


def _spec_of(finder: Any, name: str, path: Any, target: Any) -> Any:
    find = getattr(finder, "find_spec", None)
    return find(name, path, target) if find is not None else None


def _install_after(loader: Any, name: str) -> None:
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        execute(module)
        for install in _installs.pop(name, ()):
            install(module)

    loader.exec_module = exec_module
