"""Trainings that ask unusual things of a card; run and printed as `probes` are."""

from __future__ import annotations

import io
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import torch
import torch_npu  # type: ignore[import-not-found] # noqa: F401
from torch import multiprocessing, nn
from torch.utils.data import DataLoader, TensorDataset

from tests.guest.virtual_npu.probes import equal_on_all_devices, gradients, result_of

if TYPE_CHECKING:
    from collections.abc import Callable


def recurrent_cells() -> list[bool]:
    def training(kind: Any) -> Any:
        def train(device: str) -> list[torch.Tensor]:
            torch.manual_seed(0)
            cell = kind(3, 4).to(device)
            state, steps = None, torch.randn(5, 2, 3).to(device)
            for step in steps:
                state = cell(step, state)
            return gradients(cell, state[0] if isinstance(state, tuple) else state)  # type: ignore[arg-type]

        return train

    return [equal_on_all_devices(training(kind)) for kind in (nn.LSTMCell, nn.GRUCell, nn.RNNCell)]


def recurrent_inference() -> list[Any]:
    networks = [nn.LSTM(3, 4).npu(), nn.GRU(3, 4).npu(), nn.LSTMCell(3, 4).npu(), nn.GRUCell(3, 4).npu()]
    with torch.inference_mode():
        rows = torch.ones(5, 2, 3, device="npu")
        outputs = [network(rows if place < 2 else rows[0]) for place, network in enumerate(networks)]
    return [str((output[0] if isinstance(output, tuple) else output).device) for output in outputs]


def _words_of(call: Callable[[], Any]) -> str:
    try:
        return f"not refused: {call()}"
    except (RuntimeError, NotImplementedError) as error:
        return str(error)


def recurrent_tensors_of_two_devices() -> list[str]:
    rows, state = torch.ones(5, 2, 3), torch.ones(1, 2, 4)
    lstm, gru = nn.LSTM(3, 4).npu(), nn.GRU(3, 4).npu()
    return [
        _words_of(lambda: lstm(rows)), _words_of(lambda: gru(rows.npu(), state)),
        _words_of(lambda: nn.LSTM(3, 4)(rows.npu())), _words_of(lambda: nn.GRUCell(3, 4).npu()(rows[0])),
    ]  # fmt: skip


def packed_sequence() -> str:
    packed = nn.utils.rnn.pack_padded_sequence(torch.ones(5, 2, 3, device="npu"), torch.tensor([5, 3]))
    return str(nn.LSTM(3, 4).npu()(packed)[0].data.device)


def fused_operators_of_the_host() -> list[str]:
    npu = sys.modules["torch_npu"]
    return [
        _words_of(lambda: npu.npu_swiglu(torch.ones(2, 8))),
        _words_of(lambda: str(npu.npu_swiglu(torch.ones(2, 8, device="npu")).device)),
    ]


def generators_of_a_card_on_the_host() -> list[str]:
    from torch.utils.data import random_split

    def drawn() -> torch.Generator:
        return torch.Generator("npu")

    with torch.device("npu"):
        on_card = str(torch.randn(2, generator=drawn()).device)
    calls = [
        lambda: torch.randn(3, generator=drawn()), lambda: torch.randperm(3, generator=drawn()),
        lambda: torch.ones(2).normal_(generator=drawn()), lambda: random_split([1, 2, 3], [2, 1], generator=drawn()),
    ]  # fmt: skip
    return [on_card, str(torch.ones(2, device="npu").normal_(generator=drawn()).device), *map(_words_of, calls)]


def card_in_a_fork() -> list[str]:
    torch.ones(1, device="npu")
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        text = _words_of(lambda: torch.ones(2, device="npu").device) + "|" + str(torch.ones(2).sum().item())
        os.write(writer, text.encode())
        os._exit(0)
    os.waitpid(child, 0)
    return os.read(reader, 1000).decode().split("|")


def names_of_dtypes() -> list[Any]:
    npu = torch.npu  # type: ignore[attr-defined]
    tensor = npu.FloatTensor([1.0, 2.0])
    converted = torch.ones(2).type(npu.LongTensor)
    return [
        str(tensor.device), tensor.tolist(), list(npu.HalfTensor(2, 3).shape), str(converted.device),
        str(converted.dtype), isinstance(tensor, npu.FloatTensor), isinstance(tensor.cpu(), npu.FloatTensor),
        isinstance(tensor, npu.LongTensor), str(tensor.type(npu.DoubleTensor).dtype), tensor.type(),
        npu.FloatTensor(tensor).data_ptr() == tensor.data_ptr(),
    ]  # fmt: skip


def names_of_dtypes_on_another_card() -> list[str]:
    npu = torch.npu  # type: ignore[attr-defined]
    with npu.device(1):
        return [str(npu.FloatTensor(2).device), str(torch.ones(1).type("torch.npu.FloatTensor").device)]


def default_tensor_type() -> list[str]:
    torch.set_default_tensor_type(torch.npu.HalfTensor)  # type: ignore[attr-defined]
    made = torch.ones(1)
    torch.set_default_tensor_type(torch.FloatTensor)
    return [str(made.device), str(made.dtype), str(torch.ones(1).device)]


def scripted_functions() -> list[Any]:
    @torch.jit.script
    def scale(tensor: torch.Tensor) -> torch.Tensor:
        return tensor * torch.zeros(2, device=tensor.device).add(torch.full((2,), 3.0, device=tensor.device))

    return scale(torch.ones(2, device="npu")).tolist()  # type: ignore[no-any-return]


def forward_derivatives() -> list[float]:
    tensor = torch.ones(2, device="npu")
    _, tangent = torch.func.jvp(lambda value: value**3, (tensor,), (tensor,))
    return tangent.tolist()  # type: ignore[no-any-return]


def address_of_a_storage_that_grew() -> list[Any]:
    tensor = torch.arange(1 << 19, dtype=torch.float32, device="npu")
    view, address, size = tensor[2:], tensor.data_ptr(), tensor.untyped_storage().nbytes()
    tensor.untyped_storage().resize_(0)
    emptied = tensor.untyped_storage().nbytes()
    tensor.untyped_storage().resize_(size)
    tensor.fill_(4)
    file = io.BytesIO()
    torch.save(view[:2].clone(), file)
    file.seek(0)
    return [emptied, tensor.data_ptr() == address, tensor.untyped_storage().data_ptr() == address,
            view.unique().tolist(),
            torch.load(file).tolist()]  # fmt: skip


def use_of_freed_memory() -> Any:
    tensor = torch.ones(4, device="npu")
    tensor.untyped_storage().resize_(0)
    return tensor + 1


def weights_of_another_process() -> list[Any]:
    net = nn.ModuleList([nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)]).npu()
    net[1].weight = net[0].weight
    answers = multiprocessing.get_context("spawn").Queue()
    process = multiprocessing.get_context("spawn").Process(target=write_weights, args=(net, answers))
    process.start()
    answer = answers.get(timeout=120)
    process.join(120)
    return [answer, net[0].weight.tolist(), process.exitcode]


def write_weights(net: nn.ModuleList, answers: Any) -> None:
    with torch.no_grad():
        net[0].weight.fill_(7)
    answers.put([str(net[0].weight.device), net[1].weight.tolist(), net[1].weight.is_leaf])


def threads_of_a_pinning_loader() -> int:
    torch.set_num_threads(2)
    for _ in DataLoader(TensorDataset(torch.ones(4)), num_workers=1, pin_memory=True):
        pass
    return torch.get_num_threads()


def sparse_from_the_host() -> Any:
    return torch.eye(3).to_sparse().npu()


def sparse_gradients() -> Any:
    return nn.Embedding(5, 3, sparse=True).npu()(torch.tensor([1]).npu()).sum().backward()  # type: ignore[no-untyped-call]


def nested_of_padded_rows() -> Any:
    mask = torch.tensor([[False, True]] * 3).npu()
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).npu().eval()
    with torch.no_grad():
        return encoder(torch.ones(3, 2, 4).npu(), src_key_padding_mask=mask)


if __name__ == "__main__":
    members = dict(globals())
    print(json.dumps({name: result_of(members[name]) for name in sys.argv[1:]}, default=str))
