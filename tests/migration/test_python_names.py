"""What an expression is called, whatever the file calls it."""

from __future__ import annotations

import ast

import pytest

from backends.migration.scan.python.module import Module, ProjectExports, module_exports, parse_module


def module(text: str, path: str = "train.py", others: dict[str, str] | None = None) -> Module:
    files = {**(others or {}), path: text}
    return parse_module(
        path, text, ProjectExports({name: module_exports(name, source) for name, source in files.items()})
    )


def called(text: str, path: str = "train.py", others: dict[str, str] | None = None) -> list[str | None]:
    """The names of all that the text calls with run()."""
    parsed = module(text, path, others)
    return [name for call, name in parsed.calls if isinstance(call.func, ast.Attribute) and call.func.attr == "run"]


@pytest.mark.parametrize(
    "text",
    [
        "import torch\ntorch.cuda.run()",
        "import torch as t\nt.cuda.run()",
        "import torch.cuda\ntorch.cuda.run()",
        "import torch.cuda as c\nc.run()",
        "from torch import cuda\ncuda.run()",
        "from torch import cuda as c\nc.run()",
        "import torch\nc = torch.cuda\nc.run()",
        "import torch\na = b = torch.cuda\nb.run()",
        "import torch\na, b = torch.cuda, 3\na.run()",
        "import torch\nc = torch.cuda if x else None\nc.run()",
        "import torch\nc = x and torch.cuda\nc.run()",
        "import torch\nif (c := torch.cuda): c.run()",
        "import torch\nfor c in (torch.cuda, torch.mps): c.run()",
        "import torch\n[c.run() for c in (torch.cuda,)]",
        'import torch\ngetattr(torch, "cuda").run()',
        'import torch\ngetattr(torch, "cu" + "da", None).run()',
        'import torch\nkind = "cuda"\ngetattr(torch, kind).run()',
        "import torch\ngetattr(torch, f\"{'cu'}da\").run()",
        'import importlib\nimportlib.import_module("torch.cuda").run()',
        'from importlib import import_module as im\nc = im("torch." + "cuda")\nc.run()',
        '__import__("torch.cuda").cuda.run()',
        'import sys\nsys.modules["torch.cuda"].run()',
        'import torch\ntorch.__dict__["cuda"].run()',
        'import torch\nvars(torch)["cuda"].run()',
        'import torch\nfrom operator import attrgetter\nattrgetter("cuda")(torch).run()',
        'from importlib import import_module\nimport_module(".cuda", "torch").run()',
        'from importlib import import_module\nimport_module(".cuda", package="torch").run()',
        'import torch\nkinds = {"gpu": torch.cuda}\nkinds["gpu"].run()',
        "import torch\nclass A:\n    api = torch.cuda\n    def f(self): self.api.run()",
        "import torch\nclass A:\n    def __init__(me): me.api = torch.cuda\n    def f(this): this.api.run()",
        "import torch\nclass A:\n    api = torch.cuda\nA.api.run()",
        "import torch\ndef f():\n    global c\n    c = torch.cuda\ndef g(): c.run()",
        "import torch\ndef f(c=torch.cuda): c.run()",
        "try:\n    from torch import cuda as c\nexcept ImportError:\n    c = None\nc.run()",
        "try:\n    from other import c\nexcept ImportError:\n    from torch import cuda as c\nc.run()",
        "def f():\n    from torch import cuda\n    def g(): cuda.run()",
        "import torch\nwith x as y:\n    c = torch.cuda\nc.run()",
        "from torch import cuda as c\nc.run()\nc = 3",
    ],
)
def test_that_torch_cuda_is_known_under_any_name(text: str) -> None:
    assert called(text) == ["torch.cuda.run"]


@pytest.mark.parametrize(
    "text",
    [
        "cuda.run()",
        "from torch import cuda\ncuda = 3\ncuda.run()",
        "from torch import cuda\ndef f(cuda): cuda.run()",
        "from torch import cuda\nf = lambda cuda: cuda.run()",
        "from torch import cuda\n[cuda.run() for cuda in things]",
        "from torch import cuda\nwith open(x) as cuda: cuda.run()",
        "from torch import cuda\nfor cuda in things: cuda.run()",
        "from torch import cuda\ndef f():\n    cuda = make()\n    cuda.run()",
        "from torch import cuda\ndel cuda\ncuda.run()",
        "from torch import cuda\ntry: pass\nexcept E as cuda: cuda.run()",
        "from torch import cuda\nif x:\n    cuda = 1\nelse:\n    cuda = 2\ncuda.run()",
        "from torch import cuda\ndef cuda(): pass\ncuda.run()",
        "import torch\nclass A:\n    cuda = torch.cuda\n    def f(self): cuda.run()",
        "import numpy as torch\ntorch.cuda = 3\nx.cuda.run()",
        "import torch\nc = torch.cuda.is_available()\nc.run()",
        "a = a\na.run()",
        "a = b\nb = a\na.run()",
    ],
)
def test_that_a_name_bound_to_something_else_is_not_torch_cuda(text: str) -> None:
    assert [name for name in called(text) if name and name.startswith("torch.")] == []


def test_that_only_the_branch_that_a_use_stands_in_counts() -> None:
    text = "import torch\nif x:\n    c = torch.cuda\n    c.run()\nelse:\n    c = torch.cpu\n    c.run()\nc.run()"
    assert called(text) == ["torch.cuda.run", "torch.cpu.run", "torch.cpu.run"]


def test_that_calls_come_in_source_order_with_their_names() -> None:
    parsed = module("import torch.nn as nn\nprint(nn.Linear(1, 2).weight.sum())")
    assert [name for _, name in parsed.calls] == ["print", None, "torch.nn.Linear"]


@pytest.mark.parametrize(
    ("others", "text", "path"),
    [
        ({"utils.py": "import torch\ntc = torch.cuda"}, "from utils import tc\ntc.run()", "train.py"),
        ({"utils.py": "import torch\ntc = torch.cuda"}, "import utils\nutils.tc.run()", "train.py"),
        ({"utils.py": "from torch import cuda"}, "from utils import cuda as c\nc.run()", "train.py"),
        ({"utils.py": "from torch import cuda"}, "from utils import *\ncuda.run()", "train.py"),
        (
            {"a/__init__.py": "from .b import tc", "a/b.py": "from torch import cuda as tc"},
            "from a import tc\ntc.run()",
            "x.py",
        ),
        (
            {"a/__init__.py": "from .b import *", "a/b.py": "from torch import cuda as tc"},
            "import a\na.tc.run()",
            "x.py",
        ),
        ({"a/b.py": "from torch import cuda as tc"}, "from .b import tc\ntc.run()", "a/c.py"),
        ({"a/b.py": "from torch import cuda as tc"}, "from . import b\nb.tc.run()", "a/c.py"),
        ({"a/b.py": "from torch import cuda as tc"}, "from ..b import tc\ntc.run()", "a/d/c.py"),
        ({"src/a/b.py": "from torch import cuda as tc"}, "from a.b import tc\ntc.run()", "tools/c.py"),
        ({"a/b.py": "import torch\ntc = getattr(torch, 'cuda') if x else None"}, "import a.b as m\nm.tc.run()", "c.py"),
        ({"v1.0/b.py": "from torch import cuda as tc"}, "from .b import tc\ntc.run()", "v1.0/c.py"),
        ({"b.py": "NAME = 'cuda'"}, "import torch\nfrom b import NAME\ngetattr(torch, NAME).run()", "c.py"),
    ],
)
def test_that_names_are_followed_through_the_modules_of_a_project(others: dict[str, str], text: str, path: str) -> None:
    assert called(text, path, others) == ["torch.cuda.run"]


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ({"utils.py": "import torch\ntc = torch.cuda\ntc = make(tc)"}, "from utils import tc\ntc.run()"),
        ({"a.py": "from b import x", "b.py": "from a import x"}, "from a import x\nx.run()"),
        ({"a.py": "from a import *\nfrom b import *", "b.py": "from a import *"}, "from a import *\nx.run()"),
        ({"a.py": "x = y\ny = x"}, "from a import x\nx.run()"),
        ({"deep/a.py": "from torch import cuda", "other/a.py": "cuda = 1"}, "from a import cuda\ncuda.run()"),
    ],
)
def test_that_circles_and_unclear_modules_give_no_name_of_torch(others: dict[str, str], text: str) -> None:
    assert [name for name in called(text, others=others) if name and name.startswith("torch.")] == []


def test_that_many_modules_that_import_all_of_each_other_are_asked_once_each() -> None:
    stars = "".join(f"from m{i} import *\n" for i in range(30))
    others = {f"m{i}.py": stars for i in range(30)} | {"m29.py": "from torch import cuda as tc"}
    assert called("from m0 import *\ntc.run()\nunknown.run()", others=others) == ["torch.cuda.run", None]


def test_that_a_library_in_a_folder_of_its_name_inside_the_project_is_the_projects_own() -> None:
    own = {"apex/__init__.py": "", "apex/amp.py": "def run(): pass"}
    assert called("from apex import amp\namp.run()", others=own) == ["/apex/amp.run"]
    assert called("from apex import amp\namp.run()", others={"third/apex/amp.py": ""}) == ["apex.amp.run"]


def test_that_the_digest_changes_only_with_what_other_modules_can_see() -> None:
    def digest(text: str) -> str:
        return ProjectExports({"a.py": module_exports("a.py", text)}).digest

    before = digest("import torch\nc = torch.cuda\ndef f(): return 1")
    assert digest("import torch\nc = torch.cuda\n\ndef f(): return 2") == before
    assert digest("import torch\nc = torch.mps\ndef f(): return 1") != before


def test_that_a_chain_of_a_thousand_names_ends() -> None:
    text = "import torch\nx0 = torch.cuda\n" + "".join(f"x{i + 1} = x{i}\n" for i in range(1000)) + "x1000.run()"
    assert called(text) == [None]


def test_that_the_loops_around_a_call_are_those_that_train() -> None:
    text = """
for name in names:
    for epoch in range(3):
        for batch in loader:
            loss.backward()
            run(loss)
    check(name)
def later():
    while True:
        other()
"""
    parsed = module(text)
    lines = {ast.unparse(call.func): [loop.lineno for loop in parsed.training_loops(call)] for call, _ in parsed.calls}
    assert lines["run"] == [4, 3, 2]
    assert lines["range"] == [2]
    assert lines["check"] == [2]
    assert lines["other"] == []
