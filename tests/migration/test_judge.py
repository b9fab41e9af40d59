"""What places mean for an NPU."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backends.migration.finding import STATES, Occurrence, ScanFinding
from backends.migration.scan.facts import facts_of_interpreter
from backends.migration.scan.facts.libraries import load_libraries
from backends.migration.scan.facts.rules import load_rules, rule_source
from backends.migration.scan.verdicts.judge import JUDGES, judge
from studio import texts

SHIPPED = facts_of_interpreter(None, None)


def place(category: str, name: str, context: str = "", **others: Any) -> Occurrence:
    """`path`, `text` and `kind` are the place's own; whatever else is given is one of its arguments."""
    own = {key: others.pop(key) for key in ("path", "text", "kind") if key in others}
    return Occurrence(
        **({"path": "train.py"} | own), line=1, end=1, category=category, name=name, context=context, args=others
    )


def judged(category: str, name: str, context: str = "", **others: Any) -> ScanFinding:
    found = judge(place(category, name, context, **others), SHIPPED)
    assert found is not None
    return found


# One place for each rule: category, name, context, others, rule.
EXAMPLES: list[tuple[str, str, str, dict[str, Any], str]] = [
    ("device_str", "cuda", "argument:.to:0", {}, "device_str.argument"),
    ("device_str", "cuda", "argument:torch.load:map_location", {}, "device_str.argument"),
    ("device_str", "cuda", "argument:torch.autocast:0", {}, "device_str.argument"),
    ("device_str", "cuda", "argument:torch.cuda.amp.autocast:device_type", {}, "device_str.argument"),
    ("device_str", "cuda", "argument:torch.nn.Linear:device", {}, "device_str.argument"),
    ("device_str", "cuda", "argument:torch.nn.parallel.DistributedDataParallel:device_ids", {}, "device_str.argument"),
    ("device_str", "cuda", "argument:torch.distributed.init_device_mesh:0", {}, "device_str.argument"),
    ("device_str", "cuda", "", {"target": "device"}, "device_str.held"),
    ("device_str", "cuda", "value", {"key": '"device"'}, "device_str.held"),
    ("device_str", "cuda", "argument:torch.device:0", {}, "device_str.held"),
    ("device_str", "cuda", "argument:train:0", {}, "device_str.held"),
    ("device_str", "cuda", "argument:torch.multiprocessing.spawn:args", {}, "device_str.held"),
    ("device_str", "cuda", "default", {"parameter": "device"}, "device_str.held"),
    ("device_str", "cuda", "compare", {"operator": "==", "other": "x.device.type"}, "device_str.compared"),
    ("device_str", "cuda", "compare", {"operator": "==", "leads_to": "torch.nn.DataParallel"}, "device_str.guard"),
    ("device_str", "cuda", "default", {"option": "--device"}, "device_str.option"),
    ("device_str", "cuda", "choices", {}, "device_str.option"),
    ("device_str", "cuda", "key", {"operation": "literal"}, "device_str.key"),
    ("device_str", "cuda", "argument:torch.amp.GradScaler:0", {}, "device_str.unwrapped"),
    ("device_str", "cuda", "argument:torch.utils.data.DataLoader:pin_memory_device", {}, "device_str.unwrapped"),
    ("device_str", "cuda", "flag:--device", {}, "device_str.launch"),
    ("shell_cuda", "cuda", "variable:DEVICE", {"path": "run.sh"}, "device_str.launch"),
    ("shell_cuda", "cuda:0", "compare", {"path": "run.sh"}, "device_str.launch"),
    ("device_int", ".to(rank)", "argument:.to:0", {}, "device_int.argument"),
    ("device_int", "device=0", "argument:torch.zeros:device", {}, "device_int.argument"),
    ("device_int", "torch.device(0)", "argument:torch.device:0", {}, "device_int.other"),
    ("cuda_method", ".cuda()", "", {}, "cuda_method.call"),
    ("cuda_method", ".cuda()", "", {"own": "?"}, "cuda_method.own"),
    ("cuda_method", ".cuda()", "", {"device": "args.device"}, "cuda_method.device"),
    ("is_cuda", ".is_cuda", "", {}, "is_cuda.read"),
    ("cuda_api", "torch.cuda.is_available", "call", {}, "cuda_api.overlaid"),
    ("cuda_api", "torch.cuda", "import", {}, "cuda_api.overlaid"),
    ("cuda_api", "torch.cuda.synchronize", "import", {}, "cuda_api.imported"),
    ("cuda_api", "torch.cuda.get_device_properties", "call", {}, "cuda_api.properties"),
    ("cuda_api", "torch.cuda.get_device_capability", "call", {}, "cuda_api.capability"),
    ("cuda_api", "torch.cuda.memory.empty_cache", "call", {}, "cuda_api.submodule"),
    ("cuda_api", "torch.cuda.power_draw", "call", {}, "cuda_api.monitor"),
    ("cuda_api", "torch.cuda.get_arch_list", "call", {}, "cuda_api.build"),
    ("cuda_api", "torch.cuda.cudart", "call", {}, "cuda_api.runtime"),
    ("cuda_api", "torch.cuda.profiler.start", "call", {}, "cuda_api.runtime"),
    ("cuda_api", "torch.cuda.CUDAPluggableAllocator", "call", {}, "cuda_api.allocator"),
    ("cuda_api", "torch.cuda.comm.broadcast", "call", {}, "cuda_api.comm"),
    ("cuda_api", "torch.cuda.jiterator._create_jit_fn", "call", {}, "cuda_api.jiterator"),
    ("cuda_api", "torch.cuda.tunable.enable", "call", {}, "cuda_api.not_overlaid"),
    ("cuda_api", "torch._C._cuda_getDevice", "call", {}, "cuda_api.not_overlaid"),
    ("cuda_tensor_type", "torch.cuda.FloatTensor", "call", {}, "cuda_tensor_type.overlaid"),
    ("cuda_tensor_type", "torch.cuda.DoubleTensor", "call", {}, "cuda_tensor_type.double"),
    ("cuda_tensor_type", "torch.cuda.FloatTensor", "", {"text": '"torch.cuda.FloatTensor"'}, "cuda_tensor_type.text"),
    ("nccl_str", "nccl", "argument:torch.distributed.init_process_group:backend", {}, "nccl_str.argument"),
    ("nccl_str", "cpu:gloo,cuda:nccl", "argument:torch.distributed.init_process_group:0", {}, "nccl_str.argument"),
    ("nccl_str", "nccl", "", {"target": "backend"}, "nccl_str.held"),
    ("nccl_str", "nccl", "argument:setup:backend", {}, "nccl_str.held"),
    ("nccl_api", "torch.distributed.Backend.NCCL", "", {}, "nccl_str.held"),
    ("nccl_str", "nccl", "compare", {"operator": "==", "other": "dist.get_backend()"}, "nccl_str.compared"),
    ("nccl_str", "nccl", "default", {"option": "--backend"}, "nccl_str.option"),
    ("nccl_str", "nccl", "key", {"operation": "literal"}, "nccl_str.key"),
    ("nccl_str", "nccl", "argument:torch.distributed.is_backend_available:0", {}, "nccl_str.unwrapped"),
    ("nccl_str", "nccl", "flag:--backend", {"path": "run.sh"}, "nccl_str.launch"),
    ("nccl_str", "nccl", "key:dist.backend", {"path": "a.yaml"}, "nccl_str.launch"),
    ("nccl_api", "torch.distributed.is_nccl_available", "call", {}, "nccl_api.overlaid"),
    ("nccl_api", "torch.cuda.nccl", "import", {}, "nccl_api.imported"),
    ("nccl_api", "torch.cuda.nccl.version", "call", {}, "nccl_api.version"),
    ("nccl_api", "torch.cuda.nccl.all_reduce", "call", {}, "nccl_api.direct"),
    ("amp_cuda", "torch.cuda.amp.GradScaler", "call", {}, "amp_cuda.overlaid"),
    ("amp_cuda", "torch.cuda.amp.autocast", "import", {}, "amp_cuda.imported"),
    ("amp_cuda", "torch.cuda.amp.other", "call", {}, "amp_cuda.not_overlaid"),
    ("amp_generic", "torch.amp.autocast", "call", {}, "amp_generic.autocast"),
    ("amp_generic", "torch.amp.GradScaler", "call", {}, "amp_generic.scaler"),
    ("cudnn", "torch.backends.cudnn.benchmark", "set", {}, "cudnn.flag"),
    ("cudnn", "torch.backends.cudnn.allow_tf32", "set", {}, "cudnn.tf32"),
    ("cudnn", "torch.backends.cudnn.deterministic", "set", {}, "cudnn.deterministic"),
    ("cudnn", "torch.backends.cudnn.version", "call", {}, "cudnn.asked"),
    ("backend_cuda", "torch.backends.cuda", "import", {}, "backend_cuda.flag"),
    ("backend_cuda", "torch.backends.cuda.matmul.allow_tf32", "set", {}, "backend_cuda.tf32"),
    ("backend_cuda", "torch.backends.cuda.sdp_kernel", "call", {}, "backend_cuda.attention"),
    ("backend_cuda", "torch.backends.cuda.cufft_plan_cache", "", {}, "backend_cuda.plan_cache"),
    ("backend_cuda", "torch.backends.cuda.is_built", "call", {}, "backend_cuda.asked"),
    ("ddp_device_ids", "device_ids=", "", {}, "ddp_device_ids.given"),
    ("dataparallel", "torch.nn.DataParallel", "call", {}, "dataparallel.used"),
    ("jit", "torch.jit.script", "decorator", {}, "jit.script"),
    ("jit", "torch.jit.ignore", "decorator", {}, "jit.mark"),
    ("jit", "torch.jit.trace", "call", {}, "jit.other"),
    ("torch_compile", "torch.compile", "call", {}, "torch_compile.call"),
    ("cpp_extension", "torch.utils.cpp_extension.CUDAExtension", "call", {}, "cpp_extension.cuda"),
    ("cpp_extension", "torch.utils.cpp_extension.BuildExtension", "call", {}, "cpp_extension.host"),
    ("cpp_extension", "torch.utils.cpp_extension.load", "call", {}, "custom_ext_load.load"),
    ("custom_ext_load", "torch.ops.load_library", "call", {}, "custom_ext_load.load"),
    ("custom_ext_import", "selective_scan_cuda", "import", {}, "custom_ext_import.import"),
    ("cpp_cuda_api", "torch::kCUDA", "", {"path": "a.cpp"}, "cpp_cuda_api.use"),
    ("cpp_cuda_api", "__global__", "kernel", {"path": "a.cu"}, "cpp_cuda_api.inside"),
    ("cpp_binding", "PYBIND11_MODULE", "", {"path": "a.cpp"}, "cpp_binding.bound"),
    ("cu_source", "a.cu", "file", {"path": "a.cu"}, "cu_source.kernel"),
    ("triton_kernel", "torch.utils._triton.has_triton", "call", {}, "triton_kernel.asked"),
    ("triton_kernel", "add", "decorator", {}, "triton_kernel.kernel"),
    ("triton_kernel", "add", "decorator", {"taken": "load:3"}, "triton_kernel.taken"),
    ("triton_kernel", "add", "decorator", {"taken": "load:3", "limited": "gather:4"}, "triton_kernel.limited"),
    ("triton_kernel", "add", "decorator", {"limited": "gather:4", "unknown": "new:5"}, "triton_kernel.unknown"),
    ("triton_kernel", "add", "decorator", {"refused": "sort:3", "unknown": "new:5"}, "triton_kernel.refused"),
    ("profiler_cuda", "torch.profiler.ProfilerActivity.CUDA", "", {}, "profiler_cuda.activity"),
    ("profiler_cuda", "use_cuda=", "", {}, "profiler_cuda.option"),
    ("profiler_cuda", "self_cuda_time_total", "", {}, "profiler_cuda.column"),
    ("nvtx", "torch.cuda.nvtx.range_push", "call", {}, "nvtx.call"),
    ("nvtx", "torch.cuda.nvtx.range", "call", {}, "nvtx.range"),
    ("nvidia_smi", "nvidia-smi", "command", {"path": "run.sh"}, "nvidia_smi.call"),
    ("cuda_env", "CUDA_VISIBLE_DEVICES", "env", {"path": "run.sh"}, "cuda_env.visible"),
    ("cuda_env", "CUDA_LAUNCH_BLOCKING", "env", {}, "cuda_env.renamed"),
    ("cuda_env", "CUDA_DEVICE_MAX_CONNECTIONS", "env", {}, "cuda_env.idle"),
    ("cuda_env", "CUDA_HOME", "env", {}, "cuda_env.toolkit"),
    ("cuda_env", "NVIDIA_VISIBLE_DEVICES", "env", {"path": "Dockerfile"}, "docker_cuda.runtime"),
    ("cuda_env", "NCCL_IB_DISABLE", "env", {}, "cuda_env.nccl"),
    ("cuda_env", "CUDA_MPS_PIPE_DIRECTORY", "env", {}, "cuda_env.other"),
    ("cuda_graph", "torch.cuda.CUDAGraph", "call", {}, "cuda_graph.use"),
    ("cuda_version", "torch.version.cuda", "", {}, "cuda_version.read"),
    ("shell_cuda", "cuda/12.1", "module", {"path": "run.sh"}, "shell_cuda.toolkit"),
    ("shell_cuda", "nvcc", "command", {"path": "run.sh"}, "shell_cuda.compiler"),
    ("shell_cuda", "--gres=gpu:8", "scheduler", {"path": "run.sh", "kind": "need"}, "shell_cuda.cluster"),
    ("cmake_cuda", "CUDA::cudart", "target", {"path": "CMakeLists.txt"}, "cmake_cuda.build"),
    ("shell_cuda", "nvidia-persistenced", "command", {"path": "run.sh"}, "shell_cuda.other"),
    ("docker_cuda", "nvidia/cuda:12.1.0", "image", {"path": "Dockerfile"}, "docker_cuda.image"),
    ("shell_cuda", "--gpus", "container", {"path": "run.sh"}, "docker_cuda.runtime"),
    ("config_device", "cuda", "key:device", {"path": "a.yaml"}, "config_device.value"),
    ("config_device", "pick", "unresolved:device", {"path": "a.yaml"}, "config_device.unresolved"),
    ("config_device", "gpu", "key:trainer.accelerator", {"path": "a.yaml"}, "config_device.accelerator"),
    ("req_torch", "torch", "requirement", {"asks": ">=2.1", "path": "requirements.txt"}, "req_torch.torch"),
    ("req_torch", "torch", "requirement", {"asks": "==1.13.1", "path": "requirements.txt"}, "req_torch.unmatched"),
    ("req_torch", "torchvision", "requirement", {"asks": "", "path": "requirements.txt"}, "req_torch.companion"),
    ("req_cuda", "nvidia-cublas-cu12", "requirement", {"path": "requirements.txt"}, "req_cuda.package"),
    ("pip_index", "https://download.pytorch.org/whl/cu118", "index", {"path": "run.sh"}, "pip_index.cuda"),
    ("pip_index", "https://pypi.nvidia.com", "index", {"path": "run.sh"}, "pip_index.other"),
    ("attn_impl", "flash_attention_2", "argument:from_pretrained:attn_implementation", {}, "attn_impl.flash"),
    ("attn_impl", "fa2", "key:flash_attn", {"path": "a.yaml"}, "attn_impl.flash"),
    ("attn_impl", "flash_attention_2", "compare", {"operator": "=="}, "attn_impl.asked"),
    ("attn_impl", "use_flash_attention_2=", "", {}, "attn_impl.kernel"),
    ("attn_impl", "true", "key:model.use_flash_attention_2", {"path": "a.yaml"}, "attn_impl.kernel"),
    ("attn_impl", "kernels-community/flash-attn", "value", {}, "attn_impl.kernel"),
    ("attn_impl", "sdpa", "argument:from_pretrained:attn_implementation", {}, "attn_impl.supported"),
    ("lib_numpy", "numpy", "import", {}, "library.host"),
    ("lib_of_the_future", "of_the_future", "import", {}, "library.unknown"),
    ("of_the_future", "something", "", {}, "place.unknown"),
    ("cuda_method", ".cuda()", "", {"npu_branch": True}, "place.npu_branch"),
    ("api", "torch.nn.TransformerEncoder", "call", {"kind": "advice"}, "api.composed"),
    ("api", "torch.nn.MaxPool3d", "call", {"kind": "advice"}, "api.disputed"),
    ("api", "torch.heaviside", "call", {"kind": "advice"}, "api.unsupported"),
    ("api", "torch.var_mean", "call", {"kind": "advice"}, "api.disputed"),
    ("api", "torch_npu.npu_conv2d", "call", {"kind": "advice"}, "api.deprecated"),
]  # fmt: skip


@pytest.mark.parametrize(("category", "name", "context", "others", "rule"), EXAMPLES)
def test_that_a_place_is_judged_by_its_use(
    category: str, name: str, context: str, others: dict[str, Any], rule: str
) -> None:
    found = judged(category, name, context, **others)
    assert found.rule == rule
    assert (found.state, found.effort) == (load_rules()[rule].state, load_rules()[rule].effort)
    assert all(found.because in texts.catalogue(language, "rule") for language in texts.LANGUAGES)


def test_that_every_rule_of_a_place_has_an_example() -> None:
    own = {rule for rule in load_rules() if not rule.startswith(("lib_", "advice.", "tutorial.", "migrate."))}
    assert own == {rule for *_, rule in EXAMPLES}


@pytest.mark.parametrize("name", sorted(load_libraries()))
def test_that_a_library_is_judged_by_its_own_rule(name: str) -> None:
    found = judged(f"lib_{name}", load_libraries()[name].names[0], "import")
    assert found.rule == f"lib_{name}.used"
    assert found.state == load_libraries()[name].state


@pytest.mark.parametrize(
    "rule", sorted(rule for rule in load_rules() if rule.startswith(("advice.", "tutorial.", "migrate.")))
)
def test_that_advice_keeps_its_rule_and_stays_advice(rule: str) -> None:
    advice = Occurrence(
        kind="advice", path="a.py", line=2, end=3, category="slow", rule=rule, name="torch.abs", args={"count": 2}
    )
    found = judge(advice, SHIPPED)
    assert found is not None
    assert (found.kind, found.rule, found.line, found.end) == ("advice", rule, 2, 3)
    assert found.args["count"] == 2


def test_that_what_works_by_itself_costs_nothing_and_all_else_something() -> None:
    counted = {
        name: rule for name, rule in load_rules().items() if not name.startswith(("advice.", "tutorial.", "migrate."))
    }
    assert not [name for name, rule in counted.items() if rule.state == "auto" and rule.effort]
    assert [name for name, rule in counted.items() if rule.state != "auto" and not rule.effort] == [
        "cpp_cuda_api.inside"
    ]


def test_that_nothing_is_said_of_an_api_that_an_npu_has_or_that_no_table_names() -> None:
    assert judge(place("api", "torch.abs", kind="advice"), SHIPPED) is None
    assert judge(place("api", "torch.of_the_future", kind="advice"), SHIPPED) is None
    assert judge(place("api", "torch.optim.Adam", kind="advice"), SHIPPED) is None


def test_that_an_api_carries_what_the_tables_say_per_hardware() -> None:
    assert judged("dataparallel", "torch.nn.DataParallel").support == {"a2": "no", "a3": "no", "a950": "unverified"}
    assert judged("cuda_api", "torch.cuda.is_available").support["a2"] == "yes"
    assert judged("cuda_api", "torch.cuda", "import").support == {}
    assert judged("device_str", "cuda").support == {}


def test_that_an_api_carries_its_page_and_what_the_npu_calls_it() -> None:
    args = judged("cuda_api", "torch.cuda.set_device", "call").args
    assert args["npu_name"] == "torch_npu.npu.set_device"
    assert args["page"].startswith("https://")
    assert judged("torch_compile", "torch.of_the_future", "call").args == {}


def test_that_a_comparison_is_surer_of_a_type_than_of_a_variable() -> None:
    of_type = judged("device_str", "cuda", "compare", operator="==", other="x.device.type")
    of_variable = judged("device_str", "cuda", "compare", operator="==", other="device")
    assert (of_type.confidence, of_variable.confidence) == ("high", "medium")


def test_that_a_file_that_does_not_parse_is_judged_with_little_confidence() -> None:
    found = judged("cuda_api", "torch.cuda.is_available", unparsed=True)
    assert (found.confidence, found.because) == ("low", "rule_because.unparsed")


def test_that_code_inside_of_a_script_counts_as_code() -> None:
    compared = judged("device_str", "cuda", "compare", path="run.sh", operator="==", other="x.device.type")
    assert compared.rule == "device_str.compared"


def test_that_a_judgement_keeps_where_the_place_is() -> None:
    seen = Occurrence(
        path="a/b.ipynb", line=3, end=5, column=1, end_column=9, cell=2, category="is_cuda", name=".is_cuda", text="x"
    )
    found = judge(seen, SHIPPED)
    assert found is not None
    kept = (
        "kind",
        "path",
        "line",
        "end",
        "column",
        "end_column",
        "cell",
        "category",
        "name",
        "context",
        "text",
        "args",
    )
    assert {key: getattr(found, key) for key in kept} == {key: getattr(seen, key) for key in kept}


def test_that_an_unknown_rule_has_no_source() -> None:
    assert rule_source("of.the_future") == ""


@given(
    st.sampled_from([*JUDGES, "api", "lib_x", "lib_", ""]),
    st.text(max_size=30) | st.builds("torch.cuda.{}".format, st.text(max_size=10)),
    st.text(max_size=20) | st.builds("argument:{}:{}".format, st.text(max_size=8), st.text(max_size=4)),
    st.dictionaries(st.sampled_from(["own", "asks", "other", "operator", "parameter"]), st.text(max_size=8)),
)
def test_that_any_place_is_judged(category: str, name: str, context: str, args: dict[str, str]) -> None:
    found = judge(
        Occurrence(path="a.py", line=1, end=1, category=category, name=name, context=context, args=args), SHIPPED
    )
    assert found is None or (found.state in STATES and found.rule in load_rules())
