"""The names of states, categories and rules, and the theme colour of each state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.hours import HOURS
from studio.texts import has, t

if TYPE_CHECKING:
    from backends.migration.finding import FindingState, ScanFinding

STATE_COLORS: dict[FindingState, str] = {
    "auto": "good", "edit": "accent", "manual": "warning", "none": "bad", "unverified": "dim",
}  # fmt: skip
STATE_NAMES: dict[FindingState, str] = {
    "auto": "migration.state.auto", "edit": "migration.state.edit", "manual": "migration.state.manual",
    "none": "migration.state.none", "unverified": "migration.state.unverified",
}  # fmt: skip
STATE_HINTS: dict[FindingState, str] = {
    "auto": "migration.state.auto_hint", "edit": "migration.state.edit_hint",
    "manual": "migration.state.manual_hint", "none": "migration.state.none_hint",
    "unverified": "migration.state.unverified_hint",
}  # fmt: skip
SINGLE_STATE_NAMES: dict[FindingState, str] = {
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
    "cmake_cuda": "migration.category.cpp", "shell_cuda": "migration.category.shell",
    "torch_compile": "migration.category.jit",
    "triton_kernel": "migration.category.triton",
    "fallback": "migration.category.fallback",
    "prelude": "migration.category.prelude",
    "silent": "migration.category.silent",
    "slow": "migration.category.slow",
    "tutorial": "migration.category.tutorial",
    "unseen": "migration.category.unseen",
}  # fmt: skip


def counted_text(singular: str, plural: str, n: int, **args: object) -> str:
    """Return the singular text for n = 1, the plural text otherwise."""
    return t(singular if n == 1 else plural, n=n, **args)


def effort_text(effort: int) -> str:
    """Return, for example, 'Effort 5 of 13, about 1.5–4 h'."""
    if not effort:
        return t("migration.no_effort")
    low, high = HOURS.get(effort, HOURS[max(HOURS)])
    if high < 1:
        return t("migration.effort_minutes", n=effort, low=round(low * 60), high=round(high * 60))
    return t("migration.effort_hours", n=effort, low=f"{low:g}", high=f"{high:g}")


def state_name(state: FindingState) -> str:
    return t(STATE_NAMES[state])


def single_state_name(state: FindingState) -> str:
    return t(SINGLE_STATE_NAMES[state])


def category_name(category: str) -> str:
    """Return a category's name, which several may share; 'lib_apex' is named by its library, an unknown one by its
    id."""
    if category.startswith("lib_"):
        return t("migration.category.library", name=category[4:])
    return t(CATEGORIES[category]) if category in CATEGORIES else category


def rule_text(finding: ScanFinding, part: str) -> str:
    """Return a sentence of a finding's rule. `part`: title, why or todo. Without such a text a title is the source
    itself, everything else ''."""
    key = f"rule.{finding.rule}.{part}"
    if not has(key):
        return (finding.text or finding.name or finding.category) if part == "title" else ""
    return t(key, **{"name": finding.name, "text": finding.text, "category": finding.category, **finding.args})


def reason_text(finding: ScanFinding) -> str:
    """Return why the scan is sure or unsure of a finding, '' where it does not say."""
    key = f"rule_because.{finding.because}"
    return t(key, **{"name": finding.name, **finding.args}) if finding.because and has(key) else ""


def location_text(finding: ScanFinding) -> str:
    """Return 'train.py:17', in a notebook 'demo.ipynb [3]:2'."""
    cell = f" [{finding.cell}]" if finding.cell is not None else ""
    return f"{finding.path}{cell}:{finding.line}"
