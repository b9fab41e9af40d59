"""A training as one plain script: whole for every pair of options, and with the run's own losses."""

from __future__ import annotations

import ast
import subprocess
import sys
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
from tests.prove.script import OPTIONS, combinations, differences, is_allowed, spec_of

if TYPE_CHECKING:
    from pathlib import Path

MANY = {
    "recipe": "linear", "loop": "cell", "mode": "jit", "accumulate": "3", "clip": "0.5", "optimizer": "adamw",
    "schedule": "cosine", "warmup": "3", "checkpoint_every": "4",
}  # fmt: skip
MIXED = {"recipe": "digits", "mode": "pynative", "amp": "O2", "loss_scale": "dynamic", "on_nan": "skip"}
OWN = {"recipe": "own", "recipe_file": str(paths.ASSETS / "template" / "recipe.en.py"), "optimizer": "momentum"}


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
    for number, one in enumerate(combinations()[:4]):  # all of them: tests/prove/script.py
        text = script_text(spec_of(one))
        compile(text, "train.py", "exec")
        assert imported(text) <= {*sys.stdlib_module_names, "mindspore", "numpy"}
        (tmp_path / f"script{number}.py").write_text(text, "utf-8")
    command = (sys.executable, "-m", "ruff", "check", "--isolated", "--select", "F", "--ignore", "F841", str(tmp_path))
    checked = subprocess.run(command, capture_output=True, text=True, check=False)
    assert checked.returncode == 0, checked.stdout


@pytest.mark.parametrize("recipe", ["digits", "text"])
def test_that_a_script_carries_its_data_and_names_no_folder_of_this_host(recipe: str, tmp_path: Path) -> None:
    text = script_text(spec_of({"recipe": recipe}))
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
def test_that_a_script_of_the_digits_trains_where_the_studio_is_not(tmp_path: Path) -> None:
    script = tmp_path / "elsewhere" / "train.py"
    script.parent.mkdir()
    script.write_text(script_text(spec_of({"recipe": "digits"})), "utf-8")
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    words = (sys.executable, "-I", str(script))
    done = subprocess.run(words, cwd=script.parent, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "step 1  " in done.stdout


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
@pytest.mark.parametrize("chosen", [MANY, MIXED, OWN], ids=["compiled", "mixed", "own"])
def test_that_a_script_by_itself_has_the_losses_of_its_run(tmp_path: Path, chosen: dict[str, str]) -> None:
    assert list(differences(tmp_path / "pair", spec_of(chosen))) == []


def test_that_a_failure_with_a_count_can_be_filled_in_by_a_plain_script() -> None:
    text = texts.with_plurals("{count:parameter|parameters} differ, {first:.1f} first")
    assert text.format(count=1, first=2) == "1 parameters differ, 2.0 first"
