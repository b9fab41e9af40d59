"""An offer to go on from a checkpoint, in sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from backends.launch.own.resume.newest import REASONS
from studio.texts import t

if TYPE_CHECKING:
    from collections.abc import Iterable

    from backends.launch.own.resume.checkpoint import Checkpoint
    from backends.launch.own.resume.offer import Offer

MAX_NAMES = 3
KINDS = {
    "torch": "launch.resume.kind.torch", "trainer": "launch.resume.kind.trainer",
    "lightning": "launch.resume.kind.lightning", "accelerate": "launch.resume.kind.accelerate",
    "distributed": "launch.resume.kind.distributed",
}  # fmt: skip
PARTS = {
    "weights": "launch.resume.part.weights", "optimizer": "launch.resume.part.optimizer",
    "schedule": "launch.resume.part.schedule", "step": "launch.resume.part.step",
    "generators": "launch.resume.part.generators", "data_order": "launch.resume.part.data_order",
    "loss_scale": "launch.resume.part.loss_scale",
}  # fmt: skip
PASSED_OVER = {
    "half_written": "launch.resume.passed.half_written", "weights_alone": "launch.resume.passed.weights_alone",
    "form_unknown": "launch.resume.passed.form_unknown", "unreadable": "launch.resume.passed.unreadable",
    "overwritten": "launch.resume.passed.overwritten",
}  # fmt: skip


def offer_sentences(offer: Offer) -> list[str]:
    """Return what the offer comes to, what it does not bring back, and what was passed over."""
    checkpoint = offer.checkpoint
    lines = [_none_sentence(offer)] if checkpoint is None else [_first(offer, checkpoint), _lost(offer, checkpoint)]
    lines += [*passed_over_sentences(offer), _hazard(offer)]
    if offer.is_partial:
        lines.append(t("launch.resume.partial"))
    return list(filter(None, lines))


def checkpoint_text(checkpoint: Checkpoint) -> str:
    """Return the name of a checkpoint with its kind and the step that it says it is of."""
    args = {"name": checkpoint.path.name, "kind": t(KINDS[checkpoint.kind])}
    if checkpoint.step is not None:
        return t("launch.resume.at_step", step=checkpoint.step, **args)
    if checkpoint.epoch is not None:
        return t("launch.resume.at_epoch", epoch=checkpoint.epoch, **args)
    return t("launch.resume.at_unknown", **args)


def _none_sentence(offer: Offer) -> str:
    return t("launch.resume.no_checkpoint", folders=_listed(map(str, offer.folders)))


def _first(offer: Offer, checkpoint: Checkpoint) -> str:
    args = {"checkpoint": checkpoint_text(checkpoint), "path": str(checkpoint.path)}
    if offer.script is None:
        return t("launch.resume.no_script", **args)
    if offer.option is None:
        return t("launch.resume.no_option", script=offer.script.name, **args)
    args |= {"option": offer.option.option.flag}
    if offer.option.takes == "path" or offer.option.path_option is not None:
        return t("launch.resume.by_path", **args)
    return t("launch.resume.by_itself", **args)


def _lost(offer: Offer, checkpoint: Checkpoint) -> str:
    """What the checkpoint does not hold: no option brings that back, unless the script makes it anew."""
    if checkpoint.parts is None:
        return t("launch.resume.content_unknown")
    if offer.missing:
        return t("launch.resume.not_restored", parts=t("launch.listed").join(t(PARTS[part]) for part in offer.missing))
    return t("launch.resume.all_held")


def _hazard(offer: Offer) -> str:
    """A script that looks for its checkpoint itself does not look whether it is whole."""
    looks_itself = offer.option is not None and offer.option.takes != "path" and offer.option.path_option is None
    is_cut = any(passed.reason == "half_written" for passed in offer.passed_over)
    return t("launch.resume.move_away") if looks_itself and is_cut else ""


def passed_over_sentences(offer: Offer) -> list[str]:
    lines = []
    for reason in REASONS:
        paths = [passed.path for passed in offer.passed_over if passed.reason == reason]
        if paths:
            lines.append(t(PASSED_OVER[reason], names=_listed(map(_short_name, paths))))
    return lines


def _short_name(path: Path) -> str:
    """The name, of a file in a checkpoint's folder with that."""
    return str(Path(path.parent.name, path.name))


def _listed(names: Iterable[str]) -> str:
    names = list(names)
    return t("launch.listed").join(names[:MAX_NAMES]) + (" …" if len(names) > MAX_NAMES else "")
