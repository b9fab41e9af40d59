"""What is slow on an NPU, or computed on the CPU."""

from __future__ import annotations

from dataclasses import replace

import pytest

from backends.migration.scan.advice import advise
from backends.migration.scan.facts import facts_of_interpreter
from backends.migration.scan.python.module import ProjectExports, module_exports, parse_module
from backends.migration.scan.verdicts.judge import judge
from tests.migration.advice_runs import advised, advised_lines, advised_rules

LOOP = """
import torch
for batch in loader:
    loss = model(batch)
    loss.backward()
    {}
"""


@pytest.mark.parametrize(
    ("line", "how"),
    [
        ("total += loss.item()", ".item()"),
        ("seen.append(loss.detach().cpu())", ".cpu()"),
        ("history.append(float(loss))", "float()"),
        ("print(loss)", "print()"),
        ('print(f"loss {loss}")', "print()"),
        ('print(f"loss {loss.item():.3f}")', ".item()"),
        ("if torch.isnan(loss): break", "if torch.isnan()"),
    ],
)
def test_that_a_copy_to_the_host_at_every_step_is_told(line: str, how: str) -> None:
    (occurrence,) = advised(LOOP.format(line))
    assert (occurrence.line, occurrence.rule, occurrence.name) == (6, "advice.host_sync", how)


@pytest.mark.parametrize(
    "line",
    [
        "total += loss.detach()",
        "if step % 100 == 0: print(loss.item())",
        "if args.log_interval: print(loss)",
        'print("loss", step)',
        "later = lambda: loss.item()",
        "rows = np.mean(losses).item()",
        "step = float(step)",
    ],
)
def test_that_a_step_which_copies_seldom_is_not_told(line: str) -> None:
    assert not advised_rules("import numpy as np\n" + LOOP.format(line))


def test_that_what_stands_outside_of_the_step_is_not_told() -> None:
    source = """
        import torch
        for epoch in range(9):
            for batch in loader:
                loss = model(batch)
                loss.backward()
            print(loss.item())
        def evaluate():
            for batch in loader:
                total = model(batch).item()
    """
    assert not advised_rules(source)


def test_that_the_step_around_micro_batches_is_a_step_too() -> None:
    source = """
        import torch
        while True:
            for micro_step in range(gradient_accumulation_steps):
                loss = model()
                loss.backward()
            norm = total.item()
    """
    assert advised_lines(source) == [(6, "advice.host_sync")]


def test_that_a_step_that_is_a_function_of_its_own_is_read() -> None:
    source = """
        import torch
        def train_step(batch):
            loss = model(batch)
            loss.backward()
            return loss.item()
        def gradients_of(x):
            x.backward()
            return x.item()
    """
    assert advised_lines(source) == [(5, "advice.host_sync")]


@pytest.mark.parametrize("backward", ["accelerator.backward(loss)", "scaler.scale(loss).backward()"])
def test_that_the_loss_is_known_however_backward_is_called(backward: str) -> None:
    source = f"import torch\nfor batch in loader:\n    {backward}\n    print(loss, batch)\n    print(batch)\n"
    assert advised_lines(source) == [(4, "advice.host_sync")]


def test_that_waiting_and_emptying_in_the_step_are_told() -> None:
    source = """
        import torch
        torch.cuda.synchronize()
        for batch in loader:
            model(batch).backward()
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
    """
    assert advised_lines(source) == [(5, "advice.synchronize"), (6, "advice.empty_cache")]


def test_that_results_of_unknown_shape_are_told() -> None:
    source = """
        import numpy as np
        import torch
        class Net(torch.nn.Module):
            def forward(self, x):
                a = torch.nonzero(x)
                b = (x > 0).nonzero(as_tuple=True)
                c = torch.where(x > 0)
                d = x[x > 0]
                e = torch.unique(x)
                f = torch.where(x > 0, x, 0)
                g = np.array(x).nonzero()
                h = np.unique(x)
                i = x[1:]
                j = x[k > 0]
                x[x > 0] = 0
    """
    assert [line for line, _ in advised_lines(source)] == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("path", ["data/collate.py", "tests/test_net.py"])
def test_that_data_on_the_host_may_have_any_shape(path: str) -> None:
    assert not advised_rules("import torch\na = torch.nonzero(x)\n", path)


def test_that_a_dataset_may_have_any_shape() -> None:
    source = """
        import torch
        class Faces(torch.utils.data.Dataset):
            def __getitem__(self, index):
                return torch.nonzero(self.masks[index])
    """
    assert not advised_rules(source)


def test_that_float64_is_told_where_something_becomes_it() -> None:
    source = """
        import torch
        import numpy as np
        torch.set_default_dtype(torch.float64)
        model = model.double()
        x = x.to(torch.double)
        y = torch.zeros(3, dtype=torch.float64, device=device)
        z = torch.linspace(0, 1, 9, dtype=torch.float64)
        if x.dtype == torch.float64 or x.dtype in (torch.float64, torch.float32):
            kind = {torch.float64: "f8"}
        w = np.zeros(3, dtype=np.float64)
    """
    assert advised_lines(source) == [(line, "advice.float64") for line in (3, 4, 5, 6)]


def test_that_what_another_module_made_is_followed_and_what_it_defines_is_not() -> None:
    made = "import torch\nnet = torch.nn.Linear(3, 3)\ndef double():\n    pass\n"
    source = "import torch\nimport made\nfrom made import net\nnet.double()\nmade.double()\nmade.net.double()\n"
    exports = ProjectExports({"made.py": module_exports("made.py", made)})
    occurrence = [
        occurrence.line
        for occurrence in advise(parse_module("train.py", source, exports))
        if occurrence.rule == "advice.float64"
    ]
    assert occurrence == [4, 6]


def test_that_channels_last_is_told_where_it_is_set() -> None:
    source = """
        import torch
        x = x.to(memory_format=torch.channels_last)
        y = x.contiguous(memory_format=torch.contiguous_format)
        if x.is_contiguous(memory_format=torch.channels_last):
            pass
        if form == torch.channels_last:
            pass
    """
    assert advised_lines(source) == [(2, "advice.channels_last")]


def test_that_loaders_without_workers_or_pinned_memory_are_told() -> None:
    source = """
        from torch.utils.data import DataLoader
        a = DataLoader(data, batch_size=8)
        b = DataLoader(data, 8, True, None, None, 4)
        c = DataLoader(data, num_workers=0, pin_memory=True)
        d = DataLoader(data, num_workers=4, pin_memory=True)
        e = DataLoader(data, **options)
        f = DataLoader(data, num_workers=args.workers, pin_memory=args.pin)
        g = other.DataLoader(data)
    """
    assert advised_lines(source) == [
        (2, "advice.loader_workers"),
        (3, "advice.loader_pinned"),
        (4, "advice.loader_workers"),
    ]


def test_that_operators_without_a_kernel_are_told_once_per_file_with_their_operator() -> None:
    source = """
        import math
        import torch
        a = torch.linalg.eigh(x)
        b = torch.linalg.eigh(y)
        c = x.lgamma()
        d = math.copysign(1, -1)
        e = torch.linalg.qr(x)
        f = frame.mode()
    """
    occurrence = [
        (occurrence.line, occurrence.name, occurrence.args) for occurrence in advised(source.removeprefix("\n"))
    ]
    assert occurrence == [
        (3, "torch.linalg.eigh", {"operator": "_linalg_eigh.eigenvalues", "count": 2}),
        (5, "torch.Tensor.lgamma", {"operator": "lgamma", "count": 1}),
    ]


def test_that_an_operator_for_which_torch_npu_lists_a_kernel_is_not_told() -> None:
    (occurrence,) = advised("import torch\na = torch.lgamma(x)\n")
    shipped = facts_of_interpreter(None, None)
    occurrence = judge(occurrence, shipped)
    assert occurrence is not None
    assert (occurrence.kind, occurrence.state, occurrence.confidence) == ("advice", "auto", "low")
    assert judge(occurrence, replace(shipped, kernels=frozenset({"lgamma"}))) is None


def test_that_every_called_api_is_handed_to_the_judge_once() -> None:
    source = "import torch\na = torch.zeros(3)\nb = torch.zeros(3)\nc = torch.cuda.synchronize()\nd = print(1)\n"
    occurrence = [
        occurrence
        for occurrence in advise(parse_module("a.py", source, ProjectExports()))
        if occurrence.category == "api"
    ]
    assert [(occurrence.name, occurrence.line, occurrence.args) for occurrence in occurrence] == [
        ("torch.zeros", 2, {"count": 2})
    ]
