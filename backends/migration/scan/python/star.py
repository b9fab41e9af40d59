"""What `from torch.… import *` brings: the names that touch the GPU stack, of the modules that have such."""

from __future__ import annotations

_PUBLIC = {
    "torch": "autocast compile",
    "torch.amp": "autocast GradScaler custom_fwd custom_bwd",
    "torch.cuda": """amp nvtx nccl comm is_available device_count current_device set_device device Stream Event stream
        synchronize manual_seed manual_seed_all empty_cache memory_allocated max_memory_allocated memory_reserved
        max_memory_reserved get_device_name get_device_properties get_device_capability current_stream default_stream
        is_bf16_supported is_initialized init ipc_collect mem_get_info memory_summary reset_peak_memory_stats
        CUDAGraph graph make_graphed_callables get_rng_state set_rng_state get_rng_state_all set_rng_state_all
        FloatTensor DoubleTensor HalfTensor LongTensor IntTensor ByteTensor BoolTensor""",
    "torch.cuda.amp": "autocast GradScaler custom_fwd custom_bwd",
    "torch.distributed": "is_nccl_available ProcessGroupNCCL",
    "torch.jit": "script trace load save freeze script_method ScriptModule",
    "torch.nn": "DataParallel",
    "torch.nn.parallel": "DataParallel data_parallel",
    "torch.utils.cpp_extension": "CUDAExtension BuildExtension CppExtension load load_inline CUDA_HOME",
}
_NAMES = {module: frozenset(names.split()) for module, names in _PUBLIC.items()}


def public_names(module: str) -> frozenset[str]:
    return _NAMES.get(module, frozenset())
