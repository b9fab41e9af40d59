"""Operators that torch takes apart differently on a device than on the CPU, or that change sizes in place."""

from __future__ import annotations

from ascend_studio.virtual_npu import attention_memory, cards, dtype_rules, generators, memory, storages
from ascend_studio.virtual_npu.fake import sizes_only

if False:
    from typing import Any, Callable, Dict, List

FLASH = 1  # of torch._fused_sdp_choice
OTHER_DEVICE = "Input and %s tensors are not at the same device, found input tensor at %s and %s tensor at %s"
_torch: Any = None


def install(torch: Any) -> None:
    global _torch
    _torch = torch


def own() -> Dict[Any, Callable[[Any, Any, Any], Any]]:
    aten = _torch.ops.aten
    return {
        aten.resize_.default: _resize,
        aten.set_.default: _set_nothing,
        aten.set_.source_Storage: _set_storage,
        aten.set_.source_Storage_storage_offset: _with_cpu_keys,
        aten.set_.source_Tensor: _with_cpu_keys,
        aten._to_copy.default: _to_copy,
        aten._pack_padded_sequence.default: _packed,
        aten.native_dropout.default: _dropout,
        aten.native_dropout_backward.default: _dropout_backward,
    }


def _with_cpu_keys(op: Any, args: Any, kwargs: Any) -> Any:
    return op.redispatch(storages.cpu_keys(), *args, **kwargs)


def _set_storage(op: Any, args: Any, kwargs: Any) -> Any:
    tensor, storage = args
    size = storage.nbytes() // tensor.element_size()
    whole = _torch.ops.aten.set_.source_Storage_storage_offset
    return whole.redispatch(storages.cpu_keys(), tensor, storage, 0, [size], [1])


def _set_nothing(op: Any, args: Any, kwargs: Any) -> Any:
    storages.adopt(args[0], _torch.empty(0, dtype=args[0].dtype, device="cpu"))
    return args[0]


def _resize(op: Any, args: Any, kwargs: Any) -> Any:
    tensor = args[0]
    written = storages.host(tensor)
    op(written, *args[1:], **kwargs)
    if written.size() != tensor.size() or written.stride() != tensor.stride():
        storages.adopt(tensor, written)
    return tensor


def _to_copy(op: Any, args: Any, kwargs: Any) -> Any:
    """A copy of a tensor of a card. torch would take pinned memory for one that does not block, and there is none."""
    tensor, device = args[0], kwargs.get("device")
    kwargs = dtype_rules.cast_options(tensor, kwargs)
    options = {name: value for name, value in kwargs.items() if name not in ("device", "non_blocking", "pin_memory")}
    source = tensor if tensor.is_cpu else storages.host(tensor)
    if device is not None and device.type != "npu":
        return op(source, device=device, **options)
    index = tensor.device.index if device is None else cards.index_of(device)
    return storages.on_card(op(source, **options), index, is_input=tensor.is_cpu)


def _packed(op: Any, args: Any, kwargs: Any) -> Any:
    """The sizes of the batches stay on the CPU, where torch wants them."""
    data, sizes = op(storages.host(args[0]), *args[1:], **kwargs)
    return storages.on_card(data, args[0].device.index), sizes


def _dropout(op: Any, args: Any, kwargs: Any) -> Any:
    """The composite of the CPU, which takes native_dropout for other devices alone: same numbers on both."""
    tensor, chance, is_training = args
    source = storages.host(tensor)
    index = tensor.device.index
    if is_training is False or chance == 0:
        mask = _torch.ones_like(source, dtype=_torch.bool)
        return storages.on_card(source.clone(), index), storages.on_card(mask, index)
    if chance == 1:
        mask = _torch.zeros_like(source, dtype=_torch.bool)
        return storages.on_card(source.mul(0), index), storages.on_card(mask, index)
    draw = _torch.ops.aten.bernoulli_.float
    noise = generators.drawn(index, draw, [_torch.empty_like(source), 1 - chance], {})
    mask = noise.to(_torch.bool)
    return storages.on_card(source * noise.div_(1 - chance), index), storages.on_card(mask, index)


def _dropout_backward(op: Any, args: Any, kwargs: Any) -> Any:
    gradient, mask, scale = args
    source = storages.host(gradient)
    noise = storages.host(mask).to(source.dtype)
    if scale not in (0, 1):
        noise = noise.div_(1 / scale)
    return storages.on_card(source * noise, gradient.device.index)


def attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: Any = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """scaled_dot_product_attention, by the kernel that the CPU chooses: torch has no choice for another device."""
    aten = _torch.ops.aten
    options = {"scale": scale, "enable_gqa": enable_gqa}
    if not _is_flash(query, key, value, attn_mask, dropout_p, is_causal, options):
        return aten._scaled_dot_product_attention_math(
            query, key, value, attn_mask, dropout_p, is_causal, None, **options
        )[0]
    sizes = attention_memory.kept(_torch, query, key, value, attn_mask, dropout_p, is_causal)
    if attn_mask is not None and attn_mask.dtype == _torch.bool:
        attn_mask = _torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill_(attn_mask.logical_not(), float("-inf"))
    result = aten._scaled_dot_product_flash_attention_for_cpu(
        query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
    )[0]
    attention_memory.keep(result, sizes)
    return result


def _is_flash(query: Any, key: Any, value: Any, mask: Any, chance: float, is_causal: bool, options: Any) -> bool:
    parts = (query, key, value, mask)
    if any(part is not None and (part.is_cpu or part.is_meta) for part in parts):
        return False
    if sizes_only.is_fake(query):
        return bool(attention_memory.is_fused(_torch, query, key, value, mask))
    if mask is not None and mask.requires_grad:
        return False
    if hasattr(query, "_local_tensor"):  # DTensor knows how to spread the formula, but not the CPU's kernel
        return False
    on_cpu = [None if part is None else storages.host(part) for part in parts]
    choice = _torch._fused_sdp_choice(*on_cpu, dropout_p=chance, is_causal=is_causal, **options)
    return bool(choice == FLASH)


def as_one(op: Any) -> Callable[..., Any]:
    """Return the CPU's whole operator, with its own backward: of LSTM, GRU and their cells the CPU and a card have one
    kernel, and torch would take them apart here.
    """

    is_single = len(op._schema.returns) == 1
    names = [argument.name for argument in op._schema.arguments]

    class Whole(_torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx: Any, pattern: Any, *tensors: Any) -> Any:
            ctx.index = next((tensor.device.index for tensor in tensors if not tensor.is_cpu), cards.current())
            leaves = [
                (tensor if tensor.is_cpu else storages.host(tensor)).detach().requires_grad_(tensor.requires_grad)
                for tensor in tensors
            ]
            byte_sizes: Dict[int, int] = {}
            note = _noting(byte_sizes)
            with _torch.enable_grad(), _torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
                outputs = op(*_filled(pattern, iter(leaves)))
            ctx.outputs = (outputs,) if is_single else outputs
            ctx.leaves = leaves
            ctx.blocks = _blocks_of(byte_sizes, (*leaves, *ctx.outputs), ctx.index)
            ctx.set_materialize_grads(False)
            return tuple(storages.on_card(output.detach(), ctx.index) for output in ctx.outputs)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            pairs = [
                (output, storages.host(gradient))
                for output, gradient in zip(ctx.outputs, gradients)
                if gradient is not None and output.requires_grad
            ]
            wanted = [leaf for leaf in ctx.leaves if leaf.requires_grad]
            grads = iter(
                _torch.autograd.grad(
                    [output for output, _ in pairs], wanted, [gradient for _, gradient in pairs],
                    allow_unused=True, retain_graph=True,
                )
            )  # fmt: skip
            ctx.blocks.clear()
            of_leaves = [next(grads) if leaf.requires_grad else None for leaf in ctx.leaves]
            return (None, *[None if grad is None else storages.on_card(grad, ctx.index) for grad in of_leaves])

    def whole(*args: Any) -> Any:
        if sizes_only.is_fake(args[0]):
            return op.decompose(*args)
        _refuse_two_devices(names, args)
        tensors: List[Any] = []
        pattern = _pattern(args, tensors)
        results = Whole.apply(pattern, *_of_one_dtype(tensors))
        return results[0] if is_single else results

    return whole


def _refuse_two_devices(names: List[str], args: Any) -> None:
    """Raise RuntimeError as check_attributes of RNN.cpp of torch does where the state or the parameters are on another
    device than the input. Lengths of a packed sequence are of the CPU.
    """
    device = args[0].device
    for name, value in zip(names, args):
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(tensor, _torch.Tensor) and tensor.is_floating_point() and tensor.device != device:
                kind = "hidden" if name == "hx" else "parameter"
                raise RuntimeError(OTHER_DEVICE % (kind, device, kind, tensor.device))


def _noting(byte_sizes: Dict[int, int]) -> Callable[[Any], Any]:
    """Return a hook that notes the bytes of each storage that is kept for the backward pass, by its address."""

    def note(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        byte_sizes[storage.data_ptr()] = storage.nbytes()
        return tensor

    return note


def _blocks_of(byte_sizes: Dict[int, int], counted: Any, index: int) -> List[Any]:
    """Return a block of the card for each of these storages, but for those of tensors that are counted already."""
    others = {tensor.untyped_storage().data_ptr() for tensor in counted}
    return [memory.Block(index, size) for address, size in byte_sizes.items() if address not in others]


def _of_one_dtype(tensors: Any) -> Any:
    if not _torch.is_autocast_enabled("npu"):
        return tensors
    dtype = _torch.get_autocast_dtype("npu")
    return [tensor.to(dtype) if tensor.is_floating_point() else tensor for tensor in tensors]


class _Hole:
    """The place of a tensor among arguments."""


def _pattern(value: Any, tensors: Any) -> Any:
    if isinstance(value, _torch.Tensor):
        tensors.append(value)
        return _Hole
    if isinstance(value, (list, tuple)):
        return [_pattern(item, tensors) for item in value]
    return value


def _filled(pattern: Any, tensors: Any) -> Any:
    if pattern is _Hole:
        return next(tensors)
    if isinstance(pattern, list):
        return [_filled(item, tensors) for item in pattern]
    return pattern
