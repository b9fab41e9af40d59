"""What a training is asked to be. Empty values follow from the recipe (`recipes.resolved`)."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from backends.launch import (
    ascend_env,
    checkpoints,
    framework_rules,
    idle_options,
    launchers,
    master_address,
    recipes,
    split_rules,
)
from backends.launch.capture.spec import FIRST_PROFILED, Planned, capture_of, is_rank_list, planned_problems, ranks_of
from studio.environment import is_secret
from studio.schema import Problem, option

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, kw_only=True)
class What:
    framework: Literal["mindspore", "torch"] = option("mindspore", about="torch: PyTorch, with torch_npu on Ascend")
    recipe: Literal["linear", "digits", "text", "dense", "resnet50", "lora", "own"] = option(
        "digits",
        choices_when=("framework", {"mindspore": ("linear", "digits", "text", "dense", "resnet50", "own")}),
    )
    recipe_file: Path = option(
        Path(),
        wants="file",
        visible_when=("recipe", ("own",)),
        about='for recipe "own": a Python file with build(config)',
    )
    corpus: Path = option(Path(), visible_when=("recipe", ("text",)), about='folder with the text for recipe "text"')
    images: Path = option(
        Path(),
        visible_when=("recipe", ("resnet50",)),
        about='for recipe "resnet50": folder of CIFAR-10\'s binary files',
    )
    base_model: Path = option(
        Path(), visible_when=("recipe", ("lora",)), about='for recipe "lora": folder of a Hugging Face model'
    )
    examples: Path = option(
        Path(), wants="file", visible_when=("recipe", ("lora",)), about="JSON lines with prompt and completion"
    )
    context: int = option(
        128, unit="tokens", low=8, high=65536, visible_when=("recipe", ("lora",)), about="tokens of a sample"
    )
    lora_rank: int = option(8, low=1, high=4096, visible_when=("recipe", ("lora",)), about="of the trained matrices")
    lora_alpha: float = option(
        16.0, above=0, high=65536, visible_when=("recipe", ("lora",)), about="what they are scaled by, over the rank"
    )
    weights: Path = option(
        Path(), wants="file", about=".safetensors, .ckpt of MindSpore or .pth of PyTorch to start from"
    )


@dataclass(frozen=True, kw_only=True)
class How:
    loop: Literal["functional", "cell", "model"] = option(
        "functional",
        visible_when=("framework", ("mindspore",)),
        about="cell: an nn.Cell that does the step; model: Model.train",
    )
    mode: Literal["pynative", "jit", "graph"] = option("pynative", visible_when=("framework", ("mindspore",)))
    compile: bool = option(
        False, visible_when=("framework", ("torch",)), about="torch.compile of the network: operators become kernels"
    )
    jit_level: Literal["O0", "O1", "O2"] | None = option(
        None, visible_when=("mode", ("jit", "graph")), about="empty leaves it to MindSpore"
    )
    device: Literal["auto", "cpu", "ascend", "virtual_npu"] = option(
        "auto", choices_when=("framework", {"mindspore": ("auto", "cpu", "ascend")})
    )
    batch: int | None = option(None, unit="samples", low=1, high=65536, about="samples of one micro batch")
    accumulate: int = option(1, unit="micro_batches", low=1, high=1024, about="micro batches of one optimizer step")
    sink: bool = option(
        False, visible_when=("loop", ("model",)), about="Model.train feeds the device in a queue of its own"
    )
    recompute: bool = option(False, about="activations are computed again instead of kept")


LOWER = ("O1", "O2", "O3", "auto")


@dataclass(frozen=True, kw_only=True)
class Precision:
    amp: Literal["O0", "O1", "O2", "O3", "auto"] = option(
        "O0",
        choices_when=("framework", {"torch": ("O0", "O1")}),
        about="O0: float32; the others: more or less of it in amp_dtype",
    )
    amp_dtype: Literal["fp16", "bf16"] = option("fp16", visible_when=("amp", LOWER))
    loss_scale: Literal["none", "static", "dynamic"] | None = option(None, visible_when=("amp", LOWER))
    scale: float = option(
        1024.0,
        low=1,
        high=2**24,
        visible_when=("loss_scale", ("static", "dynamic")),
        about="the static loss scale, or the first of a dynamic one",
    )
    clip: float | None = option(None, above=0, high=1_000_000, about="largest global norm of the gradients")
    on_nan: Literal["stop", "skip", "go_on"] = option("stop")


@dataclass(frozen=True, kw_only=True)
class Learning:
    optimizer: Literal["sgd", "momentum", "adam", "adamw"] | None = option(None)
    fused: bool = option(
        False, visible_when=("framework", ("torch",)), about="one kernel updates many parameters at once"
    )
    lr: float | None = option(None, above=0, high=100)
    weight_decay: float | None = option(None, low=0, high=1)
    schedule: Literal["constant", "step", "cosine"] = option("constant")
    decay_every: int = option(
        100,
        unit="steps",
        low=1,
        high=100_000_000,
        visible_when=("schedule", ("step",)),
        about='steps from one to the next fall of schedule "step"',
    )
    decay_rate: float = option(
        0.1,
        above=0,
        high=1,
        visible_when=("schedule", ("step",)),
        about="what each of them multiplies the learning rate by",
    )
    warmup: int = option(0, unit="steps", low=0, high=100_000_000, about="steps over which the learning rate rises")
    initial_weights: Literal["framework", "portable"] = option(
        "framework",
        choices_when=("recipe", {"lora": ("framework",)}),  # it begins with the weights of a base model
        about="portable: drawn by numpy from the seed, the same in MindSpore and PyTorch",
    )
    steps: int | None = option(None, unit="steps", low=1, high=100_000_000, about="optimizer steps")
    epochs: float | None = option(None, unit="epochs", above=0, high=1_000_000)
    seed: int = option(1, low=0, high=2**31 - 1)


@dataclass(frozen=True, kw_only=True)
class Keep:
    checkpoint_every: int | None = option(None, unit="steps", low=1, high=100_000_000, about="steps")
    checkpoint_minutes: float | None = option(None, unit="minutes", above=0, high=1_000_000)
    keep: int = option(3, unit="checkpoints", low=1, high=1000, about="newest checkpoints")
    ckpt: bool = option(False, visible_when=("loop", ("model",)), about="ModelCheckpoint's files too")
    best: Literal["none", "loss", "accuracy", "eval_loss"] = option(
        "none", about="metric whose best checkpoint is kept too"
    )
    resume: Path = option(Path(), wants="run", about="run to resume from")


MAX_THREADS = 256


@dataclass(frozen=True, kw_only=True)
class Data:
    data_workers: int = option(
        0,
        unit="threads",
        low=0,
        high=MAX_THREADS,
        about="threads that read micro batches ahead; 0: the training's own",
    )
    prefetch: int = option(
        2,
        unit="micro_batches",
        low=1,
        high=1024,
        visible_when=("data_workers", tuple(range(1, MAX_THREADS + 1))),
        about="micro batches read ahead",
    )
    drop_remainder: bool = option(False, about="leave out the samples of an epoch that fill no whole step")


SPLIT = ("semi_auto", "auto", "hybrid")
"""MindSpore divides the network itself, on Ascend."""
TOGETHER = ("data", *SPLIT, "fsdp", "tensor")
FUSED = ("data", *SPLIT)


@dataclass(frozen=True, kw_only=True)
class Parallel:
    parallel: Literal["none", "data", "semi_auto", "auto", "hybrid", "fsdp", "tensor"] = option(
        "none",
        choices_when=(
            "framework", {"mindspore": ("none", "data", *SPLIT), "torch": ("none", "data", "fsdp", "tensor")}
        ),
    )  # fmt: skip
    workers: int = option(
        2,
        unit="processes",
        low=1,
        high=1024,
        visible_when=("parallel", TOGETHER),
        about="processes that train together, one device each",
    )
    launcher: Literal["msrun", "mpirun", "rank_table", "torchrun"] | None = option(
        None,
        visible_when=("parallel", TOGETHER),
        choices_when=("framework", {"mindspore": ("msrun", "mpirun", "rank_table"), "torch": ("torchrun",)}),
        about="empty: msrun for MindSpore, torchrun for PyTorch",
    )
    search: Literal["sharding_propagation", "dynamic_programming", "recursive_programming"] = option(
        "sharding_propagation", visible_when=("parallel", ("auto",)), about='for parallel "auto"'
    )
    strategy: tuple[tuple[str, str], ...] = option(
        (), visible_when=("parallel", SPLIT), about="OPERATOR=2x1,1x4 for Primitive.shard"
    )
    stages: int = option(2, low=2, high=1024, visible_when=("parallel", ("hybrid",)), about="of a pipeline")
    pipeline_batches: int = option(
        4,
        unit="micro_batches",
        low=1,
        high=65536,
        visible_when=("parallel", ("hybrid",)),
        about="micro batches that are in the pipeline at once",
    )
    optimizer_parallel: bool = option(False, visible_when=("parallel", SPLIT))
    fusion: int | None = option(
        None,
        unit="mb",
        low=1,
        high=65536,
        visible_when=("parallel", FUSED),
        about="MB of gradients in one communication",
    )
    dataset: Literal["data_parallel", "full_batch"] = option("data_parallel", visible_when=("parallel", SPLIT))
    nodes: int = option(1, low=1, high=1024, visible_when=("parallel", TOGETHER))
    master: str = option("", visible_when=("launcher", (None, "msrun", "torchrun", "rank_table")))
    port: int | None = option(None, low=1024, high=65535, visible_when=("launcher", (None, "msrun", "torchrun")))


@dataclass(frozen=True, kw_only=True)
class Ascend:
    """Set in the training's environment where they are given; HCCL's and CANN's own defaults otherwise. A process that
    trains alone has no communicator, so what HCCL reads is asked for only where several train together."""

    visible: str = option("")
    connect_timeout: int | None = option(None, unit="seconds", low=120, high=7200, visible_when=("parallel", TOGETHER))
    exec_timeout: int | None = option(None, unit="seconds", low=0, high=2147483647, visible_when=("parallel", TOGETHER))
    buffsize: int | None = option(None, unit="mb", low=1, high=65536, visible_when=("parallel", TOGETHER))
    deterministic: Literal["false", "true", "strict"] | None = option(None, visible_when=("parallel", TOGETHER))
    launch_blocking: bool = option(False)
    log_level: Literal["debug", "info", "warning", "error", "none"] | None = option(None)
    alloc_conf: str = option("", visible_when=("framework", ("torch",)))
    task_queue: Literal["0", "1", "2"] | None = option(None, visible_when=("framework", ("torch",)))
    cpu_affinity: str = option("", visible_when=("framework", ("torch",)))


@dataclass(frozen=True, kw_only=True)
class Debug:
    synchronous: bool = option(False, visible_when=("mode", ("pynative",)), about="PyNative waits for each operator")
    debug_port: int | None = option(
        None, low=1024, high=64511, about="debugpy listens there, on 127.0.0.1"
    )  # and 1024 processes have one each


@dataclass(frozen=True, kw_only=True)
class Advanced:
    python: Path = option(Path(), wants="file")
    grace: float = option(60.0, unit="seconds", low=0, high=86400)
    env: tuple[tuple[str, str], ...] = option(())


def _length_is_unique(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.learning.steps is not None and spec.learning.epochs is not None:
        yield Problem(field="epochs", rule="launch.rule.steps_or_epochs")


def _epochs_need_a_size(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.learning.epochs is not None and recipes.RECIPES[spec.what.recipe].samples is None:
        yield Problem(field="epochs", rule="launch.rule.no_epochs")


def _batch_fits(spec: LaunchSpec) -> Iterable[Problem]:
    recipe = recipes.RECIPES[spec.what.recipe]
    batch = recipes.resolved(spec).global_batch
    if recipe.samples is not None and batch > recipe.samples:
        args = {"batch": batch, "samples": recipe.samples}
        yield Problem(field="batch", rule="launch.rule.batch_over_data", args=args)


def _bf16_has_a_device(spec: LaunchSpec) -> Iterable[Problem]:
    """PyTorch's autocast has bfloat16 on a CPU, too."""
    if spec.how.device == "cpu" and spec.precision.amp_dtype == "bf16" and spec.what.framework == "mindspore":
        yield Problem(field="amp_dtype", rule="launch.no_bf16")


def _o2_has_a_compiler(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.how.jit_level == "O2" and (spec.how.device == "cpu" or spec.how.mode != "graph"):
        yield Problem(field="jit_level", rule="launch.no_o2")


def _warmup_ends(spec: LaunchSpec) -> Iterable[Problem]:
    steps = recipes.resolved(spec).steps
    if spec.learning.warmup > steps:
        yield Problem(field="warmup", rule="launch.rule.warmup_over_steps", args={"steps": steps})


def _corpus_exists(spec: LaunchSpec) -> Iterable[Problem]:
    corpus = spec.what.corpus
    if spec.what.recipe == "text" and corpus != Path() and not corpus.is_dir():
        yield Problem(field="corpus", rule="launch.rule.no_folder", args={"path": str(corpus)})


def _python_exists(spec: LaunchSpec) -> Iterable[Problem]:
    python = spec.advanced.python
    if python != Path() and not python.is_file():
        yield Problem(field="python", rule="launch.rule.no_file", args={"path": str(python)})


def _recipe_file_exists(spec: LaunchSpec) -> Iterable[Problem]:
    file = spec.what.recipe_file
    if spec.what.recipe == "own" and file == Path():
        yield Problem(field="recipe_file", rule="launch.rule.no_recipe_file")
    elif spec.what.recipe == "own" and not file.is_file():
        yield Problem(field="recipe_file", rule="launch.rule.no_file", args={"path": str(file)})


def _fine_tuning_inputs_exist(spec: LaunchSpec) -> Iterable[Problem]:
    base, examples = spec.what.base_model, spec.what.examples
    if base != Path() and not (base / "config.json").is_file():
        yield Problem(field="base_model", rule="launch.rule.no_base", args={"path": str(base)})
    if examples != Path() and not examples.is_file():
        yield Problem(field="examples", rule="launch.rule.no_file", args={"path": str(examples)})


def _images_exist(spec: LaunchSpec) -> Iterable[Problem]:
    images = spec.what.images
    if images != Path() and not images.is_dir():
        yield Problem(field="images", rule="launch.rule.no_folder", args={"path": str(images)})


FRAMEWORKS = {"mindspore": "MindSpore", "torch": "PyTorch"}
WEIGHT_FILES = {
    "mindspore": (".safetensors", ".ckpt"),
    "torch": (".safetensors", ".pth", ".pt", ".bin"),
}
"""How the names of files end that a framework's training can start from."""


def _accepted_files(spec: LaunchSpec) -> dict[str, str]:
    framework = spec.what.framework
    suffixes = ", ".join(WEIGHT_FILES[framework])
    return {"path": str(spec.what.weights), "framework": FRAMEWORKS[framework], "suffixes": suffixes}


def _weights_exist(spec: LaunchSpec) -> Iterable[Problem]:
    """A file that the framework reads, or the folder of a checkpoint or a run."""
    weights = spec.what.weights
    if weights == Path():
        return
    if spec.keep.resume != Path():
        yield Problem(field="weights", rule="launch.rule.weights_and_resume")
    elif not weights.exists():
        yield Problem(field="weights", rule="launch.rule.no_file", args={"path": str(weights)})
    elif weights.is_file() and weights.suffix not in WEIGHT_FILES[spec.what.framework]:
        yield Problem(field="weights", rule="launch.rule.no_weights", args=_accepted_files(spec))


def _best_is_measured(spec: LaunchSpec) -> Iterable[Problem]:
    """What an own recipe measures is known when it runs."""
    measured = recipes.metrics_of(spec)
    if measured and spec.keep.best not in ("none", *measured):
        args = {"metric": spec.keep.best, "measured": ", ".join(measured)}
        yield Problem(field="best", rule="launch.rule.no_metric", args=args)


def _best_has_rivals(spec: LaunchSpec) -> Iterable[Problem]:
    """The loss is there after every step: only among checkpoints that are due does the best one mean anything."""
    keep = spec.keep
    is_best_loss = keep.best == "loss" and spec.parallel.parallel not in SPLIT
    if is_best_loss and keep.checkpoint_every is None and keep.checkpoint_minutes is None:
        yield Problem(field="best", rule="launch.rule.best_of_one")


def _resume_has_a_checkpoint(spec: LaunchSpec) -> Iterable[Problem]:
    run = spec.keep.resume
    if run != Path() and not (run / "artifacts" / "checkpoints" / "last").is_file():
        yield Problem(field="resume", rule="launch.no_checkpoint", args={"run": str(run)})


def _steps_are_left(spec: LaunchSpec) -> Iterable[Problem]:
    done = None if spec.keep.resume == Path() else checkpoints.step_of(spec.keep.resume)
    steps = recipes.resolved(spec).steps
    if done is not None and done >= steps:
        yield Problem(field="steps", rule="launch.nothing_left", args={"step": done, "steps": steps})


def _no_secrets(spec: LaunchSpec) -> Iterable[Problem]:
    for name, _ in spec.advanced.env:
        if is_secret(name):
            yield Problem(field="env", rule="launch.rule.secret", args={"name": name})


def _launcher_exists(spec: LaunchSpec) -> Iterable[Problem]:
    yield from launchers.launcher_problems(spec)


def _dump_sees_operators(spec: LaunchSpec) -> Iterable[Problem]:
    """Those of a compiled step run outside of Python."""
    yield from planned_problems(spec.planned)
    if spec.planned.capture == "dump" and (spec.how.mode != "pynative" or spec.how.compile):
        yield Problem(field="capture", rule="capture.rule.pynative")


def _sink_has_a_queue(spec: LaunchSpec) -> Iterable[Problem]:
    if not spec.how.sink or spec.how.loop != "model":
        return
    if spec.how.device == "cpu" or spec.how.mode != "graph":
        yield Problem(field="sink", rule="launch.no_sink")
    elif spec.how.accumulate > 1 and recipes.RECIPES[spec.what.recipe].has_dropout:
        yield Problem(field="sink", rule="launch.no_sink_between", args={"accumulate": spec.how.accumulate})


def _recompute_has_cells(spec: LaunchSpec) -> Iterable[Problem]:
    if not spec.how.recompute:
        return
    if not recipes.RECIPES[spec.what.recipe].recomputes:
        yield Problem(field="recompute", rule="launch.nothing_to_recompute", args={"recipe": spec.what.recipe})
    elif spec.precision.amp == "O1" and spec.what.framework == "mindspore":
        yield Problem(field="recompute", rule="launch.no_recompute_o1")


def single_node(spec: LaunchSpec) -> Iterable[Problem]:
    if spec.parallel.parallel != "none" and spec.parallel.nodes > 1:
        yield Problem(field="nodes", rule="launch.rule.many_nodes", args={"nodes": spec.parallel.nodes})


def _capture_happens(spec: LaunchSpec) -> Iterable[Problem]:
    """A capture that begins after the last step, or on a rank that is not there, would capture nothing."""
    chosen = capture_of(spec.planned)
    if chosen is None:
        return
    steps, count = recipes.resolved(spec).steps, recipes.workers(spec)
    first = FIRST_PROFILED if chosen.at is None else chosen.at
    if first > steps:
        field = "capture" if spec.planned.capture_at is None else "capture_at"
        yield Problem(field=field, rule="capture.rule.after_the_end", args={"first": first, "steps": steps})
    elif (last := max(first, 1) + chosen.steps - 1) > steps:
        yield Problem(field="capture_steps", rule="capture.rule.beyond_the_end", args={"last": last, "steps": steps})
    absent = [rank for rank in ranks_of(chosen) if rank >= count] if is_rank_list(chosen.ranks) else []
    if absent:
        args = {"rank": absent[0], "last": count - 1}
        yield Problem(field="capture_ranks", rule="capture.rule.no_such_rank", args=args)


@dataclass(frozen=True, kw_only=True)
class LaunchSpec:
    what: What = field(default_factory=What)
    how: How = field(default_factory=How)
    precision: Precision = field(default_factory=Precision)
    learning: Learning = field(default_factory=Learning)
    data: Data = field(default_factory=Data)
    keep: Keep = field(default_factory=Keep)
    parallel: Parallel = field(default_factory=Parallel)
    ascend: Ascend = field(default_factory=Ascend)
    debug: Debug = field(default_factory=Debug)
    planned: Planned = field(default_factory=Planned)
    advanced: Advanced = field(default_factory=Advanced)

    RULES = (
        _length_is_unique, _epochs_need_a_size, _batch_fits, _bf16_has_a_device, _o2_has_a_compiler, _warmup_ends,
        _corpus_exists, _recipe_file_exists, _images_exist, _fine_tuning_inputs_exist, _weights_exist,
        _python_exists, _no_secrets,
        _best_is_measured, _best_has_rivals, _resume_has_a_checkpoint, _steps_are_left, _launcher_exists,
        _dump_sees_operators, single_node,
        *split_rules.RULES, *framework_rules.RULES, *master_address.RULES,
        _sink_has_a_queue, _recompute_has_cells, *ascend_env.RULES,
        _capture_happens,
    )  # fmt: skip
    GIVEN_RULES = idle_options.RULES
    RUNS_HERE = True
    """Whether the training is to run on this host."""
