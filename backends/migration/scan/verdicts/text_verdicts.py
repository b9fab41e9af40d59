"""Verdicts on names of devices and backends in strings, which depend on what the string is used for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.migration.scan.verdicts.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from backends.migration.finding import Occurrence
    from backends.migration.scan.facts.facts import Facts
    from backends.migration.scan.facts.transfer import TransferCoverage

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


def judge_device_str(occurrence: Occurrence, facts: Facts) -> Verdict:
    return _judge_string(occurrence, "device_str", _device_destination(occurrence, facts.transfer))


def judge_nccl_str(occurrence: Occurrence, facts: Facts) -> Verdict:
    _, function, which = _split_argument(occurrence)
    if function in GROUPS:
        is_backend = which.isdecimal() or which == "backend"
        return _judge_string(occurrence, "nccl_str", "argument" if is_backend else "held")
    return _judge_string(occurrence, "nccl_str", "unwrapped" if function.startswith("torch.") else "held")


def _judge_string(occurrence: Occurrence, category: str, destination: str) -> Verdict:
    """`given`: what happens to it as an argument: argument (rewritten), unwrapped or held."""
    head, _, rest = occurrence.context.partition(":")
    if occurrence.args.get("npu"):  # its author thought of an NPU there
        return Verdict(f"{category}.held", "flows")
    if is_from_script(occurrence):
        return Verdict(f"{category}.launch", "contract")
    if head == "compare":
        return _judge_comparison(occurrence, category)
    if head == "choices" or (head == "default" and not occurrence.args.get("parameter")):
        return Verdict(f"{category}.option", "contract")
    if head == "key":
        return Verdict(f"{category}.key", "compared", "medium")
    if head == "argument" and rest and destination != "held":
        return Verdict(f"{category}.{destination}", "wrapped" if destination == "argument" else "not_listed")
    return Verdict(f"{category}.held", "flows", "medium")


def is_from_script(occurrence: Occurrence) -> bool:
    """Whether it is from a script, a configuration or a command; code inside a script counts as code."""
    head, _, rest = occurrence.context.partition(":")
    is_bare = not rest and head in ("argument", "compare") and not occurrence.args.get("operator")
    return head in FROM_SCRIPTS or is_bare or (head == "key" and bool(rest))


def _judge_comparison(occurrence: Occurrence, category: str) -> Verdict:
    """Judge a comparison. The type of a tensor's device surely changes; a string or torch.device may stay "cuda"."""
    if category == "device_str" and occurrence.args.get("leads_to"):
        return Verdict(f"{category}.guard", "no_way", "medium")
    other = str(occurrence.args.get("other", ""))
    is_sure = ".device.type" in other or "get_backend" in other
    if is_sure:
        return Verdict(f"{category}.compared", "compared")
    return Verdict(f"{category}.compared", "compared_text", "medium")


def _split_argument(occurrence: Occurrence) -> tuple[str, str, str]:
    """Head, function and which argument, of "argument:torch.load:map_location"."""
    head, _, rest = occurrence.context.partition(":")
    function, _, which = rest.rpartition(":")
    return head, function, which


def _device_destination(occurrence: Occurrence, transfer: TransferCoverage) -> str:
    head, function, which = _split_argument(occurrence)
    if head != "argument" or function == "torch.device" or which in ("args", "kwargs"):
        return "held"
    is_device = which.isdecimal() or which in transfer.arguments or which == "device_ids"
    if is_device and _is_wrapped(function, transfer):
        return "argument"
    if function.startswith("torch.nn.") and which == "device":  # goes on to a factory, which is wrapped
        return "argument"
    return "unwrapped" if function.startswith("torch.") else "held"


def _is_wrapped(function: str, transfer: TransferCoverage) -> bool:
    if function.startswith("."):
        return any(f"{base}{function}" in transfer.device for base in ("torch.Tensor", "torch.nn.Module"))
    names = (function, f"{function}.__init__", WRAPPED_AS.get(function, ""))
    if any(name in transfer.device for name in names) or function in REPLACED or function in GROUPS:
        return True
    return function.startswith("torch.cuda.amp.") and transfer.is_overlaid(function)


def judge_device_int(occurrence: Occurrence, facts: Facts) -> Verdict:
    """Numbers become NPUs in .to() and .to_empty(), and in every wrapped keyword."""
    _, function, which = _split_argument(occurrence)
    is_moved = function.rpartition(".")[2] in ("to", "to_empty") or not occurrence.context
    if is_moved or (not which.isdecimal() and _is_wrapped(function, facts.transfer)):
        return Verdict("device_int.argument", "wrapped")
    return Verdict("device_int.other", "source_read", "medium")


def judge_attn_impl(occurrence: Occurrence, facts: Facts) -> Verdict:
    if occurrence.context.partition(":")[0] in ("compare", "choices") or occurrence.context == "key":
        return Verdict("attn_impl.asked", "flows", "medium")
    if occurrence.name.lower() in FLASH:
        return Verdict("attn_impl.flash", "documented", "medium")
    is_flash = "flash" in f"{occurrence.name} {occurrence.text} {occurrence.context}".lower()
    return Verdict("attn_impl.kernel", "no_cuda") if is_flash else Verdict("attn_impl.supported", "documented")


TEXT_JUDGES: dict[str, Callable[[Occurrence, Facts], Verdict]] = {
    "device_str": judge_device_str,
    "nccl_str": judge_nccl_str,
    "device_int": judge_device_int,
    "attn_impl": judge_attn_impl,
}
