"""The precision page in the window, and a project whose script was trained twice."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.launch.own.spec import OwnSpec
from studio import run as runs
from studio import schema, worker
from studio.project import Project, make_runs_folder
from studio.run import outcome_of
from tests.precision.block import BLOCK
from tests.runs import ended
from ui.precision.page import PrecisionPage

if TYPE_CHECKING:
    from ui.shell.window import Shell


@pytest.fixture
def page(shell: Shell) -> PrecisionPage:
    shell.show_page("precision")
    precision_page = shell.findChild(PrecisionPage)
    assert precision_page is not None
    return precision_page


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose script ran twice with its configuration kept, once with the cast."""
    project = tmp_path_factory.mktemp("trained") / "gpt"
    project.mkdir()
    (project / "train.py").write_text(BLOCK, encoding="utf-8")
    begun = []
    for words in ((), ("--cast", "1")):
        spec: Any = OwnSpec()
        values = {"line": ("python", "train.py", *words), "workdir": project, "python": Path(sys.executable)}
        for name, value in (values | {"config_pack": True}).items():
            spec = schema.with_value(spec, name, value)
        run = runs.create(make_runs_folder(Project(folder=project)), "script", schema.to_json(spec), project)
        worker.start(run)
        begun.append(run)
    for run in begun:
        assert outcome_of(ended(run)) == "done"
    return project
