"""The public trainings of `prove virtual_npu`: pytorch/examples, nanoGPT and others, how each is run and on what data.

None of their code is in the repository. Edits make them small, give them data that is made here, or take the CPU in the
run that they are compared to.
"""

# ruff: noqa: E501 - the rows quote lines of the projects as they are

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.prove.migration import EXCLUDED
from tests.prove.support import trainings_data as data
from tests.prove.support.projects import PROJECTS, Project

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Edit = tuple[str, str, str]
"""File of the project, what stands there, what is to stand there."""


@dataclass(frozen=True, kw_only=True)
class Training:
    """`folder`: of the project below the folder of all; `line`: of a host with CUDA, started in `start` of the project.
    `cpu_line`: the same on the CPU, where it differs; `npu_line`: of the explicit result, where a device is named on it.
    `edits`: in both runs; `on_cpu`: in the one on the CPU alone, None
    where only a rehearsal takes the CPU. `refusal`: what a card refuses it with;
    `minimal_refusal`: what it refuses the minimal style with. `is_repeatable`: whether two runs on the CPU are equal.
    `note`: what is not as one expects."""

    name: str
    folder: str
    line: str
    start: str = ""
    cpu_line: str = ""
    npu_line: str = ""
    edits: tuple[Edit, ...] = ()
    on_cpu: tuple[Edit, ...] | None = ()
    make_data: Callable[[Path], None] = data.nothing
    cards: int = 1
    steps: int = 3
    refusal: str = ""
    minimal_refusal: str = ""
    is_repeatable: bool = True
    note: str = ""


_ACCELERATOR = "torch.accelerator.current_accelerator()"
_CPU = 'torch.device("cpu")'
_FUSED = "with an accelerator it takes fused AdamW; the run on the CPU is made to take it too"
_LOSS = "the CPU's autocast takes float32 for the whole cross entropy, a card's for its second half: the CPU is made to"
_IN_HALVES = "F.nll_loss(torch.autocast('cpu', enabled=False)(F.log_softmax)({}, 1).float(), {})"
_LOSS_OF_CARD = (
    (
        "model.py", "F.cross_entropy(logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1)",
        _IN_HALVES.format("logits.view(-1, logits.size(-1))", "targets.view(-1), ignore_index=-1"),
    ),
)  # fmt: skip
_NO_EVALUATION = "if trainer.iter_num % 500 == 0:", "if trainer.iter_num % 500 == 499:"
_NO_SPARSE = "A card takes no sparse tensor"
_SPARSE = "its graph is a sparse tensor, which torch_npu refuses"


def of_project(project: Project) -> Training:
    """Return a training of `prove scripts`."""
    is_own = project.equal == "own"
    on_cpu = [(project.file, old, new) for old, new in project.on_cpu] if project.equal else None
    note = project.why
    if project.folder == "nanoGPT":
        on_cpu = [(path, old, new.replace("bfloat16", "float16") if project.name == "nanoGPT fp16" else new)
                  for path, old, new in on_cpu or ()]  # fmt: skip
        on_cpu += [("model.py", "device_type == 'cuda'", "True"), *(_LOSS_OF_CARD if _is_mixed(project) else ())]
        note = f"{note}; {_FUSED}" if note else _FUSED
        note += f"; {_LOSS}" if _is_mixed(project) else ""
    return Training(
        name=project.name, folder=project.folder, line=project.cuda, cpu_line=project.cpu if is_own else "",
        edits=tuple((project.file, old, new) for old, new in project.seeds),
        on_cpu=None if on_cpu is None else tuple(on_cpu), make_data=data.of_examples, cards=project.cards,
        steps=project.steps, is_repeatable=project.name not in EXCLUDED, note=note,
    )  # fmt: skip


def _is_mixed(project: Project) -> bool:
    return project.name in ("nanoGPT bf16", "nanoGPT fp16")


_EXAMPLES = (
    Training(
        name="mnist_rnn", folder="examples/mnist_rnn", make_data=data.of_examples,
        line="python main.py --batch-size 8 --epochs 1 --log-interval 1 --accel",
        cpu_line="python main.py --batch-size 8 --epochs 1 --log-interval 1",
    ),
    Training(
        name="word_language_model, Transformer", folder="examples/word_language_model", make_data=data.of_examples,
        line="python main.py --epochs 1 --model Transformer --emsize 32 --nhid 32 --nhead 2 --accel",
        cpu_line="python main.py --epochs 1 --model Transformer --emsize 32 --nhid 32 --nhead 2",
    ),
    Training(
        name="gat", folder="examples/gat", make_data=data.cora,
        line="python main.py --num-heads 2 --hidden-dim 8", cpu_line="python main.py --num-heads 2 --hidden-dim 8 --no-accel",
    ),
    Training(
        name="gcn", folder="examples/gcn", make_data=data.cora, line="python main.py", cpu_line="python main.py --no-accel",
        edits=(("main.py", "with requests.get(cora_url, stream=True) as tgz_file:", "if False:"),),
        refusal=_NO_SPARSE, note=_SPARSE,
    ),
    Training(
        name="distributed/minGPT-ddp", folder="examples/distributed/minGPT-ddp", start="mingpt", cards=2,
        make_data=lambda place: data.text(place / "mingpt" / "input.txt"),
        line="torchrun --standalone --nproc_per_node=2 main.py data_config.path=input.txt data_config.block_size=16"
        " data_config.truncate=1.0 gpt_config.n_layer=2 gpt_config.n_head=2 gpt_config.n_embd=32"
        " trainer_config.batch_size=8 trainer_config.data_loader_workers=1 trainer_config.use_amp=False",
        edits=(("mingpt/trainer.py", "import boto3", "boto3 = None"),),
        on_cpu=(
            ("mingpt/main.py", "if not verify_min_gpu_count", "if False and not verify_min_gpu_count"),
            ("mingpt/main.py", _ACCELERATOR, _CPU), ("mingpt/main.py", 'f"{acc}:{rank}"', '"cpu"'),
            ("mingpt/main.py", "torch.accelerator.set_device_index(rank)", "pass"),
            ("mingpt/trainer.py", _ACCELERATOR, _CPU), ("mingpt/trainer.py", 'f"{self.acc}:{self.local_rank}"', '"cpu"'),
            ("mingpt/trainer.py", ".to(self.local_rank)", ""), ("mingpt/trainer.py", ", device_ids=[self.local_rank]", ""),
        ),
    ),
    Training(
        name="distributed/tensor_parallelism", folder="examples/distributed/tensor_parallelism", cards=2,
        line="torchrun --standalone --nproc_per_node=2 tensor_parallel_example.py",
        on_cpu=(
            ("tensor_parallel_example.py", "if not verify_min_gpu_count", "if False and not verify_min_gpu_count"),
            ("tensor_parallel_example.py", _ACCELERATOR, _CPU),
        ),
    ),
    Training(
        name="distributed/sequence_parallelism", folder="examples/distributed/tensor_parallelism", cards=2,
        line="torchrun --standalone --nproc_per_node=2 sequence_parallel_example.py",
        on_cpu=(
            ("sequence_parallel_example.py", "if not verify_min_gpu_count", "if False and not verify_min_gpu_count"),
            ("sequence_parallel_example.py", _ACCELERATOR, _CPU),
        ),
    ),
    Training(
        name="distributed/FSDP2 with tensor parallel", folder="examples/distributed/tensor_parallelism", cards=2,
        line="torchrun --standalone --nproc_per_node=2 fsdp_tp_example.py",
        edits=(
            ("fsdp_tp_example.py", "_min_gpu_count = 4", "_min_gpu_count = 2"),
            ("fsdp_tp_example.py", "dim=256, n_layers=2, n_heads=16, vocab_size=32000", "dim=64, n_layers=2, n_heads=4, vocab_size=320"),
            ("fsdp_tp_example.py", "torch.randint(32000, (8, 256)", "torch.randint(320, (2, 32)"),
        ),
        on_cpu=(
            ("llama2_model.py", "F.scaled_dot_product_attention(xq, xk, xv, is_causal=True)",
             "torch.ops.aten._scaled_dot_product_attention_math(xq, xk, xv, is_causal=True)[0]"),
            ("fsdp_tp_example.py", "if not verify_min_gpu_count", "if False and not verify_min_gpu_count"),
            ("fsdp_tp_example.py", _ACCELERATOR, _CPU),
        ),
        note="DTensor has no rule for the CPU's own attention: both sides take the formula",
    ),
)  # fmt: skip

_SMALL_UNET = (
    ("train.py", "os.cpu_count()", "1"),
    *(("unet/unet_model.py", str(width), str(width // 8)) for width in (64, 128, 256, 512, 1024)),
)
_CIFAR = "torchvision.datasets.FakeData(64, (3, 32, 32), 10"
_OTHERS = (
    Training(
        name="minGPT adder", folder="minGPT", edits=(("projects/adder/adder.py", *_NO_EVALUATION),),
        line="python -m projects.adder.adder --trainer.max_iters=4 --trainer.num_workers=1 --trainer.batch_size=8",
    ),
    Training(
        name="minGPT chargpt", folder="minGPT", edits=(("projects/chargpt/chargpt.py", *_NO_EVALUATION),), make_data=lambda place: data.text(place / "input.txt"),
        line="python -m projects.chargpt.chargpt --trainer.max_iters=4 --trainer.num_workers=1 --trainer.batch_size=4"
        " --model.model_type=gpt-nano --data.block_size=32",
    ),
    Training(
        name="makemore, transformer", folder="makemore",
        line="python makemore.py --device cuda -n 1 --max-steps 4",
        npu_line="python makemore.py --device npu -n 1 --max-steps 4", cpu_line="python makemore.py --device cpu -n 1 --max-steps 4",
    ),
    Training(
        name="makemore, gru", folder="makemore", line="python makemore.py --type gru --device cuda:0 -n 1 --max-steps 4",
        npu_line="python makemore.py --type gru --device npu:0 -n 1 --max-steps 4",
        cpu_line="python makemore.py --type gru --device cpu -n 1 --max-steps 4",
    ),
    Training(
        name="pytorch-cifar", folder="pytorch-cifar", line="python main.py",
        edits=(
            ("main.py", "torchvision.datasets.CIFAR10(\n    root='./data', train=True, download=True", _CIFAR),
            ("main.py", "torchvision.datasets.CIFAR10(\n    root='./data', train=False, download=True", _CIFAR),
            ("main.py", "net = SimpleDLA()", "net = ResNet18()"), ("main.py", "batch_size=128", "batch_size=4"),
            ("main.py", "progress_bar(batch_idx", "0 and (batch_idx"),
            ("utils.py", "os.popen('stty size', 'r').read().split()", "24, 80"),
        ),
        minimal_refusal="unsupported operand type(s) for /",
        note="DataParallel, which torch_npu does not support: under transfer_to_npu torch divides numbers of CUDA's that a"
        " card has not",
    ),
    Training(
        name="pygcn", folder="pygcn", start="pygcn", line="python train.py", cpu_line="python train.py --no-cuda",
        edits=(("pygcn/train.py", "import argparse", "import argparse, sys; sys.path.insert(0, '..')"),),
        make_data=data.pygcn, refusal=_NO_SPARSE, note=_SPARSE,
    ),
    Training(
        name="Pytorch-UNet", folder="Pytorch-UNet", make_data=data.masks, line="python train.py --batch-size 2 --scale 1",
        edits=_SMALL_UNET,
    ),
    Training(
        name="Pytorch-UNet, amp", folder="Pytorch-UNet", make_data=data.masks,
        line="python train.py --batch-size 2 --scale 1 --amp", edits=_SMALL_UNET,
        on_cpu=(
            ("train.py", "torch.autocast(device.type if device.type != 'mps' else 'cpu',", "torch.autocast('cpu', torch.float16,"),
            ("train.py", "torch.cuda.amp.GradScaler(", "torch.amp.GradScaler('cpu', "),
            ("train.py", "criterion = nn.CrossEntropyLoss()", "criterion = lambda x, y: " + _IN_HALVES.format("x", "y")),
        ),
        note="its CPU path is in bfloat16 and without a scaler; the run on the CPU is made to take float16 and one; " + _LOSS,
    ),
    *(
        Training(
            name=f"PyTorch-GAN {name}", folder="PyTorch-GAN", start=f"implementations/{name}",
            line=f"python {name}.py --batch_size 8 --n_epochs 1", make_data=data.mnist_of_gan,
        )
        for name in ("gan", "wgan_gp", "cgan", "infogan", "aae")
    ),
    Training(
        name="pytorch-tutorial, language model", folder="pytorch-tutorial",
        start="tutorials/02-intermediate/language_model", line="python main.py", make_data=data.words_of_tutorial,
        edits=(
            ("tutorials/02-intermediate/language_model/main.py", "hidden_size = 1024", "hidden_size = 32"),
            ("tutorials/02-intermediate/language_model/main.py", "num_epochs = 5", "num_epochs = 1"),
        ),
    ),
    Training(
        name="pytorch-tutorial, bidirectional LSTM", folder="pytorch-tutorial", make_data=data.mnist_of_tutorial,
        start="tutorials/02-intermediate/bidirectional_recurrent_neural_network", line="python main.py",
        edits=(("tutorials/02-intermediate/bidirectional_recurrent_neural_network/main.py", "batch_size = 100", "batch_size = 8"),),
    ),
    Training(
        name="pytorch-tutorial, variational autoencoder", folder="pytorch-tutorial", make_data=data.mnist_of_tutorial,
        start="tutorials/03-advanced/variational_autoencoder", line="python main.py",
        edits=(("tutorials/03-advanced/variational_autoencoder/main.py", "batch_size = 128", "batch_size = 8"),),
    ),
    Training(
        name="TD3", folder="TD3", make_data=data.gym,
        line="python main.py --start_timesteps 20 --eval_freq 1000 --max_timesteps 30 --batch_size 16 --env Point-v0",
    ),
    Training(
        name="TD3, DDPG", folder="TD3", make_data=data.gym,
        line="python main.py --policy DDPG --start_timesteps 20 --max_timesteps 30 --batch_size 16 --env Point-v0",
    ),
    Training(
        name="vit-pytorch, train_vit_decorr", folder="vit-pytorch", make_data=data.wandb, line="python train_vit_decorr.py",
        edits=(
            ("train_vit_decorr.py", "from torchvision.datasets import CIFAR100", "from torchvision.datasets import FakeData"),
            ("train_vit_decorr.py", "dataset = CIFAR100(\n    root = 'data',\n    download = True,\n    train = True,\n",
             "dataset = FakeData(\n    64, (3, 32, 32), 100,\n"),
            ("train_vit_decorr.py", "BATCH_SIZE = 32", "BATCH_SIZE = 4"), ("train_vit_decorr.py", "dim = 128,", "dim = 32,"),
        ),
        note="accelerate chooses the device",
    ),
    Training(
        name="denoising-diffusion-pytorch, 1d", folder="denoising-diffusion-pytorch", make_data=data.diffusion_1d,
        line="python train_1d.py", note="trained by a script of a few lines after its README",
    ),
    Training(
        name="DiT", folder="DiT", make_data=data.images, cards=2,
        line="torchrun --standalone --nproc_per_node=2 train.py --model DiT-S/8 --data-path images --num-classes 2"
        " --global-batch-size 4 --num-workers 1",
        on_cpu=(
            ("train.py", "assert torch.cuda.is_available()", "assert True"), ("train.py", '"nccl"', '"gloo"'),
            ("train.py", "rank % torch.cuda.device_count()", '"cpu"'), ("train.py", "torch.cuda.set_device(device)", "pass"),
            ("train.py", ", device_ids=[rank]", ""),
        ),
        edits=(("models.py", "depth=12, hidden_size=384, patch_size=8, num_heads=6", "depth=2, hidden_size=48, patch_size=8, num_heads=2"),),
        note="its pretrained encoder of images is replaced by a mean over patches",
    ),
    Training(
        name="cleanrl ppo", folder="cleanrl",
        line="python cleanrl/ppo.py --num-envs 2 --num-steps 16 --num-minibatches 2 --update-epochs 2 --total-timesteps 64",
        cpu_line="python cleanrl/ppo.py --num-envs 2 --num-steps 16 --num-minibatches 2 --update-epochs 2"
        " --total-timesteps 64 --no-cuda",
    ),
    Training(
        name="accelerate, cv_example", folder="accelerate", start="examples", make_data=data.labelled_images,
        line="python cv_example.py --data_dir images", cpu_line="python cv_example.py --data_dir images --cpu",
        edits=(
            ("examples/cv_example.py", '"resnet50d", pretrained=True', '"resnet10t", pretrained=False'),
            ("examples/cv_example.py", '"image_size": 224', '"image_size": 32'),
            ("examples/cv_example.py", '"batch_size": 64', '"batch_size": 4'),
            ("examples/cv_example.py", "num_workers=4", "num_workers=1"),
        ),
        note="accelerate chooses the device",
    ),
    Training(
        name="transformers Trainer, GPT-2", folder="", make_data=data.language_model, line="python train_clm.py",
        note="a script of a few lines: a small GPT-2 with random weights by the Trainer of transformers",
    ),
)  # fmt: skip

TRAININGS = (*map(of_project, PROJECTS), *_EXAMPLES, *_OTHERS)
