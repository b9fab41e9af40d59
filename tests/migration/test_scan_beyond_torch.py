"""What asks for CUDA without naming it: options of libraries, clusters, build files, kernels, configurations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.migration.scan.project_scan import scan_project
from tests.migration.advice_runs import advised_lines
from tests.migration.plans import FACTS, migrated_text, project

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.finding import ScanFinding


def scanned(folder: Path, name: str, text: str) -> list[ScanFinding]:
    (folder / name).write_text(text)
    return [finding for finding in scan_project(folder, FACTS) if finding.kind != "advice"]


def rules(folder: Path, name: str, text: str) -> list[tuple[int, str]]:
    return [(finding.line, finding.rule) for finding in scanned(folder, name, text)]


@pytest.mark.parametrize(
    ("name", "text", "rule"),
    [
        ("a.py", "q = BitsAndBytesConfig(load_in_4bit=True)", "lib_bitsandbytes.used"),
        ("a.py", "m = AutoModel.from_pretrained('x', load_in_8bit=args.int8)", "lib_bitsandbytes.used"),
        ("a.py", "a = TrainingArguments(optim='paged_adamw_8bit')", "lib_bitsandbytes.used"),
        ("a.py", "p.add_argument('--optim', default='adamw_bnb_8bit')", "lib_bitsandbytes.used"),
        ("a.yaml", "load_in_4bit: true", "lib_bitsandbytes.used"),
        ("a.yaml", "quantization_bit: 4", "lib_bitsandbytes.used"),
        ("a.json", '{"quantization_config": {"quant_method": "bitsandbytes"}}', "lib_bitsandbytes.used"),
        ("a.yaml", "optim: paged_lion_8bit", "lib_bitsandbytes.used"),
        ("a.sh", "python train.py --optim paged_adamw_32bit", "lib_bitsandbytes.used"),
        ("a.sh", "python train.py --quantization_bit 4", "lib_bitsandbytes.used"),
        ("a.sh", "accelerate launch train.py --use_8bit_adam", "lib_bitsandbytes.used"),
        ("a.py", "pipe.enable_xformers_memory_efficient_attention()", "lib_xformers.used"),
        ("a.sh", "python t.py --enable_xformers_memory_efficient_attention", "lib_xformers.used"),
        ("a.yaml", "enable_xformers_memory_efficient_attention: true", "lib_xformers.used"),
        ("a.yaml", "use_flash_attn: true", "attn_impl.kernel"),
        ("a.sh", "torchrun pretrain_gpt.py --use-flash-attn --bf16", "attn_impl.kernel"),
        ("a.sh", "ARGS='--enable_flash_attention_2 --lr 1'", "attn_impl.kernel"),
        ("a.yaml", "extra: [--use-flash-attn]", "attn_impl.kernel"),
        ("a.json", '{"extra": ["--xformers"]}', "lib_xformers.used"),
        ("a.py", "from ultralytics import YOLO", "lib_ultralytics.used"),
        ("requirements.txt", "ultralytics>=8.3", "lib_ultralytics.used"),
        ("a.sh", "yolo train model=yolo11n.pt device=0", "lib_ultralytics.used"),
    ],
)
def test_that_a_library_of_cuda_is_found_where_only_an_option_names_it(
    tmp_path: Path, name: str, text: str, rule: str
) -> None:
    assert rules(tmp_path, name, f"{text}\n") == [(1, rule)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.py", "q = Config(load_in_4bit=False)"),
        ("a.yaml", "load_in_4bit: false"),
        ("a.yaml", "quantization_bit: 16"),
        ("a.yaml", "optim: adamw_torch"),
        ("a.sh", "python train.py --no-flash-attn --flash-attn-path x"),
        ("a.py", "x = 'an 8bit_32bit picture'"),
        ("a.sh", "yolo export model=yolo11n.pt"),
    ],
)
def test_that_the_same_options_set_otherwise_ask_for_nothing(tmp_path: Path, name: str, text: str) -> None:
    assert rules(tmp_path, name, f"{text}\n") == []


def test_that_what_an_interpolation_falls_back_to_is_judged_and_edited(tmp_path: Path) -> None:
    text = "device: ${oc.env:DEVICE,cuda}\nbackend: ${oc.env:BACKEND, nccl}\nother: ${oc.env:HOME,cuda_home}\n"
    assert rules(tmp_path, "a.yaml", text) == [(1, "config_device.value"), (2, "nccl_str.launch")]
    migrated = migrated_text(tmp_path, "minimal", text, "a.yaml")
    assert migrated.splitlines()[:2] == ["device: ${oc.env:DEVICE,npu}", "backend: ${oc.env:BACKEND, hccl}"]
    (finding,) = scanned(tmp_path, "a.yaml", "visible: ${oc.env:CUDA_VISIBLE_DEVICES,0}\n")
    assert (finding.rule, finding.name) == ("cuda_env.visible", "CUDA_VISIBLE_DEVICES")


UNRESOLVED = "config_device.unresolved"


@pytest.mark.parametrize(
    "text",
    [
        "device: ${pick_device:${gpu}}", "device: ${pick_device:}", 'accelerator: "${my.resolver:a,b}"',
        "ddp_backend: ${choose:train}", "where: ${if:${fast},cuda,cpu}", "device: ${oc.env:DEVICE}",
        "trainer:\n  device: 'x-${pick:1}'",
    ],
)  # fmt: skip
def test_that_a_value_that_a_resolver_gives_could_not_be_resolved(tmp_path: Path, text: str) -> None:
    """Only code of the project, or the environment, knows whether it is cuda: it is no value without findings."""
    (finding,) = scanned(tmp_path, "a.yaml", f"{text}\n")
    assert (finding.rule, finding.state) == (UNRESOLVED, "unverified")
    assert migrated_text(tmp_path, "minimal", f"{text}\n", "a.yaml") == f"{text}\n"


@pytest.mark.parametrize(
    "text",
    [
        "device: ${model.device}", "lr: ${scaled:${batch}}", "dir: ${now:%Y-%m-%d}", "name: ${hydra:job.name}",
        "device: ${oc.select:other.device}", "device: ${{ matrix.device }}", "device: ${DEVICE:-cpu}",
        "home: ${oc.env:HOME}", "loss: ${pick:mse}",
    ],
)  # fmt: skip
def test_that_other_interpolations_are_no_findings(tmp_path: Path, text: str) -> None:
    assert rules(tmp_path, "a.yaml", f"{text}\n") == []


@pytest.mark.parametrize(
    "options",
    ["--gres=gpu:4", "-N 1 --gres=gpu:a100:4", "-G 4", "--gpus-per-node=8", "-p gpu", "--partition=gpu-long",
     "--constraint=a100"],
)  # fmt: skip
def test_that_a_request_for_gpus_counts_wherever_it_stands_in_a_directive(tmp_path: Path, options: str) -> None:
    text = f"#!/bin/sh\n#SBATCH {options}\nsrun python train.py\n"
    assert rules(tmp_path, "job.sh", text) == [(2, "shell_cuda.cluster")]


def test_that_other_requests_to_a_cluster_are_none(tmp_path: Path) -> None:
    text = "#!/bin/sh\n#SBATCH -N 2 --time=1:00 -p long --mem=8G\n#SBATCH --job-name=gpu\nsrun python train.py\n"
    assert rules(tmp_path, "job.sh", text) == []


KERNELS = """import triton
import triton.language as tl

@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + i, tl.load(x + i, mask=i < n), mask=i < n)

@triton.autotune(configs=[], key=[])
@triton.jit
def count(x, y, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.atomic_add(y + i, 1)

@triton.jit
def fast(x):
    return tl.inline_asm_elementwise("", "=r", [x], tl.int32, True, 1)

@triton.jit
def new(x):
    return tl.sort_of_tomorrow(x)
"""


def test_that_each_triton_kernel_is_judged_by_what_it_calls(tmp_path: Path) -> None:
    kernels = [finding for finding in scanned(tmp_path, "a.py", KERNELS) if finding.category == "triton_kernel"]
    assert {str(kernel.args["function"]): kernel.rule.partition(".")[2] for kernel in kernels} == {
        "copy": "taken", "count": "limited", "fast": "refused", "new": "unknown",
    }  # fmt: skip
    assert kernels[2].args["refused"] == "inline_asm_elementwise:17"


@pytest.mark.parametrize(
    ("line", "rule", "names"),
    [
        ("x = tl.zeros((8,), dtype=tl.float32)", "taken", "zeros:5"),
        ("x = tl.zeros((8,), tl.uint32)", "refused", "zeros(uint32):5"),
        ("x = tl.load(p).to(tl.float64)", "unknown", "cast(float64):5"),
        ("x = tl.cast(tl.load(p), tl.float8e4nv)", "unknown", "cast(float8e4nv):5"),
        ("x = tl.load(p).to(tl.bfloat16)", "taken", "load:5"),
    ],
)
def test_that_element_types_that_a_kernel_names_are_looked_up(tmp_path: Path, line: str, rule: str, names: str) -> None:
    text = f"import triton\nimport triton.language as tl\n@triton.jit\ndef kernel(p):\n    {line}\n"
    (finding,) = [found for found in scanned(tmp_path, "a.py", text) if found.category == "triton_kernel"]
    assert finding.rule == f"triton_kernel.{rule}"
    assert finding.args[rule] == names


@pytest.mark.parametrize(
    "line",
    ['c = mindspore.JitConfig(jit_level="O2")', 'c = mindspore.JitConfig("O2")',
     'mindspore.set_context(jit_config={"jit_level": "O2"})'],
)  # fmt: skip
def test_that_level_2_of_a_jit_config_is_deprecated(line: str) -> None:
    assert advised_lines(f"import mindspore\n{line}\n") == [(2, "tutorial.jit_config_level")]
    assert advised_lines(f"import mindspore\n{line.replace('O2', 'O1')}\n") == []


def test_that_cmake_for_cuda_is_found_line_by_line(tmp_path: Path) -> None:
    text = (
        "project(x LANGUAGES CXX CUDA)\n# find_package(CUDA)\nfind_package(CUDAToolkit REQUIRED)\nproject(y CXX)\n"
        "set(CMAKE_CUDA_ARCHITECTURES 80)\ntarget_link_libraries(x CUDA::cudart CUDA::cublas)\n#[[ CUDA::cudart ]]\n"
    )
    expected = [(line, "cmake_cuda.build") for line in (1, 3, 5, 6)]
    assert rules(tmp_path, "CMakeLists.txt", text) == expected
    (tmp_path / "CMakeLists.txt").unlink()
    assert rules(tmp_path, "cuda.cmake", text) == expected


def test_that_a_file_alone_is_scanned_and_nothing_beside_it(tmp_path: Path) -> None:
    project(tmp_path, train__py="import torch\nx = x.cuda()\n", other__py="import torch\ntorch.cuda.synchronize()\n")
    places = [finding for finding in scan_project(tmp_path / "train.py", FACTS) if finding.is_counted]
    assert [(finding.path, finding.line, finding.rule) for finding in places] == [("train.py", 2, "cuda_method.call")]


FUSED = {
    "advice.fused_rms_norm": "return w * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + eps)",
    "advice.fused_rotary": "return torch.cat((-x[..., 4:], x[..., :4]), dim=-1)",
    "advice.fused_swiglu": "return self.down(torch.nn.functional.silu(self.gate(x)) * self.up(x))",
    "advice.fused_attention": "return torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1) @ v",
}


@pytest.mark.parametrize("rule", FUSED)
def test_that_an_operator_of_torch_npu_is_suggested_for_code_by_hand(rule: str) -> None:
    assert advised_lines(f"import torch\ndef rotate_half(self, x, q, k, v):\n    {FUSED[rule]}\n") == [(3, rule)]


@pytest.mark.parametrize(
    "line",
    [
        "return (x - x.mean(-1)) * torch.rsqrt(x.pow(2).mean(-1) + eps)",
        "return torch.cat((x, y), dim=-1)",
        "return torch.nn.functional.silu(x) + y",
        "return torch.softmax(self.head(x), dim=-1)",
    ],
)
def test_that_what_only_resembles_it_gets_no_suggestion(line: str) -> None:
    assert advised_lines(f"import torch\ndef forward(self, x, y):\n    {line}\n") == []


def test_that_attention_over_lines_is_seen_too() -> None:
    text = (
        "import torch\nimport torch.nn.functional as F\ndef forward(self, q, k, v):\n"
        "    scores = torch.matmul(q, k.transpose(-2, -1))\n    weights = F.softmax(scores, dim=-1)\n"
        "    return torch.matmul(weights, v)\n"
    )
    assert advised_lines(text) == [(5, "advice.fused_attention")]
