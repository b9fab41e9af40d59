"""The preview that belongs to the choices of a launch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from backends.launch.operators import operators
from backends.launch.preview.shard import written
from backends.launch.preview.spec import PreviewSpec
from backends.launch.recipes import resolved, workers

if TYPE_CHECKING:
    from backends.launch.preview.spec import Training
    from backends.launch.spec import LaunchSpec


def preview_of(spec: LaunchSpec) -> PreviewSpec:
    """Its recipe in MindSpore, where the preview knows its weights, with what is chosen for it; else a large network,
    where a split pays. On as many cards as processes, or on the preview's own number where there is one process."""
    preview = PreviewSpec()
    if workers(spec) > 1:
        preview = replace(preview, cluster=replace(preview.cluster, cards=workers(spec)))
    name = spec.what.recipe
    if name in ("own", "resnet50", "lora") or spec.what.framework != "mindspore":
        return preview
    net = replace(preview.net, network=cast("Any", name))
    display = replace(preview.shown, shard=_strategies(spec))
    return replace(preview, net=net, training=_training(spec, preview), shown=display)


def _training(spec: LaunchSpec, preview: PreviewSpec) -> Training:
    chosen = resolved(spec)
    return replace(
        preview.training,
        batch=chosen.batch,
        micro_batches=spec.how.accumulate * preview.cluster.cards,
        precision="fp32" if spec.precision.amp == "O0" else spec.precision.amp_dtype,
        optimizer=cast("Any", chosen.optimizer),  # one of the spec's, or of the recipe's, which are the same four
        recomputation="full" if spec.how.recompute else "none",
        gradients="same",  # MindSpore's gradients have the precision of the weights that they are of
    )


def _strategies(spec: LaunchSpec) -> tuple[tuple[str, str], ...]:
    """SHAPES=STRATEGY of the operators that have one."""
    strategies = dict(spec.parallel.strategy)
    shapes = {operator.name: ",".join(map(written, operator.shapes or ())) for operator in operators(spec)}
    return tuple((shapes[name], text) for name, text in strategies.items() if shapes.get(name))
