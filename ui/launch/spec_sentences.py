"""What the choices of the launch form come to, in sentences: at the top of the page, in the forecast, at fields that
are left empty and on sections that are folded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from backends.common.npu_devices import npu_names
from backends.launch.engine_options import mode_of
from backends.launch.launchers import launcher_of
from backends.launch.recipes import readers, resolved, workers
from backends.launch.spec import Learning, Precision
from studio import schema
from studio.texts import t
from studio.units import number
from ui.form import field_texts

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec

ABOUT = {
    "linear": "launch.about_linear", "digits": "launch.about_digits", "text": "launch.about_text",
    "dense": "launch.about_dense", "resnet50": "launch.about_resnet50", "lora": "launch.about_lora",
    "own": "launch.about_own",
}  # fmt: skip
MODES = {
    "pynative": "launch.mode_pynative", "jit": "launch.mode_jit", "graph": "launch.mode_graph",
    "eager": "launch.mode_eager", "compile": "launch.mode_compile",
}  # fmt: skip
DTYPES = {"fp16": "launch.amp_fp16", "bf16": "launch.amp_bf16"}
AUTOCAST = {"fp16": "launch.autocast_fp16", "bf16": "launch.autocast_bf16"}
LOOPS = {"cell": "launch.loop_cell", "model": "launch.loop_model"}
PARALLEL = {
    "data": "launch.parallel_data", "semi_auto": "launch.parallel_semi_auto", "auto": "launch.parallel_auto",
    "hybrid": "launch.parallel_hybrid", "fsdp": "launch.parallel_fsdp", "tensor": "launch.parallel_tensor",
}  # fmt: skip


def training_sentence(spec: LaunchSpec) -> str:
    """The sentence at the top of the page: what all choices together come to."""
    chosen = resolved(spec)
    args = {
        "about": _about(spec), "total": chosen.global_batch, "batch": chosen.batch,
        "accumulate": spec.how.accumulate, "steps": chosen.steps,
        "processes": _readers(spec),
    }  # fmt: skip
    if chosen.epochs is None:
        return t("launch.sentence_open", **args)
    return t("launch.sentence", **args, epochs=number(chosen.epochs, 3))


def _readers(spec: LaunchSpec) -> str:
    """Processes that read samples of their own: the stages of a pipeline share theirs, and so do devices that each
    read the whole batch."""
    count = readers(spec)
    if count == 1:
        return t("launch.one_process" if workers(spec) == 1 else "launch.one_reader")
    return t("launch.processes" if count == workers(spec) else "launch.readers", count=count)


def _about(spec: LaunchSpec) -> str:
    """Random pictures teach nothing, which comes before anything else."""
    if spec.what.recipe == "resnet50" and spec.what.images == Path():
        return t("launch.about_random")
    return t(ABOUT[spec.what.recipe])


def forecast_sentences(spec: LaunchSpec) -> list[str]:
    """What follows from the choices. Usual ones are passed over; the mode never is."""
    how, sentences = spec.how, [t(MODES[mode_of(spec)])]
    if how.loop in LOOPS:
        sentences.append(t(LOOPS[how.loop]))
    if how.loop == "model" and how.sink:
        sentences.append(t("launch.sink_on"))
    if spec.precision.amp != "O0":
        dtypes = AUTOCAST if spec.what.framework == "torch" else DTYPES
        sentences.append(t(dtypes[spec.precision.amp_dtype]))
    if how.recompute:
        sentences.append(t("launch.recompute_on"))
    if spec.parallel.parallel in PARALLEL:
        sentences.append(_parallel_sentence(spec))
    if spec.debug.debug_port is not None:
        sentences.append(t("launch.debugger_first", port=spec.debug.debug_port))
    return sentences


def _parallel_sentence(spec: LaunchSpec) -> str:
    """Only data parallel also runs on a CPU."""
    text = t(PARALLEL[spec.parallel.parallel], count=workers(spec))
    if spec.parallel.parallel != "data" and not npu_names():
        return t("launch.needs_npus", text=text)
    return text


def empty_field_texts(spec: LaunchSpec) -> dict[str, str]:
    """What holds where a field is left empty, by the name of the field."""
    from_recipe, chosen = resolved(without_choices(spec)), resolved(spec)
    return {
        "batch": t("launch.implied", value=from_recipe.batch),
        "lr": t("launch.implied", value=f"{from_recipe.lr:g}"),
        "weight_decay": t("launch.implied_optimizer", value=f"{chosen.weight_decay:g}"),
        "loss_scale": t(f"launch.choice.loss_scale.{chosen.loss_scale}"),
        "clip": t("launch.implied_clip"),
        "jit_level": t("launch.implied_jit_level"),
        "optimizer": t("launch.implied", value=t(f"launch.choice.optimizer.{from_recipe.optimizer}")),
        "steps": _steps_text(spec, chosen.steps),
        "epochs": "" if chosen.epochs is None else f"= {number(chosen.epochs, 3)}",
        "recipe_file": t("launch.implied_recipe_file"),
        "corpus": t("launch.implied_corpus"),
        "images": t("launch.implied_images"),
        "base_model": t("launch.implied_base_model"),
        "examples": t("launch.implied_examples"),
        "weights": t("launch.implied_weights"),
        "checkpoint_every": t("launch.implied_checkpoint"),
        "checkpoint_minutes": t("launch.implied_checkpoint"),
        "resume": t("launch.implied_resume"),
        "fusion": t("launch.implied_fusion"),
        "capture_at": t("own_script.implied_capture_at"),
        "master": t("launch.implied_master"),
        "port": t("launch.implied_port"),
        "visible": t("launch.implied_visible"),
        "debug_port": t("launch.implied_debug_port"),
        "python": t("launch.implied_python"),
        **dict.fromkeys(
            ("connect_timeout", "exec_timeout", "buffsize", "deterministic", "log_level"), t("launch.implied_cann")
        ),
        **dict.fromkeys(("alloc_conf", "task_queue", "cpu_affinity"), t("launch.implied_torch_npu")),
        "launcher": launcher_of(spec),
    }


def _steps_text(spec: LaunchSpec, steps: int) -> str:
    return t("launch.implied", value=steps) if spec.learning.epochs is None else f"= {steps}"


def without_choices(spec: LaunchSpec) -> LaunchSpec:
    """Return the same recipe in the same mode, with the recipe's own numbers."""
    return replace(spec, how=replace(spec.how, batch=None, accumulate=1), precision=Precision(), learning=Learning())


def section_summaries(spec: LaunchSpec) -> dict[str, str]:
    """Return summaries of folded sections for which a list of what differs from the defaults says too little."""
    return {"keep": _keep_summary(spec), "parallel": _parallel_summary(spec), "advanced": _advanced_summary(spec)}


def _joined(parts: list[str]) -> str:
    return t("form.between").join(filter(None, parts))


def _keep_summary(spec: LaunchSpec) -> str:
    """'every 100 steps · keeps 3 · goes on from 20261121-031437'; checkpoints at Stop and at the end are
    always written."""
    keep, parts = spec.keep, []
    if keep.checkpoint_every is not None:
        parts.append(t("launch.set.every_steps", steps=keep.checkpoint_every))
    if keep.checkpoint_minutes is not None:
        parts.append(t("launch.set.every_minutes", minutes=f"{keep.checkpoint_minutes:g}"))
    if parts or keep.keep != 3:
        parts.append(t("launch.set.keeps", count=keep.keep))
    if keep.best != "none":
        parts.append(t("launch.set.best", metric=t(f"launch.choice.best.{keep.best}")))
    if keep.resume != Path():
        parts.append(t("launch.set.resumes", run=keep.resume.name))
    return _joined(parts)


def _parallel_summary(spec: LaunchSpec) -> str:
    """'Data parallel · 4 processes · msrun', then what else differs."""
    parallel = spec.parallel
    if parallel.parallel == "none":
        return ""
    covered = {"parallel", "workers", "launcher"}
    fields = [field for field in schema.fields(type(spec)) if field.section == "parallel" and field.name not in covered]
    others = [
        field_texts.value_text(field, value, "launch")
        for field in fields
        if schema.is_visible(spec, field) and (value := schema.value_of(spec, field.name)) != field.default
    ]
    mode = t(f"launch.choice.parallel.{parallel.parallel}")
    launcher = t(f"launch.choice.launcher.{launcher_of(spec)}")
    return _joined([mode, t("launch.processes", count=workers(spec)), launcher, *others])


def _advanced_summary(spec: LaunchSpec) -> str:
    """The time that Stop leaves decides whether the last steps are saved, so it is always shown."""
    rest = field_texts.summary(schema.with_value(spec, "grace", 60.0), "advanced", "launch")
    return _joined([t("launch.set.grace", seconds=f"{spec.advanced.grace:g}"), rest])
