"""What transfer_to_npu changes without a word."""

from __future__ import annotations

import pytest

from tests.migration.advice_runs import advised, advised_lines, advised_rules


@pytest.mark.parametrize(
    "compared",
    [
        'x.device.type == "cuda"',
        '"cuda" in device.type',
        'device.type in ("cuda", "xpu")',
        '"cuda" in str(x.device)',
        'device.type.startswith("cuda")',
        'dist.get_backend() == "nccl"',
        'self.group.get_backend() != "nccl"',
        'x.device == torch.device("cuda:0")',
    ],
)
def test_that_a_comparison_with_a_device_that_is_an_npu_then_is_told(compared: str) -> None:
    assert advised_rules(f"import torch\nimport torch.distributed as dist\nif {compared}:\n    pass\n") == {
        "advice.compared"
    }


@pytest.mark.parametrize(
    "compared", ['args.device == "cuda"', 'args.type == "cuda"', 'name == "cuda:0"', 'x.device.type == "cpu"']
)
def test_that_a_comparison_of_a_plain_string_is_not_told(compared: str) -> None:
    assert not advised_rules(f"import torch\nif {compared}:\n    pass\n")


def test_that_a_match_on_the_type_is_told_at_its_case() -> None:
    source = """
        import torch
        match x.device.type:
            case "cpu":
                pass
            case "cuda" | "xpu":
                pass
    """
    assert advised_lines(source) == [(5, "advice.compared")]


def test_that_a_variable_that_holds_the_type_is_followed() -> None:
    source = """
        import torch
        kind = x.device.type
        plain = "cuda"
        if kind == "cuda":
            pass
        if plain == "cuda":
            pass
    """
    assert advised_lines(source) == [(4, "advice.compared")]


def test_that_scripting_is_told_as_call_and_as_decorator() -> None:
    source = """
        import torch
        from torch.jit import script

        @script
        def gelu(x):
            return x

        fast = torch.jit.script(gelu)
        traced = torch.jit.trace(gelu, 1)
    """
    assert advised_lines(source) == [(4, "advice.jit_script"), (8, "advice.jit_script")]


def test_that_many_decorators_are_folded_with_a_count() -> None:
    many = "import torch\n" + "@torch.jit.script\ndef f(x):\n    return x\n" * 9
    occurrences = advised(many)
    assert [occurrence.args.get("count") for occurrence in occurrences] == [9, None, None]


def test_that_a_double_tensor_is_told_as_name_and_as_string() -> None:
    source = """
        import torch
        x = torch.cuda.DoubleTensor(3)
        torch.set_default_tensor_type("torch.cuda.DoubleTensor")
        y = torch.DoubleTensor(3)
        print("torch.cuda.DoubleTensor")
    """
    assert advised_lines(source) == [(2, "advice.double_tensor"), (3, "advice.double_tensor")]


def test_that_a_configuration_of_cuda_is_told_and_that_of_an_npu_is_not() -> None:
    source = """
        import torch, torch_npu
        from torch.profiler import profile
        a = profile(experimental_config=torch._C._profiler._ExperimentalConfig(verbose=True))
        b = profile(experimental_config=torch_npu.profiler._ExperimentalConfig())
        c = profile(with_stack=True)
    """
    assert advised_lines(source) == [(1, "advice.npu_aware"), (3, "advice.experimental_config")]


def test_that_a_question_for_triton_is_told() -> None:
    source = """
        from torch.utils._triton import has_triton
        from mine import has_triton as own
        if has_triton() or own():
            pass
    """
    assert advised_lines(source) == [(3, "advice.has_triton")]


def test_that_comments_and_messages_are_not_told() -> None:
    source = '''
        """torch.cuda.DoubleTensor, device.type == "cuda", msprobe -f pytorch compare -l api"""
        import torch
        # x = torch.cuda.DoubleTensor(3)
        print('device.type == "cuda"', "MSPROBE_PATH")
        raise ValueError("torch.cuda.DoubleTensor")
    '''
    assert not advised_lines(source)


@pytest.mark.parametrize(
    "source",
    [
        "import accelerate\naccelerator = accelerate.Accelerator()\n",
        "from transformers import Seq2SeqTrainer as Trainer\nclass Mine(Trainer):\n    pass\n",
        "from trl import DPOTrainer\nDPOTrainer(model).train()\n",
    ],
)
def test_that_a_trainer_that_knows_npus_is_told(source: str) -> None:
    assert advised_lines(source) == [(2, "advice.native_trainer")]


@pytest.mark.parametrize(
    "source",
    [
        "from transformers import AutoModel\nAutoModel.from_pretrained(name)\n",
        "from lightning import Trainer\nTrainer(accelerator='gpu').fit(net)\n",
        "class Trainer:\n    pass\nTrainer()\n",
    ],
)
def test_that_another_trainer_is_not(source: str) -> None:
    assert "advice.native_trainer" not in advised_rules(source)


def test_that_a_comparison_that_is_right_as_it_is_is_not_told() -> None:
    source = "from torch import nn\nif x.device.type == 'cuda':\n    net = nn.DataParallel(net)\n"
    assert not advised_rules(source)


@pytest.mark.parametrize(
    "source",
    [
        "import torch\nimport torch_npu\n",
        "from transformers.utils import is_torch_npu_available\nis_torch_npu_available()\n",
        "import torch\ntorch.npu.set_device(0)\n",
    ],
)
def test_that_a_file_that_knows_npus_is_told_unless_it_relies_on_transfer_to_npu(source: str) -> None:
    assert advised_lines(source) == [(2, "advice.npu_aware")]
    assert "advice.npu_aware" not in advised_rules(source + "from torch_npu.contrib import transfer_to_npu\n")
