"""What a card keeps for the backward pass of scaled_dot_product_attention, beside what the kernel of the host keeps.

A card takes its fused kernel by the conditions of ScaledDotProductAttentionKernelNpuOpApi.cpp of op-plugin (Ascend at
517f2e7d); that keeps the maximum and the sum of each row, eight times in float32, and its mask. Elsewhere it takes the
unfused form, which keeps all scores and the scaled query and key.
"""

from __future__ import annotations

from ascend_studio.virtual_npu import memory

if False:
    from typing import Any, List

MAX_HEADS, MAX_WIDTH = 2048, 512
CAUSAL_MASK = 2048 * 2048  # bytes
OF_A_ROW = 8 * 4  # bytes of each of the two numbers of a row


def is_fused(torch: Any, query: Any, key: Any, value: Any, mask: Any) -> bool:
    """Return whether a card would take its fused kernel."""
    if query.dtype not in (torch.float16, torch.bfloat16, torch.float32):
        return False
    if query.dtype == torch.float32 and any(part.size(-1) % 4 for part in (query, key, value)):
        return False
    if mask is not None and mask.dtype != torch.bool:
        return False
    if not query.dim() == key.dim() == value.dim() == 4:
        return False
    heads, key_heads = query.size(1), key.size(1)
    return bool(heads <= MAX_HEADS and query.size(3) <= MAX_WIDTH and key_heads and heads % key_heads == 0)


def kept(torch: Any, query: Any, key: Any, value: Any, mask: Any, chance: float, is_causal: bool) -> List[int]:
    """Return the bytes of each tensor that a card keeps for the backward pass, without query, key, value and result."""
    rows = query.numel() // max(1, query.size(-1))
    if is_fused(torch, query, key, value, mask):
        of_mask = [CAUSAL_MASK] if is_causal else [] if mask is None else [mask.numel()]
        return [rows * OF_A_ROW, rows * OF_A_ROW, *of_mask]
    scores = rows * key.size(-2)
    dropped = [scores, scores * query.element_size()] if chance else []
    return [*(size * query.element_size() for size in (scores, query.numel(), key.numel())), *dropped]


def keep(result: Any, sizes: List[int]) -> None:
    """Count bytes until the backward pass of `result` is over, or its graph is gone."""
    if result.grad_fn is None:
        return
    blocks = [memory.Block(result.device.index, size) for size in sizes]
    result.grad_fn.register_hook(lambda *_: blocks.clear())
