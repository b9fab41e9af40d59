"""Each option of each command acts, or is refused with a sentence that says what it needs."""

from __future__ import annotations

import ast
import importlib
import re
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from backends import features
from backends.common import npu_devices
from studio import command_line, paths, schema, texts
from studio import run as runs
from studio.texts import t
from tests.options.outcomes import OUTCOMES
from tests.options.readers import LAUNCH_READERS, READERS
from tests.options.samples import CAPTURE, EXPORT, PREVIEW, PROGRAM, REHEARSAL, TRAINING, Sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from studio.feature import Action
    from studio.run import Run
    from studio.schema import Field

SAMPLES: dict[str, dict[str, Sample]] = {
    **dict.fromkeys(("launch", "shapes", "check-first", "nodes", "as-script"), TRAINING),
    "script": PROGRAM, "rehearse": REHEARSAL, "capture": CAPTURE, "export": EXPORT, "preview": PREVIEW,
}  # fmt: skip
BASE = {"nodes": "--parallel data"}
"""What a command needs at least."""
REFUSED = {
    ("launch", "capture_casts"): "capture.rule.torch_only",
    ("launch", "capture_optimizer_state"): "capture.rule.torch_only",
    ("launch", "nodes"): "launch.rule.many_nodes",
    ("shapes", "nodes"): "form.not_used",
    ("check-first", "nodes"): "launch.rule.many_nodes",
    ("as-script", "nodes"): "launch.rule.many_nodes",
    ("as-script", "resume"): "launch.rule.script_resume",
    ("as-script", "debug_port"): "launch.rule.script_debug",
}
"""Options of another command's spec that cannot act in this one, with the rule that says so."""
ELSEWHERE = {"launcher": "it needs a file of the host", "resume": "the run is looked at by its own rule"}
"""Options whose sample is wrong on this host, apart from what is tested here."""


def options() -> list[tuple[Action, Field]]:
    return [
        (action, field)
        for feature in features()
        for action in feature.actions
        for field in schema.fields(action.spec)
        if field.name not in schema.unused_fields(action.spec)
    ]


def name(option: tuple[Action, Field]) -> str:
    return f"{option[0].name} {option[1].flag}"


def has_sample(option: tuple[Action, Field]) -> bool:
    action, field = option
    return (action.name, field.name) not in REFUSED and field.name in SAMPLES.get(action.name, {})


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """What the words of a sample name."""
    folder = tmp_path_factory.mktemp("options")
    for run in ("RUN", "RUN2"):
        checkpoints = folder / run / "artifacts" / "checkpoints"
        checkpoints.mkdir(parents=True)
        (checkpoints / "last").write_text("step-000005-aaaa")
        (checkpoints / "best").write_text("step-000003-bbbb")
    (folder / "WEIGHTS.safetensors").touch()
    python = folder / "bin" / "python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    (python.parent / "msrun").touch()
    (folder / "MODEL").mkdir()
    (folder / "MODEL" / "config.json").write_text("{}")
    (folder / "train.py").touch()
    (folder / "other.py").touch()
    parts = (paths.ASSETS / "ascend_parts.toml").read_text("utf-8")
    (folder / "PARTS").write_text(parts.replace("hbm_gbs = 1600", "hbm_gbs = 1700"), "utf-8")
    return {
        "RUN2": folder / "RUN2", "RUN": folder / "RUN", "WEIGHTS": folder / "WEIGHTS.safetensors",
        "FOLDER": folder, "PYTHON": python, "PARTS": folder / "PARTS",
        "MODEL": folder / "MODEL",
    }  # fmt: skip


def spec_of(action: Action, words: str, files: dict[str, Path]) -> tuple[Any, tuple[str, ...]]:
    """The spec that a command line stands for, and the fields that it names."""
    pattern = re.compile(r"\b(RUN2|RUN|WEIGHTS|FOLDER|PYTHON|PARTS|MODEL)\b")
    line = shlex.split(pattern.sub(lambda match: str(files[match[1]]), words))
    parser = command_line._parser(features())
    arguments = parser.parse_args([action.command, *line])
    spec, wrong = schema.from_arguments(arguments.action.spec, arguments)
    assert not wrong
    return spec, schema.given_fields(arguments.action.spec, arguments)


def run_in(folder: Path) -> Run:
    return runs.Run(folder=folder, request=runs.RunRequest(command="launch", values={}, time=0, project=str(folder)))


@pytest.mark.parametrize("option", [option for option in options() if has_sample(option)], ids=name)
def test_that_an_option_changes_what_its_command_does(
    option: tuple[Action, Field], files: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a host with NPUs, for which some of the options are."""
    monkeypatch.setattr(npu_devices, "npu_names", lambda: ("davinci0", "davinci1"))
    action, field = option
    sample, folder = SAMPLES[action.name][field.name], files["FOLDER"]
    has_strategy = "--parallel" in f"{sample.base} {sample.words}"
    base = sample.base if has_strategy else f"{BASE.get(action.name, '')} {sample.base}"
    has_line = schema.line_of(action.spec) is not None
    chosen, given = spec_of(action, f"{base} {sample.words} {sample.program if has_line else ''}", files)
    unused = schema.unused_fields(action.spec)
    assert field.name in given
    assert [problem.field for problem in schema.without_effect(chosen, given) if problem.field not in unused] == []
    if field.name not in ELSEWHERE and not set(given) & set(unused):
        assert [problem.rule for problem in schema.problems(chosen) if problem.field == field.name] == []
    plain, _ = spec_of(action, f"{base} {Sample.program if has_line else ''}", files)
    outcome = OUTCOMES[action.name]
    assert outcome(chosen, run_in(folder)) != outcome(plain, run_in(folder))


@pytest.mark.parametrize("option", [option for option in options() if not has_sample(option)], ids=name)
def test_that_every_other_option_is_read_where_its_command_works_or_refused(
    option: tuple[Action, Field], files: dict[str, Path]
) -> None:
    action, field = option
    if (action.name, field.name) in REFUSED:
        sample = TRAINING[field.name]
        spec, given = spec_of(action, f"{sample.base} {sample.words}", files)
        problems = (*schema.without_effect(spec, given), *schema.problems(spec))
        assert REFUSED[action.name, field.name] in [problem.rule for problem in problems]
        return
    reader = (READERS | LAUNCH_READERS)[action.name, field.name]  # an option that stands nowhere has no known effect
    assert field.name in attributes_of(reader), f"{reader} does not read .{field.name}"


def attributes_of(reader: str) -> set[str]:
    """The attributes that a function reads, of any of that name in its module."""
    module, _, function = reader.partition(":")
    tree = ast.parse(Path(str(importlib.import_module(module).__file__)).read_text("utf-8"))
    return {
        node.attr
        for definition in ast.walk(tree)
        if isinstance(definition, ast.FunctionDef) and definition.name == function
        for node in ast.walk(definition)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


def hidden() -> Iterator[tuple[Action, Field]]:
    """The options that do nothing without another choice."""
    for feature in features():
        for action in feature.actions:
            spec = action.spec()
            unused = schema.unused_fields(action.spec)
            for field in schema.fields(action.spec):
                if field.name in unused or not schema.is_visible(spec, field):
                    yield action, field


@pytest.mark.parametrize("option", list(hidden()), ids=name)
def test_that_an_option_without_effect_is_refused_with_what_it_needs(option: tuple[Action, Field]) -> None:
    action, field = option
    spec = action.spec()
    if field.kind == "switch":
        spec = schema.with_value(spec, field.name, True)
    (problem,) = [one for one in schema.without_effect(spec, [field.name]) if one.field == field.name]
    assert problem.rule in ("form.not_used", "form.does_not_apply")
    for language in texts.LANGUAGES:
        texts.use(language)
        assert t(problem.rule, **problem.args) != problem.rule
    texts.use("en")
    if problem.rule == "form.does_not_apply":
        assert "--" in problem.args["needs"]
    assert schema.without_effect(spec, []) == ()
    assert not [one for one in schema.problems(spec) if one.rule in ("form.not_used", "form.does_not_apply")]


def test_that_every_option_of_the_engine_is_read_by_the_engine() -> None:
    from backends.launch.engine_options import engine_fields
    from backends.launch.launchers import ENGINE

    sources = [path.read_text("utf-8") for path in (ENGINE / "ascend_engine").rglob("*.py")]
    attributes = {
        node.attr for source in sources for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute)
    }
    assert {field.name for field in engine_fields()} - attributes == set()


REVIEWED = (
    "launch --workers 4", "launch --nodes 2", "launch --launcher rank_table", "launch --stages 3",
    "launch --search recursive_programming", "launch --pipeline-batches 3", "launch --strategy a=1",
    "launch --optimizer-parallel", "launch --fusion 4", "launch --master 10.0.0.1 --port 8200",
    "launch --loss-scale dynamic", "launch --scale 8", "launch --amp-dtype bf16", "launch --decay-every 3",
    "launch --jit-level O1", "launch --sink", "launch --mode jit --synchronous", "launch --prefetch 5", "launch --ckpt",
    "launch --capture-at 3", "launch --capture-level mix", "launch --capture-casts",
    "launch --recipe linear --corpus /", "launch --recipe linear --images /",
    "launch --parallel data --dataset full_batch", "launch --device cpu --visible 0", "launch --keep 2",
    "launch --buffsize 300", "launch --steps 5 --capture dump --capture-at 6",
    "launch --capture dump --capture-ranks 1",
    "launch --visible 0", "launch --log-level info", "launch --parallel data --buffsize 300", "shapes --visible 0",
    "check-first --log-level info", "launch --device cpu --mode graph --launch-blocking",
    "launch --visible 0 -- python train.py", "launch --share-cards -- python train.py",
    "launch --steps 5 --checkpoint-every 6", "launch --steps 5 --schedule step --decay-every 5",
    "launch --steps 9 --schedule step --warmup 5 --decay-every 4",
    "launch --capture dump --capture-task structure --capture-level L1",
    "launch --capture dump --capture-task structure --capture-level L1 -- python train.py",
    "launch --capture dump --capture-task structure --capture-direction forward -- python train.py",
    "launch --capture dump --capture-level L0 --capture-casts -- python train.py",
    "launch --capture dump --capture-targets linear --capture-casts -- python train.py",
    "preview --heads 1 --sequence-parallel", "preview --network linear --sequence-parallel",
    "preview --micro-batches 1 --zero 3", "preview --micro-batches 1 --overlap 0.3",
    "preview --network text --layers 48 --hidden 999", "nodes --recipe linear --steps 5", "shapes --steps 4",
    "as-script --capture dump", "check-first --debug-port 5678", "launch --pattern x -- python train.py",
    "compare a b --msprobe-python /bin/sh", "scan . --format csv",
)  # fmt: skip


@pytest.mark.parametrize("line", REVIEWED)
def test_that_the_command_line_refuses_it_and_makes_no_run(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    files: dict[str, Path],
) -> None:  # fmt: skip
    monkeypatch.setattr(npu_devices, "npu_names", tuple)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    words = line.replace("RUN", str(files["RUN"])).split()
    code = command_line.run_command(words, features(), lambda *_: 99)
    assert code == 2
    assert not list(tmp_path.rglob("run.json"))
    assert "--" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "fields"),
    [
        ("--task structure --level L1", ["level"]), ("--task structure --direction forward", ["direction"]),
        ("--level L0 --casts", ["casts"]), ("--targets linear --casts", ["casts"]),
        ("--task structure", []), ("--task structure --level L0 --direction both", []), ("--level L0 --no-casts", []),
        ("--level mix --casts", []), ("--task tensor --direction forward --level L1", []),
    ],
)  # fmt: skip
def test_that_a_choice_of_a_dump_that_msprobe_passes_over_is_refused(
    words: str, fields: list[str], files: dict[str, Path]
) -> None:
    action = next(action for feature in features() for action in feature.actions if action.name == "capture")
    spec, given = spec_of(action, f"RUN --kind dump {words}", files)
    assert [problem.field for problem in schema.without_effect(spec, given)] == fields


def test_that_options_for_npus_are_taken_where_the_host_has_one_or_the_lines_are_for_another(
    monkeypatch: pytest.MonkeyPatch, files: dict[str, Path]
) -> None:
    actions = {action.name: action for feature in features() for action in feature.actions}
    for cards, command, is_taken in (
        (("davinci0",), "launch", True), ((), "launch", False), ((), "check-first", False), ((), "nodes", True),
        ((), "as-script", True),
    ):  # fmt: skip
        monkeypatch.setattr(npu_devices, "npu_names", lambda cards=cards: cards)
        spec, given = spec_of(actions[command], "--log-level info --launch-blocking", files)
        assert (schema.without_effect(spec, given) == ()) is is_taken, command


@pytest.mark.parametrize(
    "line",
    [
        "preview --cards 0 --zero 2", "preview --heads 7 --sequence-parallel", "preview --part x --overlap 0.5",
        "preview --parts /none --zero 2", "launch --batch 0 --epochs 3 --checkpoint-every 9",
        "launch --schedule step --decay-every 0", "launch --capture dump --capture-task x --capture-level L1",
    ],
)  # fmt: skip
def test_that_a_wrong_value_beside_an_option_is_named_and_no_crash(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert command_line.run_command(line.split(), features(), lambda *_: 99) == 2
    assert "Traceback" not in capsys.readouterr().err
