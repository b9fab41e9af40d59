"""How states, categories and rules are called, and which colour of the theme a state has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.hours import HOURS
from studio.texts import has, t

if TYPE_CHECKING:
    from backends.migration.found import Found, State

TOKENS: dict[State, str] = {
    "auto": "good", "edit": "accent", "manual": "warning", "none": "bad", "unverified": "dim",
}  # fmt: skip
STATE_NAMES: dict[State, str] = {
    "auto": "migration.state.auto", "edit": "migration.state.edit", "manual": "migration.state.manual",
    "none": "migration.state.none", "unverified": "migration.state.unverified",
}  # fmt: skip
STATE_HINTS: dict[State, str] = {
    "auto": "migration.state.auto_hint", "edit": "migration.state.edit_hint",
    "manual": "migration.state.manual_hint", "none": "migration.state.none_hint",
    "unverified": "migration.state.unverified_hint",
}  # fmt: skip
ONE: dict[State, str] = {
    "auto": "migration.state.auto_one", "edit": "migration.state.edit_one", "manual": "migration.state.manual_one",
    "none": "migration.state.none_one", "unverified": "migration.state.unverified_one",
}  # fmt: skip
CATEGORIES = {
    "amp_cuda": "migration.category.amp", "amp_generic": "migration.category.amp",
    "api": "migration.category.api", "attn_impl": "migration.category.attn_impl",
    "backend_cuda": "migration.category.backend_cuda", "config_device": "migration.category.config",
    "cpp_binding": "migration.category.cpp", "cpp_cuda_api": "migration.category.cpp",
    "cpp_extension": "migration.category.extension", "cu_source": "migration.category.cpp",
    "cuda_api": "migration.category.cuda_api", "cuda_env": "migration.category.env",
    "cuda_graph": "migration.category.cuda_graph", "cuda_method": "migration.category.cuda_method",
    "cuda_tensor_type": "migration.category.tensor_type", "cuda_version": "migration.category.version",
    "cudnn": "migration.category.backend_cuda", "custom_ext_import": "migration.category.extension",
    "custom_ext_load": "migration.category.extension", "dataparallel": "migration.category.parallel",
    "ddp_device_ids": "migration.category.parallel", "device_int": "migration.category.device",
    "device_str": "migration.category.device", "docker_cuda": "migration.category.docker",
    "is_cuda": "migration.category.is_cuda", "jit": "migration.category.jit",
    "nccl_api": "migration.category.nccl", "nccl_str": "migration.category.nccl",
    "nvidia_smi": "migration.category.nvidia_smi", "nvtx": "migration.category.profiler",
    "pip_index": "migration.category.requirements", "profiler_cuda": "migration.category.profiler",
    "req_cuda": "migration.category.requirements", "req_torch": "migration.category.requirements",
    "shell_cuda": "migration.category.shell", "torch_compile": "migration.category.jit",
    "triton_kernel": "migration.category.triton",
    "fallback": "migration.category.fallback",
    "prelude": "migration.category.prelude",
    "silent": "migration.category.silent",
    "slow": "migration.category.slow",
    "tutorial": "migration.category.tutorial",
    "unseen": "migration.category.unseen",
}  # fmt: skip


def counted(one: str, many: str, n: int, **args: object) -> str:
    """The text for one thing, or the text for another number of them."""
    return t(one if n == 1 else many, n=n, **args)


def effort_text(effort: int) -> str:
    """'Effort 5 of 13, about 1.5–4 h'."""
    if not effort:
        return t("migration.no_effort")
    low, high = HOURS.get(effort, HOURS[max(HOURS)])
    if high < 1:
        return t("migration.effort_minutes", n=effort, low=round(low * 60), high=round(high * 60))
    return t("migration.effort_hours", n=effort, low=f"{low:g}", high=f"{high:g}")


def state_name(state: State) -> str:
    return t(STATE_NAMES[state])


def state_of_one(state: State) -> str:
    return t(ONE[state])


def category_name(category: str) -> str:
    """Several categories may share a name; 'lib_apex' is called by its library, an unknown one by its id."""
    if category.startswith("lib_"):
        return t("migration.category.library", name=category[4:])
    return t(CATEGORIES[category]) if category in CATEGORIES else category


def rule_text(found: Found, part: str) -> str:
    """`part`: title, why or todo. '' where this version has none; a title then is the source itself."""
    key = f"rule.{found.rule}.{part}"
    if not has(key):
        return (found.text or found.name or found.category) if part == "title" else ""
    return t(key, **{"name": found.name, "text": found.text, "category": found.category, **found.args})


def because_text(found: Found) -> str:
    key = f"rule_because.{found.because}"
    return t(key, **{"name": found.name, **found.args}) if found.because and has(key) else ""


def place_text(found: Found) -> str:
    """'train.py:17', in a notebook 'demo.ipynb [3]:2'."""
    cell = f" [{found.cell}]" if found.cell is not None else ""
    return f"{found.path}{cell}:{found.line}"
