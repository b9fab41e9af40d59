"""Which interpreter a script is offered: one that can import what the script imports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from backends.launch.own.python_choice import capable, choose_python, imports_of, missing_in, other_python
from backends.launch.own.spec import OwnSpec, What
from backends.launch.sample import make_sample
from studio import interpreters, schema
from studio import run as runs

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def environment(folder: Path, *packages: str) -> Path:
    """A virtual environment as its files tell: an interpreter and packages."""
    site = folder / "lib" / "python3.11" / "site-packages"
    site.mkdir(parents=True)
    (folder / "bin").mkdir()
    (folder / "pyvenv.cfg").write_text("version = 3.11\n")
    python = folder / "bin" / "python"
    python.write_text("#!/bin/sh\nexit 1\n")
    python.chmod(0o755)
    for name in packages:
        (site / name).mkdir()
    return python


def script(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(text)
    return folder / "train.py"


def test_that_packages_are_read_through_modules_of_the_project_and_python_is_none(tmp_path: Path) -> None:
    path = script(
        tmp_path, "import os, sys\nimport torch.nn as nn\nimport model\nfrom data import loader\nfrom . import x\n"
    )
    (tmp_path / "model.py").write_text("import einops\nimport train\n")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "__init__.py").write_text("from yaml import safe_load\n")
    assert imports_of(path) == {"torch", "einops", "yaml"}


def test_that_imports_that_may_fail_are_not_required(tmp_path: Path) -> None:
    text = "try:\n    import apex\nexcept ImportError:\n    apex = None\ndef f():\n    import wandb\nimport torch\n"
    assert imports_of(script(tmp_path, text)) == {"torch"}


def test_that_what_cannot_be_read_asks_for_nothing(tmp_path: Path) -> None:
    assert imports_of(tmp_path / "nowhere.py") == frozenset()
    assert imports_of(script(tmp_path, "import torch\ndef f(:")) == frozenset()


def test_that_the_first_interpreter_with_all_packages_is_proposed(tmp_path: Path) -> None:
    script(tmp_path / "project", "import torch\nimport einops\n")
    bare, torch_only, both = (
        environment(tmp_path / name, *packages)
        for name, packages in (("bare", ()), ("torch", ("torch",)), ("both", ("torch", "einops")))
    )
    spec = OwnSpec(program=What(line=("python", "train.py"), workdir=tmp_path / "project"))
    choice = choose_python(spec, str(tmp_path / "project"), [bare, torch_only, both])
    assert choice.missing[torch_only] == ("einops",)
    assert choice.proposed == both
    assert capable([bare, torch_only], choice.packages) is None
    assert missing_in(bare, choice.packages) == ("einops", "torch")


def test_that_nothing_is_proposed_where_the_line_has_what_it_needs_or_names_its_own(tmp_path: Path) -> None:
    project = tmp_path / "project"
    script(project, "import torch\n")
    environment(project / ".venv", "torch")
    other = environment(tmp_path / "other", "torch")
    spec = OwnSpec(program=What(line=("python", "train.py"), workdir=project))
    assert choose_python(spec, str(project), [other]).proposed is None
    named = OwnSpec(program=What(line=("/usr/bin/python3", "train.py"), workdir=project))
    assert choose_python(named, str(tmp_path), [other]).proposed is None


def test_that_the_sample_project_is_offered_an_interpreter_that_can_start_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a host whose shell has no MindSpore, the studio's own interpreter has: its README says `python train.py`."""
    bare = environment(tmp_path / "bare")
    monkeypatch.setenv("PATH", str(bare.parent))
    folder = make_sample(tmp_path)
    spec = OwnSpec(program=What(line=("python", "train.py"), workdir=folder))
    assert "mindspore" in imports_of(folder / "train.py")
    choice = choose_python(spec, str(folder), [bare, interpreters.embedded()])
    if missing_in(interpreters.embedded(), choice.packages):
        assert choice.proposed is None
    else:
        assert choice.proposed == interpreters.embedded()


def test_that_a_failed_import_finds_the_interpreter_that_has_the_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare, having = environment(tmp_path / "bare"), environment(tmp_path / "having", "einops")
    monkeypatch.setattr(interpreters, "discover", lambda _project: (bare, having))
    script(tmp_path / "p", "import einops\n")
    spec = OwnSpec(program=What(line=("python", "train.py"), workdir=tmp_path / "p"))
    run = runs.create(tmp_path / "runs", "script", schema.to_json(spec), None)
    choice = other_python(run, "einops.layers")
    assert choice is not None
    assert (choice[0], choice[1].program.python, choice[1].program.line) == (having, having, ("python", "train.py"))
    assert other_python(run, "mindformers") is None
