"""What msprobe does not see."""

from __future__ import annotations

from tests.migration.advice_runs import advised_lines, advised_rules


def test_that_what_is_compiled_is_told() -> None:
    source = """
        import torch
        @torch.compile
        def f(x):
            return x
        model = torch.compile(model, mode="max-autotune")
    """
    assert advised_lines(source) == [(2, "advice.unseen_compile"), (5, "advice.unseen_compile")]


def test_that_a_function_with_its_own_gradient_is_told() -> None:
    source = """
        import torch
        from torch.autograd import Function
        class Sign(Function):
            pass
        class Plain(torch.nn.Module):
            pass
    """
    assert advised_lines(source) == [(3, "advice.unseen_function")]


def test_that_modules_that_work_in_place_are_told_once_per_file() -> None:
    source = """
        import torch
        from torchvision.transforms import Normalize
        scale = Normalize(0, 1, inplace=True)
        a = torch.nn.ReLU(inplace=False)
        b = torch.nn.ReLU(inplace=True)
        c = torch.nn.functional.relu(x, inplace=True)
    """
    assert advised_lines(source) == [(5, "advice.unseen_inplace")]


def test_that_a_forward_past_the_hooks_is_told() -> None:
    source = """
        import torch
        class Net(torch.nn.Module):
            def forward(self, x):
                x = self.layer.forward(x)
                return super().forward(x)
        class Reader:
            def read(self, x):
                return self.net.forward(x)
    """
    assert advised_lines(source) == [(4, "advice.unseen_forward")]


def test_that_casts_in_a_forward_are_told_once_per_file() -> None:
    source = """
        import torch
        rate = rate.float()
        class Net(torch.nn.Module):
            def forward(self, x):
                y = x.to(device)
                y = x.to(torch.bfloat16)
                return y.float()
    """
    assert advised_lines(source) == [(6, "advice.unseen_cast")]


def test_that_a_file_without_torch_gets_no_advice() -> None:
    assert not advised_rules(
        "a = b.double()\nc = d.forward(e)\nclass N:\n    def forward(self, x):\n        return x.half()\n"
    )


def test_that_tests_of_the_project_get_none_either() -> None:
    source = "import torch\nm = torch.compile(model)\nx = x.double()\n"
    assert advised_rules(source) == {"advice.unseen_compile", "advice.float64"}
    assert not advised_rules(source, "tests/unit_tests/test_model.py")
