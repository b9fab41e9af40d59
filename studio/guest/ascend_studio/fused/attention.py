"""npu_fusion_attention: softmax(mask(scale * (pse + query @ key.T))) @ value, with dropout on the softmax.

Shapes inside: (batch, heads, sequence, head dimension). The softmax is computed in float32.
"""

from __future__ import annotations

if False:
    from typing import Any, List, Tuple

NAMES = ("npu_fusion_attention",)
LAYOUTS = {"BSH": (0, 1), "SBH": (1, 0), "BNSD": (0, 2), "BSND": (0, 1)}
"""Where batch and sequence stand in a query."""
COMPRESSED = (2, 3, 4)  # sparse modes whose mask is one triangle of 2048 x 2048
SIDE = 2048
COPIES = 8  # of the largest value and of the sum of each row, in the last dimension
FULL = 2147483647
_torch: Any = None


def use(torch: Any) -> None:
    global _torch
    _torch = torch


def npu_fusion_attention(
    query: Any, key: Any, value: Any, head_num: int, input_layout: str, pse: Any = None, padding_mask: Any = None,
    atten_mask: Any = None, scale: float = 1.0, keep_prob: float = 1.0, pre_tockens: int = FULL,
    next_tockens: int = FULL, inner_precise: int = 0, prefix: Any = None, actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None, sparse_mode: int = 0, gen_mask_parallel: bool = True, sync: bool = False,
    softmax_layout: str = "",
) -> Any:  # fmt: skip
    """Return the attention in the layout of the query, the largest value and the sum of each row of the softmax
    (float32, eight times), an empty tensor, and seed, offset and length of the mask of dropout, which are 0 here.
    Raises RuntimeError for what an NPU refuses, and NotImplementedError for what has no formula here.
    """
    _check(query, key, value, head_num, input_layout, sparse_mode, atten_mask)
    options = (pse, atten_mask, scale, keep_prob, pre_tockens, next_tockens, inner_precise, sparse_mode)
    if input_layout == "TND":
        result = _of_sequences(query, key, value, actual_seq_qlen, actual_seq_kvlen, options)
    else:
        heads = [_split(part, head_num, query, input_layout) for part in (query, key, value)]
        attention, largest, total = _attend(heads[0], heads[1], heads[2], *options)
        result = (_joined(attention, input_layout), largest, total)
    return (*result, query.new_empty(0), 0, 0, 0)


def _check(query: Any, key: Any, value: Any, head_num: int, layout: str, mode: int, mask: Any) -> None:
    if layout != "TND" and layout not in LAYOUTS:
        raise RuntimeError("The input_layout should be BSH/SBH/BNSD/BSND/TND(case-insensitive), but got %s" % layout)
    if not query.dtype == key.dtype == value.dtype:
        raise RuntimeError("npu_fusion_attention takes query, key and value of one dtype")
    if query.dtype not in (_torch.float16, _torch.bfloat16, _torch.float32):
        raise RuntimeError("npu_fusion_attention takes float16, bfloat16 or float32, not %s" % query.dtype)
    if mask is not None and mask.dtype not in (_torch.bool, _torch.uint8):
        raise RuntimeError("npu_fusion_attention takes atten_mask as bool or uint8, not %s" % mask.dtype)
    if mask is None:
        return
    if mode in COMPRESSED and tuple(mask.shape[-2:]) != (SIDE, SIDE):
        raise RuntimeError("sparse_mode %d takes the triangle of 2048 x 2048 as atten_mask" % mode)
    if mode not in (0, 1, *COMPRESSED):
        raise NotImplementedError("sparse_mode %d of npu_fusion_attention has no formula in a rehearsal" % mode)


def _split(tensor: Any, head_num: int, query: Any, layout: str) -> Any:
    """Return (batch, heads, sequence, dimension); key and value may have fewer heads than the query."""
    if layout == "BNSD":
        return tensor
    if layout == "BSND":
        return tensor.transpose(1, 2)
    batch, sequence = (tensor.shape[place] for place in LAYOUTS[layout])
    dimension = query.shape[2] // head_num
    by_batch = tensor if layout == "BSH" else tensor.transpose(0, 1)
    return by_batch.reshape(batch, sequence, -1, dimension).transpose(1, 2)


def _joined(tensor: Any, layout: str) -> Any:
    if layout == "BNSD":
        return tensor
    by_sequence = tensor.transpose(1, 2)
    if layout == "BSND":
        return by_sequence
    flat = by_sequence.flatten(2)
    return flat if layout == "BSH" else flat.transpose(0, 1)


def _attend(
    query: Any, key: Any, value: Any, pse: Any, mask: Any, scale: float, keep_prob: float, before: int, behind: int,
    precise: int, mode: int,
) -> Tuple[Any, Any, Any]:  # fmt: skip
    groups = query.shape[1] // key.shape[1]
    if groups > 1:
        key, value = key.repeat_interleave(groups, 1), value.repeat_interleave(groups, 1)
    scores = query.float() @ key.float().transpose(-1, -2)
    if pse is not None:
        scores = scores + pse.float()
    scores = scores * scale
    if mask is not None:
        hidden = _hidden(mask, scores, before, behind, mode)
        scores = scores.masked_fill(hidden, _torch.finfo(_torch.float32).min)
    largest = scores.amax(-1, keepdim=True)
    powers = _torch.exp(scores - largest)
    total = powers.sum(-1, keepdim=True)
    weights = powers / total
    if mask is not None and precise == 2:
        weights = weights.masked_fill(hidden.all(-1, keepdim=True), 0.0)
    weights = _torch.nn.functional.dropout(weights.to(query.dtype), 1 - keep_prob)
    copies = (*largest.shape[:-1], COPIES)
    return weights @ value, largest.detach().expand(copies), total.detach().expand(copies)


def _hidden(mask: Any, scores: Any, before: int, behind: int, mode: int) -> Any:
    """Return True where a value takes no part."""
    if mode not in COMPRESSED:
        return mask.bool()
    rows, columns = scores.shape[-2:]
    last = columns - rows if mode != 2 else 0  # 2 begins in the upper left corner, 3 and 4 end in the lower right one
    distance = _torch.arange(columns, device=scores.device) - _torch.arange(rows, device=scores.device)[:, None] - last
    return (distance > 0) if mode != 4 else (distance > behind) | (distance < -before)


def _of_sequences(query: Any, key: Any, value: Any, ends: Any, key_ends: Any, options: Any) -> Tuple[Any, Any, Any]:
    """Sequences of different lengths behind each other: (tokens, heads, dimension), with the ends of each."""
    if ends is None or key_ends is None:
        raise RuntimeError("TND takes actual_seq_qlen and actual_seq_kvlen")
    results: List[Any] = []
    first = key_first = 0
    for end, key_end in zip(ends, key_ends):
        parts = (query[first:end], key[key_first:key_end], value[key_first:key_end])
        heads = [part.transpose(0, 1).unsqueeze(0) for part in parts]
        results.append(_attend(heads[0], heads[1], heads[2], *_cut(options, end - first, key_end - key_first)))
        first, key_first = end, key_end
    by_token = [[part.squeeze(0).transpose(0, 1) for part in result] for result in results]
    return tuple(_torch.cat(parts) for parts in zip(*by_token))


def _cut(options: Any, rows: int, columns: int) -> Any:
    """Return the options with the part of a whole mask that a sequence has."""
    pse, mask, *rest = options
    is_whole = mask is not None and rest[-1] not in COMPRESSED
    return (pse, mask[..., :rows, :columns] if is_whole else mask, *rest)
