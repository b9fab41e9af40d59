"""Names of devices and backends in strings: what becomes of them depends on where they go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.judgement import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.found import Place
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.facts.transfer import Transfer

# What everybody calls by another name than the one that transfer_to_npu wraps.
WRAPPED_AS = {
    "torch.autocast": "torch.amp.autocast_mode.autocast.__init__",
    "torch.amp.autocast": "torch.amp.autocast_mode.autocast.__init__",
    "torch.nn.parallel.DistributedDataParallel": "torch.nn.parallel.DistributedDataParallel.__init__",
    "torch.distributed.fsdp.FullyShardedDataParallel": (
        "torch.distributed.fsdp.fully_sharded_data_parallel.FullyShardedDataParallel.__init__"
    ),
    "torch.distributed.init_device_mesh": "torch.distributed.device_mesh.DeviceMesh.__init__",
    "torch.distributed.DeviceMesh": "torch.distributed.device_mesh.DeviceMesh.__init__",
    "torch.distributed.pipelining.PipelineStage": "torch.distributed.pipelining.stage.PipelineStage.__init__",
    "torch.UntypedStorage": "torch.UntypedStorage.__new__",
    "torch.serialization.load": "torch.load",
    "torch.hub.load_state_dict_from_url": "torch.load",
}
# It replaces these as a whole, by classes and functions that take both names (torch_npu 2.13.0).
REPLACED = frozenset({"torch.Generator", "torch.Event", "torch.is_autocast_enabled", "torch.set_autocast_enabled"})
GROUPS = frozenset(
    f"torch.distributed.{module}{name}"
    for module in ("", "distributed_c10d.")
    for name in ("init_process_group", "new_group", "new_subgroups", "new_subgroups_by_enumeration")
)
FLASH = frozenset({"flash_attention_2", "flash_attention_3", "fa2"})
FROM_SCRIPTS = frozenset({"flag", "variable", "override", "command", "container", "env", "index"})


def device_str(place: Place, facts: Facts) -> Verdict:
    return _string(place, "device_str", _device_argument(place, facts.transfer))


def nccl_str(place: Place, facts: Facts) -> Verdict:
    _, function, which = _argument(place)
    if function in GROUPS:
        is_backend = which.isdecimal() or which == "backend"
        return _string(place, "nccl_str", "argument" if is_backend else "held")
    return _string(place, "nccl_str", "unwrapped" if function.startswith("torch.") else "held")


def _string(place: Place, category: str, given: str) -> Verdict:
    """`given`: what happens to it as an argument: argument (rewritten), unwrapped or held."""
    head, _, rest = place.context.partition(":")
    if place.args.get("npu"):  # its author thought of an NPU there
        return Verdict(f"{category}.held", "flows")
    if is_from_script(place):
        return Verdict(f"{category}.launch", "contract")
    if head == "compare":
        return _compared(place, category)
    if head == "choices" or (head == "default" and not place.args.get("parameter")):
        return Verdict(f"{category}.option", "contract")
    if head == "key":
        return Verdict(f"{category}.key", "compared", "medium")
    if head == "argument" and rest and given != "held":
        return Verdict(f"{category}.{given}", "wrapped" if given == "argument" else "not_listed")
    return Verdict(f"{category}.held", "flows", "medium")


def is_from_script(place: Place) -> bool:
    """Whether it stands in a script, a configuration or a command; code inside of a script counts as code."""
    head, _, rest = place.context.partition(":")
    is_bare = not rest and head in ("argument", "compare") and not place.args.get("operator")
    return head in FROM_SCRIPTS or is_bare or (head == "key" and bool(rest))


def _compared(place: Place, category: str) -> Verdict:
    """What a tensor or a group says of itself surely turns; a string or a torch.device may still say "cuda"."""
    if category == "device_str" and place.args.get("leads_to"):
        return Verdict(f"{category}.guard", "no_way", "medium")
    other = str(place.args.get("other", ""))
    is_sure = ".device.type" in other or "get_backend" in other
    if is_sure:
        return Verdict(f"{category}.compared", "compared")
    return Verdict(f"{category}.compared", "compared_text", "medium")


def _argument(place: Place) -> tuple[str, str, str]:
    """Head, function and which argument, of "argument:torch.load:map_location"."""
    head, _, rest = place.context.partition(":")
    function, _, which = rest.rpartition(":")
    return head, function, which


def _device_argument(place: Place, transfer: Transfer) -> str:
    head, function, which = _argument(place)
    if head != "argument" or function == "torch.device" or which in ("args", "kwargs"):
        return "held"
    is_device = which.isdecimal() or which in transfer.arguments or which == "device_ids"
    if is_device and _is_wrapped(function, transfer):
        return "argument"
    if function.startswith("torch.nn.") and which == "device":  # goes on to a factory, which is wrapped
        return "argument"
    return "unwrapped" if function.startswith("torch.") else "held"


def _is_wrapped(function: str, transfer: Transfer) -> bool:
    if function.startswith("."):
        return any(f"{base}{function}" in transfer.device for base in ("torch.Tensor", "torch.nn.Module"))
    names = (function, f"{function}.__init__", WRAPPED_AS.get(function, ""))
    if any(name in transfer.device for name in names) or function in REPLACED or function in GROUPS:
        return True
    return function.startswith("torch.cuda.amp.") and transfer.overlaid(function)


def device_int(place: Place, facts: Facts) -> Verdict:
    """Numbers become NPUs in .to() and .to_empty(), and in every wrapped keyword."""
    _, function, which = _argument(place)
    is_moved = function.rpartition(".")[2] in ("to", "to_empty") or not place.context
    if is_moved or (not which.isdecimal() and _is_wrapped(function, facts.transfer)):
        return Verdict("device_int.argument", "wrapped")
    return Verdict("device_int.other", "source_read", "medium")


def attn_impl(place: Place, facts: Facts) -> Verdict:
    if place.context.partition(":")[0] in ("compare", "choices") or place.context == "key":
        return Verdict("attn_impl.asked", "flows", "medium")
    if place.name.lower() in FLASH:
        return Verdict("attn_impl.flash", "documented", "medium")
    is_flash = "flash" in f"{place.name} {place.text} {place.context}".lower()
    return Verdict("attn_impl.kernel", "no_cuda") if is_flash else Verdict("attn_impl.supported", "documented")


JUDGES: dict[str, Callable[[Place, Facts], Verdict]] = {
    "device_str": device_str,
    "nccl_str": nccl_str,
    "device_int": device_int,
    "attn_impl": attn_impl,
}
