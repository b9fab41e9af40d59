"""What follows where a field of the launch form is left empty."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from backends.launch.recipes import resolved
from backends.launch.spec import Learning, Precision
from studio.texts import t
from studio.units import number

if TYPE_CHECKING:
    from backends.launch.spec import LaunchSpec


def implied(spec: LaunchSpec) -> dict[str, str]:
    """Texts by the name of the field."""
    from_recipe, chosen = resolved(without_choices(spec)), resolved(spec)
    return {
        "batch": t("launch.implied", value=from_recipe.batch),
        "lr": t("launch.implied", value=f"{from_recipe.lr:g}"),
        "weight_decay": t("launch.implied_optimizer", value=f"{chosen.weight_decay:g}"),
        "loss_scale": t(f"launch.choice.loss_scale.{chosen.loss_scale}"),
        "clip": t("launch.implied_clip"),
        "jit_level": t("launch.implied_jit_level"),
        "optimizer": t("launch.implied", value=t(f"launch.choice.optimizer.{from_recipe.optimizer}")),
        "steps": _implied_steps(spec, chosen.steps),
        "epochs": "" if chosen.epochs is None else f"= {number(chosen.epochs, 3)}",
        "recipe_file": t("launch.implied_recipe_file"),
        "corpus": t("launch.implied_corpus"),
        "images": t("launch.implied_images"),
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
    }


def _implied_steps(spec: LaunchSpec, steps: int) -> str:
    return t("launch.implied", value=steps) if spec.learning.epochs is None else f"= {steps}"


def without_choices(spec: LaunchSpec) -> LaunchSpec:
    """The same recipe and ways of running, with the recipe's own numbers."""
    return replace(spec, how=replace(spec.how, batch=None, accumulate=1), precision=Precision(), learning=Learning())
