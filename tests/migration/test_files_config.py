"""What configuration files say to the GPU stack."""

from __future__ import annotations

import pytest

from backends.migration.scan.files import config_files, shell, toml_parser, yaml_parser


def scanned(path: str, text: str) -> list[tuple[int, str, str, str]]:
    """Line, category, source and context."""
    return sorted(
        (p.line, p.category, p.text, p.context) for p in config_files.scan_config(path, text, shell.scan_shell)
    )


@pytest.mark.parametrize(
    "line",
    [
        "# device: cuda",
        "a: b  # cuda",
        "description: cuda",
        "name: cuda",
        "note: |\n  device: cuda\n  python t.py --device cuda",
        "USE_CUDA: 'True'",
        "use_cuda: true",
        "gpus: 4",
        "cuda-version: '11.8.0'",
        "model_name: cuda_net",
        "title: CUDA",
        "text: 'a\n  cuda'",
        "862: torch",
        "if: ${{ matrix.device == 'cuda' }}",
        "run: echo using cuda",
        "cuda: true",
        "metadata: {labels: {app: cuda}}",
        "run: pytest -k cuda",
    ],
)
def test_that_yaml_which_only_talks_of_cuda_says_nothing(line: str) -> None:
    assert scanned("a.yaml", line + "\n") == []


def test_that_yaml_values_are_found_with_the_keys_that_lead_to_them() -> None:
    text = """device: cuda  # the device
dist:
  backend: 'nccl'
trainer: {accelerator: gpu, devices: [0, 1]}
items:
- cuda
- device: "cuda:1"
  other: x
anchor: &dev cuda
mixed: "cpu:gloo,cuda:nccl"
attn_implementation: flash_attention_2
distributed_type: MULTI_GPU
image: nvidia/cuda:12.1.0-devel-ubuntu22.04
after:
  cuda
optimizer:
  _target_: apex.optimizers.FusedAdam
"""
    assert scanned("a.yaml", text) == [
        (1, "config_device", "cuda", "key:device"),
        (3, "nccl_str", "nccl", "key:dist.backend"),
        (4, "config_device", "gpu", "key:trainer.accelerator"),
        (6, "config_device", "cuda", "key:items"),
        (7, "config_device", "cuda:1", "key:items.device"),
        (9, "config_device", "cuda", "key:anchor"),
        (10, "nccl_str", "cpu:gloo,cuda:nccl", "key:mixed"),
        (11, "attn_impl", "flash_attention_2", "key:attn_implementation"),
        (12, "config_device", "MULTI_GPU", "key:distributed_type"),
        (13, "docker_cuda", "nvidia/cuda:12.1.0-devel-ubuntu22.04", "key:image"),
        (15, "config_device", "cuda", "key:after"),
        (17, "lib_apex", "apex.optimizers.FusedAdam", "key:optimizer._target_"),
    ]


def test_that_commands_and_environments_of_a_workflow_are_read_as_shell() -> None:
    text = """jobs:
  test:
    runs-on: linux-gpu
    env:
      NCCL_DEBUG: INFO
      PIP_ARGS: '--pre -f https://download.pytorch.org/whl/nightly/cu118/torch_nightly.html'
    steps:
    - name: run on cuda
      run: |
        # nvidia-smi
        nvidia-smi
        python train.py --device cuda
        python - <<EOF
        import torch
        torch.cuda.synchronize()
        EOF
    - run: python train.py --backend=nccl
"""
    index = "https://download.pytorch.org/whl/nightly/cu118/torch_nightly.html"
    assert scanned(".github/workflows/a.yml", text) == [
        (5, "cuda_env", "NCCL_DEBUG", "env"),
        (6, "pip_index", index, "index"),
        (11, "nvidia_smi", "nvidia-smi", "command"),
        (12, "shell_cuda", "cuda", "flag:--device"),
        (15, "cuda_api", "torch.cuda.synchronize", "call"),
        (17, "nccl_str", "nccl", "flag:--backend"),
    ]


def test_that_services_with_gpus_are_found_in_a_compose_file() -> None:
    text = """services:
  train:
    runtime: nvidia
    environment:
      - NVIDIA_VISIBLE_DEVICES=all
    deploy:
      resources:
        reservations:
          devices:
            - driver: nvidia
              capabilities: [ gpu ]
"""
    assert [(line, category) for line, category, *_ in scanned("docker-compose.yml", text)] == [
        (3, "docker_cuda"),
        (5, "cuda_env"),
        (10, "docker_cuda"),
        (11, "docker_cuda"),
    ]


def test_that_a_variable_of_a_pod_is_found_by_its_name() -> None:
    text = "containers:\n- name: cuda\n  env:\n  - name: CUDA_VISIBLE_DEVICES\n    value: '0'\n"
    assert scanned("pod.yaml", text) == [(4, "cuda_env", "CUDA_VISIBLE_DEVICES", "env")]


def test_that_json_with_comments_is_read_and_a_flag_in_front_names_its_value() -> None:
    text = """{
  "_comment": "cuda",
  // "device": "cuda"
  "device": "cuda",
  "args": ["--device", "cuda:0", "--backend=nccl"],
  "env": {"CUDA_LAUNCH_BLOCKING": "1"},
  "description": "on cuda", "zero": 1
}"""
    assert scanned("launch.json", text) == [
        (4, "config_device", "cuda", "key:device"),
        (5, "config_device", "cuda:0", "flag:--device"),
        (5, "nccl_str", "nccl", "flag:--backend"),
        (6, "cuda_env", "CUDA_LAUNCH_BLOCKING", "env"),
    ]


def test_that_toml_settings_and_requirements_are_found() -> None:
    text = '''# device = "cuda"
title = "cuda"
[train]
device = "cuda"  # c
backend = 'nccl'
opt = { device = "cuda:1", n = 1 }
text = """
device = "cuda"
"""
[project]
name = "torch-thing"
keywords = ["cuda"]
dependencies = [
  "torch>=2.0",  # torchvision
  "numpy",
  "flash-attn; platform_system == 'Linux'",
]
[tool.poetry.dependencies]
torchvision = "^0.16"
torchaudio = {version = "2.1"}
[[tool.uv.index]]
name = "pytorch-cu121"
url = "https://download.pytorch.org/whl/cu121"
'''
    assert scanned("pyproject.toml", text) == [
        (4, "config_device", "cuda", "key:train.device"),
        (5, "nccl_str", "nccl", "key:train.backend"),
        (6, "config_device", "cuda:1", "key:train.opt.device"),
        (14, "req_torch", "torch>=2.0", "requirement"),
        (16, "lib_flash_attn", "flash-attn; platform_system == 'Linux'", "requirement"),
        (19, "req_torch", "torchvision", "requirement"),
        (20, "req_torch", "2.1", "requirement"),
        (23, "pip_index", "https://download.pytorch.org/whl/cu121", "index"),
    ]


def test_that_setup_cfg_is_read_with_its_continued_lines() -> None:
    text = """[metadata]
description = cuda
[options]
install_requires =
    torch>=1.0
    # torchvision
    numpy
[train]
device = cuda
backend: nccl ; nccl
"""
    assert scanned("setup.cfg", text) == [
        (5, "req_torch", "torch>=1.0", "requirement"),
        (9, "config_device", "cuda", "key:train.device"),
        (10, "nccl_str", "nccl", "key:train.backend"),
    ]


def test_that_a_conda_environment_names_torch_and_cuda() -> None:
    text = """name: dit
channels:
  - nvidia
dependencies:
  - python >= 3.8
  - pytorch >= 1.13
  - pytorch-cuda=11.7
  - pip:
    - xformers==0.0.20
"""
    assert [(line, category) for line, category, *_ in scanned("environment.yml", text)] == [
        (6, "req_torch"),
        (7, "req_cuda"),
        (9, "lib_xformers"),
    ]


def test_that_keys_lead_to_every_scalar_of_yaml() -> None:
    text = "a:\n  b: 1\n  'c d': [2, {e: 3}]\nf:\n- g: 4\n  h: |\n    5\n    6\n-   7\n--- \ni: 8\n"
    found = [(value.keys, text[value.begin : value.end]) for value in yaml_parser.parse_yaml(text)]
    assert found == [
        (("a", "b"), "1"),
        (("a", "c d"), "2"),
        (("a", "c d", "e"), "3"),
        (("f", "g"), "4"),
        (("f", "h"), "    5\n    6"),
        (("f",), "7"),
        (("i",), "8"),
    ]


def test_that_keys_lead_to_every_scalar_of_toml_and_ini() -> None:
    toml = "a = 1\n[b.'c']\nd.e = \"2\"\nf = [3, '''4''']\n"
    ini = "[a]\nb = 1\nc:\n  2\n  ; 3\n"
    assert [(value.keys, toml[value.begin : value.end]) for value in toml_parser.parse_toml(toml)] == [
        (("a",), "1"),
        (("b", "c", "d", "e"), "2"),
        (("b", "c", "f"), "3"),
        (("b", "c", "f"), "4"),
    ]
    assert [(value.keys, ini[value.begin : value.end]) for value in config_files.parse_ini(ini)] == [
        (("a", "b"), "1"),
        (("a", "c"), ""),
        (("a", "c"), "2"),
    ]


def test_that_a_large_json_file_is_data() -> None:
    text = '{"device": "cuda"}' + " " * config_files.MAX_JSON
    assert scanned("a.json", text) == []
    assert scanned("a.json", '{"device": "cuda"}') != []
