"""For each option of a training: words that ask for it, and words without which it would do nothing."""

from __future__ import annotations

from dataclasses import dataclass

from studio import paths

SPLIT = "--recipe dense --mode graph --parallel semi_auto --workers 4"
LORA = "--framework torch --recipe lora"


@dataclass(frozen=True, kw_only=True)
class Sample:
    """`words` ask for the option, `base` for what it needs; `program` is the line behind them. RUN, RUN2, WEIGHTS,
    FOLDER, PYTHON, MODEL and PARTS are made by the test."""

    words: str
    base: str = ""
    program: str = "-- python train.py"


TRAINING = {
    "framework": Sample(words="--framework torch"),
    "compile": Sample(words="--compile", base="--framework torch"),
    "fused": Sample(words="--fused", base="--framework torch"),
    "initial_weights": Sample(words="--initial-weights portable"),
    "recipe": Sample(words="--recipe linear"),
    "recipe_file": Sample(words=f"--recipe-file {paths.ASSETS}/template/recipe.en.py", base="--recipe own"),
    "corpus": Sample(words="--corpus FOLDER", base="--recipe text"),
    "images": Sample(words="--images FOLDER", base="--recipe resnet50"),
    "base_model": Sample(words="--base-model MODEL", base=LORA),
    "examples": Sample(words="--examples PARTS", base=LORA),
    "context": Sample(words="--context 64", base=LORA),
    "lora_rank": Sample(words="--lora-rank 4", base=LORA),
    "lora_alpha": Sample(words="--lora-alpha 8", base=LORA),
    "weights": Sample(words="--weights WEIGHTS"),
    "loop": Sample(words="--loop cell"),
    "mode": Sample(words="--mode jit"),
    "jit_level": Sample(words="--jit-level O0", base="--mode jit"),
    "device": Sample(words="--device cpu"),
    "batch": Sample(words="--batch 8"),
    "accumulate": Sample(words="--accumulate 2"),
    "sink": Sample(words="--sink", base="--loop model --mode graph"),
    "recompute": Sample(words="--recompute", base="--recipe text"),
    "amp": Sample(words="--amp O2"),
    "amp_dtype": Sample(words="--amp-dtype bf16", base="--amp O2"),
    "loss_scale": Sample(words="--loss-scale static", base="--amp O2"),
    "scale": Sample(words="--scale 8", base="--amp O2 --loss-scale static"),
    "clip": Sample(words="--clip 1"),
    "on_nan": Sample(words="--on-nan skip"),
    "optimizer": Sample(words="--optimizer sgd"),
    "lr": Sample(words="--lr 0.5"),
    "weight_decay": Sample(words="--weight-decay 0.5"),
    "schedule": Sample(words="--schedule cosine"),
    "decay_every": Sample(words="--decay-every 7", base="--schedule step"),
    "decay_rate": Sample(words="--decay-rate 0.5", base="--schedule step"),
    "warmup": Sample(words="--warmup 7"),
    "steps": Sample(words="--steps 7"),
    "epochs": Sample(words="--epochs 3"),
    "seed": Sample(words="--seed 7"),
    "data_workers": Sample(words="--data-workers 2"),
    "prefetch": Sample(words="--prefetch 7", base="--data-workers 2"),
    "drop_remainder": Sample(words="--drop-remainder"),
    "checkpoint_every": Sample(words="--checkpoint-every 7"),
    "checkpoint_minutes": Sample(words="--checkpoint-minutes 7"),
    "keep": Sample(words="--keep 1", base="--checkpoint-every 7"),
    "ckpt": Sample(words="--ckpt", base="--loop model"),
    "best": Sample(words="--best accuracy", base="--checkpoint-every 7"),
    "resume": Sample(words="--resume RUN"),
    "parallel": Sample(words="--parallel data"),
    "workers": Sample(words="--workers 3", base="--parallel data"),
    "launcher": Sample(words="--launcher rank_table", base="--parallel data"),
    "search": Sample(words="--search recursive_programming", base="--recipe dense --mode graph --parallel auto"),
    "strategy": Sample(words="--strategy relu=2x1", base=SPLIT),
    "stages": Sample(words="--stages 4", base="--recipe dense --mode graph --parallel hybrid --workers 4"),
    "pipeline_batches": Sample(words="--pipeline-batches 8", base="--recipe dense --mode graph --parallel hybrid"),
    "optimizer_parallel": Sample(words="--optimizer-parallel", base=SPLIT),
    "fusion": Sample(words="--fusion 7", base="--parallel data"),
    "dataset": Sample(words="--dataset full_batch", base=SPLIT),
    "nodes": Sample(words="--nodes 2", base="--parallel data --master 10.0.0.1"),
    "master": Sample(words="--master 10.0.0.7", base="--parallel data"),
    "port": Sample(words="--port 29777", base="--parallel data"),
    "visible": Sample(words="--visible 0,1", base="--device ascend"),
    "connect_timeout": Sample(words="--connect-timeout 300", base="--parallel data --device ascend"),
    "exec_timeout": Sample(words="--exec-timeout 300", base="--parallel data --device ascend"),
    "buffsize": Sample(words="--buffsize 300", base="--parallel data --device ascend"),
    "deterministic": Sample(words="--deterministic true", base="--parallel data --device ascend"),
    "launch_blocking": Sample(words="--launch-blocking", base="--device cpu"),
    "log_level": Sample(words="--log-level info", base="--device ascend"),
    "alloc_conf": Sample(words="--alloc-conf expandable_segments:True", base="--framework torch --device ascend"),
    "task_queue": Sample(words="--task-queue 2", base="--framework torch --device ascend"),
    "cpu_affinity": Sample(words="--cpu-affinity 1,npu0:0-3", base="--framework torch --device ascend"),
    "synchronous": Sample(words="--synchronous"),
    "debug_port": Sample(words="--debug-port 5678"),
    "capture": Sample(words="--capture profile"),
    "capture_at": Sample(words="--capture-at 7", base="--capture profile"),
    "capture_steps": Sample(words="--capture-steps 7", base="--capture profile"),
    "capture_ranks": Sample(words="--capture-ranks 1", base="--capture profile --parallel data"),
    "capture_task": Sample(words="--capture-task tensor", base="--capture dump"),
    "capture_level": Sample(words="--capture-level mix", base="--capture dump"),
    "capture_targets": Sample(words="--capture-targets Conv2d", base="--capture dump"),
    "capture_direction": Sample(words="--capture-direction forward", base="--capture dump"),
    "capture_casts": Sample(words="--capture-casts", base="--capture dump"),
    "capture_optimizer_state": Sample(words="--capture-optimizer-state", base="--capture dump"),
    "config_pack": Sample(words="--config-pack"),
    "python": Sample(words="--python PYTHON"),
    "env": Sample(words="--env NAME=7"),
}


def _alone(sample: Sample) -> Sample:
    base = sample.base.replace("--parallel data", "").replace("--device ascend", "")
    return Sample(words=sample.words, base=base)


PROGRAM = {
    "line": Sample(words="", program="-- python other.py"),
    "workdir": Sample(words="--workdir FOLDER/bin"),
    "curves": Sample(words="--no-curves"),
    **{
        name: _alone(sample)
        for name, sample in TRAINING.items()
        if name.startswith("capture") or name in ("visible", "env", "config_pack", "python")
    },
}

REHEARSAL = {
    **{name: PROGRAM[name] for name in ("line", "workdir", "python", "env")},
    **{
        name: Sample(words=sample.words, base=f"--steps 20 {sample.base}")
        for name, sample in PROGRAM.items()
        if name.startswith("capture") or name == "config_pack"
    },
    "stance": Sample(words="--as npu"),
    "steps": Sample(words="--steps 7"),
    "host_cards": Sample(words="--cards 2"),
    "npu_device": Sample(words="--npu-device cpu", base="--as npu"),
    "card_memory": Sample(words="--card-memory 32", base="--as npu"),
    "fake": Sample(words="--fake", base="--as npu"),
    "seed": Sample(words="--seed 7"),
}

CAPTURE = {
    "kind": Sample(words="--kind dump"),
    "steps": Sample(words="--steps 7"),
    "at": Sample(words="--at 7"),
    "ranks": Sample(words="--ranks 1"),
    "stacks": Sample(words="--stacks"),
    "task": Sample(words="--task tensor", base="--kind dump"),
    "level": Sample(words="--level mix", base="--kind dump"),
    "targets": Sample(words="--targets Conv2d", base="--kind dump"),
    "direction": Sample(words="--direction forward", base="--kind dump"),
    "casts": Sample(words="--casts", base="--kind dump"),
    "optimizer_state": Sample(words="--optimizer-state", base="--kind dump"),
    "keep_free": Sample(words="--keep-free 7"),
}

EXPORT = {
    "source": Sample(words="--source RUN2", base="--source RUN"),
    "which": Sample(words="--source RUN --which best", base="--source RUN"),
    "out": Sample(words="--source RUN --out FOLDER/out.ckpt", base="--source RUN"),
}

PREVIEW = {
    "network": Sample(words="--network gpt"),
    "layers": Sample(words="--layers 16"),
    "hidden": Sample(words="--hidden 2048"),
    "heads": Sample(words="--heads 16", base="--recomputation none"),
    "kv_heads": Sample(words="--kv-heads 8"),
    "flash": Sample(words="--flash", base="--recomputation none"),
    "gradients": Sample(words="--gradients same"),
    "zero": Sample(words="--zero 2"),
    "overlap": Sample(words="--overlap 0.5"),
    "ffn": Sample(words="--ffn 8192"),
    "vocab": Sample(words="--vocab 50000"),
    "sequence": Sample(words="--sequence 2048"),
    "batch": Sample(words="--batch 2"),
    "micro_batches": Sample(words="--micro-batches 32"),
    "precision": Sample(words="--precision fp32"),
    "optimizer": Sample(words="--optimizer sgd"),
    "recomputation": Sample(words="--recomputation full"),
    "sequence_parallel": Sample(words="--sequence-parallel"),
    "cards": Sample(words="--cards 16"),
    "part": Sample(words="--part atlas-800-a2-376t"),
    "parts": Sample(words="--parts PARTS"),
    "efficiency": Sample(words="--efficiency 0.5"),
    "link_efficiency": Sample(words="--link-efficiency 0.5"),
    "usable": Sample(words="--usable 0.8"),
    "show": Sample(words="--show 2"),
    "shard": Sample(words="--shard 64x128=2x1"),
}
