"""The user's own recipe: loaded where it lies, all options apply, and whatever is wrong with it has a sentence."""

from __future__ import annotations

import ast
import json
import sys
from typing import TYPE_CHECKING

import pytest
from ascend_engine import failures

from backends.launch.plan import code_of
from backends.launch.template import make_template
from studio import paths, schema, texts
from studio.errors import StudioError
from tests.command_line import last_json, studio
from tests.launch.engine_process import FRESH, Ran, check, needs_mindspore, train
from tests.launch.specs import launch_spec, rules

if TYPE_CHECKING:
    from pathlib import Path

OPTIONS = "--recipe own --device cpu --batch 8 --optimizer adamw --lr 0.01"


def own(folder: Path, file: Path, options: str) -> Ran:
    return train(folder, f"{OPTIONS} --recipe-file {file} {options}", FRESH)


@needs_mindspore
def test_that_the_template_trains_as_it_is_beside_files_that_are_called_like_modules(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    names = {*sys.stdlib_module_names, "mindspore", "numpy", "ascend_engine", "ascend_studio", "data", "step", "recipe"}
    for name in names:
        (project / f"{name}.py").write_text(f"raise ImportError('the {name} of the project')\n", "utf-8")
    (project / "recipe.py").unlink()
    file = make_template(project, "zh")
    (project / "neighbour.py").write_text("from pathlib import Path\nNUMBER = 7\n", "utf-8")
    file.write_text("from neighbour import NUMBER\n" + file.read_text("utf-8"), "utf-8")
    options = "--batch 32 --mode jit --amp O2 --loss-scale dynamic --accumulate 2 --clip 1 --best accuracy --steps 80"
    ran = own(tmp_path / "run", file, options)
    assert ran.code == 0, ran.output
    assert ran.metric("accuracy")[-1] > 0.8
    copies = ran.folder / "artifacts" / "recipe"
    assert (copies / "recipe.py").read_bytes() == file.read_bytes()
    assert sorted(path.name for path in copies.iterdir()) == ["neighbour.py", "recipe.py"]
    script = f"""
import sys
from ascend_engine import recipe
from ascend_engine.checkpoints import resume_checks
from tests.launch.engine_config import config_of
from ascend_engine.train import Training
from pathlib import Path

def differing():
    config = config_of("{OPTIONS} {options} --recipe-file {file} --steps 81")
    training = Training(config, "cpu", recipe.build(config))
    return resume_checks.differing(resume_checks.newest(Path("{ran.folder}")).facts["decides"], training.decides)

print(differing())
sys.modules.pop("neighbour")
Path("{project}", "neighbour.py").write_text("NUMBER = 8")
print(differing())
"""
    assert check(tmp_path, script).splitlines()[-2:] == ["[]", "['code']"]


# Each: what the file holds, the rule, and what its sentence must name.
WRONG = {
    "none": (None, "launch.recipe_missing", "none.py"),
    "no_build": ("x = 1\n", "launch.recipe_no_build", "no_build.py"),
    "zero": ("x = 1\0\n", "launch.recipe_unreadable", "zero.py"),
    "syntax": ("x = 1\n\ndef build(config:\n", "launch.python_error", "syntax.py, line 3"),
    "raises": ("def build(config):\n    one = 1\n    return one / 0\n", "launch.python_error", "raises.py, line 3"),
    "in_numpy": (
        "import numpy as np\ndef build(config):\n    return np.zeros(3).reshape(2, 2)\n",
        "launch.python_error", "in_numpy.py, line 3",
    ),
    "exits": ("import sys\nsys.exit(3)\n", "launch.recipe_exits", "exit code 3"),
    "exits_later": ("import sys\ndef build(config):\n    sys.exit(4)\n", "launch.recipe_exits", "exit code 4"),
    "a_dict": ("def build(config):\n    return {}\n", "launch.recipe_returns", "returned dict"),
    "network": ("NETWORK = nn.ReLU()\n", "launch.recipe_network", "ReLU"),
    "no_cell": ("NETWORK = 'net'\n", "launch.recipe_network", "str"),
    "loss": ("LOSS = 1.5\n", "launch.recipe_not_callable", "loss in"),
    "metric": ("METRICS = {'f1': None}\n", "launch.recipe_not_callable", "metrics['f1']"),
    "optimizer": ("OPTIMIZER = nn.SGD(NETWORK.trainable_params(), [0.1, 0.2])\n", "launch.recipe_optimizer", "SGD"),
    "no_data": ("TRAIN = None\n", "launch.data_type", "NoneType"),
    "empty": ("TRAIN = X[:0], Y[:0]\n", "launch.data_empty", "train_data"),
    "lengths": ("TRAIN = X, Y[:3]\n", "launch.data_lengths", "(8, 2) and (3, 1)"),
    "texts": ("TRAIN = X, Y.astype(str)\n", "launch.data_shape", "train_data[numbers]"),
    "a_list": ("TRAIN = list(X)\n", "launch.data_type", "list"),
    "one_array": ("TRAIN = X\n", "launch.data_type", "ndarray"),
    "eval": ("EVAL = X, Y[:0]\n", "launch.data_lengths", "eval_data"),
    "best": ("METRICS = {'f1': LOSS}\nEVAL = TRAIN\n", "launch.rule.no_metric", "loss, f1"),
}  # fmt: skip
WHOLE = """import numpy as np
from mindspore import nn
from ascend_engine.recipe import Recipe
X = np.ones((8, 2)); Y = np.ones((8, 1))
NETWORK, LOSS, TRAIN, EVAL, METRICS, OPTIMIZER = nn.Dense(2, 1), nn.MSELoss(), (X, Y), None, {{}}, None
{line}
def build(config):
    parts = {{"network": NETWORK, "loss": LOSS, "train_data": TRAIN, "optimizer": OPTIMIZER}}
    return Recipe(eval_data=EVAL, metrics=METRICS, **parts)
"""


@needs_mindspore
def test_that_whatever_is_wrong_with_a_recipe_has_a_sentence_that_names_it(tmp_path: Path) -> None:
    folder = tmp_path / "wrong"
    folder.mkdir()
    for name, (line, _, _) in WRONG.items():
        if line is not None:
            is_whole = "build" in line or name in ("no_build", "zero", "exits")
            (folder / f"{name}.py").write_text(line if is_whole else WHOLE.format(line=line), "utf-8")
    script = f"""
import json, sys
from pathlib import Path
from ascend_engine import failures, recipe
from tests.launch.engine_config import config_of

found = {{}}
for name in {list(WRONG)}:
    line = "{OPTIONS} --steps 1 --best accuracy --recipe-file " + str(Path("{folder}", name + ".py"))
    try:
        recipe.build(config_of(line))
    except Exception as error:
        found[name] = failures.describe(error)
    assert sys.path[0] != "{folder}"
print("\\n" + json.dumps(found))
"""
    found = json.loads(check(tmp_path, script).splitlines()[-1])
    texts.use("en")
    said = {name: texts.t(rule, **dict(zip(("path", "line"), place, strict=False)), **args)
            for name, (rule, place, args) in found.items()}  # fmt: skip
    for name, (_, rule, named) in WRONG.items():
        assert found[name][0] == rule
        assert named in said[name], said[name]
        assert "{" not in said[name].replace("{}", "")


def test_that_an_own_recipe_is_chosen_with_its_file_and_measures_what_it_likes(tmp_path: Path) -> None:
    file = tmp_path / "recipe.py"
    assert rules(launch_spec(recipe="own")) == [("recipe_file", "launch.rule.no_recipe_file")]
    assert rules(launch_spec(recipe="own", recipe_file=file)) == [("recipe_file", "launch.rule.no_file")]
    file.touch()
    assert rules(launch_spec(recipe="own", recipe_file=file, best="accuracy")) == []
    assert rules(launch_spec(recipe="resnet50", best="accuracy")) == [("best", "launch.rule.no_metric")]
    assert rules(launch_spec(recipe="resnet50", images=tmp_path, best="accuracy")) == []
    assert rules(launch_spec(recipe="resnet50", images=file)) == [("images", "launch.rule.no_folder")]


def test_that_a_recipe_inside_a_project_is_code_of_it(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "recipe.py").touch()
    (tmp_path / "linked.py").symlink_to(project / "recipe.py")
    (tmp_path / "outside.py").touch()
    spec = launch_spec(recipe="own", recipe_file=project / "recipe.py", python=project / "python")
    assert code_of(spec, project) == (project / "python", project / "recipe.py")
    assert code_of(launch_spec(recipe="own", recipe_file=tmp_path / "linked.py"), project)
    assert not code_of(launch_spec(recipe="own", recipe_file=tmp_path / "outside.py"), project)
    assert not code_of(schema.with_value(launch_spec(recipe_file=project / "recipe.py"), "recipe", "digits"), project)


def test_that_a_template_never_overwrites_and_is_the_same_code_in_both_languages(tmp_path: Path) -> None:
    files = [make_template(tmp_path, language) for language in ("en", "zh", "en")]
    assert [file.name for file in files] == ["recipe.py", "recipe_2.py", "recipe_3.py"]
    assert files[0].read_bytes() == files[2].read_bytes()
    english, chinese = (ast.parse(file.read_text("utf-8")) for file in files[:2])
    for tree in (english, chinese):
        for node in ast.walk(tree):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node):
                node.body = node.body[1:]
    assert ast.dump(english) == ast.dump(chinese)
    with pytest.raises(StudioError):
        make_template(tmp_path / "missing", "en")


def test_that_the_command_writes_a_template_into_the_project(tmp_path: Path) -> None:
    done = studio("--project", str(tmp_path), "template", "--comments", "zh", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert str(tmp_path / "recipe.py") in done.stderr
    assert last_json(done)["command"] == "template"
    assert (tmp_path / "recipe.py").read_bytes() == (paths.ASSETS / "template" / "recipe.zh.py").read_bytes()


def test_that_a_network_that_does_not_compile_is_named_by_its_own_line() -> None:
    message = (
        "shapes differ\n\n# 0 In file {engine}step.py:31, 21~36\n        value\n# 1 In file /my/net.py:32, 15~42\n"
    )
    message += "# 2 In file /x/site-packages/mindspore/nn/layer/basic.py:12, 1~2\n"
    error = ValueError(message.format(engine=failures.ENGINE))
    assert failures.describe(error)[1] == ("/my/net.py", 32)


VECTOR_LOSS = """
import numpy as np
from mindspore import nn
from ascend_engine.recipe import Recipe

def build(config):
    data = np.ones((64, 3), np.float32), np.ones((64, 1), np.float32)
    return Recipe(network=nn.Dense(3, 1), loss=nn.MSELoss(reduction="none"), train_data=data)
"""


@needs_mindspore
@pytest.mark.parametrize("mode", ["pynative", "jit"])
def test_that_a_loss_of_several_elements_gets_a_sentence(tmp_path: Path, mode: str) -> None:
    """It named a line of the engine as the user's own."""
    recipe_file = tmp_path / "recipe.py"
    recipe_file.write_text(VECTOR_LOSS, "utf-8")
    ran = own(tmp_path / "run", recipe_file, f"--mode {mode} --steps 3")
    assert ran.code == 1
    findings = [event for event in ran.events if event["type"] == "finding"]
    assert "launch.loss_is_no_number" in {finding["rule"] for finding in findings}
    assert not any("step.py" in json.dumps(finding) for finding in findings)
