"""What each rule of advice is about, and how sure it is. State, effort and source: assets/migration/rules.toml."""

from __future__ import annotations

from typing import Literal, NamedTuple


class AdviceRule(NamedTuple):
    """`category`: silent, changed by transfer_to_npu without a word; fallback, maybe on the CPU; slow; unseen by
    msprobe; tutorial, a call that never worked."""

    category: str
    confidence: Literal["high", "medium", "low"]


ADVICE_RULES = {
    "advice.compared": AdviceRule("silent", "medium"),
    "advice.double_tensor": AdviceRule("silent", "high"),
    "advice.experimental_config": AdviceRule("silent", "high"),
    "advice.has_triton": AdviceRule("silent", "high"),
    "advice.jit_script": AdviceRule("silent", "high"),
    "advice.native_trainer": AdviceRule("silent", "medium"),
    "advice.npu_aware": AdviceRule("silent", "medium"),
    "advice.cpu_fallback": AdviceRule("fallback", "low"),
    "advice.channels_last": AdviceRule("slow", "high"),
    "advice.dynamic_shape": AdviceRule("slow", "medium"),
    "advice.empty_cache": AdviceRule("slow", "high"),
    "advice.float64": AdviceRule("slow", "medium"),
    "advice.fused_attention": AdviceRule("slow", "medium"),
    "advice.fused_rms_norm": AdviceRule("slow", "medium"),
    "advice.fused_rotary": AdviceRule("slow", "medium"),
    "advice.fused_swiglu": AdviceRule("slow", "medium"),
    "advice.host_sync": AdviceRule("slow", "high"),
    "advice.loader_pinned": AdviceRule("slow", "medium"),
    "advice.loader_workers": AdviceRule("slow", "high"),
    "advice.synchronize": AdviceRule("slow", "high"),
    "advice.unseen_cast": AdviceRule("unseen", "high"),
    "advice.unseen_compile": AdviceRule("unseen", "high"),
    "advice.unseen_forward": AdviceRule("unseen", "high"),
    "advice.unseen_function": AdviceRule("unseen", "high"),
    "advice.unseen_inplace": AdviceRule("unseen", "high"),
    "tutorial.api_profiler": AdviceRule("tutorial", "high"),
    "tutorial.comm_fusion": AdviceRule("tutorial", "high"),
    "tutorial.experimental_config": AdviceRule("tutorial", "high"),
    "tutorial.get_npu_device": AdviceRule("tutorial", "high"),
    "tutorial.jit_config_level": AdviceRule("tutorial", "medium"),
    "tutorial.jit_level": AdviceRule("tutorial", "high"),
    "tutorial.msprobe_framework": AdviceRule("tutorial", "high"),
    "tutorial.msprobe_level": AdviceRule("tutorial", "high"),
    "tutorial.msprobe_path": AdviceRule("tutorial", "high"),
    "tutorial.msprof_input": AdviceRule("tutorial", "high"),
    "tutorial.npu_profiler": AdviceRule("tutorial", "high"),
    "tutorial.tuple_to_array": AdviceRule("tutorial", "medium"),
}
