"""What each rule of advice is about, and how sure it is. State, effort and source: assets/migration/rules.toml."""

from __future__ import annotations

from typing import Literal, NamedTuple


class Rule(NamedTuple):
    """`category`: silent, changed by transfer_to_npu without a word; fallback, maybe on the CPU; slow; unseen by
    msprobe; tutorial, a call that never worked."""

    category: str
    confidence: Literal["high", "medium", "low"]


RULES = {
    "advice.compared": Rule("silent", "medium"),
    "advice.double_tensor": Rule("silent", "high"),
    "advice.experimental_config": Rule("silent", "high"),
    "advice.has_triton": Rule("silent", "high"),
    "advice.jit_script": Rule("silent", "high"),
    "advice.native_trainer": Rule("silent", "medium"),
    "advice.cpu_fallback": Rule("fallback", "low"),
    "advice.channels_last": Rule("slow", "high"),
    "advice.dynamic_shape": Rule("slow", "medium"),
    "advice.empty_cache": Rule("slow", "high"),
    "advice.float64": Rule("slow", "medium"),
    "advice.host_sync": Rule("slow", "high"),
    "advice.loader_pinned": Rule("slow", "medium"),
    "advice.loader_workers": Rule("slow", "high"),
    "advice.synchronize": Rule("slow", "high"),
    "advice.unseen_cast": Rule("unseen", "high"),
    "advice.unseen_compile": Rule("unseen", "high"),
    "advice.unseen_forward": Rule("unseen", "high"),
    "advice.unseen_function": Rule("unseen", "high"),
    "advice.unseen_inplace": Rule("unseen", "high"),
    "tutorial.api_profiler": Rule("tutorial", "high"),
    "tutorial.comm_fusion": Rule("tutorial", "high"),
    "tutorial.experimental_config": Rule("tutorial", "high"),
    "tutorial.get_npu_device": Rule("tutorial", "high"),
    "tutorial.jit_level": Rule("tutorial", "high"),
    "tutorial.msprobe_framework": Rule("tutorial", "high"),
    "tutorial.msprobe_level": Rule("tutorial", "high"),
    "tutorial.msprobe_path": Rule("tutorial", "high"),
    "tutorial.msprof_input": Rule("tutorial", "high"),
    "tutorial.npu_profiler": Rule("tutorial", "high"),
    "tutorial.tuple_to_array": Rule("tutorial", "medium"),
}
