"""What a training does on a card, run in a child on the virtual NPU; each function returns what a test looks at.

The child prints one JSON object: the result of each function by its name, or {"error": [type, message]}.
"""

from __future__ import annotations

import copy
import io
import json
import pickle
import sys
from typing import TYPE_CHECKING, Any

import torch
import torch_npu  # type: ignore[import-not-found]
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset

if TYPE_CHECKING:
    from collections.abc import Callable

DEVICES = ("cpu", "npu", "npu:1")


def equal_on_all_devices(train: Callable[[str], list[torch.Tensor]], devices: tuple[str, ...] = DEVICES) -> bool:
    """Return whether a training gives the same bits on each device."""
    golden, *others = [train(device) for device in devices]
    return all(
        torch.equal(value.cpu(), expected.cpu())
        for values in others
        for value, expected in zip(values, golden, strict=True)
    )


def gradients(net: nn.Module, output: torch.Tensor) -> list[torch.Tensor]:
    output.float().square().sum().backward()
    return [output.detach(), *(weight.grad for weight in net.parameters() if weight.grad is not None)]


def tensors_say_npu() -> list[Any]:
    tensor = torch.arange(6, device="npu").view(2, 3).t()
    tensor.add_(1)
    return [str(tensor.device), tensor.is_npu, type(tensor).__name__, tensor.tolist(), repr(tensor[0])]


def each_way_to_a_card() -> list[str]:
    with torch.device("npu:1"):
        inside = torch.ones(1)
    ways = (
        torch.ones(1).npu(), torch.ones(1).npu(1), torch.ones(1).to("npu:1"), torch.ones(1, device="npu"), inside,
        torch.ones(1).to(torch.device("npu", 1)), nn.Linear(1, 1).npu().weight, torch.tensor([1.0], device="npu:1"),
    )  # fmt: skip
    return [str(tensor.device) for tensor in ways]


def current_card() -> list[Any]:
    torch.npu.set_device(1)
    places = [str(torch.ones(1, device="npu").device), str(torch.ones(1).npu().device), torch.npu.current_device()]
    with torch.npu.device(0):
        places.append(str(nn.Linear(1, 1).to("npu").weight.device))
    places.append(torch.accelerator.current_device_index())
    torch.npu.set_device(0)
    return [*places, torch.npu.device_count(), torch_npu.npu.is_available()]


def convolutions() -> bool:
    def train(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        net = nn.Sequential(
            nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Dropout(0.3), nn.MaxPool2d(2), nn.Flatten(),
            nn.Linear(36, 10), nn.LayerNorm(10),
        ).to(device)  # fmt: skip
        optimizer = torch.optim.AdamW(net.parameters())
        losses = []
        for _ in range(3):
            images, labels = torch.randn(8, 1, 8, 8).to(device), torch.randint(0, 10, (8,)).to(device)
            loss = functional.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.detach())
        return [*losses, *(weight.detach() for weight in net.parameters())]

    return equal_on_all_devices(train)


def transformers() -> bool:
    def train(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        net = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True).to(device)
        return gradients(net, net(torch.randn(2, 5, 16).to(device)))

    return equal_on_all_devices(train)


def recurrent_networks() -> list[bool]:
    def training(kind: Any) -> Callable[[str], list[torch.Tensor]]:
        def train(device: str) -> list[torch.Tensor]:
            torch.manual_seed(0)
            net = kind(4, 8, 2, bidirectional=True, dropout=0.2).to(device)
            return gradients(net, net(torch.randn(5, 2, 4).to(device))[0])

        return train

    return [equal_on_all_devices(training(kind)) for kind in (nn.LSTM, nn.GRU, nn.RNN)]


def packed_sequences() -> list[Any]:
    packed = nn.utils.rnn.pack_padded_sequence(torch.randn(5, 3, 4).npu(), torch.tensor([5, 3, 2]))
    output, lengths = nn.utils.rnn.pad_packed_sequence(nn.LSTM(4, 8).npu()(packed)[0])
    output.sum().backward()
    return [list(output.shape), str(output.device), str(lengths.device)]


def optimizers() -> list[bool]:
    def training(make: Callable[..., Any]) -> Callable[[str], list[torch.Tensor]]:
        def train(device: str) -> list[torch.Tensor]:
            torch.manual_seed(0)
            net = nn.Linear(4, 4).to(device)
            optimizer = make(net.parameters())
            for _ in range(3):
                optimizer.zero_grad()
                net(torch.randn(2, 4).to(device)).square().sum().backward()
                optimizer.step()
            return [weight.detach() for weight in net.parameters()]

        return train

    optim = torch.optim
    made = [
        lambda weights: optim.AdamW(weights, fused=True), lambda weights: optim.AdamW(weights, fused=False),
        lambda weights: optim.Adam(weights, foreach=True), lambda weights: optim.SGD(weights, 0.1, momentum=0.9),
        lambda weights: optim.SGD(weights, 0.1, fused=True), optim.Adagrad, optim.RMSprop,
    ]  # fmt: skip
    return [equal_on_all_devices(training(make)) for make in made]


def bfloat16_autocast() -> bool:
    def train(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 4), nn.GELU(), nn.Linear(4, 4)).to(device)
        with torch.autocast(device.partition(":")[0], dtype=torch.bfloat16):
            output = net(net(torch.randn(2, 4).to(device)))
        return gradients(net, output)

    return equal_on_all_devices(train)


def float16_autocast() -> list[str]:
    net = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4), nn.Linear(4, 4)).npu()
    scaler, optimizer = torch.amp.GradScaler("npu"), torch.optim.SGD(net.parameters(), 0.1)
    with torch.autocast("npu", dtype=torch.float16):
        output = net(torch.randn(2, 4, device="npu"))
        loss = functional.mse_loss(output, torch.zeros_like(output))
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    return [str(output.dtype), str(loss.dtype), str(net[0].weight.grad.dtype), str(scaler.get_scale())]


def activation_checkpointing() -> bool:
    def train(device: str) -> list[torch.Tensor]:
        torch.manual_seed(0)
        net = nn.Linear(4, 4).to(device)
        values = torch.randn(2, 4).to(device).requires_grad_()
        for is_reentrant in (True, False):
            checkpoint(
                lambda tensor: functional.dropout(net(tensor).relu()), values, use_reentrant=is_reentrant
            ).sum().backward()
        return [values.grad, net.weight.grad]  # type: ignore[list-item]

    return equal_on_all_devices(train)


def second_derivatives() -> list[float]:
    values = torch.ones(2, device="npu", requires_grad=True)
    (first,) = torch.autograd.grad((values**3).sum(), values, create_graph=True)
    first.sum().backward()
    return values.grad.tolist()  # type: ignore[union-attr]


def batch_left_on_the_cpu() -> Any:
    return nn.Linear(2, 2).npu()(torch.ones(1, 2))


def two_cards_in_an_operator() -> Any:
    return torch.ones(2, device="npu:0") + torch.ones(2, device="npu:1")


def scalar_of_the_cpu() -> list[float]:
    return (torch.ones(2, device="npu") * torch.tensor(3.0)).tolist()


def index_beyond_the_cards() -> Any:
    return torch.ones(2, device="npu:7")


def numpy_of_a_card() -> Any:
    return torch.ones(2, device="npu").numpy()


def generator_of_the_cpu() -> Any:
    return torch.randn(3, device="npu", generator=torch.Generator())


def generators() -> list[Any]:
    first = torch.randn(3, device="npu", generator=torch.Generator("npu").manual_seed(3))
    second = torch.randn(3, device="npu", generator=torch.Generator("npu:0").manual_seed(3))
    torch.manual_seed(5)
    on_cpu = torch.rand(2)
    torch.manual_seed(5)
    on_card = torch.rand(2, device="npu")
    torch.npu.manual_seed_all(7)
    apart = torch.rand(2, device="npu")
    torch.npu.manual_seed_all(7)
    again = torch.rand(2, device="npu")
    return [
        str(torch.Generator("npu").device), torch.equal(first, second), torch.equal(on_cpu, on_card.cpu()),
        torch.equal(apart, again), torch.equal(apart, on_card),
    ]  # fmt: skip


def files_of_weights() -> list[Any]:
    net = nn.Linear(3, 2).npu()
    file = io.BytesIO()
    torch.save(net.state_dict(), file)

    def load(**options: Any) -> torch.Tensor:
        file.seek(0)
        weight: torch.Tensor = torch.load(file, weights_only=True, **options)["weight"]
        return weight

    loaded = [load(), load(map_location="cpu"), load(map_location="npu:1"), load(map_location={"npu:0": "npu:1"})]
    return [[str(weight.device), torch.equal(weight.cpu(), net.weight.cpu())] for weight in loaded]


def copies_and_pickles() -> list[Any]:
    net = nn.Linear(2, 2).npu()
    copied, weight = copy.deepcopy(net), pickle.loads(pickle.dumps(net.weight))
    copied.weight.data.zero_()
    return [str(copied.weight.device), str(weight.device), torch.equal(weight.cpu(), net.weight.cpu())]


def shared_weights() -> bool:
    net = nn.ModuleList([nn.Linear(2, 2, bias=False), nn.Linear(2, 2, bias=False)])
    net[1].weight = net[0].weight
    net.to("npu")
    return net[1].weight is net[0].weight and str(net[0].weight.device) == "npu:0"


def bytes_alive() -> list[int]:
    before = torch.npu.memory_allocated()
    tensor = torch.empty(1000, device="npu")
    one = torch.npu.memory_allocated() - before
    part = tensor[1:]
    del tensor
    view = torch.npu.memory_allocated() - before
    del part
    return [one, view, torch.npu.memory_allocated() - before, torch.npu.memory_allocated(1)]


def peak_of_memory() -> list[int]:
    torch.npu.reset_peak_memory_stats()
    before = torch.npu.max_memory_allocated()
    torch.empty(1 << 20, device="npu")
    return [torch.npu.max_memory_allocated() - before, torch.npu.mem_get_info()[1]]


def storages_that_shrink_and_grow() -> list[Any]:
    tensor = torch.ones(4, device="npu")
    alive = torch.npu.memory_allocated()
    storage, size = tensor.untyped_storage(), tensor.untyped_storage().size()
    storage.resize_(0)
    empty = [storage.size(), torch.npu.memory_allocated() - alive]
    storage.resize_(size)
    tensor.fill_(2)
    file = io.BytesIO()
    torch.save(tensor, file)
    file.seek(0)
    return [*empty, tensor.tolist(), tensor[1:].clone().tolist(), torch.load(file, map_location="cpu").tolist()]


def storage_beyond_its_first_size() -> Any:
    return torch.ones(4, device="npu").untyped_storage().resize_(64)


def tensors_that_grow() -> list[Any]:
    out = torch.empty(0, device="npu")
    torch.add(torch.ones(3, device="npu"), 1, out=out)
    resized = torch.ones(2, device="npu").resize_(6)
    return [out.tolist(), list(resized.shape), resized[:2].tolist(), str(resized.device)]


def indices() -> list[Any]:
    rows = nn.Embedding(10, 4).npu()(torch.arange(3, device="npu")).detach()
    rows[torch.arange(3, device="npu") > 1] = 0
    rows[torch.tensor([0, 1])] = 1
    return rows.sum(1).tolist()


def loaders_with_workers() -> list[Any]:
    loader = DataLoader(TensorDataset(torch.randn(16, 4)), batch_size=4, pin_memory=True, num_workers=2)
    return [[batch.is_pinned(), str(batch.npu(non_blocking=True).device)] for (batch,) in loader]


def captured_graphs() -> list[str]:
    devices = []
    for backend in ("eager", "aot_eager"):
        net = nn.Linear(4, 4).npu()
        output = torch.compile(net, backend=backend)(torch.randn(2, 4, device="npu"))
        output.sum().backward()
        devices.append(str(net.weight.grad.device))  # type: ignore[union-attr]
    return devices


def graphs_of_three_layers() -> list[int]:
    """Return how many graphs the compiler made of a network, and how often it had to stop in one."""
    import torch._dynamo

    torch._dynamo.reset()
    counters = torch._dynamo.utils.counters
    counters.clear()
    net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2)).npu()
    for _ in range(2):
        torch.compile(net, backend="aot_eager")(torch.randn(2, 4, device="npu")).sum().backward()
    return [counters["stats"]["unique_graphs"], len(counters["graph_break"])]


def generated_code() -> Any:
    return torch.compile(nn.Linear(4, 4).npu())(torch.randn(2, 4, device="npu"))


def streams_and_events() -> list[Any]:
    stream, begin, end = torch.npu.Stream(), torch.npu.Event(enable_timing=True), torch.npu.Event(enable_timing=True)
    begin.record()
    with torch.npu.stream(stream):
        tensor = torch.ones(2, device="npu")
        tensor.record_stream(stream)
    torch.npu.current_stream().wait_stream(stream)
    end.record()
    torch.npu.synchronize()
    return [begin.elapsed_time(end) >= 0, tensor.tolist()]


def odd_tensors() -> list[Any]:
    """Without dimensions, empty, complex, quantized, sparse, without data, of a subclass, of functorch."""
    nothing = torch.empty(0, 3, device="npu")
    fake = torch.empty(2, 3, device="meta")
    parameter = nn.Parameter(torch.ones(2, device="npu"))
    mapped = torch.func.vmap(lambda row: (row * row).sum())(torch.ones(3, 2, device="npu"))
    return [
        torch.tensor(2.0, device="npu").item(), list((nothing + 1).shape), nothing.sum().item(),
        str((fake + 1).device), type(parameter).__name__, mapped.tolist(),
        (torch.ones(2, dtype=torch.complex64, device="npu") * 1j).cpu().tolist() == [1j, 1j],
        torch.ones(2, dtype=torch.bool, device="npu").any().item(),
    ]  # fmt: skip


def sparse_tensors() -> Any:
    sparse = torch.eye(3).to_sparse()
    return [str(sparse.device), str(sparse.to_dense().npu().device), str(torch.sparse.mm(sparse, torch.eye(3)).device)]


def quantized_tensors() -> Any:
    quantized = torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8)
    return [str(quantized.device), quantized.dequantize().npu().tolist()]


def sparse_on_a_card() -> Any:
    return torch.eye(3, device="npu").to_sparse().coalesce()


def quantized_on_a_card() -> Any:
    return torch.quantize_per_tensor(torch.ones(2, device="npu"), 0.1, 0, torch.qint8).dequantize().tolist()


def result_of(probe: Callable[[], Any]) -> Any:
    try:
        return probe()
    except Exception as error:
        return {"error": [type(error).__name__, str(error)]}


if __name__ == "__main__":
    members = dict(globals())
    print(json.dumps({name: result_of(members[name]) for name in sys.argv[1:]}, default=str))
