"""Each template of an edit by examples that run: before it, and after it on both kinds of hosts."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING, Any

import pytest

from backends.migration.migrate.changes import Decisions
from backends.migration.migrate.replaced_files import edited_files
from backends.migration.scan.text_files import decode_source
from tests.guest.virtual_npu.two_cards import child
from tests.migration.edits import runner_path
from tests.migration.edits.python_examples import PYTHON
from tests.migration.edits.reading import meaning, without_words
from tests.migration.edits.templates import all_templates, recorded_templates
from tests.migration.edits.text_examples import TEXTS
from tests.migration.plans import migrated_text, plan_project

if TYPE_CHECKING:
    from pathlib import Path

    from backends.migration.migrate.changes import Style
    from tests.migration.edits.python_examples import Example
    from tests.migration.edits.text_examples import TextExample

Version = tuple[str, str]
"""before, explicit or minimal; the kind of host."""
VERSIONS: tuple[Version, ...] = (("before", "cuda"), ("explicit", "cuda"), ("explicit", "npu"), ("minimal", "npu"))
STYLES: tuple[Style, ...] = ("explicit", "minimal")


def accepted_text(folder: Path, style: Style, example: TextExample) -> str:
    """Return the text with all that is offered, as a person would accept it for a host with NPUs."""
    changes = plan_project(folder, style)
    decisions = Decisions(accept=tuple(hunk.id for hunk in changes.hunks() if hunk.state == "offered"))
    return next((decode_source(file.after).text for file in edited_files(changes, folder, decisions)), example.text)


def test_that_each_template_of_an_edit_has_an_example(tmp_path: Path) -> None:
    with recorded_templates() as used:
        for example in PYTHON:
            for style in STYLES:
                migrated_text(tmp_path, style, example.text)
        (tmp_path / "train.py").unlink()
        for text in TEXTS:
            (tmp_path / text.path).write_text(text.text)
            for style in STYLES:
                plan_project(tmp_path, style)
            (tmp_path / text.path).unlink()
    assert all_templates() == used


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[Version, dict[str, Any]]:
    """What each example's `result` is, by version and name; one child for each version."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch here")
    scratch = tmp_path_factory.mktemp("planned")
    texts: dict[str, dict[str, str]] = {"before": {example.name: example.text for example in PYTHON}}
    for style in STYLES:
        texts[style] = {example.name: migrated_text(scratch, style, example.text) for example in PYTHON}
    return {(kind, host): _run(tmp_path_factory.mktemp(f"{kind}_{host}"), texts[kind], host) for kind, host in VERSIONS}


def _run(folder: Path, texts: dict[str, str], host: str) -> dict[str, Any]:
    rows = []
    for number, (name, text) in enumerate(texts.items()):
        path = folder / f"example_{number}.py"
        path.write_text(text)
        rows.append((name, str(path)))
    (folder / "examples.json").write_text(json.dumps(rows))
    stance = {"ASCEND_STUDIO_HOOKS": f"curves,rehearse={host}", "ASCEND_STUDIO_REHEARSAL_NPU": "no"}
    done = child(folder, runner_path(), host, str(folder / "examples.json"), **stance)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize("example", PYTHON, ids=lambda example: example.name)
def test_that_edited_python_means_the_same_on_each_host(
    results: dict[Version, dict[str, Any]], example: Example
) -> None:
    before = results["before", "cuda"][example.name]
    assert "result" in before
    on_npu = before if example.on_npu is None else {"result": example.on_npu}
    assert {version: results[version][example.name] for version in VERSIONS[1:]} == {
        ("explicit", "cuda"): before,
        ("explicit", "npu"): on_npu,
        ("minimal", "npu"): on_npu,
    }


@pytest.mark.parametrize("example", TEXTS, ids=lambda example: example.name.strip())
def test_that_an_edited_script_or_configuration_means_the_same_on_each_host(
    tmp_path: Path, example: TextExample
) -> None:
    project, host = tmp_path / "project", tmp_path / "host"
    project.mkdir()
    host.mkdir()
    before = meaning(host, example.path, example.text, "cuda")
    on_cuda = meaning(host, example.path, migrated_text(project, "explicit", example.text, example.path), "cuda")
    assert without_words(on_cuda) == without_words(before if example.on_cuda is None else example.on_cuda)
    for style in STYLES:
        on_npu = meaning(host, example.path, accepted_text(project, style, example), "npu")
        assert without_words(on_npu) == without_words(before if example.on_npu is None else example.on_npu)
