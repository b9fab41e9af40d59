"""What a training began with, as one zip: msprobe's own record of it, and what that leaves out.

    <run>/artifacts/config/rank<r>.zip
        env, pip                 as msprobe's ConfigChecker writes them, without what may be secret
        dataset/…, weights/…     its statistics of the first batch and of the weights before the first forward
        buffers/…                the same of the model's buffers, which its record leaves out
        random/rank<r>.json      which random functions were called, from where, how often
        studio.json              seeds, states of the random generators, determinism, versions, devices, threads

Written when the model is called for the first time, in the order of the training's own calls: no random number is
drawn, nothing is changed. Where msprobe is missing or fails, env, pip and studio.json are there all the same.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import json
import os
import re
import shutil
import sys
import tempfile
import zipfile

import ascend_studio
from ascend_studio import hooks
from ascend_studio.recording import Unrecorded
from ascend_studio.writer import process_rank

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Callable, Dict, List, Optional

FOLDER = os.path.join("artifacts", "config")
NAME = "config_pack"
BUFFERS = "buffers/step0/rank%d/buffer.json"
FRAMEWORKS = {"torch": "pytorch", "mindspore": "mindspore"}
# Of random functions whose callers msprobe notes: finding out who called takes it a millisecond.
MAX_STACKS = 2000
MANY = ["(more than %d calls: their callers are not told apart)" % MAX_STACKS]
LARGEST = 1 << 30

# As studio.environment: the guest cannot import it.
_SECRET = re.compile(
    r"(^|_)(TOKEN|SECRET|PASSWORD|PASSWD|PASS|PWD|CREDENTIALS?|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|KEY|AUTH|COOKIE|PAT)"
    r"(_|$)", re.IGNORECASE,
)  # fmt: skip
_TELLING = re.compile(
    r"(ACL|ATB|GE|MS|NPU|TE|RANK|DEVICE|XLA)_.*|(ASCEND|ASDOPS|HCCL|LCCL|LCAL|HCOM|NCCL|CUDA|CUDNN|CUBLAS|NVIDIA|TF32"
    r"|TORCH|PYTORCH|OMP|MKL|OPENBLAS|NUMEXPR|KMP|GOMP|MINDSPORE|GLOG|TASK_QUEUE|CLOSE_MATMUL|COMBINED_ENABLE|INF_NAN"
    r"|CPU_AFFINITY|PYTHONHASHSEED|RANK|LOCAL_RANK|WORLD_SIZE|LOCAL_WORLD_SIZE|FLASH_ATT|TRITON|DEEPSPEED|ACCELERATE"
    r"|MEGATRON|MULTI_STREAM|STREAMS_PER_DEVICE|WITHOUT_JIT|TOKENIZERS_PARALLELISM|LD_LIBRARY_PATH)(_.*|$|[A-Z].*)"
)
# Of other variables only what can hardly be a secret: switches and small numbers.
_PLAIN = re.compile(r"(true|false|yes|no|on|off|none|-?\d{1,6}(\.\d{1,6})?)?", re.IGNORECASE)
_LOGIN = re.compile(r"(?<=://)[^/@\s]+@")

_MISSING = object()
_pack: Optional[Pack] = None


def begin() -> None:
    """Start to watch for a framework; called once, at the start of Python."""
    for name in FRAMEWORKS:
        hooks.after_import(name, hooks.guarded(NAME)(functools.partial(_watch, name)))


def _watch(name: str, framework: ModuleType) -> None:
    """Take the framework that the training imports first for its own: msprobe imports both."""
    global _pack
    if _pack is None and os.environ.get("MS_ROLE") != "MS_SCHED":
        _pack = Pack(name, framework)
        _pack.prepare()


class Pack:
    """The zip of one training. `reason`: why msprobe's part is missing."""

    def __init__(self, name: str, framework: ModuleType) -> None:
        self.name = name
        self.framework = framework
        self.reason = ""
        self.recorder: Optional[Recorder] = None
        self.done = False

    def prepare(self) -> None:
        """Load msprobe before the script sets its seeds."""
        try:
            self.recorder = Recorder(FRAMEWORKS[self.name])
            self.recorder.watch_random()
        except Exception as error:
            self._went_wrong(error)
            self._drop_recorder()
        first_forward = _first_torch_forward if self.name == "torch" else _first_mindspore_forward
        first_forward(self.framework, hooks.guarded(NAME)(self.make))
        # A training whose model no Python calls, such as a compiled step of MindSpore.
        hooks.on_step(NAME, lambda step: self.make(None, (), {}))

    def _drop_recorder(self) -> None:
        recorder, self.recorder = self.recorder, None
        if recorder is not None:
            recorder.give_back()

    def _went_wrong(self, error: BaseException) -> None:
        self.reason = ("%s: %s" % (type(error).__name__, error))[:300]

    def make(self, root: Any, args: Any, kwargs: Any) -> None:
        if self.done:
            return
        self.done = True
        folder = os.path.join(os.environ[ascend_studio.RUN], FOLDER)
        os.makedirs(folder, exist_ok=True)
        with Unrecorded():  # a dump that begins with this forward has begun already
            members = self._members(root, args, kwargs)
        path = os.path.join(folder, "rank%d.zip" % process_rank.rank())
        _write(path, members)
        ascend_studio.artifact("config", path)
        if self.reason:
            ascend_studio.note("precision.config.without_msprobe", reason=self.reason)

    def _members(self, root: Any, args: Any, kwargs: Any) -> Dict[str, Any]:
        members = self._of_msprobe(root, args, kwargs)
        if root is not None and self.name == "torch":
            with contextlib.suppress(Exception):  # without them the check is incomplete
                members[BUFFERS % process_rank.rank()] = self._buffers(root)
        members["env"] = json.dumps(recorded_variables(os.environ), indent=1, sort_keys=True)
        members["pip"] = "".join("%s=%s\n" % pair for pair in sorted(packages().items()))
        members["studio.json"] = json.dumps(self._own(), indent=1, sort_keys=True)
        return members

    def _of_msprobe(self, root: Any, args: Any, kwargs: Any) -> Dict[str, Any]:
        if self.recorder is None:
            return {}
        try:
            return self.recorder.record(root, args, kwargs, self._without_gradients)
        except Exception as error:
            self._went_wrong(error)
            return {}
        finally:
            self._drop_recorder()

    def _buffers(self, root: Any) -> str:
        from ascend_studio import config_buffers

        with self._without_gradients():
            return json.dumps(config_buffers.buffer_figures(self.framework, root), indent=1, sort_keys=True)

    def _without_gradients(self) -> Any:
        return self.framework.no_grad() if self.name == "torch" else contextlib.nullcontext()

    def _own(self) -> Dict[str, Any]:
        from ascend_studio import config_facts

        own: Dict[str, Any] = config_facts.facts(self.name, self.framework, self.reason)
        return own


def _write(path: str, members: Dict[str, Any]) -> None:
    making = "%s.%d.making" % (path, os.getpid())
    with zipfile.ZipFile(making, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in sorted(members.items()):
            archive.writestr(name, text)
    os.chmod(making, ascend_studio.mode_in(os.environ[ascend_studio.RUN]))
    os.replace(making, path)


# What may be told


def is_secret(name: str) -> bool:
    return bool(_SECRET.search(name)) and name not in ("PWD", "OLDPWD")


def recorded_variables(environ: Any) -> Dict[str, str]:
    """Return variables that can change what is computed, and switches. Ours are left out: msprobe takes a name with
    ASCEND in it for a sign of an NPU.
    """
    return {
        name: _LOGIN.sub("", value)
        for name, value in environ.items()
        if not name.startswith("ASCEND_STUDIO_")
        and not is_secret(name)
        and (_TELLING.match(name) or _PLAIN.fullmatch(value))
    }


def packages() -> Dict[str, str]:
    try:
        metadata = _module("importlib.metadata")
    except ImportError:  # Python 3.7
        return {}
    versions: Dict[str, str] = {}
    for distribution in metadata.distributions():
        with contextlib.suppress(Exception):
            versions.setdefault(str(distribution.metadata["Name"]), str(distribution.version))
    return versions


# msprobe's part


class Recorder:
    """msprobe's ConfigChecker for one call of the model: by itself it would write at every step, and note the callers
    of every random number to the end of the training.
    """

    def __init__(self, framework: str) -> None:
        self.framework = framework
        self.checker = _module("msprobe.core.config_check").ConfigChecker
        self.adapter = _module("msprobe.core.common.framework_adapter").FmkAdp
        self.random = _module("msprobe.core.config_check.checkers.random_checker")
        self.stack_of = self.random.get_call_stack
        self.random.get_call_stack = self._stack
        self.stacks = 0
        self.replaced: List[Any] = []

    def watch_random(self) -> None:
        owners = _random_owners(self.framework)
        before = [dict(vars(item)) for item in owners]
        try:
            self.checker.apply_patches(fmk=self.framework)
        finally:
            self.replaced = [
                (owner, name, old.get(name, _MISSING), value)
                for owner, old in zip(owners, before)
                for name, value in list(vars(owner).items())
                if old.get(name, _MISSING) is not value
            ]
        # msprobe 26.2 puts its set_seed of MindSpore in the place of manual_seed.
        for owner, name, original, value in self.replaced:
            wrapped = getattr(value, "__wrapped__", None)
            if getattr(wrapped, "__name__", name) != name if original is _MISSING else wrapped is not original:
                _put_back(owner, name, original)

    def _stack(self, frame: Any) -> List[str]:
        self.stacks += 1
        stack: List[str] = self.stack_of(frame) if self.stacks <= MAX_STACKS else MANY
        return stack

    def record(self, root: Any, args: Any, kwargs: Any, quietly: Callable[[], Any]) -> Dict[str, Any]:
        """Return the members of its zip. Without a model nothing is known about random functions, which the model's
        call writes.
        """
        if root is None:
            return {}
        folder = tempfile.mkdtemp(prefix="ascend-studio-")  # of this user alone, and of a name that msprobe takes
        path = os.path.join(folder, "pack.zip")
        checkers, register = dict(self.checker.checkers), self.adapter.__dict__["register_forward_pre_hook"]
        called: List[Any] = []
        try:
            for name in ("env", "pip"):  # all variables would be written down
                self.checker.checkers.pop(name, None)
            self.adapter.register_forward_pre_hook = lambda model, hook, with_kwargs=False: called.append(hook)
            self.checker(model=root, output_zip_path=path, fmk=self.framework)
            with quietly():
                for hook in called:
                    hook(root, args, kwargs)
            return _members(path)
        finally:
            self.adapter.register_forward_pre_hook = register
            self.checker.checkers.update(checkers)
            shutil.rmtree(folder, ignore_errors=True)

    def give_back(self) -> None:
        """Undo msprobe's patches. A script that imported a random function by its name keeps msprobe's, which costs
        next to nothing from here on.
        """
        self.random.get_call_stack = lambda frame: MANY
        for owner, name, original, value in self.replaced:
            if vars(owner).get(name) is value:
                _put_back(owner, name, original)


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _put_back(owner: Any, name: str, original: Any) -> None:
    with contextlib.suppress(AttributeError, TypeError):
        if original is _MISSING:
            delattr(owner, name)
        else:
            setattr(owner, name, original)


def _members(path: str) -> Dict[str, Any]:
    with zipfile.ZipFile(path) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > LARGEST:
            raise ValueError("a pack of more than %d MB" % (LARGEST >> 20))
        return {name: archive.read(name) for name in archive.namelist()}


def _random_owners(framework: str) -> List[Any]:
    """Return the owners of the functions that apply_patches of msprobe replaces."""
    names = ["random", "numpy.random"] + (["torch"] if framework == "pytorch" else ["mindspore", "mindspore.ops"])
    owners: List[Any] = [_module(name) for name in names]
    return [*owners, owners[-1].Tensor] if framework == "pytorch" else owners


# The first call of the model


def _first_torch_forward(torch: ModuleType, make: Callable[..., Any]) -> None:
    modules = _module("torch.nn.modules.module")
    compiler = getattr(torch, "compiler", None)
    is_compiling = getattr(compiler, "is_compiling", bool)

    def called(root: Any, args: Any) -> None:
        if is_compiling() or not root.training or not torch.is_grad_enabled():
            return
        if any(parameter.requires_grad for parameter in root.parameters()):
            handle.remove()
            # A hook of all modules is not given the arguments by name: they are its caller's.
            make(root, args, sys._getframe(1).f_locals.get("kwargs") or {})

    handle = modules.register_module_forward_pre_hook(called)


def _first_mindspore_forward(mindspore: ModuleType, make: Callable[..., Any]) -> None:
    """In PyNative mode and in graph mode alike, a network is called in Python; inside of a compiled function it is
    not."""
    cells: Any = mindspore.nn.Cell
    original = cells.__call__
    waiting = [True]

    @functools.wraps(original)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        if waiting and not isinstance(self, mindspore.nn.Optimizer) and self.trainable_params():
            waiting.clear()
            if cells.__call__ is called:  # else whoever wrapped it since keeps this one, which does nothing more
                cells.__call__ = original
            make(self, args, kwargs)
        return original(self, *args, **kwargs)

    cells.__call__ = called
