"""A network that is split over Ascend NPUs by MindSpore itself: by shard strategies, by a search for them, in a
pipeline of stages.

What is compiled is one logical training: MindSpore cuts its operators and adds the communication. It does so
on Ascend alone, so that all of this was written by its documentation and held against the signatures of MindSpore
2.10, and has not been run on a card.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ascend_studio
import mindspore as ms
import numpy as np
from mindspore import Tensor, nn, ops

from ascend_engine.batches.sequence import Batches
from ascend_engine.data import Stream, stream, used_of_epoch
from ascend_engine.failures import Failure
from ascend_engine.modes import Whole
from ascend_engine.nonfinite_values import Outcome
from ascend_engine.npu import NpuCall, do
from ascend_engine.recipe_data.defaults import nothing_to_finish

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ascend_engine.options import Config
    from ascend_engine.parallel.process_group import ProcessGroup
    from ascend_engine.recipe import Recipe
    from ascend_engine.recipe_data.defaults import Dataset

NEW = "mindspore.parallel.auto_parallel"
# What MindSpore 2.10 raises where it would cut the graph on a CPU (step_parallel_utils.cc), in each of these modes.
REFUSAL = (
    "Invalid communication backend: CPU for semi_auto_parallel/auto_parallel mode, "
    "currently only support Ascend/GPU backend"
)


def check(config: Config, used: str) -> None:
    """Raises Failure for what the device in use cannot do. `used`: "cpu" or "ascend"."""
    if used == "ascend":
        return
    if config.parallel not in ("none", "data"):
        raise Failure("launch.split_on_cpu", reason=REFUSAL)
    if config.fusion is not None:
        raise Failure("launch.fusion_on_cpu")


def wrapper(config: Config) -> NpuCall | None:
    """What takes the training step; None where only the old API knows the search."""
    if uses_old_api(config):
        return None
    mode = config.search if config.parallel == "auto" else "semi_auto"
    return NpuCall(NEW, "AutoParallel", {"parallel_mode": mode}, ("network",))


def uses_old_api(config: Config) -> bool:
    """AutoParallel has no dynamic programming."""
    return config.parallel == "auto" and config.search == "dynamic_programming"


def settings(config: Config) -> tuple[NpuCall, ...]:
    """What AutoParallel is told, each a method of it."""
    chosen = [_setting("enable_gradients_mean"), _setting("dataset_strategy", config=config.dataset)]
    if config.stages > 1:
        chosen.append(_setting("pipeline", stages=config.stages, scheduler="1f1b"))
    if config.optimizer_parallel:
        chosen.append(_setting("hsdp", optimizer_level="level1"))
    if config.fusion is not None:
        chosen.append(_setting("comm_fusion", config=fusion_of(config.fusion)))
    return tuple(chosen)


def _setting(method: str, **kwargs: Any) -> NpuCall:
    return NpuCall(NEW, "AutoParallel." + method, kwargs, ("self",))


def fusion_of(megabytes: int) -> dict:
    """Sums of gradients, and what optimizer parallel sends, in pieces of that size."""
    piece = {"mode": "size", "config": megabytes}
    return {"allreduce": piece, "allgather": piece, "reducescatter": piece}


def old_settings(config: Config) -> NpuCall:
    """The same for the API before AutoParallel, where all of it is one call."""
    kwargs = {
        "parallel_mode": "auto_parallel",
        "search_mode": config.search,
        "gradients_mean": True,
        "dataset_strategy": config.dataset,
        "enable_parallel_optimizer": config.optimizer_parallel,
    }
    if config.fusion is not None:
        kwargs["comm_fusion"] = fusion_of(config.fusion)
    return NpuCall("mindspore", "set_auto_parallel_context", kwargs)


def data_fusion(config: Config, sizes: list[int]) -> NpuCall | None:
    """Data parallel: after which gradients a piece ends. `sizes`: bytes of each, in order."""
    ends = piece_ends(sizes, (config.fusion or 0) * 2**20)
    if config.fusion is None or not ends:
        return None
    return NpuCall("mindspore", "set_auto_parallel_context", {"all_reduce_fusion_config": ends})


def piece_ends(sizes: list[int], limit: int) -> list[int]:
    """Numbers of the gradients with which a piece has reached `limit` bytes; the last piece needs no end."""
    ends, filled = [], 0
    for number, size in enumerate(sizes[:-1]):
        filled += size
        if filled >= limit:
            ends.append(number)
            filled = 0
    return ends


def micro_wrapper(config: Config, stages: dict[str, int]) -> NpuCall | None:
    """What cuts a batch into micro batches inside the graph: those of a pipeline, or of an accumulation. `stages`: the
    stage of each cell by name."""
    if config.stages > 1:
        kwargs = {"micro_size": config.pipeline_batches, "stage_config": stages}
        return NpuCall("mindspore.parallel.nn", "Pipeline", kwargs, ("network",))
    if config.accumulate > 1:
        return NpuCall("mindspore.parallel.nn", "GradAccumulation", {"micro_size": config.accumulate}, ("network",))
    return None


def stages_of(network: nn.Cell, count: int) -> dict[str, int]:
    """The stage of each part of a network: its cells in their order, divided as evenly as their number allows.

    Raises Failure where there are fewer of them than stages.
    """
    prefix, cells = "network.", network.name_cells()
    while len(cells) == 1:
        ((name, cell),) = cells.items()
        prefix, cells = prefix + name + ".", cell.name_cells()
    if len(cells) < count:
        raise Failure("launch.too_few_cells", cells=len(cells), stages=count)
    return {prefix + name: number * count // len(cells) for number, name in enumerate(cells)}


class Scored(nn.Cell):
    """(inputs, labels) -> the loss, divided by the number of micro batches: MindSpore only adds them up."""

    def __init__(self, network: nn.Cell, loss: Callable, count: int):
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss = loss
        self.count = count

    def construct(self, inputs, labels):
        return self.loss(self.network(inputs), labels) / self.count


def make_split_step(network: nn.Cell, optimizer: Any, decay: Callable | None, collected: Callable):
    """(inputs, labels) -> loss. `network`: (inputs, labels) -> loss."""

    def forward(inputs, labels):
        return network(inputs, labels)

    gradient = ms.value_and_grad(forward, None, optimizer.parameters)

    def split_step(inputs, labels):
        loss, gradients = gradient(inputs, labels)
        gradients = collected(gradients)
        if decay is not None:
            gradients = decay(gradients)
        return ops.depend(loss, optimizer(gradients))

    return split_step


def make_collected(parameters: Any, config: Config):
    """gradients of the last micro batch -> those of all of them, which MindSpore adds up in Parameters that are called
    accu_grads.

    With optimizer parallel the gradients are whole already. This is what its PipelineGradReducer is for; without
    optimizer parallel that one names a variable that it does not have (2.10), so that this is done as its
    TrainOneStepCell does.
    """
    sums = parameters.clone("accu_grads", "zeros")
    each = ops.HyperMap()

    def take(total, gradient):
        total = ops.depend(total, gradient)
        value = total * 1
        return ops.depend(value, ops.assign(total, ops.zeros_like(ops.depend(total, value))))

    def take_whole(total, gradient):
        return ops.depend(gradient, ops.assign(total, ops.zeros_like(ops.depend(total, gradient))))

    def collected(gradients):
        return each(take, sums, gradients)

    def collected_whole(gradients):
        return each(take_whole, sums, gradients)

    return collected_whole if config.optimizer_parallel else collected


def as_they_are(gradients):
    return gradients


class SplitStep:
    """One optimizer step of a split network, called like a Step. Its norm is not known: each rank has its part of the
    gradients."""

    accumulated = ()

    def __init__(self, network: nn.Cell, loss: Callable, optimizer: Any, config: Config, decay: Callable | None):
        self.optimizer = optimizer
        stages = stages_of(network, config.stages) if config.stages > 1 else {}
        micro = micro_wrapper(config, stages)
        scored = Scored(network, loss, 1 if micro is None else micro.kwargs["micro_size"])
        collected = as_they_are if micro is None else make_collected(optimizer.parameters, config)
        whole = scored if micro is None else do(micro, scored)
        self.micro_step = distributed(make_split_step(whole, optimizer, decay, collected), config)

    def __call__(self, batches: Iterable[tuple[np.ndarray, np.ndarray]]) -> Outcome:
        """All micro batches at once: they are cut in the graph."""
        parts = list(batches)
        inputs = np.concatenate([inputs for inputs, _ in parts])
        labels = np.concatenate([labels for _, labels in parts])
        result = self.micro_step(Tensor(inputs), Tensor(labels))
        loss = float(result.asnumpy())
        return Outcome(loss, math.isfinite(loss), None, True)


def distributed(function: Callable, config: Config) -> nn.Cell:
    """A training step, to be split as the options say."""
    call = wrapper(config)
    if call is None:
        do(old_settings(config))
        return Whole(function)
    cell = do(call, function)
    for setting in settings(config):
        do(setting, cell)
    return cell


def fuse(config: Config, process_group: ProcessGroup, parameters: Iterable) -> None:
    """Data parallel: sums of gradients in pieces of the size that was chosen."""
    if process_group.size == 1 or process_group.is_split:
        return
    call = data_fusion(config, [parameter.nbytes for parameter in parameters])
    if call is not None:
        do(call)


def batches_of(samples: Dataset | Batches, config: Config, process_group: ProcessGroup) -> Stream | Batches:
    """What a rank reads. Ranks of different stages, and all with the whole batch each, read the same."""
    if isinstance(samples, Batches):
        return samples.shared(process_group.rank, process_group.size)
    if config.parallel in ("none", "data"):
        return stream(samples, config, process_group.rank, process_group.size)
    used = used_of_epoch(len(samples), config)
    if config.dataset == "full_batch":
        return Stream(samples, config.seed, config.batch * config.readers, used, 0, 1)
    return Stream(samples, config.seed, config.batch, used, process_group.rank % config.readers, config.readers)


def trained_only(plan: Recipe, process_group: ProcessGroup, config: Config) -> Recipe:
    """A recipe without its evaluation and what it leaves at the end, where no rank has the whole network."""
    if config.parallel in ("none", "data"):
        return plan
    if process_group.is_first and plan.eval_data is not None:
        ascend_studio.note("launch.split_not_evaluated")
    if process_group.is_first and config.stages > 1:
        ascend_studio.note("launch.loss_of_last_stage", rank=process_group.size - 1, stages=config.stages)
    return replace(plan, eval_data=None, metrics={}, finish=nothing_to_finish)
