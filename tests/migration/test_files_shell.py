"""What scripts, Makefiles and Dockerfiles say to the GPU stack."""

from __future__ import annotations

import pytest

from backends.migration.scan.files import dockerfile, shell


def scanned(text: str) -> list[tuple[int, str, str, str]]:
    """Line, category, source and context of the places in a script."""
    return sorted(
        (p.line, p.category, p.text, p.context) for p in shell.scan_shell_script("run.sh", text) if p.kind == "place"
    )


@pytest.mark.parametrize(
    "line",
    [
        "# export CUDA_VISIBLE_DEVICES=0",
        "python train.py  # --device cuda --backend nccl",
        'echo "using cuda"',
        'echo "CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES"',
        'printf "running on cuda:0\\n"',
        "USE_CUDA=${USE_CUDA:-False}",
        "case $USE_CUDA in",
        "CUDA=1",
        'CUDA_FLAG="--cuda"',
        "python main.py --cuda --no-cuda --gpu 0 --use_cuda true $CUDA_FLAG",
        "rm -rf cuda && cd cuda && git checkout cuda && grep -i cuda notes",
        "cp docker/docker-cuda/Dockerfile .",
        "WHEEL_CUDA_VERSION=12",
        'error "mnist with --device cuda failed"',
        'usage() { echo "usage: --device cuda"; }',
        "python train.py model.name=cuda_net --run_name cuda",
        "cat <<EOF\nexport CUDA_HOME=/x\n--device cuda\nEOF",
        "pip install torch==2.1.0 --index-url https://download.pytorch.org/whl/cpu",
        "pip install -r requirements/torch.txt numpy",
        "pip uninstall -y apex",
    ],
)
def test_that_a_line_that_only_talks_of_cuda_is_no_place(line: str) -> None:
    assert scanned(line) == []


@pytest.mark.parametrize(
    ("line", "category", "text", "context"),
    [
        ("export CUDA_VISIBLE_DEVICES=0,1", "cuda_env", "CUDA_VISIBLE_DEVICES", "env"),
        ("CUDA_VISIBLE_DEVICES=$1 python t.py", "cuda_env", "CUDA_VISIBLE_DEVICES", "env"),
        ("export A=1 NCCL_IB_DISABLE=1", "cuda_env", "NCCL_IB_DISABLE", "env"),
        ("mpirun -np 8 -x NCCL_DEBUG python t.py", "cuda_env", "NCCL_DEBUG", "env"),
        ('n=$(echo "$CUDA_VISIBLE_DEVICES" | wc -w)', "cuda_env", "CUDA_VISIBLE_DEVICES", "env"),
        ("unset CUDA_LAUNCH_BLOCKING", "cuda_env", "CUDA_LAUNCH_BLOCKING", "env"),
        ('echo "CUDA_HOME=/x" >> "$GITHUB_ENV"', "cuda_env", "CUDA_HOME", "env"),
        ("python t.py --device cuda", "shell_cuda", "cuda", "flag:--device"),
        ('python t.py --device "cuda:0"', "shell_cuda", "cuda:0", "flag:--device"),
        ("python t.py --device='cuda'", "shell_cuda", "cuda", "flag:--device"),
        ("python t.py --accelerator gpu", "shell_cuda", "gpu", "flag:--accelerator"),
        ("python t.py trainer.accelerator=gpu", "shell_cuda", "gpu", "override:trainer.accelerator"),
        ("python t.py +device=cuda", "shell_cuda", "cuda", "override:device"),
        ("torchrun t.py --backend=nccl", "nccl_str", "nccl", "flag:--backend"),
        ("torchrun t.py --backend cpu:gloo,cuda:nccl", "nccl_str", "cpu:gloo,cuda:nccl", "flag:--backend"),
        ("DEVICE=${DEVICE:-cuda}", "shell_cuda", "cuda", "variable:DEVICE"),
        ("DEVICE=cuda", "shell_cuda", "cuda", "variable:DEVICE"),
        ('[ "$DEVICE" == "cuda" ] && x', "shell_cuda", "cuda", "compare"),
        ("case $D in\n  cuda) x ;;\nesac", "shell_cuda", "cuda", "compare"),
        ("for d in cpu cuda; do x; done", "shell_cuda", "cuda", "argument"),
        ('ARGS="--lr 1 --device cuda"', "shell_cuda", "cuda", "flag:--device"),
        ("ARGS=(\n --distributed-backend nccl # why\n)", "nccl_str", "nccl", "flag:--distributed-backend"),
        ("bash -c 'python x.py --device cuda'", "shell_cuda", "cuda", "flag:--device"),
        ("python t.py --attn_implementation flash_attention_2", "attn_impl", "flash_attention_2", None),
        ("N=$(nvidia-smi -L | wc -l)", "nvidia_smi", "nvidia-smi", "command"),
        ("N=`nvidia-smi -L`", "nvidia_smi", "nvidia-smi", "command"),
        ("sudo /usr/bin/nvidia-smi -pm 1", "nvidia_smi", "/usr/bin/nvidia-smi", "command"),
        ("nsys profile -t cuda python t.py", "profiler_cuda", "nsys", "command"),
        ("nvcc -O3 k.cu", "shell_cuda", "nvcc", "command"),
        ("module load cuda/11.8", "shell_cuda", "cuda/11.8", "module"),
        ("export PATH=/usr/local/cuda/bin:$PATH", "shell_cuda", "/usr/local/cuda/bin", "path"),
        ("apt-get install -y cuda-toolkit-12-1", "shell_cuda", "cuda-toolkit-12-1", "package"),
        ("docker run --gpus all x", "shell_cuda", "--gpus", "container"),
        ("docker run nvidia/cuda:12.1-base ls", "docker_cuda", "nvidia/cuda:12.1-base", "image"),
        ("pip install torch==2.1.0+cu118", "req_torch", "torch==2.1.0+cu118", "requirement"),
        ("pip install 'flash-attn>=2' -U", "lib_flash_attn", "flash-attn>=2", "requirement"),
        ("conda install pytorch-cuda=12.1 -c nvidia", "req_cuda", "pytorch-cuda=12.1", "requirement"),
        ("git clone https://github.com/NVIDIA/apex", "lib_apex", "https://github.com/NVIDIA/apex", "address"),
        ("pip install x -i https://a.org/whl/cu121", "pip_index", "https://a.org/whl/cu121", "index"),
    ],
)
def test_that_what_touches_the_gpu_stack_is_cut_out_exactly(
    line: str, category: str, text: str, context: str | None
) -> None:
    places = scanned(line)
    assert [(found[1], found[2]) for found in places] == [(category, text)]
    assert context in (None, places[0][3])


def test_that_places_of_a_command_over_several_lines_stand_on_their_own_lines() -> None:
    text = "torchrun \\\n  t.py \\\n  --device cuda \\\r\n  --backend nccl\n"
    assert [(line, found) for line, _, found, _ in scanned(text)] == [(3, "cuda"), (4, "nccl")]


def test_that_a_variable_keeps_the_value_that_it_is_set_to() -> None:
    (occurrence,) = shell.scan_shell_script("run.sh", "export NCCL_SOCKET_IFNAME='eth0 eth1'\n")
    assert (occurrence.name, occurrence.args) == ("NCCL_SOCKET_IFNAME", {"value": "eth0 eth1"})


def test_that_python_inside_of_a_script_is_read_at_its_own_lines() -> None:
    text = "python - <<'EOF'\nimport torch\nx = torch.zeros(1).cuda()\nEOF\n"
    text += 'python -c "import torch; torch.cuda.empty_cache()"\n'
    assert [(line, category) for line, category, *_ in scanned(text)] == [(3, "cuda_method"), (5, "cuda_api")]


def test_that_a_script_written_by_a_script_is_read() -> None:
    text = "cat > go.sh <<EOF\nexport NCCL_DEBUG=INFO\nEOF\nx=$(cat <<'A'\n#!/bin/bash\nnvidia-smi\nA\n)\n"
    assert [(line, found) for line, _, found, _ in scanned(text)] == [(2, "NCCL_DEBUG"), (6, "nvidia-smi")]


def test_that_settings_written_by_a_script_are_read() -> None:
    text = "cat > conf.yaml <<EOF\ndevice: cuda\nnote: cuda\nEOF\ncat > README <<EOF\ndevice: cuda\nEOF\n"
    assert scanned(text) == [(2, "config_device", "cuda", "key:device")]


def test_that_a_here_document_without_its_end_does_not_hide_the_rest() -> None:
    assert [found for *_, found, _ in scanned("cat <<EOF\nhello\nexport NCCL_DEBUG=INFO\n")] == ["NCCL_DEBUG"]


def test_that_what_a_cluster_is_asked_for_is_no_use_of_the_stack_and_still_counts() -> None:
    text = "#SBATCH --gres=gpu:4\n#SBATCH --time=1:00\nsrun --gpus-per-node 8 x\n"
    places = list(shell.scan_shell_script("run.sh", text))
    assert [(p.kind, p.line, p.text, p.context) for p in places] == [
        ("need", 1, "--gres=gpu:4", "scheduler"),
        ("need", 3, "--gpus-per-node", "scheduler"),
    ]


def test_that_recipes_and_variables_of_a_makefile_are_read_and_its_targets_are_not() -> None:
    text = "CUDA_HOME ?= /usr/local/cuda\n# nvcc\ntrain: cuda\n\t@nvidia-smi\n"
    text += "\t-py t.py --device cuda \\\n\t  --backend nccl\n"
    found = sorted((p.line, p.text) for p in shell.scan_makefile("Makefile", text))
    assert found == [(1, "/usr/local/cuda"), (1, "CUDA_HOME"), (4, "nvidia-smi"), (5, "cuda"), (6, "nccl")]


def test_that_each_instruction_of_a_dockerfile_is_read_in_its_own_way() -> None:
    text = """# FROM nvidia/cuda:1
ARG BASE=nvidia/cuda:12.1.0-devel-ubuntu22.04
FROM --platform=linux/amd64 pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime AS base
FROM python:3.10
LABEL about="cuda"
ENV A=1 \\
    # CUDA_HOME=/x
    NCCL_DEBUG=INFO
ENV CUDA_VISIBLE_DEVICES 0
RUN pip install xformers && \\
    nvidia-smi
COPY cuda /cuda
RUN echo "cuda"
RUN python - <<EOF
import torch
torch.cuda.synchronize()
EOF
CMD ["python", "t.py", "--device", "cuda"]
ENTRYPOINT python t.py --backend=nccl
"""
    found = [(p.line, p.category, p.text) for p in dockerfile.scan_dockerfile("Dockerfile", text)]
    assert sorted(found) == [
        (2, "docker_cuda", "nvidia/cuda:12.1.0-devel-ubuntu22.04"),
        (3, "docker_cuda", "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime"),
        (8, "cuda_env", "NCCL_DEBUG"),
        (9, "cuda_env", "CUDA_VISIBLE_DEVICES"),
        (10, "lib_xformers", "xformers"),
        (11, "nvidia_smi", "nvidia-smi"),
        (16, "cuda_api", "torch.cuda.synchronize"),
        (18, "docker_cuda", "cuda"),
        (19, "nccl_str", "nccl"),
    ]
