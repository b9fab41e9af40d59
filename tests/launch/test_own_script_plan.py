"""What a line of words starts, where and with which Python."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends.common import log_patterns, program_line
from backends.launch.own.plan import check_program, code_of, interpreter, program_command
from backends.launch.own.spec import OwnSpec
from studio import run as runs
from studio import schema, texts
from studio.errors import StudioError

if TYPE_CHECKING:
    from collections.abc import Callable

    from studio.run import Run

    Make = Callable[..., Path]

BARE = {"PATH": "/usr/bin:/bin"}


def own_spec(*line: str, **values: Any) -> OwnSpec:
    spec = schema.with_value(OwnSpec(), "line", line)
    for name, value in values.items():
        spec = schema.with_value(spec, name, value)
    return spec


def run_of(spec: OwnSpec, folder: Path, project: Path | None = None) -> Run:
    return runs.create(folder / "runs", "script", schema.to_json(spec), project)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """With a script, a shell script and an environment of its own."""
    folder = tmp_path / "project"
    (folder / ".venv" / "bin").mkdir(parents=True)
    for name in ("train.py", "run.sh", ".venv/bin/python", ".venv/bin/torchrun"):
        (folder / name).touch()
        (folder / name).chmod(stat.S_IRWXU)
    return folder


@pytest.mark.parametrize(
    ("line", "kind", "script", "arguments"),
    [
        ("python train.py --lr 0.1", "python", "train.py", ("--lr", "0.1")),
        ("train.py --lr 0.1", "python", "train.py", ("--lr", "0.1")),
        ("/opt/py/bin/python3.11 -u -W error -Xdev -O /a/b.py -m x", "python", "/a/b.py", ("-m", "x")),
        ("python -W error::UserWarning train.py", "python", "train.py", ()),
        ("python -um pkg.train a", "module", "pkg.train", ("a",)),
        ("-m pkg.train a", "module", "pkg.train", ("a",)),
        ("python -c print(1) x", "code", "", ()),
        ("python - x", "python", "-", ("x",)),
        ("python", "python", "", ()),
        ("bash run.sh 8", "shell", "run.sh", ("8",)),
        ("bash -ex run.sh 8", "shell", "run.sh", ("8",)),
        ("bash -lc ls", "shell", "", ()),
        ("./run.sh 8", "shell", "./run.sh", ("8",)),
        ("torchrun --nproc_per_node 2 train.py --x", "launcher", "train.py", ("--x",)),
        ("msrun --worker_num=2 net/train.py", "launcher", "net/train.py", ()),
        ("python -m torch.distributed.run --nproc-per-node=2 t.py 1", "launcher", "t.py", ("1",)),
        ("accelerate launch --mixed_precision bf16 t.py 1", "launcher", "t.py", ("1",)),
        ("accelerate env", "launcher", "", ()),
        ("make train", "other", "", ()),
    ],
)
def test_that_a_line_is_known_by_its_words(line: str, kind: str, script: str, arguments: tuple[str, ...]) -> None:
    found = program_line.parse_program_line(tuple(line.split()))
    assert (found.kind, found.script, found.arguments) == (kind, script, arguments)


def test_that_variables_before_the_program_are_its_environment(project: Path) -> None:
    spec = own_spec("OMP_NUM_THREADS=2", "X=a=b", "python", "train.py", "Y=1", workdir=project)
    command = program_command(spec, run_of(spec, project), BARE)
    assert command.argv == (str(project / ".venv/bin/python"), "train.py", "Y=1")
    assert (command.env["OMP_NUM_THREADS"], command.env["X"]) == ("2", "a=b")
    assert "Y" not in command.env


def test_that_a_program_starts_where_it_would_without_the_studio(project: Path, tmp_path: Path) -> None:
    relative, absolute = own_spec("python", "train.py"), own_spec("python", str(project / "train.py"))
    assert program_command(relative, run_of(relative, tmp_path, tmp_path), BARE).cwd == tmp_path
    assert program_command(absolute, run_of(absolute, tmp_path, tmp_path), BARE).cwd == project
    given = own_spec("python", str(project / "train.py"), workdir=tmp_path)
    assert program_command(given, run_of(given, tmp_path), BARE).cwd == tmp_path


def test_that_the_chosen_python_is_the_first_that_a_script_finds(project: Path, tmp_path: Path) -> None:
    chosen = own_spec("bash", "run.sh", workdir=project, python=project / ".venv/bin/python")
    env = program_command(chosen, run_of(chosen, tmp_path), BARE).env
    assert env["PATH"] == str(project / ".venv/bin")
    own = own_spec("bash", "run.sh", workdir=project, python=Path("/opt/bin/python"), env=(("PATH", "/mine"),))
    assert program_command(own, run_of(own, tmp_path), BARE).env["PATH"] == "/opt/bin:/mine"


def test_that_the_python_is_the_fields_then_the_lines_then_the_activated_then_the_projects(
    project: Path, tmp_path: Path
) -> None:
    active = tmp_path / "active"
    (active / "bin").mkdir(parents=True)
    (active / "bin" / "python").touch()
    environ = BARE | {"VIRTUAL_ENV": str(active)}
    here = {"workdir": project}
    assert interpreter(own_spec("python", "train.py", python=Path("/x"), **here), "", environ) == Path("/x")
    assert interpreter(own_spec("./py/python", "train.py", **here), "", environ) == project / "py/python"
    assert interpreter(own_spec("python", "train.py", **here), "", environ) == active / "bin/python"
    assert interpreter(own_spec("python", "train.py", **here), "", BARE) == project / ".venv/bin/python"
    assert interpreter(own_spec("python3.9", "train.py", **here), "", environ) is None
    beside = own_spec(str(project / ".venv/bin/torchrun"), "train.py", workdir=tmp_path)
    assert interpreter(beside, "", environ) == project / ".venv/bin/python"
    assert interpreter(own_spec("python", "train.py", workdir=tmp_path), "", BARE) is None
    conda = BARE | {"CONDA_PREFIX": str(active), "CONDA_DEFAULT_ENV": "base"}
    assert interpreter(own_spec("python", "train.py", workdir=tmp_path), "", conda) is None


def test_that_an_environment_above_the_project_is_not_looked_for(project: Path) -> None:
    inner = project / "examples" / "mnist"
    inner.mkdir(parents=True)
    spec = own_spec("python", "main.py", workdir=inner)
    assert interpreter(spec, str(project), BARE) == project / ".venv/bin/python"
    assert interpreter(spec, str(inner), BARE) is None
    assert interpreter(spec, "", BARE) is None


def test_that_what_lies_in_a_project_is_named_before_it_is_run(project: Path, tmp_path: Path) -> None:
    script, python = project / "train.py", project / ".venv/bin/python"
    assert code_of(own_spec("python", "train.py"), project) == (python, script)
    assert code_of(own_spec("bash", "run.sh"), project) == (python, project / "run.sh")
    assert code_of(own_spec("python", "-m", "pkg", python=Path("/usr/bin/python3")), project) == (project,)
    assert code_of(own_spec("./built", "x", python=Path("/usr/bin/python3")), project) == (project / "built",)
    outside = own_spec("python", "/usr/lib/x.py", python=Path("/usr/bin/python3"))
    assert code_of(outside, project) == ()


def test_that_hooks_and_cards_are_told_through_the_environment(project: Path, tmp_path: Path) -> None:
    spec = own_spec("python", "train.py", workdir=project, visible="0, 2")
    env = program_command(spec, run_of(spec, tmp_path), BARE).env
    assert env["ASCEND_STUDIO_HOOKS"] == "curves,captures"
    assert env["ASCEND_RT_VISIBLE_DEVICES"] == "0,2"
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD" not in env
    without = schema.with_value(spec, "curves", False)
    assert program_command(without, run_of(without, tmp_path), BARE).env["ASCEND_STUDIO_HOOKS"] == "captures"
    packed = schema.with_value(spec, "config_pack", True)
    assert (
        program_command(packed, run_of(packed, tmp_path), BARE).env["ASCEND_STUDIO_HOOKS"]
        == "curves,captures,config_pack"
    )


@pytest.mark.parametrize(
    ("line", "values", "field", "rule"),
    [
        ((), {}, "line", "launch.rule.no_line"),
        (("A=1",), {}, "line", "launch.rule.no_line"),
        (("python", "t.py", ">", "log"), {}, "line", "launch.rule.shell_word"),
        (("nohup", "python", "t.py", "&"), {}, "line", "launch.rule.shell_word"),
        (("python", "/no/such/t.py"), {}, "line", "launch.rule.no_file"),
        (("/no/such/python", "-c", "1"), {}, "line", "launch.rule.no_file"),
        (("ls",), {"workdir": Path("/no/such")}, "workdir", "launch.rule.no_folder"),
        (("ls",), {"python": Path("/no/such")}, "python", "launch.rule.no_file"),
        (("ls",), {"log_pattern": "own", "pattern": "(loss"}, "pattern", "pattern.wrong"),
        (("ls",), {"log_pattern": "own"}, "pattern", "pattern.empty"),
        (("ls",), {"visible": "3,1"}, "visible", "launch.rule.visible_order"),
        (("ASCEND_RT_VISIBLE_DEVICES=0", "ls"), {"visible": "1"}, "visible", "launch.rule.env_twice"),
        (("ls",), {"env": (("HF_TOKEN", "x"),)}, "env", "launch.rule.secret"),
    ],
)
def test_that_what_cannot_be_started_is_said_at_its_field(
    line: tuple[str, ...], values: dict[str, Any], field: str, rule: str
) -> None:
    (problem,) = schema.problems(own_spec(*line, **values))
    assert (problem.field, problem.rule) == (field, rule)
    for language in texts.LANGUAGES:
        texts.use(language)
        told = texts.t(problem.rule, **problem.args)
        assert told != problem.rule
        assert "hf_Abc" not in told


def test_that_a_program_or_script_that_is_not_there_is_a_sentence(project: Path, tmp_path: Path) -> None:
    for line, key in ((("no-such-program",), "launch.own.no_program"), (("python", "no.py"), "launch.own.no_script")):
        spec = own_spec(*line)
        with pytest.raises(StudioError) as caught:
            check_program(program_command(spec, run_of(spec, tmp_path, project), BARE), spec, BARE)
        assert caught.value.key == key
        assert texts.has(key)
    spec = own_spec("python", "train.py")
    check_program(program_command(spec, run_of(spec, tmp_path, project), BARE), spec, BARE)


def test_that_every_field_has_its_texts_in_both_languages() -> None:
    for language in texts.LANGUAGES:
        known = texts.all_texts(language)
        for field in schema.fields(OwnSpec):
            assert f"launch.field.{field.name}" in known
            assert f"launch.hint.{field.name}" in known
            assert f"launch.section.{field.section}" in known
            assert all(f"launch.choice.{field.name}.{choice}" in known for choice in field.choices)


def test_that_every_pattern_of_the_table_can_be_chosen() -> None:
    choices = schema.field_of(OwnSpec, "log_pattern").choices
    assert set(choices) == {"auto", "off", "own", *(pattern.id for pattern in log_patterns.patterns())}
