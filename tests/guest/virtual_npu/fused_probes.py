"""Fused operators and optimizers of torch_npu, run in a child on the virtual NPU; each function returns what a test
looks at."""

from __future__ import annotations

import json
import sys
from typing import Any

import torch
import torch_npu  # type: ignore[import-not-found]
from ascend_studio.rehearsal import record  # type: ignore[import-not-found]
from torch import nn
from torch.nn import functional

CARD = "npu:0"


def close(one: torch.Tensor, other: torch.Tensor) -> bool:
    return one.shape == other.shape and torch.allclose(one.float().cpu(), other.float().cpu(), rtol=1e-5, atol=1e-5)


def leaf(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, device=CARD, requires_grad=True)


def rms_norm() -> list[Any]:
    tensor, gamma = leaf(2, 3, 8), leaf(8)
    result, reciprocal = torch_npu.npu_rms_norm(tensor, gamma, epsilon=1e-5)
    expected = functional.rms_norm(tensor, (8,), gamma, 1e-5)
    ours = torch.autograd.grad(result.sum(), (tensor, gamma), retain_graph=True)
    theirs = torch.autograd.grad(expected.sum(), (tensor, gamma))
    half = torch_npu.npu_rms_norm(tensor.half(), gamma.half())[0]
    equal = [close(result, expected), *(close(one, other) for one, other in zip(ours, theirs, strict=True))]
    return [equal, list(reciprocal.shape), str(reciprocal.dtype), str(half.dtype), str(result.device)]


def activations() -> list[bool]:
    tensor = leaf(4, 6)
    left, right = tensor.chunk(2, -1)
    gate = functional.gelu(right, approximate="tanh")
    return [
        close(torch_npu.npu_swiglu(tensor), left * torch.sigmoid(left) * right),
        close(torch_npu.npu_swiglu(tensor, dim=0), functional.silu(tensor[:2]) * tensor[2:]),
        close(torch_npu.npu_geglu(tensor)[0], left * gate),
        close(torch_npu.npu_geglu(tensor)[1], gate),
        close(torch_npu.fast_gelu(tensor), tensor / (1 + torch.exp(-1.702 * tensor))),
        close(torch_npu.npu_mish(tensor), tensor * torch.tanh(functional.softplus(tensor))),
    ]


def rotary_positions() -> list[bool]:
    tensor, cosine, sine = leaf(2, 3, 5, 8), leaf(1, 1, 5, 8), leaf(1, 1, 5, 8)
    half = torch.cat((-tensor[..., 4:], tensor[..., :4]), -1)
    pairs = torch.empty_like(tensor)
    pairs[..., ::2], pairs[..., 1::2] = -tensor[..., 1::2], tensor[..., ::2]
    matrix = torch.zeros(8, 8, device=CARD)
    for place in range(0, 8, 2):
        matrix[place + 1, place], matrix[place, place + 1] = -1, 1
    return [
        close(torch_npu.npu_rotary_mul(tensor, cosine, sine), cosine * tensor + sine * half),
        close(torch_npu.npu_rotary_mul(tensor, cosine, sine, "interleave"), cosine * tensor + sine * pairs),
        close(torch_npu.npu_rotary_mul(tensor, cosine, sine, "interleave", matrix), cosine * tensor + sine * pairs),
    ]


def attention_of_each_layout() -> list[bool]:
    query, key, value = leaf(2, 4, 5, 8), leaf(2, 2, 7, 8), leaf(2, 2, 7, 8)
    expected = functional.scaled_dot_product_attention(query, key, value, scale=0.3, enable_gqa=True)
    to_layout = {
        "BNSD": lambda part: part,
        "BSND": lambda part: part.transpose(1, 2),
        "BSH": lambda part: part.transpose(1, 2).flatten(2),
        "SBH": lambda part: part.transpose(1, 2).flatten(2).transpose(0, 1),
    }
    found = []
    for layout, turned in to_layout.items():
        parts = [turned(part) for part in (query, key, value)]
        result = torch_npu.npu_fusion_attention(*parts, 4, layout, scale=0.3)
        found.append(close(result[0], turned(expected)) and list(result[1].shape) == [2, 4, 5, 8])
    return found


def attention_with_masks() -> list[bool]:
    query, key, value = leaf(1, 2, 5, 8), leaf(1, 2, 7, 8), leaf(1, 2, 7, 8)
    triangle = torch.ones(2048, 2048, dtype=torch.bool, device=CARD).triu(1)
    upper = torch.ones(5, 7, dtype=torch.bool, device=CARD).triu(1)
    lower = torch.ones(5, 7, dtype=torch.bool, device=CARD).triu(3)
    band = lower | torch.ones(5, 7, dtype=torch.bool, device=CARD).tril(0)

    def attend(mask: torch.Tensor, **options: Any) -> torch.Tensor:
        result: torch.Tensor = torch_npu.npu_fusion_attention(
            query, key, value, 2, "BNSD", atten_mask=mask, scale=0.3, **options
        )[0]
        return result

    def expected(hidden: torch.Tensor) -> torch.Tensor:
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=~hidden, scale=0.3)

    return [
        close(attend(upper), expected(upper)),
        close(attend(upper.to(torch.uint8), sparse_mode=1), expected(upper)),
        close(attend(triangle, sparse_mode=2), expected(upper)),
        close(attend(triangle, sparse_mode=3), expected(lower)),
        close(attend(triangle, sparse_mode=4, pre_tockens=1, next_tockens=0), expected(band)),
    ]


def attention_of_sequences() -> list[bool]:
    query, key, value = leaf(5, 2, 8), leaf(6, 2, 8), leaf(6, 2, 8)
    result = torch_npu.npu_fusion_attention(
        query, key, value, 2, "TND", actual_seq_qlen=[2, 5], actual_seq_kvlen=[2, 6], scale=0.3
    )[0]
    found = []
    for rows, columns in ((slice(0, 2), slice(0, 2)), (slice(2, 5), slice(2, 6))):
        parts = [part.transpose(0, 1) for part in (query[rows], key[columns], value[columns])]
        expected = functional.scaled_dot_product_attention(*parts, scale=0.3).transpose(0, 1)
        found.append(close(result[rows], expected))
    return found


def attention_dropout() -> list[Any]:
    query = torch.ones(1, 1, 64, 8, device=CARD)
    result = torch_npu.npu_fusion_attention(query, query, query, 1, "BNSD", keep_prob=0.5)[0]
    return [bool((result != 1).any()), 0.8 < result.mean().item() < 1.2]


def refusals() -> list[list[str]]:
    tensor = torch.ones(1, 2, 4, 8, device=CARD)
    wrong = (
        lambda: torch_npu.npu_rms_norm(tensor.int(), torch.ones(8, device=CARD)),
        lambda: torch_npu.npu_fusion_attention(tensor, tensor.half(), tensor, 2, "BNSD"),
        lambda: torch_npu.npu_fusion_attention(tensor, tensor, tensor, 2, "NBSD"),
        lambda: torch_npu.npu_fusion_attention(
            tensor, tensor, tensor, 2, "BNSD", atten_mask=torch.ones(4, 4, dtype=torch.bool, device=CARD), sparse_mode=2
        ),
        lambda: torch_npu.npu_rms_norm(tensor, torch.ones(8)),
        lambda: torch_npu.npu_lstm(tensor),
        lambda: torch_npu.optim.NpuFusedLamb([tensor]),
    )
    found = []
    for call in wrong:
        try:
            call()
            found.append(["nothing", ""])
        except Exception as error:
            found.append([type(error).__name__, str(error)])
    return found


OPTIMIZERS = (
    ("NpuFusedSGD", torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}),
    ("NpuFusedAdam", torch.optim.Adam, {"lr": 0.01, "weight_decay": 0.1, "amsgrad": True}),
    ("NpuFusedAdamW", torch.optim.AdamW, {"lr": 0.01}),
    ("NpuFusedRMSprop", torch.optim.RMSprop, {"centered": True}),
    ("NpuFusedAdadelta", torch.optim.Adadelta, {"lr": 0.5}),
)


def trained(make: Any, options: dict[str, Any]) -> torch.Tensor:
    torch.manual_seed(0)
    net = nn.Linear(4, 2).to(CARD)
    optimizer = make(net.parameters(), **options)
    for _ in range(4):
        optimizer.zero_grad()
        net(torch.ones(3, 4, device=CARD)).square().sum().backward()
        optimizer.step()
    return net.weight.detach()


def optimizers() -> list[bool]:
    from torch_npu import optim  # type: ignore[import-not-found]

    return [close(trained(getattr(optim, name), options), trained(base, options)) for name, base, options in OPTIMIZERS]


def optimizer_refusals() -> list[Any]:
    from torch_npu.optim import NpuFusedSGD

    parameter = torch.ones(2, device=CARD, dtype=torch.bfloat16, requires_grad=True)
    parameter.grad = torch.ones_like(parameter)
    optimizer = NpuFusedSGD([parameter], lr=0.1)
    found = []
    for call in (
        optimizer.step,
        lambda: optimizer.zero_grad(set_to_none=True),
        lambda: NpuFusedSGD([parameter], 1, a=2),
    ):
        try:
            call()
        except Exception as error:
            found.append(type(error).__name__)
    return found


def replaced_gradients() -> list[Any]:
    from torch_npu.optim import NpuFusedSGD

    net = nn.Linear(2, 1).to(CARD)
    optimizer = NpuFusedSGD(net.parameters(), lr=0.1)
    before = len(record.blocked)
    for _ in range(3):
        net.zero_grad()
        net(torch.ones(1, 2, device=CARD)).sum().backward()
        optimizer.step()
    return [(entry["name"], entry["kind"], entry["message"][:20]) for entry in record.blocked[before:]]


if __name__ == "__main__":
    torch.manual_seed(7)
    print(json.dumps({name: globals()[name]() for name in sys.argv[1:]}))
