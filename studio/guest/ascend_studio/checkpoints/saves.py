"""Leaves a line for each checkpoint that a training has written, when that is done: by torch.save, by the trainers of
Hugging Face and Lightning, by accelerate.

A line is JSON: the time in ns since the epoch, and the path. It says that what lies there was whole at that time. What
a checkpoint holds is read from its file later, by who asks. Python 3.7, standard library only.
"""

from __future__ import annotations

import functools
import json
import os
import time

import ascend_studio
from ascend_studio import hooks
from ascend_studio.writer import process_rank

if False:  # typing costs more at the start than all the rest
    from typing import Any, Callable, Dict

FILE = "saves.a%d"
MAX_BYTES = 1 << 23
PAUSE = 1.0  # seconds between two lines of one path: a script may overwrite a file in every step
MAX_PATHS = 10000

_noted: Dict[str, float] = {}


def begin() -> None:
    hooks.after_import("torch", hooks.guarded("checkpoints")(_watch_torch))
    hooks.after_import("accelerate.accelerator", hooks.guarded("checkpoints of accelerate")(_watch_accelerate))
    for name in hooks.TRAINERS:
        hooks.after_import(name, hooks.guarded("checkpoints of trainers")(_watch_trainer))


def _watch_torch(torch: Any) -> None:
    """Wrap torch.save, where a torch has it. One tensor is no checkpoint: only dictionaries and modules are noted."""
    save, network = getattr(torch, "save", None), getattr(torch, "nn", None)
    if save is None or network is None:
        return
    kinds = (dict, network.Module)

    @functools.wraps(save)
    def saving(obj: Any, f: Any, *args: Any, **kwargs: Any) -> Any:
        result = save(obj, f, *args, **kwargs)
        if isinstance(obj, kinds):
            note(f)
        return result

    torch.save = torch.serialization.save = saving


def _watch_accelerate(module: Any) -> None:
    _watch_method(module.Accelerator, "save_state", _written_folder)


def _watch_trainer(module: Any) -> None:
    """Lightning takes the path; Hugging Face puts the folder's name together from the step."""
    if hasattr(module.Trainer, "save_checkpoint"):
        _watch_method(module.Trainer, "save_checkpoint", _first_argument)
    elif hasattr(module.Trainer, "_save_checkpoint"):
        _watch_method(module.Trainer, "_save_checkpoint", _huggingface_folder)


def _written_folder(result: Any, owner: Any, args: Any, kwargs: Any) -> Any:
    """None of other processes than the first: they may be done before it is."""
    return result if owner.is_main_process else None


def _first_argument(result: Any, owner: Any, args: Any, kwargs: Any) -> Any:
    return args[0] if args else kwargs.get("filepath")


def _huggingface_folder(result: Any, owner: Any, args: Any, kwargs: Any) -> Any:
    trial = args[1] if len(args) > 1 else kwargs.get("trial")
    folder = os.path.join(owner._get_output_dir(trial=trial), "checkpoint-%d" % owner.state.global_step)
    return folder if owner.is_world_process_zero() else None


def _watch_method(owner_type: Any, name: str, path_of: Callable[..., Any]) -> None:
    original = getattr(owner_type, name)
    note_path = hooks.guarded("checkpoints")(lambda *words: note(path_of(*words)))

    @functools.wraps(original)
    def saving(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        note_path(result, self, args, kwargs)
        return result

    setattr(owner_type, name, saving)


def _note(target: Any) -> None:
    """Note a path, or a file that is open: a buffer in memory has no path. A flood is noted now and then."""
    path = target if isinstance(target, (str, os.PathLike)) else getattr(target, "name", None)
    run = os.environ.get(ascend_studio.RUN)
    if run is None or not isinstance(path, (str, os.PathLike)):
        return
    text = os.path.abspath(os.fspath(path))
    now = time.monotonic()
    if not isinstance(text, str) or now - _noted.get(text, -PAUSE) < PAUSE or len(_noted) > MAX_PATHS:
        return
    _noted[text] = now
    _append(run, json.dumps({"time": time.time_ns(), "path": text}) + "\n")


note: Callable[[Any], None] = hooks.guarded("checkpoints")(_note)


def _append(run: str, line: str) -> None:
    """What a full disk refuses is lost; the checkpoint itself is found by looking for it."""
    path = os.path.join(run, FILE % process_rank.setting(ascend_studio.ATTEMPT, 1))
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, ascend_studio.mode_in(run))
    try:
        if os.fstat(descriptor).st_size < MAX_BYTES:
            os.write(descriptor, line.encode("ascii"))
    finally:
        os.close(descriptor)
