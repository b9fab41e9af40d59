"""Facts about a training that msprobe's record leaves out: its seeds, its switches and its devices."""

from __future__ import annotations

import hashlib
import os
import platform
import sys

from ascend_studio.writer import process_rank

if False:  # typing costs more at the start than all the rest
    from types import ModuleType
    from typing import Any, Callable, Dict, List

FORMAT = 1
# What CANN, torch_npu and ATB read to compute the same twice; NCCL's and cuBLAS's for the other side.
SWITCHES = (
    "HCCL_DETERMINISTIC", "LCCL_DETERMINISTIC", "ATB_MATMUL_SHUFFLE_K_ENABLE", "ATB_LLM_LCOC_ENABLE",
    "CLOSE_MATMUL_K_SHIFT", "TASK_QUEUE_ENABLE", "ASCEND_LAUNCH_BLOCKING", "INF_NAN_MODE_ENABLE",
    "INF_NAN_MODE_FORCE_DISABLE", "PYTHONHASHSEED", "CUBLAS_WORKSPACE_CONFIG", "NCCL_ALGO", "NCCL_PROTO", "HCCL_ALGO",
    "NVIDIA_TF32_OVERRIDE", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "CUDA_LAUNCH_BLOCKING", "MS_JIT_MODULES",
)  # fmt: skip
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
PACKAGES = (
    "torch", "torch_npu", "torchvision", "mindspore", "numpy", "transformers", "accelerate", "deepspeed", "peft",
)  # fmt: skip


def facts(name: str, framework: ModuleType, reason: str) -> Dict[str, Any]:
    """Return the facts. `reason`: why msprobe's part is missing, else empty. A fact that cannot be had is left out."""
    facts = _FrameworkFacts(name, framework)
    return {
        "format": FORMAT, "framework": name, "reason": reason, "rank": process_rank.rank(),
        "world": max(process_rank.setting(variable, 1) for variable in ("WORLD_SIZE", "MS_WORKER_NUM")),
        "python": sys.executable, "seeds": facts.seeds(), "determinism": facts.determinism(),
        "versions": facts.versions(), "devices": facts.devices(), "threads": facts.threads(),
    }  # fmt: skip


class _FrameworkFacts:
    def __init__(self, name: str, framework: Any) -> None:
        self.is_torch = name == "torch"
        self.framework = framework

    def seeds(self) -> Dict[str, Any]:
        """Return seeds, and digests of the states that the generators have now: equal states give equal numbers."""
        own = self._torch_seeds() if self.is_torch else self._mindspore_seeds()
        numpy: Any = sys.modules.get("numpy")
        states: Dict[str, Callable[[], Any]] = {"python.state": _python_state}
        if numpy is not None:
            states["numpy.state"] = lambda: _digest(numpy.random.get_state())
        return {**own, **_answers(states)}

    def _torch_seeds(self) -> Dict[str, Any]:
        torch = self.framework
        queries: Dict[str, Callable[[], Any]] = {
            "torch.seed": torch.initial_seed,
            "torch.state": lambda: hashlib.sha256(torch.get_rng_state().numpy().tobytes()).hexdigest()[:16],
        }
        for kind in ("cuda", "npu"):
            device = getattr(torch, kind, None)
            if device is not None and _answers({"it": device.is_initialized}).get("it"):
                queries["torch.%s.seed" % kind] = device.initial_seed
        return _answers(queries)

    def _mindspore_seeds(self) -> Dict[str, Any]:
        return _answers({"mindspore.seed": self.framework.get_seed})

    def determinism(self) -> Dict[str, Any]:
        own = self._torch_switches() if self.is_torch else self._mindspore_switches()
        return {**own, **{name: os.environ.get(name) for name in SWITCHES}}

    def _torch_switches(self) -> Dict[str, Any]:
        torch = self.framework
        backends = torch.backends
        return _answers({
            "torch.deterministic_algorithms": torch.are_deterministic_algorithms_enabled,
            "torch.deterministic_warn_only": torch.is_deterministic_algorithms_warn_only_enabled,
            "torch.float32_matmul_precision": torch.get_float32_matmul_precision,
            "torch.default_dtype": lambda: str(torch.get_default_dtype()),
            "cudnn.deterministic": lambda: backends.cudnn.deterministic,
            "cudnn.benchmark": lambda: backends.cudnn.benchmark,
            "cudnn.allow_tf32": lambda: backends.cudnn.allow_tf32,
            "cuda.matmul.allow_tf32": lambda: backends.cuda.matmul.allow_tf32,
            "cuda.matmul.reduced_precision_bf16": (
                lambda: backends.cuda.matmul.allow_bf16_reduced_precision_reduction
            ),
            "mkldnn.enabled": lambda: backends.mkldnn.enabled,
        })  # fmt: skip

    def _mindspore_switches(self) -> Dict[str, Any]:
        get_context = self.framework.get_context
        modes = {self.framework.GRAPH_MODE: "GRAPH_MODE", self.framework.PYNATIVE_MODE: "PYNATIVE_MODE"}
        return _answers({
            "mindspore.deterministic": lambda: get_context("deterministic"),
            "mindspore.mode": lambda: modes.get(get_context("mode"), str(get_context("mode"))),
            "mindspore.jit_level": lambda: get_context("jit_level") or "",
        })  # fmt: skip

    def versions(self) -> Dict[str, Any]:
        loaded = {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in PACKAGES}
        packages: Dict[str, Any] = {name: version for name, version in loaded.items() if version}
        packages["python"] = platform.python_version()
        packages["platform"] = platform.platform(aliased=True, terse=True)
        packages["machine"] = platform.machine()
        packages["cann"] = _cann()
        if self.is_torch:
            packages["cuda"] = getattr(self.framework.version, "cuda", None) or ""
        return {name: value for name, value in packages.items() if value}

    def devices(self) -> List[str]:
        """Return the devices that the training has begun to use; a query of others would initialise them."""
        if not self.is_torch:
            return [
                str(target) for target in _answers({"it": lambda: self.framework.get_context("device_target")}).values()
            ]
        for kind in ("npu", "cuda"):
            device = getattr(self.framework, kind, None)
            if device is not None and _answers({"it": device.is_initialized}).get("it"):
                names = _answers(
                    {"it": lambda backend=device: [backend.get_device_name(i) for i in range(backend.device_count())]}
                )
                return [str(name) for name in names.get("it", ())]
        return ["CPU"]

    def threads(self) -> Dict[str, Any]:
        settings: Dict[str, Any] = {name: os.environ.get(name) for name in THREADS}
        if self.is_torch:
            queries = {"torch.threads": self.framework.get_num_threads, "torch.capability": self._capability}
            settings.update(_answers(queries))
        settings["processors"] = os.cpu_count()
        return settings

    def _capability(self) -> str:
        return str(self.framework.backends.cpu.get_cpu_capability())


def _python_state() -> str:
    import random

    return _digest(random.getstate())


def _digest(state: Any) -> str:
    """Return a digest of a generator's state: numpy's holds an array, whose own text leaves out most of it."""
    parts = [part.tobytes() if hasattr(part, "tobytes") else repr(part).encode() for part in state]
    return hashlib.sha256(b"|".join(parts)).hexdigest()[:16]


def _answers(queries: Dict[str, Any]) -> Dict[str, Any]:
    """Return the answers of the queries that do not fail."""
    answers: Dict[str, Any] = {}
    for name, query in queries.items():
        try:
            answers[name] = query()
        except Exception:  # a version that has no such thing
            continue
    return answers


def _cann() -> str:
    for root in (os.environ.get(name, "") for name in ("ASCEND_TOOLKIT_HOME", "ASCEND_HOME_PATH")):
        try:
            with open(os.path.join(root, "version.cfg"), encoding="utf-8", errors="replace") as file:
                return file.read(2000).strip().splitlines()[-1][:200]
        except (OSError, IndexError):
            continue
    return ""
