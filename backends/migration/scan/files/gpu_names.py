"""Names of the GPU stack outside Python: environment variables, devices, packages, images."""

from __future__ import annotations

import re

VARIABLE = (
    r"(?:NCCL_(?!VER(?:SION)?\b)[A-Z0-9_]+|TORCH_NCCL_[A-Z0-9_]+|NVSHMEM_[A-Z0-9_]+|NVTE_[A-Z0-9_]+|NVCC_[A-Z0-9_]+"
    r"|CUDA_(?:VISIBLE_DEVICES|LAUNCH_BLOCKING|DEVICE_ORDER|DEVICE_MAX_(?:COPY_)?CONNECTIONS|DEVICE_WAITS_ON_EXCEPTION"
    r"|HOME|PATH|ROOT|DIR|BIN_PATH|INC_PATH|LIB_PATH|TOOLKIT_ROOT_DIR|TOOLKIT_ROOT|MODULE_LOADING"
    r"|MODULE_DATA_LOADING|AUTO_BOOST|SCALE_LAUNCH_QUEUES|CACHE_[A-Z]+|MPS_[A-Z_]+|ENABLE_[A-Z_]+|FORCE_[A-Z_]+)"
    r"|CUDNN_(?!VER(?:SION)?\b|MAJOR|MINOR)[A-Z0-9_]+|CUBLAS_[A-Z0-9_]+|CUBLASLT_[A-Z0-9_]+|CUDACXX|CUDAHOSTCXX|FORCE_CUDA"
    r"|NVIDIA_(?:VISIBLE_DEVICES|DRIVER_CAPABILITIES|TF32_OVERRIDE|REQUIRE_[A-Z]+|DISABLE_REQUIRE)"
    r"|PYTORCH_CUDA_[A-Z_]+|PYTORCH_NO_CUDA_MEMORY_CACHING|PYTORCH_NVCC|TORCH_CUDA_[A-Z_]+(?<!VERSION)"
    r"|TORCH_CUDNN_[A-Z0-9_]+|TORCH_ALLOW_TF32_CUBLAS_OVERRIDE)"
)
ENVIRONMENT = re.compile(VARIABLE + r"\Z")
ASSIGNED = re.compile(rf"(?:export\s+)?({VARIABLE})\+?=(.*)", re.DOTALL)
EXPANDED = re.compile(rf"\$(?:{{[!#]?)?({VARIABLE})(?![A-Za-z0-9_])")

DEVICE = re.compile(r"cuda(?::(?:\d+|\$\{?\w+\}?|\{\w*\}|\*))?\Z")
BACKEND_KEY = re.compile(r"(?:.*[._-])?(?:\w*backend|dist\w*|comm\w*|process_group)\Z", re.IGNORECASE)
BACKEND = re.compile(r"nccl\Z|(?:\w+:\w+,)*(?:cuda|gpu):nccl(?:,\w+:\w+)*\Z|\w+:gloo,\w+:nccl\Z")
GPU = re.compile(r"gpu(?::\d+)?\Z", re.IGNORECASE)
DEVICE_KEY = re.compile(r"(?:.*[._-])?(?:device|devices?_type|accelerator|device_name|map_location|platform)s?\Z", re.I)
ATTENTION = re.compile(r"(?:kernels-community/)?flash[_-]?att(?:ention|n)?[_-]?[23]?\Z|fa[23]\Z", re.IGNORECASE)
ATTENTION_NAME = re.compile(r"flash_attention_[23]\Z|kernels-community/\S+\Z")
ATTENTION_KEY = re.compile(r".*att(?:n|ention).*", re.IGNORECASE)
BITSANDBYTES_OPTIMIZER = re.compile(
    r"(?:paged_)?(?:adamw|lion|ademamix|rmsprop)(?:_bnb)?_(?:8bit|32bit)|rmsprop_bnb\Z", re.IGNORECASE
)
"""Names of optimizers of transformers that are those of bitsandbytes."""
INTERPOLATED = re.compile(r"\$\{oc\.(?:env|select|decode):\s*(\w[\w.]*)\s*(?:,\s*([^{},\s]+)\s*)?\}")
"""An interpolation of OmegaConf: the name of a variable or a setting, and what holds where it is not set."""
RESOLVED = re.compile(r"\$\{\s*([A-Za-z_][\w.]*)\s*:(?![-+?=])")
"""The begin of an interpolation of OmegaConf that a resolver works out. `:-` and the like are those of a shell."""
VARIABLE_ALONE = re.compile(r"\$\{\s*oc\.env:\s*(\w+)\s*\}")
"""A variable of the environment without a value that holds where it is not set."""
HYDRA_RESOLVERS = frozenset({"now", "hydra", "python_version"})
"""Of hydra: none gives a device."""
INDEX = re.compile(
    r"https?://\S{0,300}?(?:/cu\d{2,3}(?![\w.])|/cu\$\{?\w+\}?|/cu\d{2,3}/|pypi\.(?:ngc\.)?nvidia\.com)\S*"
)
TOOLKIT_PATH = re.compile(r"/(?:usr/local|opt)/(?:cuda|nvidia)(?![\w])[\w./-]*|/usr/local/cuda[-\w.]*[\w./-]*")
IMAGE = re.compile(
    r"(?!https?:)(?:docker://)?(?:[\w.-]+(?::\d+)?/)*(?:"
    r"nvcr\.io/\S+|nvidia/(?:cuda|cudagl|pytorch|tensorrt|nemo|tritonserver)[\w-]*(?:[:@]\S*)?"
    r"|[\w./${}-]+:\S*?(?<![a-z])(?:cuda|cu1[0-3]|gpu)(?![a-z])\S*)\Z"
)

CUDA_IMAGE = re.compile(r"(?:nvcr\.io[/#]|(?<![\w/.-])nvidia/cuda:)[^\s\"']+")
TORCH = frozenset({"torch", "torchvision", "torchaudio", "pytorch"})
TOOLKIT = re.compile(
    r"(?:nvidia-(?!ml-py|dali|modelopt|resiliency|htop)[\w-]+|pytorch-cuda|cuda[\w-]*|cudatoolkit(?:-dev)?|cudnn|nccl"
    r"|cupti|cutlass|libcu\w+|libnccl[\w-]*|libnvidia-[\w-]+|libnv\w+|tensorflow-gpu|tensorrt-\w+|\w+-cu1[0-3]\d?)\Z"
)
LIBRARIES = {
    "apex": "apex",
    "amp-c": "apex",
    "flash-attn": "flash_attn",
    "flash-attn-3": "flash_attn",
    "flash-attention": "flash_attn",
    "flashinfer": "flashinfer",
    "flashinfer-python": "flashinfer",
    "xformers": "xformers",
    "ultralytics": "ultralytics",
    "bitsandbytes": "bitsandbytes",
    "triton": "triton",
    "pytorch-triton": "triton",
    "transformer-engine": "transformer_engine",
    "transformer-engine-torch": "transformer_engine",
    "transformer-engine-cu12": "transformer_engine",
    "vllm": "vllm",
    "sglang": "sglang",
    "mmcv": "mmcv",
    "mmcv-full": "mmcv",
    "mmdet3d": "mmdet3d",
    "detectron2": "detectron2",
    "cupy": "cupy",
    "pycuda": "pycuda",
    "tensorrt": "tensorrt",
    "tensorrt-llm": "tensorrt",
    "torch-tensorrt": "tensorrt",
    "torch2trt": "tensorrt",
    "nvidia-tensorrt": "tensorrt",
    "onnxruntime-gpu": "onnxruntime",
    "faiss-gpu": "faiss",
    "cudf": "cudf",
    "cuml": "cudf",
    "cugraph": "cudf",
    "torch-scatter": "torch_scatter",
    "torch-sparse": "torch_sparse",
    "torch-cluster": "torch_cluster",
    "pytorch3d": "pytorch3d",
    "spconv": "spconv",
    "liger-kernel": "liger_kernel",
    "flash-linear-attention": "fla",
    "unsloth": "unsloth",
    "mamba-ssm": "mamba_ssm",
    "causal-conv1d": "causal_conv1d",
    "pynvml": "pynvml",
    "nvidia-ml-py": "pynvml",
    "nvidia-ml-py3": "pynvml",
    "py3nvml": "pynvml",
    "gputil": "GPUtil",
    "gpustat": "gpustat",
    "nvtx": "nvtx",
    "horovod": "horovod",
    "auto-gptq": "auto_gptq",
    "autoawq": "awq",
    "exllamav2": "exllamav2",
    "sageattention": "sageattention",
    "megatron-core": "megatron",
    "minkowskiengine": "MinkowskiEngine",
    "kaolin": "kaolin",
    "tiny-cuda-nn": "tinycudann",
    "tinycudann": "tinycudann",
    "nvidia-modelopt": "modelopt",
}
LIBRARY_STEMS = (
    ("nvidia-dali", "dali"),
    ("cupy-cuda", "cupy"),
    ("faiss-gpu-", "faiss"),
    ("cudf-", "cudf"),
    ("cuml-", "cudf"),
    ("cugraph", "cudf"),
    ("spconv-cu", "spconv"),
    ("tensorrt-", "tensorrt"),
    ("flashinfer-", "flashinfer"),
    ("transformer-engine", "transformer_engine"),
)


def normalized_package(package: str) -> str:
    """A distribution's name as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", package).lower()


def package_library(package: str) -> str | None:
    """The import name that a category `lib_<name>` uses, of a distribution's normal name."""
    if package in LIBRARIES:
        return LIBRARIES[package]
    return next((library for stem, library in LIBRARY_STEMS if package.startswith(stem)), None)


def package_category(package: str) -> str | None:
    """The category of a requirement by its distribution's normal name; None where it needs nothing."""
    if package in TORCH:
        return "req_torch"
    library = package_library(package)
    if library:
        return f"lib_{library}"
    return "req_cuda" if TOOLKIT.match(package) else None
