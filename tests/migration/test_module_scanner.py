"""Names, methods, keywords and imports of the GPU stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.migration.scan.files.shell import scan_python
from backends.migration.scan.python.module import ProjectExports, module_exports, parse_module

if TYPE_CHECKING:
    from backends.migration.finding import Occurrence

HEAD = "import torch\nimport torch.nn as nn\nimport torch.distributed as dist\n"


def found(text: str, others: dict[str, str] | None = None) -> list[Occurrence]:
    exports = ProjectExports({path: module_exports(path, source) for path, source in (others or {}).items()})
    module = parse_module("train.py", HEAD + text, exports)
    return [occurrence for occurrence in scan_python(module) if occurrence.line > HEAD.count("\n")]


def only(text: str) -> Occurrence:
    (occurrence,) = found(text)
    return occurrence


@pytest.mark.parametrize(
    ("text", "category", "name", "context"),
    [
        ("torch.cuda.is_available()", "cuda_api", "torch.cuda.is_available", "call"),
        ("n = torch.cuda.device_count", "cuda_api", "torch.cuda.device_count", "alias"),
        ("f(torch.cuda.Stream)", "cuda_api", "torch.cuda.Stream", ""),
        ("def f(s: torch.cuda.Stream): pass", "cuda_api", "torch.cuda.Stream", ""),
        ("torch.cuda.get_device_properties(0).name", "cuda_api", "torch.cuda.get_device_properties", "call"),
        ('hasattr(torch, "cuda")', "cuda_api", "torch.cuda", "hasattr"),
        ('getattr(torch.cuda, "synchronize")()', "cuda_api", "torch.cuda.synchronize", "getattr"),
        ("try: pass\nexcept torch.cuda.OutOfMemoryError: pass", "cuda_api", "torch.cuda.OutOfMemoryError", ""),
        ("torch.cuda.amp.GradScaler()", "amp_cuda", "torch.cuda.amp.GradScaler", "call"),
        ("@torch.cuda.amp.custom_fwd\ndef f(): pass", "amp_cuda", "torch.cuda.amp.custom_fwd", "decorator"),
        ("torch.autocast(device_type=d)", "amp_generic", "torch.autocast", "call"),
        ("torch.amp.GradScaler(d)", "amp_generic", "torch.amp.GradScaler", "call"),
        ("torch.backends.cudnn.benchmark = True", "cudnn", "torch.backends.cudnn.benchmark", "set"),
        (
            "torch.backends.cuda.matmul.allow_tf32 = True",
            "backend_cuda",
            "torch.backends.cuda.matmul.allow_tf32",
            "set",
        ),
        ("torch.cuda.nvtx.range_pop()", "nvtx", "torch.cuda.nvtx.range_pop", "call"),
        ("torch.cuda.nccl.version()", "nccl_api", "torch.cuda.nccl.version", "call"),
        ("dist.is_nccl_available()", "nccl_api", "torch.distributed.is_nccl_available", "call"),
        ("dist.ProcessGroupNCCL.Options()", "nccl_api", "torch.distributed.ProcessGroupNCCL.Options", "call"),
        ("torch.cuda.CUDAGraph()", "cuda_graph", "torch.cuda.CUDAGraph", "call"),
        ("if torch.version.cuda == None: pass", "cuda_version", "torch.version.cuda", "compare"),
        ("x.type(torch.cuda.HalfTensor)", "cuda_tensor_type", "torch.cuda.HalfTensor", ""),
        ("nn.DataParallel(m)", "dataparallel", "torch.nn.DataParallel", "call"),
        ("nn.parallel.data_parallel(m, x)", "dataparallel", "torch.nn.parallel.data_parallel", "call"),
        ("class D(nn.DataParallel): pass", "dataparallel", "torch.nn.DataParallel", "base"),
        ("@torch.jit.script\ndef f(x): return x", "jit", "torch.jit.script", "decorator"),
        ("@torch.compile(mode=m)\ndef f(x): return x", "torch_compile", "torch.compile", "decorator"),
        ("torch.ops.load_library(p)", "custom_ext_load", "torch.ops.load_library", "call"),
        ("a = [torch.profiler.ProfilerActivity.CUDA]", "profiler_cuda", "torch.profiler.ProfilerActivity.CUDA", ""),
        ("torch.autograd.profiler.profile(use_cuda=True)", "profiler_cuda", "use_cuda=", ""),
        ("t = event.self_cuda_time_total", "profiler_cuda", ".self_cuda_time_total", ""),
        ("x.is_cuda", "is_cuda", ".is_cuda", ""),
        ("DDP(m, device_ids=[0])", "ddp_device_ids", "device_ids=", ""),
    ],
)
def test_that_a_name_of_the_gpu_stack_is_a_place(text: str, category: str, name: str, context: str) -> None:
    occurrence = only(text)
    assert (occurrence.category, occurrence.name, occurrence.context) == (category, name, context)


@pytest.mark.parametrize(
    "text",
    [
        "torch.nn.Linear(1, 2).to(device)",
        "torch.jit.is_scripting()",
        "torch.jit.TracerWarning",
        "torch.accelerator.is_available()",
        "torch.profiler.ProfilerActivity.CPU",
        'hasattr(torch, "compile")',
        "from torch.nn.parallel import DistributedDataParallel",
        "DDP(m, device_ids=None)",
        "args.cuda",
        "model.cuda",
        "f(use_cuda=True)",
        "x.to(torch.float16)",
        "x.to(device)",
        "x.to(y)",
        "x.to(True)",
        "f(device=device)",
        "self.is_cuda = 1",
        "class A:\n    def __init__(self): self.is_cuda = 1\n    def f(self): return self.is_cuda",
        "x = timers.cuda_time",
        "import numpy, transformers, torchvision",
    ],
)
def test_that_what_is_the_same_on_every_device_is_no_place(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "name", "context"),
    [
        ("x.to(rank)", ".to(rank)", "argument:.to:0"),
        ("x.to(self.gpu_id)", ".to(self.gpu_id)", "argument:.to:0"),
        ("x.to(args.gpu)", ".to(args.gpu)", "argument:.to:0"),
        ("x.to(0)", ".to(0)", "argument:.to:0"),
        ("x.to(local_rank, non_blocking=True)", ".to(local_rank)", "argument:.to:0"),
        ("x.to(rank % n)", ".to(rank % n)", "argument:.to:0"),
        ('x.to(int(os.environ["LOCAL_RANK"]))', '.to(int(os.environ["LOCAL_RANK"]))', "argument:.to:0"),
        ("x.to(dist.get_rank())", ".to(dist.get_rank())", "argument:.to:0"),
        ("x.to(gpu_ids[0])", ".to(gpu_ids[0])", "argument:.to:0"),
        ("x.to(device=rank)", "device=rank", "argument:.to:device"),
        ("torch.zeros(1, device=rank)", "device=rank", "argument:torch.zeros:device"),
        ("torch.load(p, map_location=local_rank)", "map_location=local_rank", "argument:torch.load:map_location"),
        ("torch.device(rank)", "torch.device(rank)", "argument:torch.device:0"),
    ],
)
def test_that_a_device_that_is_a_number_is_a_place(text: str, name: str, context: str) -> None:
    occurrence = only(text)
    assert (occurrence.category, occurrence.name, occurrence.context) == ("device_int", name, context)
    line, column, end, end_column = occurrence.args["value"]
    assert (line, end) == (4, 4)
    assert text[column:end_column] == occurrence.args["index"]


def test_that_is_cuda_of_an_argument_is_a_place_in_a_class_that_has_one_itself() -> None:
    text = (
        "class A:\n    @property\n    def is_cuda(self): return 1\n    def f(self, x): return self.is_cuda, x.is_cuda"
    )
    assert [(occurrence.category, occurrence.text) for occurrence in found(text)] == [("is_cuda", "x.is_cuda")]


def test_that_a_cuda_call_tells_its_arguments_and_where_it_begins() -> None:
    occurrence = only("y = net(\n    x\n).cuda(args.gpu, non_blocking=True)")
    assert (occurrence.line, occurrence.end, occurrence.category) == (4, 6, "cuda_method")
    assert occurrence.args == {"at": [6, 1], "device": "args.gpu", "non_blocking": "True"}


def test_that_cuda_fetched_from_a_tensor_and_called_is_a_place() -> None:
    assert [(occurrence.category, occurrence.context) for occurrence in found('getattr(x, "cuda")()')] == [
        ("cuda_method", "getattr")
    ]
    assert found('getattr(args, "cuda")') == []


def test_that_each_cuda_call_of_a_chain_is_a_place() -> None:
    assert [occurrence.text for occurrence in found("a.cuda().b.cuda()")] == ["a.cuda().b.cuda()", "a.cuda()"]


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("class Net:\n    def cuda(self): pass\nNet().cuda()", "Net"),
        ("class Net:\n    def cuda(self): pass\nnet = Net()\nnet.cuda()", "Net"),
        ("class Net:\n    def cuda(self): pass\n    def f(self): self.cuda()", "Net"),
        ("class Net:\n    def cuda(self): pass\ndef f(x): x.cuda()", "?"),
        ("class Net:\n    def cuda(self): pass\nx = torch.zeros(1)\nx.cuda()", None),
        ("class Net:\n    pass\nNet().cuda()", None),
    ],
)
def test_that_a_cuda_method_of_the_projects_own_is_told_apart(text: str, own: str | None) -> None:
    (occurrence,) = [place for place in found(text) if place.category == "cuda_method"]
    assert occurrence.args.get("own") == own


def test_that_a_cuda_method_of_a_class_in_another_module_is_told_apart() -> None:
    (occurrence,) = found("from net import Net\nNet().cuda()", {"net.py": "class Net:\n    def cuda(self): pass"})
    assert occurrence.args["own"] == "Net"


@pytest.mark.parametrize(
    ("text", "category", "name"),
    [
        ("import torch.cuda", "cuda_api", "torch.cuda"),
        ("from torch import cuda as c", "cuda_api", "torch.cuda"),
        ("from torch.cuda.amp import autocast", "amp_cuda", "torch.cuda.amp.autocast"),
        ("from torch.cuda.amp import *", "amp_cuda", "torch.cuda.amp"),
        ("import torch.backends.cudnn as cudnn", "cudnn", "torch.backends.cudnn"),
        ("from torch.utils.cpp_extension import load_inline", "cpp_extension", "torch.utils.cpp_extension.load_inline"),
        ("import apex", "lib_apex", "apex"),
        ("import amp_C", "lib_apex", "amp_C"),
        ("from flash_attn.layers.rotary import x, y", "lib_flash_attn", "flash_attn.layers.rotary"),
        ("from numba import jit, cuda", "lib_numba", "numba"),
        ("from nvidia.dali import pipeline_def", "lib_dali", "nvidia.dali"),
        ("import onnxruntime", "lib_onnxruntime", "onnxruntime"),
        ("import deform_conv_cuda", "custom_ext_import", "deform_conv_cuda"),
        ('import importlib\nimportlib.import_module("apex.amp")', "lib_apex", "apex.amp"),
        ('import importlib.util\nimportlib.util.find_spec("xformers")', "lib_xformers", "xformers"),
        ('pytest.importorskip("triton")', "lib_triton", "triton"),
    ],
)
def test_that_imports_are_places(text: str, category: str, name: str) -> None:
    occurrence = only(text)
    assert (occurrence.category, occurrence.name) == (category, name)


def test_that_an_imported_name_is_a_place_where_it_is_used_too() -> None:
    seen = found("from torch.cuda.amp import autocast, GradScaler as G\nwith autocast(): pass\nG()")
    assert [(occurrence.line, occurrence.context) for occurrence in seen] == [
        (4, "import"),
        (4, "import"),
        (5, "call"),
        (6, "call"),
    ]


def test_that_the_decorator_of_a_triton_kernel_is_the_place_of_the_kernel() -> None:
    seen = found("import triton\n@triton.jit\ndef kernel(x): triton.cdiv(x, 2)")
    assert [(occurrence.line, occurrence.category) for occurrence in seen] == [(4, "lib_triton"), (5, "triton_kernel")]
    assert seen[1].args == {"function": "kernel"}


def test_that_an_import_of_what_the_setup_file_builds_is_a_place() -> None:
    setup = "import torch.utils.cpp_extension as e\nsetup(ext_modules=[e.CUDAExtension(name='fast', sources=s)])"
    assert [occurrence.category for occurrence in found("import fast", {"setup.py": setup})] == ["custom_ext_import"]
    assert found("import fast") == []


def test_that_a_module_of_the_project_is_no_library() -> None:
    assert found("import apex\nfrom apex import amp", {"apex/__init__.py": "", "apex/amp.py": ""}) == []


def test_that_a_name_from_another_module_of_the_project_is_a_place_where_it_is_used() -> None:
    seen = found("from utils import tc\ntc.synchronize()", {"utils.py": "import torch\ntc = torch.cuda"})
    assert [(occurrence.line, occurrence.name, occurrence.text) for occurrence in seen] == [
        (5, "torch.cuda.synchronize", "tc.synchronize")
    ]


def test_that_a_name_that_keeps_a_version_or_a_switch_is_no_place() -> None:
    text = "version = torch.version.cuda\nif version: print(version)\nold = torch.backends.cudnn.benchmark\nf(old)"
    assert [occurrence.text for occurrence in found(text)] == ["torch.version.cuda", "torch.backends.cudnn.benchmark"]


def test_that_places_come_in_source_order() -> None:
    seen = found('x = torch.zeros(1, device="cuda").cuda(); torch.cuda.synchronize()\ny = "cuda"')
    assert [(occurrence.line, occurrence.column) for occurrence in seen] == sorted(
        (place.line, place.column) for place in seen
    )
    assert len(seen) == 4
