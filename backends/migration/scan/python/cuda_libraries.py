"""Libraries made for CUDA, by import name; those that need no change on an NPU are not listed."""

from __future__ import annotations

_MODULES = """
apex amp_C apex_C flash_attn flash_attn_interface flash_attn_2_cuda flash_attn_3 flashinfer xformers bitsandbytes
detectron2 mmcv triton megatron transformer_engine transformer_engine_torch vllm sglang sgl_kernel
cupy cupyx pycuda cudf cuml cugraph cuspatial dask_cudf dask_cuda rmm cuvs pylibraft
tensorrt tensorrt_llm torch_tensorrt torch2trt pytorch_quantization modelopt onnxruntime faiss
torch_scatter torch_sparse torch_cluster torch_spline_conv pyg_lib spconv mmdet3d MinkowskiEngine torchsparse pytorch3d
kaolin nvdiffrast tinycudann diff_gaussian_rasterization gsplat
liger_kernel fla unsloth unsloth_zoo mamba_ssm causal_conv1d tilelang cut_cross_entropy
pynvml py3nvml nvidia_smi nvsmi GPUtil gpustat nvitop nvtx cuda nvcomp nvshmem cuquantum cutlass
horovod ultralytics auto_gptq gptqmodel awq eetq exllama exllamav2 hqq aqlm
deep_gemm deep_ep grouped_gemm megablocks fused_dense_lib dropout_layer_norm xentropy_cuda_lib
nvidia_resiliency_ext fmoe lightseq
"""
_LIBRARIES = frozenset(_MODULES.split())
_LIBRARIES_OF_PARTS = {"numba.cuda": "numba", "nvidia.dali": "dali"}
_ALIASES = {
    "amp_C": "apex",
    "apex_C": "apex",
    "flash_attn_interface": "flash_attn",
    "flash_attn_2_cuda": "flash_attn",
    "flash_attn_3": "flash_attn",
    "transformer_engine_torch": "transformer_engine",
    "cupyx": "cupy",
    "unsloth_zoo": "unsloth",
    "sgl_kernel": "sglang",
}
_STAND_ALONE = frozenset(("nvidia", "numba"))


def cuda_library(name: str) -> str | None:
    """The library of a dotted name: "apex" for "apex.optimizers.FusedAdam", "numba" for "numba.cuda.jit"."""
    for part, library in _LIBRARIES_OF_PARTS.items():
        if name == part or name.startswith(part + "."):
            return library
    first = name.partition(".")[0]
    if first in _LIBRARIES:
        return _ALIASES.get(first, first)
    return "nvidia" if first == "nvidia" else None


def is_foreign_module(first: str) -> bool:
    return first in _LIBRARIES or first in _STAND_ALONE or first == "torch"
