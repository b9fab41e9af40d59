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
from backends.launch import lines
from backends.launch.launchers import ENGINE
from backends.launch.plan import code_of, plan
from backends.launch.sample import make_sample
from backends.launch.spec import Advanced, LaunchSpec, What
from studio import command_line, interpreters, places, schema
from studio.errors import StudioError
from studio.run import Asked, Run
from tests.launch.test_spec import asked

RUN = Run(folder=Path("/runs/one"), asked=Asked(command="launch", values={}, time=0))
ODD = Path('/tmp/用户 it\'s $HOME/"quoted"\nsecond line/🚀')
MANY = {
    "recipe": "linear", "mode": "jit", "amp": "O2", "device": "cpu", "batch": 8, "accumulate": 4,
    "jit_level": "O1", "amp_dtype": "fp16", "loss_scale": "static", "scale": 512.0, "clip": 0.5, "on_nan": "go_on",
    "weight_decay": 0.001, "schedule": "step", "decay_every": 4, "decay_rate": 0.5, "warmup": 2,
    "optimizer": "momentum", "lr": 1e-05, "steps": 12, "seed": 7, "grace": 0.0,
    "checkpoint_every": 5, "checkpoint_minutes": 0.5, "keep": 1, "best": "loss", "resume": ODD,
    "env": (("GLOG_v", "1"), ("ODD", "a b'\"$`\\\n=x"), ("-DASH", "-1")),
}  # fmt: skip
SPECS = [
    LaunchSpec(),
    asked(**MANY),
    asked(recipe="text", corpus=ODD),
    asked(python=ODD / "python", epochs=0.5),
]


def option(argv: tuple[str, ...], name: str) -> str:
    return argv[argv.index(name) + 1]


def test_that_the_engine_is_told_everything_resolved() -> None:
    argv = plan(asked(recipe="linear", accumulate=4, batch=8), RUN).argv
    assert argv[:3] == (str(interpreters.embedded()), "-m", "ascend_engine")
    assert option(argv, "--batch") == "8"
    assert option(argv, "--optimizer") == "sgd"
    assert option(argv, "--assets") == str(places.ASSETS)
    assert "--corpus" not in argv


def test_that_the_engine_is_told_nothing_that_does_not_apply() -> None:
    argv = plan(asked(mode="pynative", jit_level="O1", loss_scale="static"), RUN).argv
    assert "--jit-level" not in argv
    assert "--clip" not in argv
    assert option(argv, "--loss-scale") == "none"


def test_that_the_engine_understands_what_is_planned() -> None:
    code = "import sys; sys.path[:0] = sys.argv[1:3]; from ascend_engine import options; options.parse(sys.argv[6:])"
    for spec in SPECS:
        argv = plan(spec, RUN).argv
        done = subprocess.run(
            [sys.executable, "-c", code, str(ENGINE), str(places.GUEST), *argv],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


def test_that_text_is_learned_from_the_help_pages_by_default() -> None:
    assert option(plan(asked(recipe="text"), RUN).argv, "--corpus") == str(places.ASSETS / "help")
    assert option(plan(asked(recipe="text", corpus=Path("/texts")), RUN).argv, "--corpus") == "/texts"
    pages = [path.read_text(encoding="utf-8") for path in (places.ASSETS / "help").rglob("*.md")]
    assert sum(map(len, pages)) > 12_000


def test_that_the_training_sees_the_engine_and_what_the_user_added() -> None:
    command = plan(asked(env=(("PYTHONPATH", "/mine"), ("GLOG_v", "2"))), RUN)
    assert command.env == {"ASCEND_STUDIO_HOOKS": "captures", "PYTHONPATH": f"{ENGINE}:/mine", "GLOG_v": "2"}
    assert command.cwd == RUN.folder
    packed = plan(asked(config_pack=True), RUN)
    assert packed.env["ASCEND_STUDIO_HOOKS"] == "captures,config_pack"


def test_that_a_chosen_interpreter_runs_the_training(tmp_path: Path) -> None:
    assert plan(asked(python=tmp_path / "python"), RUN).argv[0] == str(tmp_path / "python")


def test_that_an_interpreter_inside_a_folder_is_code_of_it(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "project" / "bin"
    for folder in (outside, inside):
        folder.mkdir(parents=True)
        (folder / "python").touch()
    (inside / "linked").symlink_to(outside / "python")
    (outside / "linked").symlink_to(inside / "python")
    project = tmp_path / "project"
    assert not code_of(LaunchSpec(), project)
    assert not code_of(asked(python=outside / "python"), project)
    assert not code_of(asked(python=outside / "python"), outside / "py")
    for path in (inside / "python", inside / "linked", outside / "linked", outside / ".." / "project/bin/python"):
        assert code_of(asked(python=path), project)


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
    text = f"{echo}{text.removeprefix(lines.program())}"
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, check=True)
    words: list[str] = json.loads(done.stdout)
    return words


@pytest.mark.parametrize("spec", SPECS)
@pytest.mark.parametrize("project", [None, Path("/work/plain"), ODD])
def test_that_the_line_pasted_into_sh_makes_the_same_run(
    spec: LaunchSpec, project: Path | None, tmp_path: Path
) -> None:
    words = through_sh(lines.shell(spec, project), tmp_path)
    read, place = parsed(words)
    assert schema.to_json(read) == schema.to_json(spec)
    assert place == project


@pytest.mark.parametrize("spec", SPECS)
def test_that_the_script_makes_the_same_run(spec: LaunchSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    got: list[Any] = []
    monkeypatch.setattr(subprocess, "run", lambda words, check: got.append((words, check)))
    exec(compile(ast.parse(lines.script(spec, ODD)), "script", "exec"), {})
    ((words, check),) = got
    assert check
    read, place = parsed(words[1:])
    assert schema.to_json(read) == schema.to_json(spec)
    assert place == ODD


@pytest.mark.parametrize("spec", SPECS)
def test_that_the_json_is_what_run_json_keeps(spec: LaunchSpec) -> None:
    assert json.loads(lines.values(spec)) == schema.to_json(spec)


def test_that_the_line_is_folded_between_words_and_names_the_recipe() -> None:
    text = lines.shell(asked(mode="jit", accumulate=4, batch=32, amp="O2", steps=600), Path("/p"))
    first, *others = text.split("\n")
    assert first.endswith(" \\")
    assert all(line.startswith("  ") for line in others)
    assert all(len(line) <= lines.WIDTH + len(lines.program()) for line in text.split("\n"))
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
        [sys.executable, "train.py"], cwd=folder, capture_output=True, text=True, timeout=120, check=True
    )
    last = done.stdout.strip().splitlines()[-1]
    weight, bias = (float(last.split()[place]) for place in (2, 5))
    assert abs(weight - 2) < 0.1
    assert abs(bias - 3) < 0.1
    assert "eprecat" not in done.stderr


def test_that_the_recipe_stays_when_only_advanced_choices_differ() -> None:
    spec = replace(LaunchSpec(what=What(recipe="linear")), advanced=Advanced(grace=5.0))
    assert schema.arguments(spec) == ("--recipe", "linear", "--grace", "5.0")
