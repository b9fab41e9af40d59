"""The minimal style: transfer_to_npu, and only what it does not cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.migration.migrate.work import change_figures
from tests.migration.plans import (
    migrated_text,
    plan_project,
    planned_texts,
    project,
)

if TYPE_CHECKING:
    from pathlib import Path

LINES = "import torch_npu  # noqa: F401\nfrom torch_npu.contrib import transfer_to_npu  # noqa: F401\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('if x.device.type == "cuda": pass', 'if x.device.type in ("cuda", "npu"): pass'),
        ("if x.device.type!='cuda:0': pass", "if x.device.type not in ('cuda:0', 'npu:0'): pass"),
        ('if "cuda" == x.device.type: pass', 'if x.device.type in ("cuda", "npu"): pass'),
        ('if "cuda" in str(x.device): pass', 'if "cuda" in str(x.device) or "npu" in str(x.device): pass'),
        ('y = not "cuda" in d', 'y = not ("cuda" in d or "npu" in d)'),
        ('if d.startswith("cuda"): pass', 'if d.startswith(("cuda", "npu")): pass'),
        ('if d in ["cuda", "cpu"]: pass', 'if d in ["cuda", "npu", "cpu"]: pass'),
        ('y = {"cuda": 1, "cpu": 0}[d]', 'y = {"npu": 1, "cuda": 1, "cpu": 0}[d]'),
        ('if dist.get_backend() == "nccl": pass', 'if dist.get_backend() in ("nccl", "hccl"): pass'),
        ("torch.cuda.nvtx.range_push('a')", "torch.npu.mstx.range_push('a')"),
        ('m(attn_implementation="flash_attention_2")', 'm(attn_implementation="sdpa")'),
    ],
)
def test_that_what_is_not_covered_is_edited(tmp_path: Path, line: str, expected: str) -> None:
    head = "import torch\nimport torch.distributed as dist\n"
    text = migrated_text(tmp_path, "minimal", f"{head}{line}\n")
    assert text.rstrip("\n").split("\n")[-1] == expected


@pytest.mark.parametrize(
    "line",
    [
        "x = x.cuda()", "torch.cuda.synchronize()", 'x = torch.zeros(2, device="cuda")', "y = x.is_cuda",
        'torch.distributed.init_process_group("nccl")', "s = torch.cuda.amp.GradScaler()",
    ],
)  # fmt: skip
def test_that_what_is_covered_stays(tmp_path: Path, line: str) -> None:
    assert migrated_text(tmp_path, "minimal", f"import torch\n{line}\n") == f"import torch\n{LINES}{line}\n"


def test_that_the_lines_stand_before_names_are_bound_that_would_stay_stale(tmp_path: Path) -> None:
    source = "from torch.cuda import synchronize\nimport torch\nsynchronize()\n"
    assert migrated_text(tmp_path, "minimal", source) == LINES + source


def test_that_only_scripts_that_lead_to_a_place_get_the_lines(tmp_path: Path) -> None:
    guard = 'if __name__ == "__main__":\n    go()\n'
    project(
        tmp_path,
        main__py="import lib.model\n" + guard,
        other__py="import torch\n" + guard,
        lib___model__py="from .deep import go\n",
        lib___deep__py="import torch\ndef go(): torch.cuda.synchronize()\n",
        alone__py="import torch\ndef go(): torch.cuda.synchronize()\n",
    )
    (tmp_path / "lib" / "__init__.py").write_text("")
    assert set(planned_texts(tmp_path, "minimal")) == {"main.py", "alone.py"}


def test_that_an_import_that_is_there_is_not_written_again(tmp_path: Path) -> None:
    source = f"import torch\n{LINES}torch.cuda.synchronize()\n"
    assert migrated_text(tmp_path, "minimal", source) == source


def test_that_scripts_and_the_code_that_reads_their_variables_change_together(tmp_path: Path) -> None:
    project(
        tmp_path,
        train__py='import os\nimport torch\nn = os.environ["CUDA_VISIBLE_DEVICES"]\n',
        run__sh="CUDA_VISIBLE_DEVICES=0 python train.py\n",
    )
    text = planned_texts(tmp_path, "minimal")
    assert 'os.environ["ASCEND_RT_VISIBLE_DEVICES"]' in text["train.py"]
    assert text["run.sh"] == "ASCEND_RT_VISIBLE_DEVICES=0 python train.py\n"


def test_that_requirements_ask_for_torch_npu_of_the_same_version(tmp_path: Path) -> None:
    project(tmp_path, requirements__txt="numpy\r\ntorch==2.6.0+cu118 # gpu\r\ntorchvision\r\n")
    text = planned_texts(tmp_path, "minimal")["requirements.txt"]
    assert text == "numpy\r\ntorch==2.6.0 # gpu\r\ntorch_npu==2.6.0.*\r\ntorchvision\r\n"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("torch>=2; python_version>'3.8'", "torch>=2; python_version>'3.8'\ntorch_npu>=2; python_version>'3.8'"),
        ("torch==2.7.0", "torch==2.7.0"),
        ("torch==2.6", "torch==2.6\ntorch_npu==2.6.0.*"),
        ("torch<2.0", "torch<2.0"),
        ("torchvision==0.21.0+cu118", "torchvision==0.21.0"),
    ],
)
def test_that_a_requirement_names_a_torch_npu_that_exists(tmp_path: Path, line: str, expected: str) -> None:
    assert migrated_text(tmp_path, "minimal", f"{line}\n", "requirements.txt") == f"{expected}\n"


@pytest.mark.parametrize(
    ("name", "before", "after_"),
    [
        ("setup.py", "setup(install_requires=['torch>=2.6', 'numpy'])", "'torch>=2.6', 'torch_npu>=2.6', 'numpy'"),
        ("pyproject.toml", '[project]\ndependencies = ["torch==2.6.0"]', '["torch==2.6.0", "torch_npu==2.6.0.*"]'),
        ("run.sh", "pip install torch numpy", "pip install torch torch_npu numpy"),
    ],
)
def test_that_other_lists_of_packages_name_torch_npu_too(tmp_path: Path, name: str, before: str, after_: str) -> None:
    assert after_ in migrated_text(tmp_path, "minimal", f"{before}\n", name)


@pytest.mark.parametrize(
    ("name", "before", "expected"),
    [
        ("run.sh", "command -v nvidia-smi\nnvidia-smi | head\n", "command -v npu-smi\nnpu-smi info | head\n"),
        (
            "train.py",
            'import os\nos.system("CUDA_VISIBLE_DEVICES=%d python x.py --device cuda:%d" % (1, 0))\n',
            'import os\nos.system("ASCEND_RT_VISIBLE_DEVICES=%d python x.py --device npu:%d" % (1, 0))\n',
        ),
        (
            "pod.yaml",
            "spec:\n  env:\n  - name: CUDA_VISIBLE_DEVICES\n    value: '0'\n",
            "spec:\n  env:\n  - name: ASCEND_RT_VISIBLE_DEVICES\n    value: '0'\n",
        ),
        (
            "environment.yml",
            "dependencies:\n- pip:\n  - torch==2.6.0+cu118\n  - x\n",
            "dependencies:\n- pip:\n  - torch==2.6.0\n  - torch_npu==2.6.0.*\n  - x\n",
        ),
    ],
)
def test_that_commands_and_lists_in_other_files_are_edited(
    tmp_path: Path, name: str, before: str, expected: str
) -> None:
    assert migrated_text(tmp_path, "minimal", before, name) == expected


def test_that_what_runs_on_a_ci_is_only_offered(tmp_path: Path) -> None:
    project(tmp_path, **{".github___workflows___ci__yml": "jobs:\n  a:\n    env:\n      CUDA_VISIBLE_DEVICES: 0\n"})
    assert [hunk.state for hunk in plan_project(tmp_path, "minimal").hunks()] == ["offered"]


ACCELERATED = (
    "from accelerate import Accelerator\nimport torch\nimport net\naccelerator = Accelerator()\nx = x.cuda()\n"
)


def with_transfer(folder: Path) -> list[str]:
    texts = planned_texts(folder, "minimal")
    return sorted(path for path, text in texts.items() if "transfer_to_npu" in text)


def test_that_beside_a_trainer_that_knows_npus_own_calls_are_edited_without_transfer_to_npu(tmp_path: Path) -> None:
    folder = project(tmp_path, train__py=ACCELERATED, net__py="import torch\ny = torch.zeros(3).cuda()\n")
    texts = planned_texts(folder, "minimal")
    assert texts["train.py"].endswith("x = x.to(DEVICE_TYPE)\n")
    assert texts["net.py"].endswith("y = torch.zeros(3).to(DEVICE_TYPE)\n")
    assert with_transfer(folder) == []


def test_that_only_scripts_that_lead_to_no_such_trainer_get_transfer_to_npu(tmp_path: Path) -> None:
    trainer = "import torch\nfrom transformers import Trainer\nclass Mine(Trainer):\n    x = torch.zeros(3).cuda()\n"
    text = "import torch\nimport mine\nfor x in mine.Mine():\n    x.cuda()\n"
    folder = project(tmp_path, train__py=text, mine__py=trainer, other__py=text.replace("mine", "os"))
    assert with_transfer(folder) == ["other.py"]
    assert sorted(planned_texts(folder, "minimal")) == ["mine.py", "other.py", "train.py"]


BROADCAST = "import torch.distributed as dist\n\ndef share(x):\n    dist.broadcast(x, src=0)\n"


def test_that_a_script_that_leads_to_a_broadcast_says_the_capability_that_torch_reads_there(tmp_path: Path) -> None:
    text = "import torch\nimport share\nfor x in y:\n    share.share(x.cuda())\n"
    folder = project(tmp_path, train__py=text, share__py=BROADCAST, other__py=text.replace("share", "os"))
    texts = planned_texts(folder, "minimal")
    capability = 'os.environ.setdefault("TORCH_NPU_DEVICE_CAPABILITY", "8.0")'
    assert [path for path in sorted(texts) if capability in texts[path]] == ["train.py"]
    assert with_transfer(folder) == ["other.py", "train.py"]


AWARE = (
    "import torch\nfrom transformers.utils import is_torch_npu_available\n"
    "def device():\n    if is_torch_npu_available():\n        return torch.device('npu:0')\n"
    "    return torch.device('cuda:0' if torch.cuda.is_available() else 'cpu')\n"
)


def test_that_a_project_that_knows_npus_is_left_alone_but_for_its_gaps(tmp_path: Path) -> None:
    folder = project(tmp_path, common__py=AWARE)
    assert planned_texts(folder, "minimal") == planned_texts(folder, "explicit") == {}
    (folder / "train.py").write_text("import torch\nfrom common import device\nfor x in y:\n    x.cuda()\n")
    texts = planned_texts(folder, "minimal")
    assert sorted(texts) == ["train.py"]
    assert "transfer_to_npu" not in texts["train.py"]
    assert texts["train.py"].endswith("    x.to(DEVICE_TYPE)\n")


def test_that_a_tokenizer_of_transformers_asks_for_nothing(tmp_path: Path) -> None:
    text = "import torch\nfrom transformers import AutoTokenizer\nt = AutoTokenizer()\nx = x.cuda()\n"
    assert with_transfer(project(tmp_path, train__py=text)) == ["train.py"]


@pytest.mark.parametrize("flag", ["--index-url ", "--index-url=", "-i "])
def test_that_an_index_of_cuda_builds_becomes_one_of_cpu_builds_beside_the_usual_one(tmp_path: Path, flag: str) -> None:
    before = f"pip install torch {flag}https://download.pytorch.org/whl/cu118\n"
    expected = before.replace("torch ", "torch torch_npu ", 1).replace(flag.rstrip(" ="), "--extra-index-url")
    assert migrated_text(tmp_path, "minimal", before, "run.sh") == expected.replace("cu118", "cpu")


def test_that_offered_lines_that_were_not_applied_are_counted(tmp_path: Path) -> None:
    folder = project(tmp_path, config__yaml="device: cuda\n")
    assert change_figures(plan_project(folder, "explicit"))["offered"] == 1
