"""A training as one plain script: whole for every pair of options, and with the run's own losses."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.script import layout
from backends.launch.script.document import script_text
from backends.launch.script.spec import ScriptSpec
from backends.launch.script.work import as_script
from studio import paths, schema, texts
from studio import run as runs
from studio.errors import StudioError
from studio.run import last_events
from tests.launch.engine_process import needs_mindspore
from tests.launch.pairs import cover, pairs_of
from tests.prove.script import (
    OPTIONS,
    combinations,
    differences,
    is_allowed,
    metrics_of_script,
    spec_of,
    torch_combinations,
)

if TYPE_CHECKING:
    from pathlib import Path

MANY = {
    "recipe": "linear", "loop": "cell", "mode": "jit", "accumulate": "3", "clip": "0.5", "optimizer": "adamw",
    "schedule": "cosine", "warmup": "3", "checkpoint_every": "4",
}  # fmt: skip
MIXED = {"recipe": "digits", "mode": "pynative", "amp": "O2", "loss_scale": "dynamic", "on_nan": "skip"}
TORCH = {"framework": "torch", "recipe": "text", "amp": "O1", "amp_dtype": "bf16", "accumulate": "2", "clip": "0.5"}
TORCH_DIGITS = {
    "framework": "torch", "recipe": "digits", "optimizer": "momentum", "checkpoint_every": "4",
    "initial_weights": "portable",
}  # fmt: skip
TORCH_OWN = {
    "framework": "torch", "recipe": "own", "recipe_file": str(paths.ASSETS / "template" / "recipe_torch.en.py"),
}  # fmt: skip
OWN = {"recipe": "own", "recipe_file": str(paths.ASSETS / "template" / "recipe.en.py"), "optimizer": "momentum"}


needs_torch = pytest.mark.skipif(not find_spec("torch"), reason="no PyTorch here")
BATCHES_OF_8 = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from ascend_engine.pytorch.recipe import Recipe

def build(config):
    x = torch.rand(40, 2, generator=torch.Generator().manual_seed(3))
    data = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8, shuffle=True)
    return Recipe(network=nn.Linear(2, 1), loss=nn.MSELoss(), train_data=data)
"""


def imported(text: str) -> set[str]:
    """The packages that a script imports."""
    nodes = list(ast.walk(ast.parse(text)))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}
    return {name.partition(".")[0] for name in names}


def test_that_the_cover_has_every_pair_that_is_allowed() -> None:
    chosen = combinations()
    names = list(OPTIONS)
    met = {pair for one in chosen for pair in pairs_of(one, names)}
    assert all(is_allowed(one) for one in chosen)
    for first, x, second, y in (
        (a, x, b, y) for a in names for b in names if a < b for x in OPTIONS[a] for y in OPTIONS[b]
    ):
        if is_allowed({first: x, second: y}) and {"recompute", "jit_level", "loss_scale"}.isdisjoint({first, second}):
            assert (first, x, second, y) in met or (second, y, first, x) in met
    assert cover(OPTIONS, is_allowed) == chosen


def test_that_a_script_compiles_and_names_nothing_that_is_not_there(tmp_path: Path) -> None:
    # All of them: tests/prove/script.py.
    for number, one in enumerate((*combinations()[:3], *torch_combinations()[1:3])):
        text = script_text(spec_of(one))
        compile(text, "train.py", "exec")
        assert imported(text) <= {*sys.stdlib_module_names, one.get("framework", "mindspore"), "numpy"}
        (tmp_path / f"script{number}.py").write_text(text, "utf-8")
    command = (sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", "--ignore", "F841", str(tmp_path))
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize(("framework", "recipe"), [("mindspore", "digits"), ("mindspore", "text"), ("torch", "digits")])
def test_that_a_script_carries_its_data_and_names_no_folder_of_this_host(
    framework: str, recipe: str, tmp_path: Path
) -> None:
    text = script_text(spec_of({"framework": framework, "recipe": recipe}))
    assert str(paths.ROOT) not in text
    assert "it needs no other file" in text
    unpacking = text.partition('if __name__ == "__main__":')[0].partition("def unpack(")
    folder = tmp_path / "data"
    code = (
        f"import base64, zlib\nfrom pathlib import Path\ndef unpack({unpacking[2]}\nunpack(DATA, Path({str(folder)!r}))"
    )
    (tmp_path / "unpack.py").write_text(code, "utf-8")
    subprocess.run([sys.executable, "-I", "unpack.py"], check=True, cwd=tmp_path)
    source = paths.ASSETS if recipe == "digits" else paths.ASSETS / "help"
    unpacked = [path for path in folder.rglob("*") if path.is_file()]
    assert unpacked
    assert all(path.read_bytes() == (source / path.relative_to(folder)).read_bytes() for path in unpacked)
    if recipe == "text":
        assert len(unpacked) == len(list(source.rglob("*.md")))


def test_that_what_is_too_large_to_be_carried_is_named_in_the_head(tmp_path: Path) -> None:
    (tmp_path / "large.txt").write_text("0123456789" * 500_000)
    text = script_text(spec_of({"recipe": "text", "corpus": str(tmp_path)}))
    head = text.partition('"""\n\n')[0]
    assert "It also needs" in head
    assert str(tmp_path) in head
    assert "it needs no other file" not in head


@needs_mindspore
@pytest.mark.parametrize("framework", ["mindspore", pytest.param("torch", marks=needs_torch)])
def test_that_a_script_of_the_digits_trains_where_the_studio_is_not(framework: str, tmp_path: Path) -> None:
    script = tmp_path / "elsewhere" / "train.py"
    script.parent.mkdir()
    script.write_text(script_text(spec_of({"framework": framework, "recipe": "digits"})), "utf-8")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    words = (sys.executable, "-I", str(script))
    done = subprocess.run(words, cwd=script.parent, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "step 1  " in done.stdout


def test_that_a_simple_choice_of_pytorch_gives_a_script_without_ranks_and_checkpoints() -> None:
    text = script_text(spec_of({"framework": "torch", "recipe": "linear", "optimizer": "sgd"}))
    assert len(text.splitlines()) < 520
    assert "Run it with PyTorch, as" in text
    assert imported(text) <= {*sys.stdlib_module_names, "torch", "numpy"}
    code = text.partition('"""\n\n')[2]
    for word in ("checkpoint", "distributed", "DTensor", "hashlib", "nullcontext"):
        assert f"import {word}" not in code
        assert f"{word}(" not in code


def test_that_a_simple_choice_gives_a_short_script_that_says_what_it_is_of() -> None:
    text = script_text(spec_of({"recipe": "linear", "optimizer": "sgd"}))
    assert text == script_text(spec_of({"recipe": "linear", "optimizer": "sgd"}))
    assert len(text.splitlines()) < 450
    assert "ascend-studio launch --recipe linear" in text
    assert "checkpoint" not in text.partition('"""\n\n')[2]
    assert "LR = 0.01" in text
    assert "NaN or infinite" in text
    assert "gradients = gradients" not in text


def test_that_the_environment_is_set_before_mindspore_reads_it() -> None:
    text = script_text(schema.with_value(spec_of({"recipe": "linear"}), "env", (("GLOG_v", "3"),)))
    assert text.index("GLOG_v'] = '3'") < text.index("import mindspore")


def test_that_processes_that_train_together_are_started_by_the_line_in_the_head() -> None:
    text = script_text(spec_of({"recipe": "linear", "parallel": "data", "workers": "2"}))
    assert "msrun --worker_num=2 --local_worker_num=2 " in text
    with pytest.raises(StudioError):
        script_text(spec_of({"recipe": "linear", "parallel": "data", "nodes": "2"}))


@needs_torch
def test_that_two_processes_of_pytorch_train_by_the_line_in_the_head(tmp_path: Path) -> None:
    text = script_text(spec_of({"framework": "torch", "recipe": "linear", "parallel": "fsdp", "workers": "2"}))
    (tmp_path / "train.py").write_text(text, "utf-8")
    (line,) = (line.split() for line in text.splitlines() if line.strip().startswith("torchrun "))
    words = (sys.executable, "-m", "torch.distributed.run", *line[1:])
    environ = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=tmp_path, env=environ, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    # A line of one process may stand in a line of the other.
    losses = [float(loss) for loss in re.findall(r"step \d+  loss ([-+.\de]+)", done.stdout)]
    alone = metrics_of_script(tmp_path, spec_of({"framework": "torch", "recipe": "linear", "batch": "8"}))
    means = {step: values["loss"] for step, values in alone.items()}
    assert len(losses) == 2 * len(means)
    assert sum(losses) / len(losses) == pytest.approx(sum(means.values()) / len(means), rel=1e-5)


def test_that_nobody_else_may_decide_what_a_rank_does() -> None:
    """What holds for one process is not put into the code of several."""
    text = script_text(spec_of({"recipe": "linear", "parallel": "data", "workers": "2"}))
    assert ".others_lost()" in text
    assert ".sums(numbers)" in text


@needs_torch
def test_that_an_own_recipe_with_batches_of_another_size_asks_for_a_script_of_that_size(tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.py"
    recipe.write_text(BATCHES_OF_8)
    chosen = {"framework": "torch", "recipe": "own", "recipe_file": str(recipe), "optimizer": "sgd"}
    assert list(differences(tmp_path / "pair", spec_of({**chosen, "batch": "8"}))) == []
    (tmp_path / "other").mkdir()
    assert metrics_of_script(tmp_path / "other", spec_of(chosen)) == {}
    assert "batches of 8 samples" in (tmp_path / "other" / "printed.txt").read_text()


def make_script(tmp_path: Path, values: dict[str, Any]) -> Any:
    spec, wrong = schema.from_json(ScriptSpec, values)
    assert not wrong
    run = runs.create(tmp_path / "runs", "as-script", schema.to_json(spec), None)
    return run, as_script(spec, run)


def test_that_the_command_writes_where_it_is_told_and_into_its_run(tmp_path: Path) -> None:
    run, ended = make_script(tmp_path, {"what": {"recipe": "linear"}, "output": {"out": str(tmp_path / "mine.py")}})
    assert ended.code == 0
    assert (tmp_path / "mine.py").read_text() == (run.folder / "artifacts" / "train.py").read_text()
    assert "launch.script_written" in [getattr(event, "key", "") for event in last_events(run.folder)]


def test_that_what_a_script_cannot_do_is_refused_with_a_sentence(tmp_path: Path) -> None:
    values = {"keep": {"resume": str(tmp_path)}, "debug": {"debug_port": 5678}}
    spec, _ = schema.from_json(ScriptSpec, values)
    rules = {problem.rule for problem in schema.problems(spec)}
    assert {"launch.rule.script_resume", "launch.rule.script_debug"} <= rules
    virtual, _ = schema.from_json(ScriptSpec, {"what": {"framework": "torch"}, "how": {"device": "virtual_npu"}})
    assert [problem.rule for problem in schema.problems(virtual)] == ["launch.rule.script_virtual_npu"]
    own = tmp_path / "recipe.py"
    for text, rule in (
        ("for name in ():\n    pass\n\ndef build(config): ...\n", "launch.script_indigestible"),
        ("def build(config:\n", "launch.recipe_unreadable"),
        ("size = 4\n", "launch.recipe_no_build"),
    ):
        own.write_text(text)
        run, ended = make_script(tmp_path, {"what": {"recipe": "own", "recipe_file": str(own)}})
        assert (ended.code, ended.reason) == (1, "")
        assert rule in [getattr(event, "rule", "") for event in last_events(run.folder)]


@pytest.mark.parametrize("text", ["call(" + ", ".join(f"argument{n}={n}" for n in range(30)) + ")"])
def test_that_a_folded_line_means_the_same(text: str) -> None:
    folded = layout.lay(text, 0)
    assert max(map(len, folded)) <= layout.WIDTH
    assert ast.dump(ast.parse("\n".join(folded))) == ast.dump(ast.parse(text))


@needs_mindspore
@pytest.mark.parametrize(
    "chosen",
    [MANY, MIXED, OWN, *(pytest.param(chosen, marks=needs_torch) for chosen in (TORCH, TORCH_DIGITS, TORCH_OWN))],
    ids=["compiled", "mixed", "own", "torch_text", "torch_digits", "torch_own"],
)
def test_that_a_script_by_itself_has_the_losses_of_its_run(tmp_path: Path, chosen: dict[str, str]) -> None:
    assert list(differences(tmp_path / "pair", spec_of(chosen))) == []


def test_that_a_failure_with_a_count_can_be_filled_in_by_a_plain_script() -> None:
    text = texts.with_plurals("{count:parameter|parameters} differ, {first:.1f} first")
    assert text.format(count=1, first=2) == "1 parameters differ, 2.0 first"
