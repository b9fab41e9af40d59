"""Devices and back ends that stand in texts, and the texts that only a reader sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from backends.migration.scan.files.shell import scan_python
from backends.migration.scan.python.module import ProjectExports, parse_module

if TYPE_CHECKING:
    from backends.migration.finding import Occurrence

HEAD = "import torch, os, sys, subprocess, logging, warnings\nimport torch.distributed as dist\n"


def occurrences_in(text: str) -> list[Occurrence]:
    """The places of a text, its lines counted from 1."""
    module = parse_module("train.py", HEAD + text, ProjectExports())
    return [occurrence for occurrence in scan_python(module) if occurrence.line > HEAD.count("\n")]


def only(text: str) -> Occurrence:
    (occurrence,) = occurrences_in(text)
    return occurrence


@pytest.mark.parametrize(
    ("text", "name", "form"),
    [
        ('d = "cuda"', "cuda", None),
        ("d = 'cuda:0'", "cuda:0", None),
        ('d = "cu" "da"', "cuda", None),
        ('d = "cu" + "da"', "cuda", "concatenated"),
        ('d = "cuda" + ":" + str(i)', "cuda:{}", "concatenated"),
        ('d = "cuda:" + str(i)', "cuda:{}", "concatenated"),
        ('d = f"cuda:{rank}"', "cuda:{}", "fstring"),
        ('d = f"cuda:{rank % 8}"', "cuda:{}", "fstring"),
        ('d = "cuda:%d" % rank', "cuda:{}", "percent"),
        ('d = "cuda:%(i)d" % values', "cuda:{}", "percent"),
        ('d = "cuda:{}".format(rank)', "cuda:{}", "format"),
        ('d = "cuda:{i}".format(i=0)', "cuda:0", "format"),
        ('d = "{}:{}".format("cuda", 0)', "cuda:0", "format"),
        ('d = "CUDA".lower()', "cuda", None),
        ('pattern = "cuda:%d"', "cuda:%d", None),
    ],
)
def test_that_a_device_is_seen_however_its_text_is_put_together(text: str, name: str, form: str | None) -> None:
    occurrence = only(text)
    assert (occurrence.category, occurrence.name, occurrence.args.get("form")) == ("device_str", name, form)
    assert occurrence.text == text.partition(" = ")[2]


def test_that_what_is_filled_in_is_told() -> None:
    assert only('d = f"cuda:{args.rank}"').args == {"target": "d", "form": "fstring", "index": "args.rank"}


@pytest.mark.parametrize(
    ("text", "context", "args"),
    [
        ('if d.type == "cuda": pass', "compare", {"operator": "==", "other": "d.type", "side": "right"}),
        ('if "cuda" != d: pass', "compare", {"operator": "!=", "other": "d", "side": "left"}),
        ('if "cuda" in str(d): pass', "compare", {"operator": "in", "other": "str(d)", "side": "left"}),
        (
            'if d in ("cuda", "xpu"): pass',
            "compare",
            {"element": True, "operator": "in", "other": "d", "side": "right"},
        ),
        ('if d.startswith("cuda"): pass', "compare", {"operator": "startswith", "other": "d"}),
        ('match d:\n    case "cuda": pass', "compare", {"operator": "match", "other": "d"}),
        ('x.to("cuda")', "argument:.to:0", {}),
        ('torch.zeros(1, device="cuda")', "argument:torch.zeros:device", {}),
        ('torch.device("cuda" if ok else "cpu")', "argument:torch.device:0", {"conditional": True}),
        ('p.add_argument("--device", default="cuda")', "default", {"option": "--device"}),
        (
            'p.add_argument("-d", "--dev", choices=["cpu", "cuda"])',
            "choices",
            {"element": True, "option": "--dev", "choices": '["cpu", "cuda"]'},
        ),
        ('def f(x, device="cuda"): pass', "default", {"parameter": "device"}),
        ('def f(*, device="cuda"): pass', "default", {"parameter": "device"}),
        ('class A:\n    device: str = "cuda"', "default", {"target": "device"}),
        ('d = getattr(x, "type", "cuda")', "default", {"function": "getattr"}),
        ('d = os.environ.get("DEVICE", "cuda")', "default", {"function": "os.environ.get"}),
        ('m = {"cuda": 1}', "key", {"operation": "literal"}),
        ('m = {"device": "cuda"}', "value", {"key": '"device"'}),
        ('m["cuda"] = 1', "key", {"operation": "set", "other": "m"}),
        ('n = m["cuda"]', "key", {"operation": "subscript", "other": "m"}),
        ('n = m.get("cuda")', "key", {"operation": "get", "other": "m"}),
        ('def f(): return "cuda"', "return", {}),
        ('d: str = Field("cuda", description="cuda")', "default", {"option": "cuda"}),
        ('def f(d: str = typer.Option("cuda", help="cuda")): pass', "default", {"option": "cuda"}),
        ('for d in ("cpu", "cuda"): pass', "loop", {"element": True, "target": "d"}),
        ('from typing import Literal\nD = Literal["cpu", "cuda"]', "choices", {"element": True, "annotation": True}),
        ('self.device = "cuda"', "", {"target": "self.device"}),
    ],
)
def test_that_the_use_of_a_text_is_told(text: str, context: str, args: dict[str, object]) -> None:
    occurrence = only(text)
    assert (occurrence.category, occurrence.context, occurrence.args) == ("device_str", context, args)


@pytest.mark.parametrize(
    ("text", "category", "name"),
    [
        ('dist.init_process_group("nccl")', "nccl_str", "nccl"),
        ('b = "cpu:gloo,cuda:nccl"', "nccl_str", "cpu:gloo,cuda:nccl"),
        ('x = y.type("torch.cuda.FloatTensor")', "cuda_tensor_type", "torch.cuda.FloatTensor"),
        ('patch("torch.cuda.is_available")', "cuda_api", "torch.cuda.is_available"),
        ('f(attn_implementation="flash_attention_2")', "attn_impl", "flash_attention_2"),
        ('u = "https://download.pytorch.org/whl/cu118"', "pip_index", "https://download.pytorch.org/whl/cu118"),
        ('t = table(sort_by="self_cuda_time_total")', "profiler_cuda", "self_cuda_time_total"),
        ('p = ["CUDAExecutionProvider"]', "lib_onnxruntime", "CUDAExecutionProvider"),
        ('Trainer(accelerator="gpu")', "device_str", "gpu"),
    ],
)
def test_that_other_texts_of_the_gpu_stack_are_seen(text: str, category: str, name: str) -> None:
    occurrence = only(text)
    assert (occurrence.category, occurrence.name) == (category, name)


@pytest.mark.parametrize(
    ("text", "args"),
    [
        ('os.environ["CUDA_VISIBLE_DEVICES"] = "0"', {"operation": "set", "value": '"0"'}),
        ('os.environ.setdefault("NCCL_DEBUG", "INFO")', {"operation": "setdefault"}),
        ('n = os.getenv("CUDA_VISIBLE_DEVICES")', {"operation": "get"}),
        ('n = os.environ["NCCL_IB_DISABLE"]', {"operation": "subscript"}),
        ('e = {"CUDA_LAUNCH_BLOCKING": "1"}', {"operation": "literal"}),
        ('e = dict(os.environ, CUDA_VISIBLE_DEVICES="1")', {"operation": "set", "value": '"1"'}),
    ],
)
def test_that_variables_of_the_environment_are_seen(text: str, args: dict[str, str]) -> None:
    occurrence = only(text)
    assert (occurrence.category, occurrence.context) == ("cuda_env", "env")
    assert args.items() <= occurrence.args.items()


@pytest.mark.parametrize(
    "text",
    [
        '# "cuda"',
        '"""cuda"""',
        '"cuda"',
        'def f():\n    "cuda"',
        'class A:\n    """cuda"""',
        'print("cuda")',
        'print("use", "cuda" if x else "cpu")',
        'print(f"cuda:{rank}")',
        'print("cuda:%d" % rank)',
        'print("cuda:{}".format(rank))',
        'print("on {}".format("cuda"))',
        'print("on {d}".format(d="cuda"))',
        'print_once("cuda")',
        'log_rank0("cuda")',
        'print(x or "cuda")',
        'logging.info("cuda")',
        'logger.warning("%s on %s", name, "cuda")',
        'self.logger.debug("nccl")',
        'print_rank_0("cuda")',
        'warnings.warn("cuda")',
        'raise ValueError("cuda")',
        'raise ValueError("not " + "cuda")',
        'assert x, "cuda"',
        'sys.exit("cuda")',
        'p = ArgumentParser(description="cuda")',
        'p.add_argument("--x", help="cuda")',
        'x = field(metadata={"help": "cuda"})',
        'p.add_argument("--cuda", action="store_true")',
        'p.add_argument("cuda")',
        'p.add_argument("--x", dest="cuda")',
        '__all__ = ["cuda", "nccl"]',
        'x = getattr(args, "cuda", False) or hasattr(args, "cuda")',
        'setattr(args, "cuda", 1)',
        "use_cuda = args.cuda",
        'x = vars(args)["cuda"]',
        'x = args.__dict__["cuda"]',
        'self.register_buffer("cuda", x)',
        '@pytest.mark.parametrize("cuda", [True, False])\ndef f(cuda): pass',
        "cuda_kwargs = dict(cuda=True)",
        's = "run on cuda with nccl"',
        's = "--device=cuda"',
        's = "cuda out of memory"',
        'pytest.skip("cuda")',
        'torch.cuda_is_fine("x")',
        'x = "barracuda"',
        'd = "gpu"',
        'x = "CUDA_ERROR_OUT_OF_MEMORY"',
        'timers["cuda_time"] = 1',
        'setup(keywords=["cuda"])',
    ],
)
def test_that_messages_help_names_and_comments_never_count(text: str) -> None:
    assert occurrences_in(text) == []


def test_that_what_a_message_computes_does_count() -> None:
    assert [occurrence.name for occurrence in occurrences_in('print("cuda", torch.cuda.memory_allocated())')] == [
        "torch.cuda.memory_allocated"
    ]
    assert [occurrence.name for occurrence in occurrences_in('print(f"{torch.cuda.current_device()} cuda")')] == [
        "torch.cuda.current_device"
    ]
    assert [occurrence.context for occurrence in occurrences_in('print("a" if d == "cuda" else "b")')] == ["compare"]
    assert [occurrence.category for occurrence in occurrences_in('print(model("cuda"))')] == ["device_str"]


@pytest.mark.parametrize(
    "text",
    [
        'if d in ("cuda", "npu"): pass',
        'if d == "cuda" or d == "npu": pass',
        'if d.startswith("cuda") or d.startswith(("npu", "xpu")): pass',
        'm = {"cuda": 1, "npu": 2}',
        'm = {"cuda": "npu"}',
        'm = {"cuda": "gloo", "npu": "hccl"}',
        'match d:\n    case "cuda": pass\n    case "npu": pass',
        'p.add_argument("--d", choices=["cpu", "cuda", "npu:0"])',
        'if d == "cuda":\n    a\nelif d == "npu":\n    b',
        'if d == "npu":\n    a\nelif x:\n    pass\nelif d == "cuda":\n    b',
    ],
)
def test_that_a_text_beside_an_npu_is_told_apart(text: str) -> None:
    assert only(text).args["npu"] is True


@pytest.mark.parametrize("text", ['if d in ("cuda", "cpu"): pass', 'if d == "cuda":\n    x = "npu"'])
def test_that_a_text_with_no_npu_beside_it_is_not(text: str) -> None:
    assert "npu" not in only(text).args


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('os.system("nvidia-smi -L")', [("nvidia_smi", "nvidia-smi")]),
        ('subprocess.run(["nvidia-smi", "-L"])', [("nvidia_smi", "nvidia-smi")]),
        ('c = ["nvidia-smi", "--query-gpu=name"]', [("nvidia_smi", '"nvidia-smi"')]),
        ('shutil.which("nvidia-smi")', [("nvidia_smi", "nvidia-smi")]),
        (
            'subprocess.call("CUDA_VISIBLE_DEVICES=0 python x.py --device cuda", shell=True)',
            [("cuda_env", "CUDA_VISIBLE_DEVICES"), ("shell_cuda", "cuda")],
        ),
        ('subprocess.run(["python", "x.py", "--device", "cuda"])', [("device_str", '"cuda"')]),
        ('exec("import torch\\ntorch.cuda.synchronize()")', [("cuda_api", "torch.cuda.synchronize")]),
        ('x = eval("torch.cuda.is_available()")', [("cuda_api", "torch.cuda.is_available")]),
        ('subprocess.run(shlex.split("nvidia-smi -q"))', [("nvidia_smi", '"nvidia-smi -q"')]),
    ],
)
def test_that_commands_and_code_in_texts_are_read(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(occurrence.category, occurrence.text) for occurrence in occurrences_in(text)] == expected


def test_that_a_pip_line_in_a_script_is_seen() -> None:
    expected = occurrences_in('os.system("pip install torch --index-url https://download.pytorch.org/whl/cu118")')
    assert {occurrence.category for occurrence in expected} == {"req_torch", "pip_index"}
    assert {occurrence.text for occurrence in expected} == {"torch", "https://download.pytorch.org/whl/cu118"}


@pytest.mark.parametrize("text", ['print_memory("cuda")', 'log_stats(device="cuda")', 'raise Bad(device="cuda")'])
def test_that_a_device_given_to_a_function_that_reports_is_seen(text: str) -> None:
    assert only(text).name == "cuda"


def test_that_a_device_that_is_changed_to_something_else_is_seen() -> None:
    assert [occurrence.text for occurrence in occurrences_in('title_of = "cuda".title() + "x"')] == ['"cuda"']


def test_that_a_text_inside_another_place_is_not_told_twice() -> None:
    assert len(occurrences_in('import importlib\nimportlib.import_module("torch.cuda").synchronize()')) == 1
    assert len(occurrences_in('d = "{}:{}".format("cuda", 0)')) == 1
