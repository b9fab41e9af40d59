"""From a spec to the command: pure, so tested without a process; and its other forms, which make the same run."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from backends import features
from backends.launch import command_texts
from backends.launch.engine_options import ASSETS, FILE, corpus_of, engine_fields, engine_options
from backends.launch.launchers import ENGINE
from backends.launch.plan import code_of, launch_command, write_inputs
from backends.launch.sample import make_sample
from backends.launch.spec import Advanced, LaunchSpec, What
from studio import command_line, interpreters, paths, schema
from studio.errors import StudioError
from studio.run import Run, RunRequest
from tests.launch.engine_config import config_of
from tests.launch.specs import AWKWARD_PATH, SPECS, launch_spec

RUN = Run(folder=Path("/runs/one"), request=RunRequest(command="launch", values={}, time=0))


def values(spec: LaunchSpec) -> dict[str, Any]:
    return engine_options(spec)["values"]


def test_that_the_engine_is_told_everything_resolved() -> None:
    spec = launch_spec(recipe="linear", accumulate=4, batch=8)
    assert launch_command(spec, RUN).argv == (str(interpreters.embedded()), "-m", "ascend_engine", "options.json")
    assert (values(spec)["batch"], values(spec)["optimizer"], values(spec)["steps"]) == (8, "sgd", 200)
    assert engine_options(spec)["paths"]["assets"] == str(paths.ASSETS)


def test_that_the_engine_is_told_nothing_that_does_not_apply() -> None:
    hidden = values(launch_spec(mode="pynative", jit_level="O1", loss_scale="static", workers=8, stages=4))
    assert (hidden["jit_level"], hidden["loss_scale"], hidden["clip"]) == ("", "none", None)
    assert (hidden["workers"], hidden["stages"], hidden["pipeline_batches"]) == (1, 1, 1)


@pytest.mark.parametrize("spec", SPECS)
def test_that_the_engine_reads_the_options_of_the_spec(spec: LaunchSpec, tmp_path: Path) -> None:
    write_inputs(spec, tmp_path)
    code = """
import json, sys
sys.path[:0] = sys.argv[1:3]
from ascend_engine import options
print(json.dumps(vars(options.read(sys.argv[3:])), default=str))
"""
    done = subprocess.run(
        [sys.executable, "-I", "-c", code, str(ENGINE), str(paths.GUEST), str(tmp_path / FILE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    options = engine_options(spec)
    assert json.loads(done.stdout) == {**options["values"], **options["paths"]}


def test_that_the_engine_reads_no_option_that_the_spec_does_not_have() -> None:
    """Its Config declares none: what it reads by name is compared with the spec."""
    sources = (ENGINE / "ascend_engine").rglob("*.py")
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text("utf-8")))]
    used = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("config", "self.config", "training.config")
    }
    options = {ASSETS, *(field.name for field in engine_fields())}
    assert used - options == {"compiled", "samples_per_step", "readers", "replace"}
    assert {*vars(config_of("--recipe linear"))} == options


def test_that_text_is_learned_from_the_help_pages_by_default() -> None:
    assert corpus_of(launch_spec(recipe="text")) == paths.ASSETS / "help"
    chosen = engine_options(launch_spec(recipe="text", corpus=Path("/texts")))
    assert chosen["paths"]["corpus"] == "/texts"
    pages = [path.read_text(encoding="utf-8") for path in (paths.ASSETS / "help").rglob("*.md")]
    assert sum(map(len, pages)) > 12_000


def test_that_the_training_sees_the_engine_and_what_the_user_added() -> None:
    command = launch_command(launch_spec(env=(("PYTHONPATH", "/mine"), ("GLOG_v", "2"))), RUN)
    assert command.env == {"ASCEND_STUDIO_HOOKS": "captures", "PYTHONPATH": f"{ENGINE}:/mine", "GLOG_v": "2"}
    assert command.cwd == RUN.folder
    packed = launch_command(launch_spec(config_pack=True), RUN)
    assert packed.env["ASCEND_STUDIO_HOOKS"] == "captures,config_pack"


def test_that_a_chosen_interpreter_runs_the_training(tmp_path: Path) -> None:
    assert launch_command(launch_spec(python=tmp_path / "python"), RUN).argv[0] == str(tmp_path / "python")


def test_that_an_interpreter_inside_a_folder_is_code_of_it(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "project" / "bin"
    for folder in (outside, inside):
        folder.mkdir(parents=True)
        (folder / "python").touch()
    (inside / "linked").symlink_to(outside / "python")
    (outside / "linked").symlink_to(inside / "python")
    project = tmp_path / "project"
    assert not code_of(LaunchSpec(), project)
    assert not code_of(launch_spec(python=outside / "python"), project)
    assert not code_of(launch_spec(python=outside / "python"), outside / "py")
    for path in (inside / "python", inside / "linked", outside / "linked", outside / ".." / "project/bin/python"):
        assert code_of(launch_spec(python=path), project)


def parsed(words: list[str]) -> tuple[LaunchSpec, Path | None]:
    """What our own command line makes of the words after the program."""
    given = command_line._parser(features()).parse_args(words)
    spec, wrong = schema.from_arguments(LaunchSpec, given)
    assert not wrong
    return spec, given.project


def through_sh(text: str, tmp_path: Path) -> list[str]:
    """The words that sh makes of a text: a program in place of ours writes down what it got."""
    echo = tmp_path / "echo"
    echo.write_text(f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n", encoding="utf-8")
    echo.chmod(0o755)
    text = f"{echo}{text.removeprefix(command_texts.program())}"
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, check=True)
    words: list[str] = json.loads(done.stdout)
    return words


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("project", [None, Path("/work/plain"), AWKWARD_PATH])
def test_that_the_line_pasted_into_sh_makes_the_same_run(
    spec: LaunchSpec, project: Path | None, tmp_path: Path
) -> None:
    words = through_sh(command_texts.shell_line(spec, project), tmp_path)
    read, place = parsed(words)
    assert schema.to_json(read) == schema.to_json(spec)
    assert place == project


@pytest.mark.parametrize("spec", SPECS)
def test_that_the_script_makes_the_same_run(spec: LaunchSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[Any] = []
    monkeypatch.setattr(subprocess, "run", lambda words, check: got.append((words, check)))
    exec(compile(ast.parse(command_texts.python_script(spec, AWKWARD_PATH)), "script", "exec"), {})
    ((words, check),) = got
    assert check
    read, place = parsed(words[1:])
    assert schema.to_json(read) == schema.to_json(spec)
    assert place == AWKWARD_PATH


@pytest.mark.parametrize("spec", SPECS)
def test_that_the_json_is_what_run_json_keeps(spec: LaunchSpec) -> None:
    assert json.loads(command_texts.run_json_values(spec)) == schema.to_json(spec)


def test_that_the_line_is_folded_between_words_and_names_the_recipe() -> None:
    text = command_texts.shell_line(launch_spec(mode="jit", accumulate=4, batch=32, amp="O2", steps=600), Path("/p"))
    first, *others = text.split("\n")
    assert first.endswith(" \\")
    assert all(line.startswith("  ") for line in others)
    assert all(len(line) <= command_texts.WIDTH + len(command_texts.program()) for line in text.split("\n"))
    assert "--recipe digits" in text


def test_that_a_sample_project_never_overwrites(tmp_path: Path) -> None:
    first = make_sample(tmp_path)
    (first / "train.py").write_text("mine", encoding="utf-8")
    second = make_sample(tmp_path)
    assert (first.name, second.name) == ("ascend-sample", "ascend-sample-2")
    assert (first / "train.py").read_text(encoding="utf-8") == "mine"
    assert (second / "README.md").is_file()


def test_that_a_sample_for_a_folder_that_is_not_there_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StudioError):
        make_sample(tmp_path / "file")


def test_that_the_sample_really_trains(tmp_path: Path) -> None:
    folder = make_sample(tmp_path)
    done = subprocess.run(
        [sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, timeout=300, check=True
    )
    last = done.stdout.strip().splitlines()[-1]
    weight, bias = (float(last.split()[place]) for place in (2, 5))
    assert abs(weight - 2) < 0.1
    assert abs(bias - 3) < 0.1
    assert "eprecat" not in done.stderr


def test_that_the_recipe_stays_when_only_advanced_choices_differ() -> None:
    spec = replace(LaunchSpec(what=What(recipe="linear")), advanced=Advanced(grace=5.0))
    assert schema.arguments(spec) == ("--recipe", "linear", "--grace", "5.0")
