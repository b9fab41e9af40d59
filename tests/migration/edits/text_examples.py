"""Scripts, configurations and requirements for each template of an edit outside Python."""

from __future__ import annotations

from dataclasses import dataclass

from backends.migration.migrate.text_edits import WHOLE_VALUES
from backends.migration.migrate.variable_edits import VARIABLES


@dataclass(frozen=True, kw_only=True)
class TextExample:
    """`path`: says how the text is read. `on_npu`: what it means on an NPU where that is meant to differ from what it
    means on a GPU with the words of the device replaced; `on_cuda`: what the explicit style's result means there where
    it is meant to differ."""

    path: str
    text: str
    on_npu: object = None
    on_cuda: object = None

    @property
    def name(self) -> str:
        return f"{self.path}: {self.text}"


SCRIPTS = (
    TextExample(path="run.sh", text="python train.py --device cuda --backend=nccl\n"),
    TextExample(path="run.sh", text="bash -c 'python train.py --device cuda'\n"),
    TextExample(path="run.sh", text='DEVICE=cuda:0\npython train.py --device "$DEVICE"\n'),
    TextExample(path="run.sh", text="python train.py trainer.device=cuda\n"),
    TextExample(path="run.sh", text="CUDA_VISIBLE_DEVICES=1 python train.py\n"),
    TextExample(path="run.sh", text="export CUDA_VISIBLE_DEVICES=0,1\npython train.py\n"),
    TextExample(path="run.sh", text='export CUDA_VISIBLE_DEVICES="0"\npython train.py\n'),
    TextExample(path="run.sh", text="for i in 0 1; do\n  CUDA_VISIBLE_DEVICES=$i python train.py\ndone\n"),
    TextExample(path="run.sh", text="export CUDA_VISIBLE_DEVICES=0\n"
        "mpirun -np 2 -x CUDA_VISIBLE_DEVICES python train.py\n"),
    TextExample(path="run.sh", text="nvidia-smi\n", on_npu=["npu-smi info"]),
    TextExample(
        path="run.sh", text="command -v nvidia-smi > there && test -s there && python train.py\n",
    ),
    TextExample(
        path="run.sh", text="pip install torch numpy\n", on_npu=["pip install torch torch_npu numpy"],
    ),
    TextExample(
        path="run.sh", text="pip install torch --index-url https://download.pytorch.org/whl/cu118\n",
        on_npu=["pip install torch torch_npu --extra-index-url https://download.pytorch.org/whl/cpu"],
    ),
)  # fmt: skip
_OTHER_VALUES = {
    value: (
        TextExample(
            path="a.json",
            text=f'{{"attn_implementation": "{value}"}}',
            on_npu={"attn_implementation": npu},
            on_cuda={"attn_implementation": npu},
        )
        if npu == "sdpa"
        else TextExample(
            path="run.sh",
            text=f"python train.py --accelerator {value}\n",
            on_npu=[f"python train.py --accelerator {npu}"],
        )
        if value.islower()
        else TextExample(path="a.yaml", text=f"distributed_type: {value}\n", on_npu={"distributed_type": npu})
    )
    for value, npu in WHOLE_VALUES.items()
}
CONFIGURATIONS = (
    TextExample(path="a.yaml", text="device: cuda:0\nbackend: nccl\n"),
    TextExample(path="a.json", text='{"device": "cuda"}'),
    TextExample(path="a.yaml", text="args: [--device, cuda]\n"),
    *_OTHER_VALUES.values(),
)
ENVIRONMENTS = tuple(
    example
    for name, other in VARIABLES.items()
    for example in (
        TextExample(path=".env", text=f"{name}=1\n", on_npu={other: "1"}),
        TextExample(
            path="compose.yml", text=f"services:\n  a:\n    environment:\n      - {name}=1\n",
            on_npu={"services": {"a": {"environment": {other: "1"}}}},
        ),
        TextExample(
            path="pod.yaml", text=f"env:\n- name: {name}\n  value: '1'\n"
                "", on_npu={"env": [{"name": other, "value": "1"}]},
        ),
    )
)  # fmt: skip
REQUIREMENTS = (
    TextExample(path="requirements.txt", text="numpy\ntorch==2.6.0\n"
        "", on_npu=["numpy", "torch==2.6.0", "torch_npu==2.6.0.*"]),
    TextExample(path="requirements.txt", text="torch==2.6.0+cu118\n", on_npu=["torch==2.6.0", "torch_npu==2.6.0.*"]),
    TextExample(path="requirements.txt", text="torch>=2.6\n", on_npu=["torch>=2.6", "torch_npu>=2.6"]),
)  # fmt: skip
TEXTS = SCRIPTS + CONFIGURATIONS + ENVIRONMENTS + REQUIREMENTS
