"""Training in several processes, its ranks: each sees a part of every batch, and all do the same update.

What a rank decides by itself is agreed first, in one small sum over all ranks that is part of each step:
whether the gradients and the losses are finite, and whether the training is to stop. Else one rank would
leave out an update that another does, or wait for ever for one that has stopped.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING

import ascend_studio
import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

from ascend_engine.failures import Failure, first_line
from ascend_engine.parallel.process_group import ALONE, ProcessGroup

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ascend_engine.options import Config
    from ascend_engine.stopping import Stop

# What a launcher tells its processes: msrun, mpirun, one process per device.
LAUNCHER_VARIABLES = ("MS_ROLE", "OMPI_COMM_WORLD_RANK", "RANK_TABLE_FILE")


class Together(ProcessGroup):
    """One of several. `asks` holds what this rank wants (1: to stop), `agreed` how many ranks of the latest step had
    gradients that were not finite, how many a loss, how many asked to stop, and the sum of their losses."""

    def __init__(self):
        self.rank = get_rank()
        self.size = get_group_size()
        self.asks = Parameter(Tensor(np.zeros(1, np.float32)), name="process_group.asks", requires_grad=False)
        self.agreed = Parameter(Tensor(np.zeros(4, np.float32)), name="process_group.agreed", requires_grad=False)

    def must_stop(self, stop: Stop) -> bool:
        """One step later than asked, so that all ranks have heard of it in the same step."""
        if stop and self.asks.asnumpy()[0] == 0:
            ops.assign(self.asks, Tensor(np.ones(1, np.float32)))
        return bool(self.agreed.asnumpy()[2])

    def others_lost(self) -> bool:
        return bool(self.agreed.asnumpy()[1])

    def mean_loss(self, loss: float) -> float:
        return float(self.agreed.asnumpy()[3]) / self.size

    def sums(self, numbers: dict[str, float]) -> dict[str, float]:
        return sums_of_ranks(numbers) if self.size > 1 else numbers


class Split(ProcessGroup):
    """One of several that MindSpore divides the network itself over: what they do in a step is one program."""

    is_split = True

    def __init__(self):
        self.rank = get_rank()
        self.size = get_group_size()

    def must_stop(self, stop: Stop) -> bool:
        return bool(summed(np.array([bool(stop)], np.float32))[0])

    def sums(self, numbers: dict[str, float]) -> dict[str, float]:
        return sums_of_ranks(numbers) if self.size > 1 else numbers


def begin(config: Config) -> ProcessGroup:
    """Meet the other ranks, after the device is chosen and before any Tensor is made.

    Raises Failure: not started by a launcher, no connection, or another number of processes than asked for.
    """
    if config.parallel == "none":
        return ALONE
    if not any(name in os.environ for name in LAUNCHER_VARIABLES):
        raise Failure("launch.no_launcher", workers=config.workers)
    try:
        init()
    except (RuntimeError, ValueError) as error:
        raise Failure("launch.no_group", reason=first_line(error)) from error
    if get_group_size() != config.workers:
        raise Failure("launch.other_size", asked=config.workers, found=get_group_size())
    if config.parallel != "data":
        return Split()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    return Together()


def make_mean(process_group: ProcessGroup, parameters: Iterable[Parameter]) -> Callable:
    """gradients of `parameters` -> their means over all ranks."""

    def own(gradients):
        return gradients

    return nn.DistributedGradReducer(parameters, True, process_group.size) if process_group.size > 1 else own


def make_agreement(process_group: ProcessGroup) -> Callable:
    """(whether the gradients are whole, the loss, gradients) -> whether both are finite on all ranks.

    The sum waits for the gradients': a rank that did the two in another order would wait for ever.
    """

    def own(whole, loss, gradients):
        return whole, ops.isfinite(loss)

    if process_group.size == 1:
        return own
    all_reduce = ops.AllReduce()

    def count_of(fine):
        return ops.reshape(ops.cast(ops.logical_not(fine), ms.float32), (1,))

    def agreed(whole, loss, gradients):
        own_loss = ops.reshape(ops.cast(loss, ms.float32), (1,))
        own_flags = ops.concat((count_of(whole), count_of(ops.isfinite(loss)), process_group.asks, own_loss))
        total = all_reduce(ops.depend(own_flags, gradients))
        total = ops.depend(total, ops.assign(process_group.agreed, total))
        return ops.equal(total[0], 0), ops.equal(total[1], 0)

    return agreed


def differ(process_group: ProcessGroup, parameters: Iterable[Parameter]) -> bool:
    """Whether not all ranks hold the same bits in these parameters; all ranks get the same answer."""
    if process_group.size == 1:
        return False
    # Sums of bytes are exact in float32 for 65536 ranks, and sums are all that AllReduce has on a CPU.
    digest_bytes = np.frombuffer(digest(parameters), np.uint8).astype(np.float32)
    differs = np.any(summed(digest_bytes) != digest_bytes * process_group.size)
    return bool(summed(np.array([differs], np.float32))[0])


def digest(parameters: Iterable[Parameter]) -> bytes:
    """sha256 of the values, in order."""
    hasher = hashlib.sha256()
    for parameter in parameters:
        values = parameter.astype(ms.float32) if parameter.dtype == ms.bfloat16 else parameter
        hasher.update(np.ascontiguousarray(values.asnumpy()).tobytes())
    return hasher.digest()


def summed(numbers: np.ndarray) -> np.ndarray:
    """float32 numbers, added up over all ranks."""
    return ops.AllReduce()(Tensor(numbers, ms.float32)).asnumpy()


def sums_of_ranks(numbers: dict[str, float]) -> dict[str, float]:
    return {name: float(summed(np.array([number]))[0]) for name, number in numbers.items()}


def check_begin(process_group: ProcessGroup, parameters: Iterable[Parameter]) -> None:
    """Raises Failure where the ranks do not begin alike: equal updates keep equal only what was equal."""
    if differ(process_group, parameters):
        raise Failure("launch.ranks_differ", workers=process_group.size)


def check_end(process_group: ProcessGroup, parameters: Iterable[Parameter]) -> None:
    """Tells whether the trained weights are still the same on all ranks."""
    if process_group.size == 1 or process_group.is_split:
        return
    parameters = list(parameters)
    is_equal = not differ(process_group, parameters)
    if process_group.is_first:
        ascend_studio.note("launch.ranks_equal" if is_equal else "launch.ranks_drifted", workers=process_group.size)
    print(
        f"weights {'equal' if is_equal else 'DIFFERENT'} on {process_group.size} ranks, {digest(parameters).hex()[:16]}"
    )


def note_bytes(process_group: ProcessGroup, trained: Iterable[Parameter], optimizer: Iterable[Parameter]) -> None:
    """What a rank holds, and what it has the others add up in one step: its gradients and the agreement."""
    if process_group.size == 1 or process_group.is_split or not process_group.is_first:
        return
    trained = list(trained)
    weights = {id(parameter) for parameter in trained}
    parameters = sum(parameter.nbytes for parameter in trained)
    states = sum(parameter.nbytes for parameter in optimizer if id(parameter) not in weights)
    ascend_studio.note(
        "launch.bytes",
        workers=process_group.size,
        parameters=parameters,
        gradients=parameters,
        optimizer=states,
        reduced=parameters + process_group.agreed.nbytes,
    )
